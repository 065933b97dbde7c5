"""A log that is read on from where the last reading stopped."""

from __future__ import annotations

import os

from foldline._sessions.following import Follower, IndexedSession, Mark, Said
from foldline._sessions.lines import Line, Record
from foldline._sessions.pi import PI, dialect
from foldline._sessions.source import BOM


def follow(path: str, mark: Mark) -> Follower | None:
    """The log as it is read on; None where its records have no ids, or its header is gone."""
    with open(path, "rb") as file:
        header = Record(Line(0, file.readline().removeprefix(BOM)))
    if header.type != "session" or (header.version or 1) < 2:
        return None
    id = str(header.data.get("id") or os.path.splitext(os.path.basename(path))[0])
    return Follower(path, mark, IndexedSession(id, PI, str(header.data.get("cwd") or ""), ()), _said)


def _said(line: bytes) -> Said | None:
    record = Record(Line(0, line))
    message = dialect.message_of(record) if record.id else None
    return (record.id, str(record.data.get("timestamp") or ""), message) if message and record.id else None
