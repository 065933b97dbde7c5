"""agno: `Agent(model=Folding()(model), tools=tools)`."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from agno.models.base import Model

from foldline import Usage
from foldline.integrations._asking import SentAlready, Unchanged
from foldline.integrations._conversations import Conversations, bill
from foldline.integrations._shapes.agno import FORMAT

CACHE_APART = "agno.models.anthropic"
"""Where the models stand whose input tokens do not count what was read from the cache and written to it."""


class Folding:
    """Called with a model of agno, it gives one of the same class that sees its messages folded; sessions stay whole.

    It serves any number of models and agents, whose conversations are told by session and by their beginnings. `states`, a
    mapping that may be a database's, keeps what foldline knows of them. `model` is for a model that foldline should take
    theirs for, and `options` are those of `Compactor`.
    """

    def __init__(self, model: str = "", *, states: MutableMapping[str, bytes] | None = None, **options: Any) -> None:
        self._runs = Conversations(model, {"format": FORMAT, **options}, states)

    def __call__(self, model: Model) -> Any:
        """A model that sees its messages folded. OpenAI's Responses are sent whole, not as what is new behind a kept one."""
        made: Any = type(type(model).__name__, (_Folded, type(model)), {"_folding": self})
        folded = made.__new__(made)
        vars(folded).update(vars(model))
        if hasattr(folded, "use_previous_response_id"):
            folded.use_previous_response_id = False
        return folded

    def asking(self, model: Any, messages: Any, of: Any) -> Any:
        """A call of a model with messages; those that are folded already are sent as they are."""
        if isinstance(messages, SentAlready):
            return Unchanged(messages)
        session = str(getattr(of, "session_id", "") or "")
        key = self._runs.beginnings.key(messages, lambda m: [session, m.content, m.tool_calls, m.tool_call_id])
        apart = any(each.__module__.startswith(CACHE_APART) for each in type(model).__mro__)
        return self._runs.asking(messages, model.id, key=key, billed=lambda reply: _billed(reply, apart=apart))


class _Folded:
    """What stands before a model's own class: its messages folded, and sent again, once, where they were refused."""

    _folding: Folding

    def invoke(self: Any, *, messages: list[Any], **named: Any) -> Any:
        inner = super().invoke  # type: ignore[misc]
        asking = self._folding.asking(self, messages, named.get("run_response"))
        return asking.ask(lambda sent: inner(messages=sent, **named))

    async def ainvoke(self: Any, *, messages: list[Any], **named: Any) -> Any:
        inner = super().ainvoke  # type: ignore[misc]
        asking = self._folding.asking(self, messages, named.get("run_response"))
        return await asking.aask(lambda sent: inner(messages=sent, **named))

    def invoke_stream(self: Any, *, messages: list[Any], **named: Any) -> Any:
        inner = super().invoke_stream  # type: ignore[misc]
        asking = self._folding.asking(self, messages, named.get("run_response"))
        return asking.stream(lambda sent: inner(messages=sent, **named))

    def ainvoke_stream(self: Any, *, messages: list[Any], **named: Any) -> Any:
        inner = super().ainvoke_stream  # type: ignore[misc]
        asking = self._folding.asking(self, messages, named.get("run_response"))
        return asking.astream(lambda sent: inner(messages=sent, **named))


def _billed(reply: Any, *, apart: bool) -> Usage | None:
    """What the provider billed; `apart` says that the input does not count what the cache had."""
    usage = getattr(reply, "response_usage", None)
    if usage is None or not usage.input_tokens:
        return None
    read, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    return bill(usage.input_tokens + (read + written if apart else 0), usage.output_tokens, read, written)
