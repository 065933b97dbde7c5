"""smolagents: `ToolCallingAgent(tools=tools, model=Folding(model))`."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

from foldline import Usage
from foldline.integrations._asking import Asking
from foldline.integrations._conversations import Conversations, bill
from foldline.integrations._shapes.smolagents import FORMAT


class Folding:
    """A model of smolagents that sees its messages folded; the agent's memory stays whole.

    It serves any number of agents, which are told by the beginnings of their messages. `states`, a mapping that may be a
    database's, keeps what foldline knows of them. `name` is for a model that foldline should take this one for, and `options`
    are those of `Compactor`.
    """

    def __init__(
        self, model: Any, name: str = "", *, states: MutableMapping[str, bytes] | None = None, **options: Any
    ) -> None:
        self._model = model
        self._runs = Conversations(name, {"format": FORMAT, **options}, states)

    def __getattr__(self, name: str) -> Any:
        inner = getattr(self._model, name)
        return self._stream if name == "generate_stream" else inner

    def generate(self, messages: list[Any], *rest: Any, **named: Any) -> Any:
        """The model's answer to the messages, folded; sent again, once, where they were refused as too long."""
        return self._asking(messages).ask(lambda sent: self._model.generate(sent, *rest, **named))

    __call__ = generate

    def _stream(self, messages: list[Any], *rest: Any, **named: Any) -> Iterator[Any]:
        """The same, as it is said."""
        return self._asking(messages).stream(lambda sent: self._model.generate_stream(sent, *rest, **named))

    def _asking(self, messages: list[Any]) -> Asking:
        return self._runs.asking(messages, getattr(self._model, "model_id", ""), billed=_billed)


def _billed(reply: Any) -> Usage | None:
    usage = reply.token_usage
    return bill(usage.input_tokens, usage.output_tokens) if usage is not None else None
