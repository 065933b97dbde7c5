"""LlamaIndex: `FunctionAgent(llm=Folding()(llm), tools=tools)`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, MutableMapping, Sequence
from typing import Any

from llama_index.core.llms import LLM

from foldline.integrations._beginnings import Beginnings
from foldline.integrations._conversations import Conversations
from foldline.integrations._history import HostHistory
from foldline.integrations._sent import Sent
from foldline.integrations._shapes.llama_index import SHAPE
from foldline.integrations._streamed import astreamed, streamed


class Folding:
    """Called with a model of LlamaIndex, it gives one of the same class that sees its messages folded; memories stay whole.

    It serves any number of models and agents, whose conversations are told by their beginnings. `states`, a mapping that may
    be a database's, keeps what foldline knows of them. `model` is for a model that foldline should take theirs for, and
    `options` are those of `Compactor`.
    """

    def __init__(self, model: str = "", *, states: MutableMapping[str, bytes] | None = None, **options: Any) -> None:
        self._runs: Conversations[Any] = Conversations(SHAPE, model, options, states)
        self._beginnings = Beginnings()

    def __call__(self, model: LLM) -> Any:
        """A model that sees its messages folded."""
        folded, inner = model.model_copy(), type(model)
        made = type(inner.__name__, (_Folded, inner), {"__module__": inner.__module__, "folding": lambda _: self})
        object.__setattr__(folded, "__class__", made)
        return folded

    def run(self, messages: Sequence[Any], model: str) -> tuple[str, HostHistory[Any]]:
        """The key of the conversation that the messages are of, and its history."""
        key = self._beginnings.key(messages, lambda m: m.content or str(m.blocks))
        return key, self._runs.history(key, model)

    def keep(self, key: str, sent: list[Any]) -> list[Any]:
        """What is sent, once the state is kept where a fold was made for it."""
        self._runs.folds(key)
        return Sent(sent)


class _Folded:
    """What stands before a model's own class: its messages folded, and sent again, once, where they were refused."""

    __slots__ = ()

    def chat(self: Any, messages: Sequence[Any], **named: Any) -> Any:
        if isinstance(messages, Sent):
            return super().chat(messages, **named)  # type: ignore[misc]
        folding = self.folding()
        key, history = folding.run(messages, self.metadata.model_name)
        try:
            return super().chat(folding.keep(key, history.fit(messages)), **named)  # type: ignore[misc]
        except Exception as error:  # noqa: BLE001 - what is no overflow is raised again
            return super().chat(folding.keep(key, history.recover(error, messages)), **named)  # type: ignore[misc]

    async def achat(self: Any, messages: Sequence[Any], **named: Any) -> Any:
        if isinstance(messages, Sent):
            return await super().achat(messages, **named)  # type: ignore[misc]
        folding = self.folding()
        key, history = folding.run(messages, self.metadata.model_name)
        try:
            return await super().achat(folding.keep(key, await history.afit(messages)), **named)  # type: ignore[misc]
        except Exception as error:  # noqa: BLE001 - what is no overflow is raised again
            sent = folding.keep(key, history.recover(error, messages))
            return await super().achat(sent, **named)  # type: ignore[misc]

    def stream_chat(self: Any, messages: Sequence[Any], **named: Any) -> Iterator[Any]:
        if isinstance(messages, Sent):
            yield from super().stream_chat(messages, **named)  # type: ignore[misc]
            return
        folding, inner = self.folding(), super().stream_chat  # type: ignore[misc]
        key, history = folding.run(messages, self.metadata.model_name)
        yield from streamed(
            lambda sent: inner(sent, **named),
            folding.keep(key, history.fit(messages)),
            lambda error: folding.keep(key, history.recover(error, messages)),
        )

    async def astream_chat(self: Any, messages: Sequence[Any], **named: Any) -> AsyncIterator[Any]:
        inner = super().astream_chat  # type: ignore[misc]
        return await inner(messages, **named) if isinstance(messages, Sent) else self._astreamed(inner, messages, named)

    async def _astreamed(self: Any, inner: Any, messages: Sequence[Any], named: dict[str, Any]) -> AsyncIterator[Any]:
        folding = self.folding()
        key, history = folding.run(messages, self.metadata.model_name)

        async def told(sent: Sequence[Any]) -> AsyncIterator[Any]:
            async for delta in await inner(sent, **named):
                yield delta

        async for delta in astreamed(
            told,
            folding.keep(key, await history.afit(messages)),
            lambda error: folding.keep(key, history.recover(error, messages)),
        ):
            yield delta
