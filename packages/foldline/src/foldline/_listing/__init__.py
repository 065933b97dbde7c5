"""The sessions on this machine and how full each is, from the ends of their files and from what was known before."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import field

from foldline._cache import cache_file
from foldline._desk.overheads import NAME, Taught, keep
from foldline._listing.known import Known, Memory
from foldline._messages import Value
from foldline._sessions.finding import StoreFile, session_files

__all__ = ["Listed", "listed"]

FILLED, COMPLETED = 200, 50
"""So many of the newest sessions are read whole where the ends of their files do not tell how full they are, and for
their first words and the number of their messages."""

PATIENCE = 0.6
"""Seconds of CPU time after which none is read whole any more; the next list goes on."""

SPARE = 0.15
"""The same where no file is new and only first words and numbers are left to be found."""


class Listed(Value, frozen=True, omit_defaults=False, gc=False):
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


def _row(f: StoreFile, k: Known) -> Listed:
    return Listed(
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
) -> list[Listed]:
    """The sessions in the agents' stores, newest first: those of the directory `cwd`, or all where it is None.

    A session that works for another one stands below it.

    What is found out is kept in the file `memory`, so that the next list reads only what has changed since.
    """
    kept = Memory(memory or cache_file("sessions.msgpack", environment))
    found = _known(session_files(environment), kept)
    kept.forget_all_but({file.path for file, _ in found})
    everything = found
    if cwd is not None:
        found = _of_directory(found, cwd)
    _complete(found[:FILLED], kept, environment)
    if kept.changed:
        taught = (Taught(k.agent, k.family, k.overhead, k.ratio) for _, k in everything if k.agent)
        keep(taught, cache_file(NAME, environment))
    kept.save()
    return list(_below_parents([_row(*each) for each in found]))


def _of_directory(found: Iterable[tuple[StoreFile, Known]], cwd: str) -> list[tuple[StoreFile, Known]]:
    real = {said: os.path.realpath(said) for said in {known.cwd for _, known in found} - {""}}
    here = os.path.realpath(cwd)
    return [(file, known) for file, known in found if real.get(known.cwd) == here]


def _known(files: list[StoreFile], kept: Memory) -> list[tuple[StoreFile, Known]]:
    """What is known of each session, newest first; the ends are read of files that are new or have changed."""
    told = {file.path: kept.of(file) for file in files}
    if changed := [file for file in files if not told[file.path]]:
        from foldline._listing.reading import glanced

        for file, known in glanced(changed):
            kept.keep(file, known)
            told[file.path] = known
    found = [(file, known) for file in files for known in told[file.path]]
    if any(known.when for _, known in found):
        found.sort(key=lambda each: each[1].when or each[0].changed / 1e9, reverse=True)
    return found


def _complete(found: Sequence[tuple[StoreFile, Known]], kept: Memory, environment: Mapping[str, str]) -> None:
    """Finds out what is left to be known of sessions; none is read whole any more when patience ends."""
    left = [each for n, each in enumerate(found) if not each[1].whole and (n < COMPLETED or each[1].tokens is None)]
    if not left:
        return
    from foldline._listing.reading import look_for_folds, read_whole

    for each in left:
        look_for_folds(*each)
    spare = PATIENCE if kept.changed else SPARE
    started = time.process_time()
    for file, known in sorted(left, key=lambda each: (each[1].tokens is not None, each[0].size)):
        if not known.whole and time.process_time() - started < (PATIENCE if known.tokens is None else spare):
            read_whole(file, known, environment)
    kept.learned()


def _below_parents(rows: Sequence[Listed]) -> Iterator[Listed]:
    """The rows in their order, those of sub-sessions below the session that they work for, where that is listed."""
    if not any(row.parent for row in rows):
        yield from rows
        return
    ids = {(row.agent, row.id) for row in rows}
    below: dict[tuple[str, str], list[Listed]] = {}
    for row in rows:
        if row.parent and row.parent != row.id and (row.agent, row.parent) in ids:
            below.setdefault((row.agent, row.parent), []).append(row)
    lower = {row.path for under in below.values() for row in under}
    for row in rows:
        if row.path not in lower:
            yield from _with_those_below(row, below)
    while below:  # those that name each other
        yield from below.pop(next(iter(below)))


def _with_those_below(row: Listed, below: dict[tuple[str, str], list[Listed]]) -> Iterator[Listed]:
    yield row
    for each in below.pop((row.agent, row.id), ()):
        yield from _with_those_below(each, below)
