"""mini-swe-agent: `DefaultAgent(Folding(model), environment, …)`."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from foldline import Message
from foldline.extend import Speaker
from foldline.integrations._conversations import Conversations


class Folding:
    """A model of mini-swe-agent that sees its messages folded; the agent's trajectory stays whole.

    It serves any number of agents, which are told by the beginnings of their messages. `states`, a mapping that may be a
    database's, keeps what foldline knows of them. `name` is for a model that foldline should take this one for, and `options`
    are those of `Compactor`.
    """

    def __init__(
        self, model: Any, name: str = "", *, states: MutableMapping[str, bytes] | None = None, **options: Any
    ) -> None:
        self._model = model
        self._runs = Conversations(name, {"speaker": _speaker, **options}, states)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def query(self, messages: list[dict[str, Any]], **rest: Any) -> dict[str, Any]:
        """The model's answer to the messages, folded; sent again, once, where they were refused as too long."""
        named = getattr(self._model.config, "model_name", "")
        asking = self._runs.asking(
            messages, named, billed=lambda reply: reply.get("extra", {}).get("response") or reply
        )
        reply: dict[str, Any] = asking.ask(lambda sent: self._model.query(sent, **rest))
        return reply


def _speaker(message: Message) -> Speaker | None:
    """Agents that speak by text carry what a command printed in the user's role."""
    told = message.extra.get("extra")
    return "tool" if message.role == "user" and isinstance(told, dict) and "returncode" in told else None
