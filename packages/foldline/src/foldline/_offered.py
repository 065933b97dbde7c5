"""What there is by name: foldline's own, and objects that the entry points of installed packages name."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


class Offers(Mapping[str, T]):
    """Foldline's own by name, and behind them what packages offer, which is looked for only where no own one answers."""

    def __init__(self, own: Mapping[str, T], theirs: Callable[[], Mapping[str, T]]) -> None:
        self._own, self._theirs = own, theirs

    def __getitem__(self, name: str) -> T:
        return self._own[name] if name in self._own else self._theirs()[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        yield from self._theirs()

    def __len__(self) -> int:
        return len(self._own) + len(self._theirs())


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """That there is no such thing, what there is, and which of it is spelled most like it."""
    known = list(known)
    return f"no {what} {name!r}; there are {', '.join(known)}{meant(name, known)}"


def meant(name: str, known: Iterable[str]) -> str:
    """A question after the name that is spelled most like one that is not known; empty where none is."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1)
    return f"; did you mean {near[0]}?" if near else ""


def offered(group: str, kind: type[T], taken: Collection[str] = ()) -> dict[str, T]:
    """The objects of a kind that packages offer in a group, by the names of their entry points.

    What cannot be loaded, is of another kind, or comes under a name that is taken, is warned of and left out.
    """
    if not _is_named(group):
        return {}
    from importlib.metadata import entry_points

    found: dict[str, T] = {}
    for point in entry_points(group=group):
        try:
            each = point.load()
            problem = "" if isinstance(each, kind) else f"it is a {type(each).__name__}, not a {kind.__name__}"
        except Exception as error:  # noqa: BLE001  what a package raises as it is imported is not ours to know
            problem = f"{type(error).__name__}: {error}"
        if not problem and (point.name in taken or point.name in found):
            problem = "the name is taken"
        if problem:
            warnings.warn(
                f"{point.name} ({point.value}, of {group}) is left out: {problem}", RuntimeWarning, stacklevel=2
            )
        else:
            found[point.name] = each
    return found


def _is_named(group: str) -> bool:
    """Whether anything installed names the group at all; to ask `importlib.metadata` takes ten times as long."""
    sign = f"[{group}]".encode()
    for place in sys.path:
        try:
            with os.scandir(place or ".") as entries:
                for entry in entries:
                    if entry.name.endswith((".dist-info", ".egg-info")):
                        with suppress(OSError), open(f"{entry.path}/entry_points.txt", "rb") as file:
                            if sign in file.read():
                                return True
        except NotADirectoryError:
            return True  # an archive, which is not looked into here
        except OSError:
            continue
    return False
