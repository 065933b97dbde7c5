"""A compactor for each conversation, by its key: for a server, or a framework's middleware."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, MutableMapping
from typing import Generic, TypeVar

from foldline._compactor.compactor import Compactor
from foldline._compactor.turns import Turnstile
from foldline._errors import ConfigError

Key = TypeVar("Key", bound=Hashable)


class Compactors(Generic[Key]):
    """Compactors by the key of their conversation: `compactors[thread].fit(messages)`.

    `make` makes one for a key that is new. At most `most` are held; what was used longest ago goes. Where `states` is
    given, a mapping that may be a database's, what goes is dumped there and loaded again when its key comes back; else it
    begins anew, as after a restart. `save` and `forget` are for a server that stops, and a conversation that ends.
    """

    def __init__(
        self, make: Callable[[Key], Compactor], *, most: int = 1_000, states: MutableMapping[Key, bytes] | None = None
    ) -> None:
        if most < 1:
            raise ConfigError(f"at least one is held, not {most}", path="Compactors", key="most")
        self._make = make
        self._most = most
        self._states = states
        self._held: OrderedDict[Key, Compactor] = OrderedDict()
        self._turns = Turnstile()

    def __getitem__(self, key: Key) -> Compactor:
        """The compactor of a key; raises `StateError` where its dumped state is damaged."""
        with self._turns:
            if (held := self._held.get(key)) is None:
                held = self._make(key)
                if self._states is not None and (state := self._states.get(key)) is not None:
                    held.load(state)
                self._held[key] = held
            self._held.move_to_end(key)
            while len(self._held) > self._most:
                self._keep(*self._held.popitem(last=False))
            return held

    def __len__(self) -> int:
        """How many are held."""
        return len(self._held)

    def __contains__(self, key: object) -> bool:
        """Whether the compactor of a key is held."""
        return key in self._held

    def save(self) -> None:
        """Dumps the state of all that are held."""
        with self._turns:
            for key, held in self._held.items():
                self._keep(key, held)

    def forget(self, key: Key) -> None:
        """Lets go of a conversation that ended, and of its state."""
        with self._turns:
            self._held.pop(key, None)
            if self._states is not None:
                self._states.pop(key, None)

    def _keep(self, key: Key, held: Compactor) -> None:
        if self._states is not None:
            self._states[key] = held.dump()
