"""The tree of a file whose rows name what they hang on: from its newest row to its first."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def ancestry(newest: T | None, parent: Callable[[T], T | None]) -> Iterator[T]:
    """The rows from the newest to the first, by places, names or themselves: `parent` says what one hangs on; a ring ends it."""
    seen: set[T] = set()
    while newest is not None and newest not in seen:
        seen.add(newest)
        yield newest
        newest = parent(newest)


def named_ancestry(
    newest: int | None, hangs_on: Callable[[int], str], places: Mapping[str, int], missing: Callable[[int, str], None]
) -> Iterator[int]:
    """The same by names: one that no row has is told, with the row that hangs on it, and is the row before."""

    def parent(at: int) -> int | None:
        name = hangs_on(at)
        if not name:
            return None
        if name not in places and at:
            missing(at, name)
        return places.get(name, at - 1 if at else None)

    return ancestry(newest, parent)
