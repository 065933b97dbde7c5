"""The tree of a file whose rows name what they hang on: from its newest row to its first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping


def ancestry(newest: int | None, parent: Callable[[int], int | None]) -> Iterator[int]:
    """The places from the newest row to the first, where `parent` says the place that a row hangs on; a ring ends it."""
    seen: set[int] = set()
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
