"""Inspect: `react(model=Folding()(model), tools=tools)`."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from copy import copy
from typing import Any

from inspect_ai.model import Model, ModelOutput

from foldline import Usage
from foldline.integrations._asking import Asking
from foldline.integrations._conversations import Conversations, bill
from foldline.integrations._shapes.inspect_ai import FORMAT

TOO_LONG = "model_length"
"""The stop reason that says that a request was over the window; the refusal stands in the output then."""


class Folding:
    """Called with a model of Inspect, it gives one that sees its messages folded; agents, samples and logs keep them whole.

    It serves any number of models and samples, whose conversations are told by their beginnings and by how they went on.
    `states`, a mapping that may be a database's, keeps what foldline knows of them. `model` is for a model that foldline
    should take theirs for, and `options` are those of `Compactor`.
    """

    def __init__(self, model: str = "", *, states: MutableMapping[str, bytes] | None = None, **options: Any) -> None:
        self._runs = Conversations(model, {"format": FORMAT, **options}, states)

    def __call__(self, model: Model) -> Model:
        """A model that sees its messages folded."""
        folded, inner = copy(model), type(model.api)
        made: Any = type(inner.__name__, (_Folded, inner), {"_folding": self})
        folded.api = made.__new__(made)
        vars(folded.api).update(vars(model.api))
        return folded

    def asking(self, messages: Sequence[Any], model: str) -> Asking:
        """A call of a model with messages."""
        return self._runs.asking(messages, model, key=self._runs.beginnings.key(messages, _said), billed=_billed)


class _Folded:
    """What stands before a provider's own class: its messages folded, and sent again, once, where they were refused."""

    _folding: Folding

    async def generate(self: Any, input: list[Any], *rest: Any, **named: Any) -> Any:
        inner = super().generate  # type: ignore[misc]
        refusals: list[Any] = []

        async def answered(sent: list[Any]) -> Any:
            refusals.clear()
            reply = await inner(sent, *rest, **named)
            if (error := _refused(reply)) is not None:
                refusals.append(reply)
                raise error
            return reply

        try:
            return await self._folding.asking(input, self.model_name).aask(answered)
        except Exception:
            if not refusals:
                raise
            return refusals[0]


def _said(message: Any) -> list[Any]:
    """What a message says, without its id."""
    return [message.text, getattr(message, "tool_calls", None), getattr(message, "tool_call_id", None)]


def _output(reply: Any) -> Any:
    """What a provider answered: an output, or an error in its place, where the call is told beside it."""
    return reply[0] if isinstance(reply, tuple) else reply


def _refused(reply: Any) -> Exception | None:
    """The refusal that an answer is; None for one that is none."""
    output = _output(reply)
    if isinstance(output, ModelOutput):
        return RuntimeError(output.error or output.completion) if output.stop_reason == TOO_LONG else None
    return output if isinstance(output, Exception) else None


def _billed(reply: Any) -> Usage | None:
    usage = getattr(_output(reply), "usage", None)
    if usage is None or not usage.input_tokens:
        return None
    read, written = usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0
    return bill(usage.input_tokens + read + written, usage.output_tokens, read, written)
