"""Microsoft's Agent Framework: `Agent(client=client, middleware=[Folding()])`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from agent_framework import ChatContext, ChatMiddleware, ChatResponse

from foldline import Usage
from foldline.integrations._asking import Asking
from foldline.integrations._beginnings import remember
from foldline.integrations._content import KEY
from foldline.integrations._conversations import Conversations, bill
from foldline.integrations._shapes.agent_framework import FORMAT, told


class Folding(ChatMiddleware):
    """Keeps what agents send to their models inside the window; history providers keep all that was said.

    What foldline knows is a part of the agent's session (`session.state`), and is kept and restored with it. Without a session,
    conversations are told by their beginnings, and `states`, a mapping that may be a database's, keeps what is known of
    them. `model` is for a model that foldline should take theirs for, and `options` are those of `Compactor`.
    """

    def __init__(self, model: str = "", *, states: MutableMapping[str, bytes] | None = None, **options: Any) -> None:
        self._runs = Conversations(model, {"format": FORMAT, **options}, states)
        self._sessions: dict[str, str] = {}
        """The conversation of each session."""
        self._begun: dict[str, str] = {}
        """The conversation of each beginning."""

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Sends the messages folded, and once more where they were refused as too long."""
        whole = list(context.messages)
        kept = context.session.state if context.session is not None else {}
        key = self._key(context.session, whole)
        named = str((context.options or {}).get("model") or getattr(context.client, "model", "") or "")
        compactor = self._runs.compactor(key, named, str(kept.get(KEY, "")))

        def keep() -> None:
            if self._runs.folds(key):
                kept[KEY] = self._runs.state(key)

        def observed(response: ChatResponse) -> ChatResponse:
            compactor.observe(_billed(response) or Usage())
            return response

        async def send(sent: list[Any]) -> Any:
            context.messages = sent
            await call_next()
            return context.result

        if context.stream:
            context.stream_result_hooks.append(observed)
        await Asking(compactor, whole, kept=keep, billed=_billed).aask(send)

    def _key(self, session: Any, whole: list[Any]) -> str:
        """The conversation of a session. One that is made for a run, and is sent what was said in an earlier one, goes on from that."""
        begun = self._runs.beginnings.key(whole, told)
        if session is None:
            return begun
        copied = KEY not in session.state and any(told(message)[0] == "assistant" for message in whole)
        key = self._sessions.get(session.session_id) or (self._begun.get(begun) if copied else None)
        key = key or str(session.session_id)
        remember(self._sessions, session.session_id, key)
        remember(self._begun, begun, key)
        return key


def _billed(reply: Any) -> Usage | None:
    """What the provider billed."""
    usage = (reply.usage_details or {}) if isinstance(reply, ChatResponse) else {}
    if not (prompt := usage.get("input_token_count")):
        return None
    cached = usage.get("cache_read_input_token_count"), usage.get("cache_creation_input_token_count")
    return bill(prompt, usage.get("output_token_count"), *cached)
