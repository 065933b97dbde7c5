"""From the newest row of a file to its first, by what each one hangs on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping


def ancestry(newest: int | None, parent: Callable[[int], int | None]) -> Iterator[int]:
    """The places from the newest row to the first, where `parent` says the place that a row hangs on; a ring ends it."""
    seen: set[int] = set()
    while newest is not None and newest not in seen:
        seen.add(newest)
        yield newest
        newest = parent(newest)


def parent_place(at: int, name: str | None, places: Mapping[str, int], missing: Callable[[], None]) -> int | None:
    """The place of the row that one hangs on by name; one that is missing is told, and is the row before."""
    if not name:
        return None
    if name in places:
        return places[name]
    if at:
        missing()
    return at - 1 if at else None
