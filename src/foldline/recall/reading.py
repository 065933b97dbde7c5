"""Session files as the index reads them: only what is new where a file only grew, whole where that cannot be known."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import NamedTuple

from foldline.messages import Message
from foldline.session import Session, dialect
from foldline.session.lines import Line, Record
from foldline.transcripts import LOGS, READERS, Transcript, open_session, read_all, recognize
from foldline.transcripts.source import BOM, SQLITE

TAIL = 4_096
"""Bytes before the place that was read up to, by which a file that grew is told from one that was written anew."""

Said = tuple[str, str, Message]
"""A message with its id and its time, which is empty where the file does not say it."""


class Conversation(NamedTuple):
    """One session of a file: what tells it apart, and its messages."""

    id: str
    agent: str
    cwd: str
    messages: Iterable[Said]


class Mark(NamedTuple):
    """How far a file was read: the bytes, and what they end with."""

    read: int = 0
    tail: bytes = b""


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


def grows_alone(path: str) -> bool:
    """Whether all that a session says is in the file itself; opencode's storage keeps messages in other folders."""
    return os.path.isdir(path) or recognize(path) != "opencode" or _starts_with(path, SQLITE)


def is_log(path: str) -> bool:
    """Whether the file is a log that can be read on from where reading stopped."""
    if recognize(path) != LOGS[0]:
        return False
    with open(path, "rb") as file:
        first = Record(Line(0, file.readline().removeprefix(BOM)))
    return first.type == "session" and (first.version or 1) > 1


class LogReader:
    """A log of pi or OpenClaw, read from where the last reading stopped; `mark` is how far that is."""

    def __init__(self, path: str, mark: Mark) -> None:
        self.path = path
        self.mark = mark if mark.read and _ends_at(path, mark.read) == mark.tail else Mark()
        self.continues = bool(self.mark.read)

    def conversation(self, agent: str) -> Conversation:
        """The log as a conversation, its messages read while they are asked for."""
        with open(self.path, "rb") as file:
            header = Record(Line(0, file.readline().removeprefix(BOM))).data
        id = str(header.get("id") or os.path.splitext(os.path.basename(self.path))[0])
        return Conversation(id, agent or LOGS[0], str(header.get("cwd") or ""), self._messages())

    def _messages(self) -> Iterator[Said]:
        read = self.mark.read
        with open(self.path, "rb") as file:
            file.seek(read)
            for line in file:
                if line.endswith(b"\n"):
                    read += len(line)
                record = Record(Line(0, line.removeprefix(BOM)))
                message = dialect.message_of(record) if record.id and record.type != "compaction" else None
                if message is not None and record.id:
                    yield record.id, str(record.data.get("timestamp") or ""), message
        self.mark = Mark(read, _ends_at(self.path, read))


def conversations(path: str, agent: str = "") -> Iterator[Conversation]:
    """Every session in a file, whole."""
    if recognize(path) == LOGS[0]:
        session = Session(path)
        cwd = str(session.header.get("cwd") or "")
        yield Conversation(session.id, agent or LOGS[0], cwd, _untimed(session.messages()))
        return
    for reading in read_all(path):
        messages = (*reading.folded, *reading.entries)
        yield Conversation(reading.id, reading.agent, reading.cwd, _untimed(messages))


def several(path: str) -> bool:
    """Whether the file is of a format whose files hold several sessions."""
    return hasattr(READERS.get(recognize(path) or ""), "read_all")


def session_in(path: str, id: str) -> Session | Transcript:
    """The session of that id in a file; the newest of the file where none has it."""
    if several(path):
        named = next((r for r in read_all(path) if r.id == id), None)
        if named is not None:
            return Transcript(named)
    return open_session(path)


def _untimed(messages: Iterable[tuple[str, Message]]) -> Iterator[Said]:
    return ((id, "", message) for id, message in messages)


def _ends_at(path: str, place: int) -> bytes:
    """What tells whether a file up to a place is still the file that was read."""
    start = max(0, place - TAIL)
    with open(path, "rb") as file:
        head = file.read(min(TAIL, place))
        file.seek(start)
        return blake2b(head + file.read(place - start), digest_size=16).digest()


def _starts_with(path: str, start: bytes) -> bool:
    with open(path, "rb") as file:
        return file.read(len(start)) == start
