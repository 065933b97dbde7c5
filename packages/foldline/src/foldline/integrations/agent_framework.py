"""Microsoft's Agent Framework: `Agent(client=client, middleware=[Folding()])`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from agent_framework import ChatContext, ChatMiddleware, ChatResponse

from foldline.integrations._beginnings import Beginnings
from foldline.integrations._conversations import Conversations
from foldline.integrations._history import KEY, HostHistory
from foldline.integrations._shapes.agent_framework import SHAPE, told


class Folding(ChatMiddleware):
    """Keeps what agents send to their models inside the window; history providers keep all that was said.

    What foldline knows is a part of the agent's session (`session.state`), and is kept and restored with it. Without a session,
    conversations are told by their beginnings, and `states`, a mapping that may be a database's, keeps what is known of
    them. `model` is for a model that foldline should take theirs for, and `options` are those of `Compactor`.
    """

    def __init__(self, model: str = "", *, states: MutableMapping[str, bytes] | None = None, **options: Any) -> None:
        self._runs: Conversations[Any] = Conversations(SHAPE, model, options, states)
        self._beginnings = Beginnings()

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Sends the messages folded, and once more where they were refused as too long."""
        whole = list(context.messages)
        kept = context.session.state if context.session is not None else {}
        key = context.session.session_id if context.session is not None else self._beginnings.key(whole, told)
        named = str((context.options or {}).get("model") or getattr(context.client, "model", "") or "")
        history = self._runs.history(key, named, str(kept.get(KEY, "")))
        context.messages = self._kept(key, kept, await history.afit(whole))
        if context.stream:
            context.stream_result_hooks.append(lambda response: _billed(history, response))
        try:
            await call_next()
        except Exception as error:  # noqa: BLE001 - what is no overflow is raised again
            context.messages = self._kept(key, kept, history.recover(error, whole))
            await call_next()
        if isinstance(context.result, ChatResponse):
            _billed(history, context.result)

    def _kept(self, key: str, kept: MutableMapping[str, Any], sent: list[Any]) -> list[Any]:
        """What is sent, once the state is kept where a fold was made for it."""
        if self._runs.folds(key):
            kept[KEY] = self._runs.state(key)
        return sent


def _billed(history: HostHistory[Any], response: ChatResponse) -> ChatResponse:
    """Takes what the provider billed."""
    usage = response.usage_details or {}
    if prompt := usage.get("input_token_count"):
        details = {
            "cached_tokens": usage.get("cache_read_input_token_count") or 0,
            "cache_write_tokens": usage.get("cache_creation_input_token_count") or 0,
        }
        bill = {"prompt_tokens": prompt, "completion_tokens": usage.get("output_token_count") or 0}
        history.compactor.observe({**bill, "prompt_tokens_details": details})
    return response
