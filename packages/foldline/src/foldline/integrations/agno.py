"""agno: `Agent(model=Folding()(model), tools=tools)`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, MutableMapping, Sequence
from typing import Any

from agno.models.base import Model

from foldline.integrations._beginnings import Beginnings
from foldline.integrations._conversations import Conversations
from foldline.integrations._history import HostHistory
from foldline.integrations._sent import Sent
from foldline.integrations._shapes.agno import SHAPE
from foldline.integrations._streamed import astreamed, streamed

CACHE_APART = "agno.models.anthropic"
"""Where the models stand whose input tokens do not count what was read from the cache and written to it."""


class Folding:
    """Called with a model of agno, it gives one of the same class that sees its messages folded; sessions stay whole.

    It serves any number of models and agents, whose conversations are told by session and by their beginnings. `states`, a
    mapping that may be a database's, keeps what foldline knows of them. `model` is for a model that foldline should take
    theirs for, and `options` are those of `Compactor`.
    """

    def __init__(self, model: str = "", *, states: MutableMapping[str, bytes] | None = None, **options: Any) -> None:
        self._runs: Conversations[Any] = Conversations(SHAPE, model, options, states)
        self._beginnings = Beginnings()

    def __call__(self, model: Model) -> Any:
        """A model that sees its messages folded. OpenAI's Responses are sent whole, not as what is new behind a kept one."""
        made: Any = type(type(model).__name__, (_Folded, type(model)), {"_folding": self})
        folded = made.__new__(made)
        vars(folded).update(vars(model))
        if hasattr(folded, "use_previous_response_id"):
            folded.use_previous_response_id = False
        return folded

    def run(self, messages: Sequence[Any], model: str, of: Any) -> tuple[str, HostHistory[Any]]:
        """The key of the conversation that the messages are of, and its history."""
        session = str(getattr(of, "session_id", "") or "")
        key = (
            f"{session}/{self._beginnings.key(messages, lambda m: [session, m.content, m.tool_calls, m.tool_call_id])}"
        )
        return key, self._runs.history(key, model)

    def keep(self, key: str, sent: list[Any]) -> list[Any]:
        """What is sent, once the state is kept where a fold was made for it."""
        self._runs.folds(key)
        return Sent(sent)


class _Folded:
    """What stands before a model's own class: its messages folded, and sent again, once, where they were refused."""

    _folding: Folding

    def invoke(self: Any, *, messages: list[Any], **named: Any) -> Any:
        if isinstance(messages, Sent):
            return super().invoke(messages=messages, **named)  # type: ignore[misc]
        key, history = self._folding.run(messages, self.id, named.get("run_response"))
        sent = self._folding.keep(key, history.fit(messages))
        try:
            reply = super().invoke(messages=sent, **named)  # type: ignore[misc]
        except Exception as error:  # noqa: BLE001 - what is no overflow is raised again
            sent = self._folding.keep(key, history.recover(error, messages))
            reply = super().invoke(messages=sent, **named)  # type: ignore[misc]
        return _billed(self, history, reply)

    async def ainvoke(self: Any, *, messages: list[Any], **named: Any) -> Any:
        if isinstance(messages, Sent):
            return await super().ainvoke(messages=messages, **named)  # type: ignore[misc]
        key, history = self._folding.run(messages, self.id, named.get("run_response"))
        sent = self._folding.keep(key, await history.afit(messages))
        try:
            reply = await super().ainvoke(messages=sent, **named)  # type: ignore[misc]
        except Exception as error:  # noqa: BLE001 - what is no overflow is raised again
            sent = self._folding.keep(key, history.recover(error, messages))
            reply = await super().ainvoke(messages=sent, **named)  # type: ignore[misc]
        return _billed(self, history, reply)

    def invoke_stream(self: Any, *, messages: list[Any], **named: Any) -> Iterator[Any]:
        if isinstance(messages, Sent):
            yield from super().invoke_stream(messages=messages, **named)  # type: ignore[misc]
            return
        key, history = self._folding.run(messages, self.id, named.get("run_response"))
        inner = super().invoke_stream  # type: ignore[misc]
        for delta in streamed(
            lambda sent: inner(messages=sent, **named),
            self._folding.keep(key, history.fit(messages)),
            lambda error: self._folding.keep(key, history.recover(error, messages)),
        ):
            yield _billed(self, history, delta)

    async def ainvoke_stream(self: Any, *, messages: list[Any], **named: Any) -> AsyncIterator[Any]:
        if isinstance(messages, Sent):
            async for delta in super().ainvoke_stream(messages=messages, **named):  # type: ignore[misc]
                yield delta
            return
        key, history = self._folding.run(messages, self.id, named.get("run_response"))
        inner = super().ainvoke_stream  # type: ignore[misc]
        async for delta in astreamed(
            lambda sent: inner(messages=sent, **named),
            self._folding.keep(key, await history.afit(messages)),
            lambda error: self._folding.keep(key, history.recover(error, messages)),
        ):
            yield _billed(self, history, delta)


def _billed(model: Any, history: HostHistory[Any], reply: Any) -> Any:
    """Takes what the provider billed."""
    usage = getattr(reply, "response_usage", None)
    if usage is not None and usage.input_tokens:
        read, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
        apart = any(each.__module__.startswith(CACHE_APART) for each in type(model).__mro__)
        prompt = usage.input_tokens + (read + written if apart else 0)
        bill = {"prompt_tokens": prompt, "completion_tokens": usage.output_tokens or 0}
        details = {"cached_tokens": read, "cache_write_tokens": written}
        history.compactor.observe({**bill, "prompt_tokens_details": details})
    return reply
