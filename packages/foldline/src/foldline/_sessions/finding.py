"""The sessions that agents left on this machine."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import translate
from operator import attrgetter
from typing import NamedTuple

from foldline._errors import SessionError
from foldline._messages import Value
from foldline._sessions.registry import format_named, sessions_in, stores
from foldline._sessions.source import parted

HEAD = 64 * 1024
"""Bytes at the start of a session file in which its id and its working directory are looked for."""

FIRST = 4 * 1024
"""Bytes of it that are read first: nearly always they say both."""

NAMED = 5
"""Ids that are named where the start of one fits several."""

_STRING = rb'"\s*:\s*("(?:[^"\\]|\\.){1,2000}")'
_CWD = re.compile(rb'"cwd' + _STRING)
_ID = re.compile(rb'"(?:sessionId|session_id|id)' + _STRING)


class StoreFile(Value, frozen=True, gc=False):
    """A file in an agent's store, as the folder lists it: size in bytes, time of the last change in nanoseconds, inode."""

    agent: str
    path: str
    size: int
    changed: int
    inode: int


class Found(NamedTuple):
    """A session: the agent that wrote it, its path, its id, its working directory and when it last changed.

    Where the file holds several, the id stands behind a `#` in the path.
    """

    agent: str
    path: str
    id: str
    cwd: str
    changed: float


def session_files(environment: Mapping[str, str] = os.environ) -> list[StoreFile]:
    """Every file in the agents' stores that is not empty, newest first; none is opened."""
    files: list[StoreFile] = []
    for agent, folder, pattern in stores(environment):
        _collect(agent, str(folder), pattern.split("/"), files)
    files.sort(key=attrgetter("changed"), reverse=True)
    return files


def found_sessions(environment: Mapping[str, str] = os.environ) -> list[Found]:
    """Every session in the agents' stores, newest first."""
    return list(_found(session_files(environment)))


def find(session: str | None, *, cwd: str, agent: str = "", environment: Mapping[str, str] = os.environ) -> str:
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
    else:
        here = os.path.realpath(cwd)
        newest = next((f for f in everything if f.cwd and os.path.realpath(f.cwd) == here), None)
        fitting = [newest] if newest else []
    if not fitting:
        where = ", ".join(dict.fromkeys(str(folder) for _, folder, _ in stores(environment)))
        what = "no session of that path or id" if session else "no session of this directory: name one with --session"
        raise SessionError(f"{what} (searched {where})", path=session or cwd)
    return fitting[0].path


def id_and_cwd(fd: int, path: str) -> tuple[str, str]:
    """What a session file says it is, else its name; and the directory it was in, empty where it does not say."""
    head = os.pread(fd, FIRST, 0)
    id, cwd = _said(_ID, head), _said(_CWD, head)
    if not (id and cwd) and len(head) == FIRST:
        head += os.pread(fd, HEAD - FIRST, FIRST)
        id, cwd = _said(_ID, head), _said(_CWD, head)
    return id or os.path.splitext(os.path.basename(path))[0], cwd or project_root(path)


def project_root(path: str) -> str:
    """The directory that is noted beside the chats of a project, as Gemini CLI does; empty where none is."""
    try:
        with open(os.path.join(os.path.dirname(path), os.pardir, ".project_root"), encoding="utf-8") as file:
            return file.read(HEAD).strip()
    except (OSError, ValueError):
        return ""


def directory_of(path: str) -> str:
    """The directory that the session in a file was in; empty where none is told."""
    try:
        with open(path, "rb", buffering=0) as file:
            return id_and_cwd(file.fileno(), path)[1]
    except OSError:
        return ""


def printable(text: str) -> str:
    """The text with a mark for what no file and no terminal takes: halves of characters."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _found(files: Iterable[StoreFile]) -> Iterator[Found]:
    """The sessions in the files, newest first; one of a file that holds several waits for those that changed later."""
    waiting: list[Found] = []
    for file in files:
        while waiting and waiting[-1].changed >= file.changed / 1e9:
            yield waiting.pop()
        if (known := _known(file)) is not None:
            yield known
        else:
            waiting = sorted((*waiting, *_within(file)), key=attrgetter("changed"))
    yield from reversed(waiting)


def _known(file: StoreFile) -> Found | None:
    """The session in a file of one, as its first lines tell it; None where it may hold several, or is gone."""
    known = format_named(file.agent)
    try:
        with open(file.path, "rb", buffering=0) as opened:
            if known.read_all is not None and known.recognizes(os.pread(opened.fileno(), FIRST, 0), file.path):
                return None
            id, cwd = id_and_cwd(opened.fileno(), file.path)
    except OSError:
        return None
    return Found(file.agent, file.path, id, cwd, file.changed / 1e9)


def _within(file: StoreFile) -> Iterator[Found]:
    """The sessions in a file that may hold several; none where it cannot be read."""
    try:
        found = sessions_in(format_named(file.agent), file.path)
    except SessionError:
        return
    for each in found:
        path = f"{file.path}#{each.id}" if len(found) > 1 else file.path
        yield Found(file.agent, path, each.id, each.cwd, each.changed or file.changed / 1e9)


def _collect(agent: str, folder: str, pattern: Sequence[str], into: list[StoreFile]) -> None:
    """Adds the files below a folder whose path fits the pattern, part by part; what cannot be looked at is passed over."""
    first, *rest = pattern
    fits = re.compile(translate(first)).match
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return
    try:
        with os.scandir(fd) as entries:  # by its descriptor, so that no entry's whole path is looked up again
            for entry in entries:
                if not fits(entry.name):
                    continue
                path = f"{folder}/{entry.name}"
                if rest:
                    _collect(agent, path, rest, into)
                elif (about := _about(entry)) is not None and about.st_size:
                    into.append(StoreFile(agent, path, about.st_size, about.st_mtime_ns, about.st_ino))
    except OSError:
        return
    finally:
        os.close(fd)


def _about(entry: os.DirEntry[str]) -> os.stat_result | None:
    """Size and time of a file; None for what is no file, or is gone."""
    try:
        return entry.stat() if entry.is_file() else None
    except OSError:
        return None


def _said(pattern: re.Pattern[bytes], head: bytes) -> str:
    match = pattern.search(head)
    if match is None:
        return ""
    try:
        return printable(str(json.loads(match[1])))
    except ValueError:
        return ""
