"""Session files as the index reads them: only what is new where a file only grew, whole where that cannot be known."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from hashlib import blake2b

from foldline._messages import Message
from foldline._sessions.following import IndexedSession, Said
from foldline._sessions.format import SessionFormat
from foldline._sessions.opening import open_session
from foldline._sessions.registry import sessions_in


def stamp(path: str) -> str:
    """What changes when a file, or anything in a folder, does; empty where there is nothing."""
    if os.path.isdir(path):
        places = sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
        return blake2b("\n".join(map(_stamp, places)).encode(), digest_size=16).hexdigest()
    return " ".join(filter(None, (_stamp(path), _stamp(f"{path}-wal"))))


def _stamp(path: str) -> str:
    try:
        told = os.stat(path)
    except (OSError, ValueError):
        return ""
    return f"{told.st_ino}:{told.st_size}:{told.st_mtime_ns}"


def conversations(known: SessionFormat, path: str, agent: str = "") -> Iterator[IndexedSession]:
    """Every session in a file of a format, whole."""
    if known.read is None and known.read_all is None:
        session = open_session(path)
        yield IndexedSession(session.id, agent or session.agent, session.cwd, _untimed(session.messages()))
        return
    for each in sessions_in(known, path):
        reading = each.read()
        messages = _untimed((*reading.folded, *reading.entries))
        live = dict(reading.entries)
        yield IndexedSession(reading.id, reading.agent, reading.cwd, messages, each.changed, live.keys)


def _untimed(messages: Iterable[tuple[str, Message]]) -> Iterator[Said]:
    return ((id, "", message) for id, message in messages)
