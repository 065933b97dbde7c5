"""mini-swe-agent: `DefaultAgent(Folding(model), environment, …)`."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from minisweagent.exceptions import InterruptAgentFlow

from foldline import Message
from foldline.extend import Speaker
from foldline.integrations._beginnings import Beginnings
from foldline.integrations._conversations import Conversations
from foldline.integrations._history import ITEMS


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
        self._runs: Conversations[Any] = Conversations(ITEMS, name, {"speaker": _speaker, **options}, states)
        self._beginnings = Beginnings()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def query(self, messages: list[dict[str, Any]], **rest: Any) -> dict[str, Any]:
        """The model's answer to the messages, folded; sent again, once, where they were refused as too long."""
        key = self._beginnings.key(messages)
        compactor = self._runs.history(key, str(getattr(self._model.config, "model_name", ""))).compactor
        sent = self._kept(key, compactor.fit(messages))
        try:
            reply: dict[str, Any] = self._model.query(sent, **rest)
        except InterruptAgentFlow:
            raise
        except Exception as error:  # noqa: BLE001 - what is no overflow is raised again
            sent = self._kept(key, compactor.recover(error, messages))
            reply = self._model.query(sent, **rest)
        compactor.observe(reply.get("extra", {}).get("response") or reply)
        return reply

    def _kept(self, key: str, sent: list[Any]) -> list[Any]:
        """What is sent, once the state is kept where a fold was made for it."""
        self._runs.folds(key)
        return sent


def _speaker(message: Message) -> Speaker | None:
    """Agents that speak by text carry what a command printed in the user's role."""
    told = message.extra.get("extra")
    return "tool" if message.role == "user" and isinstance(told, dict) and "returncode" in told else None
