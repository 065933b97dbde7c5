"""smolagents: `ToolCallingAgent(tools=tools, model=Folding(model))`."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

from foldline.integrations._beginnings import Beginnings
from foldline.integrations._conversations import Conversations
from foldline.integrations._history import HostHistory
from foldline.integrations._shapes.smolagents import SHAPE
from foldline.integrations._streamed import streamed


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
        self._runs: Conversations[Any] = Conversations(SHAPE, name, options, states)
        self._beginnings = Beginnings()

    def __getattr__(self, name: str) -> Any:
        inner = getattr(self._model, name)
        return self._stream if name == "generate_stream" else inner

    def generate(self, messages: list[Any], *rest: Any, **named: Any) -> Any:
        """The model's answer to the messages, folded; sent again, once, where they were refused as too long."""
        key, history = self._run(messages)
        sent = self._kept(key, history.fit(messages))
        try:
            reply = self._model.generate(sent, *rest, **named)
        except Exception as error:  # noqa: BLE001 - what is no overflow is raised again
            sent = self._kept(key, history.recover(error, messages))
            reply = self._model.generate(sent, *rest, **named)
        _bill(history, reply.token_usage)
        return reply

    __call__ = generate

    def _stream(self, messages: list[Any], *rest: Any, **named: Any) -> Iterator[Any]:
        """The same, as it is said."""
        key, history = self._run(messages)
        for delta in streamed(
            lambda sent: self._model.generate_stream(sent, *rest, **named),
            self._kept(key, history.fit(messages)),
            lambda error: self._kept(key, history.recover(error, messages)),
        ):
            _bill(history, delta.token_usage)
            yield delta

    def _run(self, messages: list[Any]) -> tuple[str, HostHistory[Any]]:
        key = self._beginnings.key(messages)
        return key, self._runs.history(key, str(getattr(self._model, "model_id", "") or ""))

    def _kept(self, key: str, sent: list[Any]) -> list[Any]:
        """What is sent, once the state is kept where a fold was made for it."""
        self._runs.folds(key)
        return sent


def _bill(history: HostHistory[Any], usage: Any) -> None:
    if usage is not None and usage.input_tokens:
        bill = {"prompt_tokens": usage.input_tokens, "completion_tokens": usage.output_tokens}
        history.compactor.observe({"usage": bill})
