"""The conversations that one instance of an integration serves, each with a compactor of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from contextlib import suppress
from threading import RLock
from typing import Any

from foldline import Compactor, Compactors, Fold, Folded, StateError, Usage, handle, recall_tool
from foldline.integrations._asking import Asking
from foldline.integrations._beginnings import Beginnings


class Conversations:
    """The compactors of a framework's conversations, by their keys; safe for many threads.

    `model` is the model's name where the framework's own is not to be taken, `options` are those of `Compactor`. States of
    conversations that the framework does not keep itself may be kept in `states`, a mapping that may be a database's: one is
    read before each call, and written with each fold and each bill.
    """

    def __init__(
        self, model: str, options: Mapping[str, Any], states: MutableMapping[str, bytes] | None = None
    ) -> None:
        self.beginnings = Beginnings(states)
        """What tells conversations that nobody names."""
        self._model = model
        self._named = ""
        self._options = options
        self._states = states
        self._compactors: Compactors[str] = Compactors(self._made)
        self._lock = RLock()

    def asking(
        self,
        messages: Sequence[Any],
        model: Any = "",
        *,
        key: str = "",
        system: Any = None,
        billed: Callable[[Any], Any] = lambda reply: reply,
    ) -> Asking:
        """A call of a model with the messages of the conversation of that key, or that begins as they do."""
        key = key or self.beginnings.key(messages)
        compactor = self.compactor(key, str(model or ""))
        return Asking(compactor, messages, system=system, kept=lambda: self.folds(key), billed=billed)

    def compactor(self, key: str, model: str = "", state: str = "") -> Compactor:
        """The compactor of a conversation; `model` is the framework's, and `state` what it kept.

        Where that is another than was kept here last, another process went on meanwhile, or the framework went back: then
        it is what counts.
        """
        with self._lock:
            self._named = self._model or model
            held = self._held(key)
            stored = self._states.get(key) if self._states is not None and not state else None
            if state and state != held.kept:
                held.kept = state
                held.go_on_from(state)
            elif stored and stored != held.stored:
                held.stored = stored
                held.go_on_from(stored)
            return held

    def folds(self, key: str) -> list[Fold]:
        """The folds of a conversation that were made since they were asked for last; its state is kept with them."""
        with self._lock:
            held = self._held(key)
            made, held.made = held.made, []
            if made:
                self._keep(key)
            return made

    def state(self, key: str) -> str:
        """What there is to keep of a conversation besides its messages."""
        with self._lock:
            held = self._held(key)
            held.kept = held.dump().decode()
            return held.kept

    def recall(self, key: str, arguments: str | Mapping[str, Any]) -> str:
        """What a call of the recall tool is answered with in a conversation."""
        return handle(arguments, source=self._compactors[key])

    def _held(self, key: str) -> _Held:
        held = self._compactors[key]
        assert isinstance(held, _Held)
        return held

    def _made(self, key: str) -> _Held:
        return _Held(self._named, lambda: self._keep(key), **self._options)

    def _keep(self, key: str) -> None:
        """Writes the state of a conversation, where states are kept."""
        if self._states is not None:
            with self._lock:
                held = self._held(key)
                held.stored = self._states[key] = self.beginnings.marked(key, held.dump())


class _Held(Compactor):
    """The compactor of a conversation, with what became of it since a framework asked."""

    def __init__(
        self, model: str, keep: Callable[[], None], *, on_event: Callable[[Any], None] | None = None, **options: Any
    ) -> None:
        self.made: list[Fold] = []
        """The folds that nobody asked for yet."""
        self.kept = ""
        """Its state as the framework kept it, or gave it back, last."""
        self.stored = b""
        """Its state as it stands where states are kept."""
        self._keep = keep

        def hear(event: Any) -> None:
            if isinstance(event, Folded):
                self.made.append(event.fold)
            if on_event is not None:
                on_event(event)

        super().__init__(model, on_event=hear, **options)

    def observe(self, reply: Any) -> None:
        """Takes what the provider billed, and keeps it."""
        super().observe(reply)
        self._keep()

    def go_on_from(self, state: str | bytes) -> None:
        """Takes a state that was kept; without one that can be read the conversation begins anew."""
        with suppress(StateError):
            self.load(state)


def bill(prompt: int | None, output: int | None, read: int | None = 0, written: int | None = 0) -> Usage:
    """What a provider billed for a prompt, what it read from its cache and wrote to it included."""
    fresh = (prompt or 0) - (read or 0) - (written or 0)
    return Usage(fresh if fresh >= 0 else prompt or 0, output or 0, read or 0, written or 0)


def declared() -> tuple[str, str, dict[str, Any]]:
    """The recall tool: its name, what it does, and the JSON Schema of its arguments."""
    told = recall_tool("openai-chat")["function"]
    return told["name"], told["description"], told["parameters"]
