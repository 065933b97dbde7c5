"""Inspect: `react(model=Folding()(model), tools=tools)`."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from copy import copy
from typing import Any

from inspect_ai.model import Model, ModelOutput

from foldline.integrations._beginnings import Beginnings
from foldline.integrations._conversations import Conversations
from foldline.integrations._history import HostHistory
from foldline.integrations._shapes.inspect_ai import SHAPE

TOO_LONG = "model_length"
"""The stop reason that says that a request was over the window; the refusal stands in the output then."""


class Folding:
    """Called with a model of Inspect, it gives one that sees its messages folded; agents, samples and logs keep them whole.

    It serves any number of models and samples, whose conversations are told by their beginnings and by how they went on.
    `states`, a mapping that may be a database's, keeps what foldline knows of them. `model` is for a model that foldline
    should take theirs for, and `options` are those of `Compactor`.
    """

    def __init__(self, model: str = "", *, states: MutableMapping[str, bytes] | None = None, **options: Any) -> None:
        self._runs: Conversations[Any] = Conversations(SHAPE, model, options, states)
        self._beginnings = Beginnings()

    def __call__(self, model: Model) -> Model:
        """A model that sees its messages folded."""
        folded, inner = copy(model), type(model.api)
        made: Any = type(inner.__name__, (_Folded, inner), {"_folding": self})
        folded.api = made.__new__(made)
        vars(folded.api).update(vars(model.api))
        return folded

    def run(self, messages: Sequence[Any], model: str) -> tuple[str, HostHistory[Any]]:
        """The key of the conversation that the messages are of, and its history."""
        key = self._beginnings.key(messages, _said)
        return key, self._runs.history(key, model)

    def keep(self, key: str, sent: list[Any]) -> list[Any]:
        """What is sent, once the state is kept where a fold was made for it."""
        self._runs.folds(key)
        return sent


class _Folded:
    """What stands before a provider's own class: its messages folded, and sent again, once, where they were refused."""

    _folding: Folding

    async def generate(self: Any, input: list[Any], *rest: Any, **named: Any) -> Any:
        key, history = self._folding.run(input, self.model_name)
        sent = self._folding.keep(key, await history.afit(input))
        try:
            reply = await super().generate(sent, *rest, **named)  # type: ignore[misc]
            error = _refused(reply)
        except Exception as raised:  # noqa: BLE001 - what is no overflow is raised again
            reply, error = None, raised
        if error is not None:
            try:
                sent = self._folding.keep(key, history.recover(error, input))
            except Exception:
                if reply is None:
                    raise
                return reply
            reply = await super().generate(sent, *rest, **named)  # type: ignore[misc]
        _bill(history, reply)
        return reply


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


def _bill(history: HostHistory[Any], reply: Any) -> None:
    usage = getattr(_output(reply), "usage", None)
    if usage is not None and usage.input_tokens:
        read, written = usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0
        bill = {"prompt_tokens": usage.input_tokens + read + written, "completion_tokens": usage.output_tokens}
        details = {"cached_tokens": read, "cache_write_tokens": written}
        history.compactor.observe({**bill, "prompt_tokens_details": details})
