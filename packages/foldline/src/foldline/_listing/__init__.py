"""The sessions on this machine and how full each is, from the ends of their files and from what was known before."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import overload

from msgspec import field

from foldline._cache import cache_file
from foldline._listing.known import Known, Memory
from foldline._messages import Value
from foldline._sessions.finding import StoreFile, session_files

__all__ = ["ListedSession", "listed"]

FILLED, COMPLETED = 200, 50
"""So many of the newest sessions are read whole where the ends of their files do not tell how full they are, and for
their first words and the number of their messages."""

PATIENCE, AGAIN, LEAST = 0.6, 0.3, 0.05
"""Seconds of CPU time of a list after which none is read whole any more, of one that goes on where no file is new, and those
that are given to either in any case."""


class ListedSession(Value, frozen=True, omit_defaults=False, gc=False):
    """One session of the list; `tokens`, `compactions` and `messages` are None where they are not known yet.

    `changed` is in seconds since 1970, `title` what the session is called, `prompt` how the user's first words begin,
    `parent` the id of the session that it works for; `error` says why a session could not be read.
    """

    agent: str
    id: str = field(name="session")
    path: str
    cwd: str
    changed: float
    model: str = ""
    tokens: int | None = None
    window: int = 0
    compactions: int | None = None
    messages: int | None = None
    title: str = ""
    prompt: str = ""
    parent: str = ""
    error: str = ""

    @property
    def fill(self) -> float | None:
        """The share of the window that is full."""
        return None if self.tokens is None or not self.window else self.tokens / self.window


Entry = tuple[StoreFile, Known]


class ListedSessions(Sequence[ListedSession]):
    """The sessions of a list, each told as it is asked for: of many thousands few are shown."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, place: int) -> ListedSession: ...
    @overload
    def __getitem__(self, place: slice) -> ListedSessions: ...
    def __getitem__(self, place: int | slice) -> ListedSession | ListedSessions:
        return ListedSessions(self._entries[place]) if isinstance(place, slice) else _row(*self._entries[place])


def _row(f: StoreFile, k: Known) -> ListedSession:
    return ListedSession(
        f.agent,
        k.id,
        f.path + k.place,
        k.cwd,
        k.when or f.changed / 1e9,
        k.model,
        k.tokens,
        k.window,
        k.compactions,
        k.messages,
        k.title,
        k.prompt,
        k.parent,
        k.error,
    )


def listed(
    cwd: str | None = None, *, memory: str | None = None, environment: Mapping[str, str] = os.environ
) -> ListedSessions:
    """The sessions in the agents' stores, newest first: those of the directory `cwd`, or all where it is None.

    A session that works for another one stands below it.

    What is found out is kept in the file `memory`, so that the next list reads only what has changed since.
    """
    began = time.process_time()
    kept = Memory(memory or cache_file("sessions.msgpack", environment))
    found = _known(session_files(environment), kept)
    kept.forget_all_but({file.path for file, _ in found})
    everything = found
    if cwd is not None:
        found = _of_directory(found, cwd)
    _complete(found[:FILLED], kept, began, environment)
    if kept.changed:
        from foldline._desk.overheads import NAME, Taught, keep

        taught = (Taught(k.agent, k.family, k.overhead, k.ratio) for _, k in everything if k.agent)
        keep(taught, cache_file(NAME, environment))
    kept.save()
    return ListedSessions(_below_parents(found))


def _of_directory(found: Iterable[Entry], cwd: str) -> list[Entry]:
    real = {said: os.path.realpath(said) for said in {known.cwd for _, known in found} - {""}}
    here = os.path.realpath(cwd)
    return [(file, known) for file, known in found if real.get(known.cwd) == here]


def _known(files: list[StoreFile], kept: Memory) -> list[Entry]:
    """What is known of each session, newest first; the ends are read of files that are new or have changed."""
    told = [*map(kept.of, files)]
    if not all(told):
        from foldline._listing.reading import glanced

        for file, known in glanced([file for file, known in zip(files, told) if not known]):
            kept.keep(file, known)
        told = [*map(kept.of, files)]
    found = [(file, each) for file, known in zip(files, told) for each in known]
    if any(known.when for _, known in found):
        found.sort(key=lambda each: each[1].when or each[0].changed / 1e9, reverse=True)
    return found


def _complete(found: Sequence[Entry], kept: Memory, began: float, environment: Mapping[str, str]) -> None:
    """Finds out what is left to be known of sessions; none is read whole any more when patience ends."""
    left = [each for n, each in enumerate(found) if not each[1].whole and (n < COMPLETED or each[1].tokens is None)]
    if not left:
        return
    from foldline._listing.reading import look_for_folds, read_whole

    for each in left:
        look_for_folds(*each)
    ends = max(began + (PATIENCE if kept.changed else AGAIN), time.process_time() + LEAST)
    for file, known in sorted(left, key=lambda each: (each[1].tokens is not None, each[0].size)):
        if not known.whole and time.process_time() < ends:
            read_whole(file, known, environment)
    kept.changed = True


def _below_parents(found: list[Entry]) -> list[Entry]:
    """The sessions in their order, sub-sessions below the session that they work for, where that is listed."""
    if not any(known.parent for _, known in found):
        return found
    ids = {(file.agent, known.id) for file, known in found}
    below: dict[tuple[str, str], list[Entry]] = {}
    upper: list[Entry] = []
    for file, known in found:
        parent = (file.agent, known.parent)
        works = known.parent and known.parent != known.id and parent in ids
        (below.setdefault(parent, []) if works else upper).append((file, known))
    ordered = [each for entry in upper for each in _with_those_below(entry, below)]
    while below:  # those that name each other
        ordered += below.pop(next(iter(below)))
    return ordered


def _with_those_below(entry: Entry, below: dict[tuple[str, str], list[Entry]]) -> Iterator[Entry]:
    yield entry
    for each in below.pop((entry[0].agent, entry[1].id), ()):
        yield from _with_those_below(each, below)
