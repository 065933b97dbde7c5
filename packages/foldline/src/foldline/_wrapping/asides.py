"""What a model asked foldline and was told beside a conversation: its owner never sees it, and the model sees it again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from foldline import _wires as wire
from foldline._view import identity
from foldline._wires.objects import as_data


class Aside(NamedTuple):
    """Items behind so many of a history's, the last of which says `behind`."""

    place: int
    behind: bytes
    items: tuple[Any, ...]


class Asides:
    """The asides of one conversation, by their places in the history of its owner."""

    def __init__(self, format: str, asides: Sequence[Aside] = ()) -> None:
        self._format = format
        self._asides = tuple(asides)

    def copy(self) -> Asides:
        """The same asides, for a conversation that parts from this one."""
        return Asides(self._format, self._asides)

    def add(self, history: Sequence[Any], items: Sequence[Any]) -> None:
        """Notes what was asked and told behind a history."""
        self._asides = (*self._asides, Aside(len(history), self._said(history[-1]), tuple(items)))

    def clear(self) -> None:
        """Forgets them all."""
        self._asides = ()

    def woven(self, history: Sequence[Any]) -> list[Any]:
        """The history with each aside in its place, as far as that still stands."""
        woven: list[Any] = []
        done = 0
        for place, behind, items in self._asides:
            if place <= len(history) and self._said(history[place - 1]) == behind:
                woven += (*history[done:place], *items)
                done = place
        return [*woven, *history[done:]]

    def _said(self, item: Any) -> bytes:
        return identity(wire.decode(as_data([item])[0], self._format))
