"""The sessions on this machine and how full each is, from the ends of their files and from what was known before."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping

from msgspec import field

from foldline._cache import cache_file
from foldline._desk.overheads import NAME, Taught, keep
from foldline._listing.known import Known, Memory
from foldline._messages import Value
from foldline._sessions.finding import StoreFile, session_files

__all__ = ["Listed", "listed"]

COMPLETED = 50
"""So many of the newest sessions are read whole where the ends of their files do not tell all."""

PATIENCE = 1.0
"""Seconds after which none is read whole any more; the next list goes on."""


class Listed(Value, frozen=True, omit_defaults=False, gc=False):
    """One session of the list; `tokens`, `compactions` and `messages` are None where they are not known yet.

    `changed` is in seconds since 1970, `prompt` how the user's first words begin; `error` says why a session could not
    be read.
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
    prompt: str = ""
    error: str = ""

    @property
    def fill(self) -> float | None:
        """The share of the window that is full."""
        return None if self.tokens is None or not self.window else self.tokens / self.window


def _row(f: StoreFile, k: Known) -> Listed:
    when = f.changed / 1e9
    return Listed(
        f.agent, k.id, f.path, k.cwd, when, k.model, k.tokens, k.window, k.compactions, k.messages, k.prompt, k.error
    )


def listed(
    cwd: str | None = None, *, memory: str | None = None, environment: Mapping[str, str] = os.environ
) -> list[Listed]:
    """The sessions in the agents' stores, newest first: those of the directory `cwd`, or all where it is None.

    What is found out is kept in the file `memory`, so that the next list reads only what has changed since.
    """
    kept = Memory(memory or cache_file("sessions.msgpack", environment))
    found = _known(session_files(environment), kept)
    kept.forget_all_but([file.path for file, _ in found])
    everything = found
    if cwd is not None:
        found = _of_directory(found, cwd)
    _complete(found[:COMPLETED], kept, environment)
    if kept.changed:
        taught = (Taught(k.agent, k.family, k.overhead, k.ratio) for _, k in everything if k.agent)
        keep(taught, cache_file(NAME, environment))
    kept.save()
    return [_row(*each) for each in found]


def _of_directory(found: Iterable[tuple[StoreFile, Known]], cwd: str) -> list[tuple[StoreFile, Known]]:
    real = {said: os.path.realpath(said) for said in {known.cwd for _, known in found} - {""}}
    here = os.path.realpath(cwd)
    return [(file, known) for file, known in found if real.get(known.cwd) == here]


def _known(files: list[StoreFile], kept: Memory) -> list[tuple[StoreFile, Known]]:
    """What is known of each file; the ends are read of those that are new or have changed."""
    found = [(file, known) for file in files if (known := kept.of(file))]
    if len(found) == len(files):
        return found
    from foldline._listing.reading import glanced

    for file, known in glanced([file for file in files if not kept.of(file)]):
        kept.keep(file, known)
    return [(file, known) for file in files if (known := kept.of(file))]


def _complete(found: Iterable[tuple[StoreFile, Known]], kept: Memory, environment: Mapping[str, str]) -> None:
    """Finds out what is left to be known of sessions, as long as patience lasts."""
    started = time.monotonic()
    for file, known in found:
        if not known.whole and time.monotonic() - started < PATIENCE:
            from foldline._listing.reading import read_whole

            read_whole(file, known, environment)
            kept.keep(file, known)
