"""LlamaIndex: `FunctionAgent(llm=Folding()(llm), tools=tools)`."""

from __future__ import annotations

from collections.abc import AsyncIterator, MutableMapping, Sequence
from typing import Any

from llama_index.core.llms import LLM

from foldline.integrations._asking import SentAlready, Unchanged
from foldline.integrations._conversations import Conversations
from foldline.integrations._shapes.llama_index import FORMAT


class Folding:
    """Called with a model of LlamaIndex, it gives one of the same class that sees its messages folded; memories stay whole.

    It serves any number of models and agents, whose conversations are told by their beginnings. `states`, a mapping that may
    be a database's, keeps what foldline knows of them. `model` is for a model that foldline should take theirs for, and
    `options` are those of `Compactor`.
    """

    def __init__(self, model: str = "", *, states: MutableMapping[str, bytes] | None = None, **options: Any) -> None:
        self._runs = Conversations(model, {"format": FORMAT, **options}, states)

    def __call__(self, model: LLM) -> Any:
        """A model that sees its messages folded."""
        folded, inner = model.model_copy(), type(model)
        made = type(inner.__name__, (_Folded, inner), {"__module__": inner.__module__, "folding": lambda _: self})
        object.__setattr__(folded, "__class__", made)
        return folded

    def asking(self, model: Any, messages: Sequence[Any]) -> Any:
        """A call of a model with messages; those that are folded already are sent as they are."""
        if isinstance(messages, SentAlready):
            return Unchanged(messages)
        key = self._runs.beginnings.key(messages, lambda m: m.content or str(m.blocks))
        return self._runs.asking(messages, model.metadata.model_name, key=key, billed=lambda reply: None)


class _Folded:
    """What stands before a model's own class: its messages folded, and sent again, once, where they were refused."""

    __slots__ = ()

    def chat(self: Any, messages: Sequence[Any], **named: Any) -> Any:
        inner = super().chat  # type: ignore[misc]
        return self.folding().asking(self, messages).ask(lambda sent: inner(sent, **named))

    async def achat(self: Any, messages: Sequence[Any], **named: Any) -> Any:
        inner = super().achat  # type: ignore[misc]
        return await self.folding().asking(self, messages).aask(lambda sent: inner(sent, **named))

    def stream_chat(self: Any, messages: Sequence[Any], **named: Any) -> Any:
        inner = super().stream_chat  # type: ignore[misc]
        return self.folding().asking(self, messages).stream(lambda sent: inner(sent, **named))

    async def astream_chat(self: Any, messages: Sequence[Any], **named: Any) -> Any:
        inner = super().astream_chat  # type: ignore[misc]

        async def said(sent: Sequence[Any]) -> AsyncIterator[Any]:
            async for delta in await inner(sent, **named):
                yield delta

        return self.folding().asking(self, messages).astream(said)
