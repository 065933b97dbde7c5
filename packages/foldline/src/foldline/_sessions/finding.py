"""The sessions that agents left on this machine."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import translate
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from foldline._errors import SessionError
from foldline._messages import Value
from foldline._sessions.descriptors import read_at
from foldline._sessions.format import STRING, About, SessionFormat, first_said
from foldline._sessions.lines import Record, lines_from_end
from foldline._sessions.reading import Stored
from foldline._sessions.registry import HEAD, format_named, sessions_in, stores
from foldline._sessions.source import parted

FIRST = 4 * 1024
"""Bytes of the head of a file that are read first: nearly always they say its id and its working directory."""

DATABASES = (".db", ".sqlite")
"""How the names of stores end that are databases."""

NAMED = 5
"""Ids that are named where the start of one fits several."""

_CWD = re.compile(rb'"cwd' + STRING)
_ID = re.compile(rb'"(?:sessionId|session_id|id)' + STRING)
_DRAFT = re.compile(rb'"draftUntil' + STRING)


class StoreFile(Value, frozen=True, gc=False):
    """A file in an agent's store, as the folder lists it: size in bytes, time of the last change in nanoseconds, inode."""

    agent: str
    path: str
    size: int
    changed: int
    inode: int


class Found(NamedTuple):
    """A session: the agent that wrote it, its path, its id, its working directory and when it last changed.

    Where the file holds several, the id stands behind a `#` in the path. `parent` is the id of the session that it works for.
    """

    agent: str
    path: str
    id: str
    cwd: str
    changed: float
    parent: str = ""


def session_files(environment: Mapping[str, str] = os.environ) -> list[StoreFile]:
    """Every file in the agents' stores that is not empty, newest first; none is opened."""
    files: list[StoreFile] = []
    for agent, folder, pattern in stores(environment):
        _collect(agent, str(folder), [re.compile(translate(part)).match for part in pattern.split("/")], files)
    files.sort(key=attrgetter("changed"), reverse=True)
    return files


def found_sessions() -> list[Found]:
    """Every session in the agents' stores, newest first."""
    return list(_found(session_files()))


def find_session(session: str | None, *, cwd: str, agent: str = "", environment: Mapping[str, str] = os.environ) -> str:
    """The path of the session meant: a path, an id or the start of one; without it, the newest one of `cwd`.

    With `agent` it is one of that agent's.
    """
    if session and (os.path.exists(parted(session)[0]) or os.sep in session):
        return session
    everything = _found(file for file in session_files(environment) if agent in ("", file.agent))
    if session:
        begun = [f for f in everything if f.id.startswith(session)]
        fitting = [f for f in begun if f.id == session] or begun
        if len(ids := list(dict.fromkeys(f.id for f in fitting))) > 1:
            named = ", ".join(ids[:NAMED]) + (", …" if len(ids) > NAMED else "")
            raise SessionError(f"{len(ids)} sessions start with it; give more of the id: {named}", path=session)
        if len(same := [f.path for f in fitting]) > 1:
            warnings.warn(
                f"{len(same)} sessions have the id {session}: {same[0]} is the newest and is taken", stacklevel=2
            )
    else:
        fitting = list(islice(_of_directory(everything, cwd), 1))
    if not fitting:
        where = ", ".join(dict.fromkeys(str(folder) for _, folder, _ in stores(environment)))
        what = (
            "no session of that path or id" if session else "no session of this directory: name one by its path or id"
        )
        raise SessionError(f"{what}; `foldline session list --all` shows them (searched {where})", path=session or cwd)
    return fitting[0].path


def _of_directory(found: Iterable[Found], cwd: str) -> Iterator[Found]:
    """The sessions of a directory that somebody may go on with; drafts of handoffs behind those that somebody began."""
    here = os.path.realpath(cwd)
    drafts: list[Found] = []
    for each in found:
        if each.cwd and not each.parent and os.path.realpath(each.cwd) == here:
            if _is_draft(each.path):
                drafts.append(each)
            else:
                yield each
    yield from drafts


def about_file(fd: int, path: str, known: SessionFormat, tail: bytes = b"") -> About:
    """What an open session file says it is, at its start and in the `tail` that was read, or its name where it is silent."""
    head = read_at(fd, FIRST, 0)
    id, cwd = first_said(_ID, head), first_said(_CWD, head)
    if not (id and cwd) and len(head) == FIRST:
        head += read_at(fd, HEAD - FIRST, FIRST)
        id, cwd = first_said(_ID, head), first_said(_CWD, head)
    return known.about(path, head + tail, About(id or os.path.splitext(os.path.basename(path))[0], cwd))


def directory_of(path: str, known: SessionFormat) -> str:
    """The directory that the session in a file was in; empty where none is told."""
    try:
        with open(path, "rb", buffering=0) as file:
            return about_file(file.fileno(), path, known).cwd
    except OSError:
        return ""


def stored_in(file: StoreFile, fd: int) -> Sequence[Stored] | None:
    """The sessions in an open file that may hold several, none where it cannot be read; None for a file of one."""
    known = format_named(file.agent)
    if known.read_all is None or not known.recognizes(read_at(fd, FIRST, 0), file.path):
        return None
    try:
        return sessions_in(known, file.path)
    except SessionError:
        return ()


def which(stored: Stored, among: Sequence[Stored]) -> str:
    """What stands behind the path of a file for one session of it; nothing where it is the only one."""
    return f"#{stored.id}" if len(among) > 1 else ""


def _found(files: Iterable[StoreFile]) -> Iterator[Found]:
    """The sessions in the files, newest first; one of a file that holds several waits for those that changed later."""
    waiting: list[Found] = []
    for file in files:
        while waiting and waiting[-1].changed >= file.changed / 1e9:
            yield waiting.pop()
        within = _within(file)
        if len(within) == 1 and within[0].changed == file.changed / 1e9:
            yield within[0]
        else:
            waiting = sorted((*waiting, *within), key=attrgetter("changed"))
    yield from reversed(waiting)


def _within(file: StoreFile) -> list[Found]:
    """The sessions in a file; of a file of one as its first lines tell it, and none where it is gone."""
    try:
        with open(file.path, "rb", buffering=0) as opened:
            several = stored_in(file, opened.fileno())
            about = about_file(opened.fileno(), file.path, format_named(file.agent)) if several is None else None
    except OSError:
        return []
    when = file.changed / 1e9
    if about is not None:
        return [Found(file.agent, file.path, about.id, about.cwd, when, about.parent)]
    stored = several or ()
    return [
        Found(file.agent, file.path + which(each, stored), each.id, each.cwd, each.changed or when, each.parent)
        for each in stored
    ]


def _is_draft(path: str) -> bool:
    """Whether a session is as foldline wrote it for a handoff: nobody has gone on with it."""
    try:
        with open(path, "rb", buffering=0) as file:
            fd = file.fileno()
            ends = first_said(_DRAFT, read_at(fd, FIRST, 0))
            last = next(lines_from_end(fd, os.fstat(fd).st_size, FIRST), None) if ends else None
    except OSError:
        return False
    return last is not None and ends in map(Record(last).data.get, ("id", "uuid", "timestamp"))


def _collect(agent: str, folder: str, pattern: Sequence[Callable[[str], object]], into: list[StoreFile]) -> None:
    """Adds the files below a folder whose path fits the pattern, part by part; what cannot be looked at is passed over."""
    fits, *rest = pattern
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not fits(entry.name):
                    continue
                path = f"{folder}/{entry.name}"
                if rest:
                    if entry.is_dir():
                        _collect(agent, path, rest, into)
                    continue
                try:
                    about = entry.stat() if entry.is_file() else None
                except OSError:
                    continue
                if about and about.st_size:
                    changed = about.st_mtime_ns
                    if path.endswith(DATABASES):
                        changed = max(changed, _written_beside(path))
                    into.append(StoreFile(agent, path, about.st_size, changed, about.st_ino))
    except OSError:
        return


def _written_beside(path: str) -> int:
    """When the owner of a database last wrote into the log beside it, in nanoseconds; 0 where there is none."""
    try:
        return os.stat(f"{path}-wal").st_mtime_ns
    except OSError:
        return 0
