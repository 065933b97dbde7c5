"""A log that is read on from where the last reading stopped."""

from __future__ import annotations

import os
from collections.abc import Iterator

from foldline._sessions.following import IndexedSession, Mark, Said, ends_at
from foldline._sessions.lines import Line, Record
from foldline._sessions.pi import PI, dialect
from foldline._sessions.source import BOM


def follow(path: str, mark: Mark) -> LogReader | None:
    """The log as it is read on; None where its records have no ids, or its header is gone."""
    header = _header(path)
    return LogReader(path, mark) if header.type == "session" and (header.version or 1) > 1 else None


class LogReader:
    """A log of pi or OpenClaw, read from where the last reading stopped; `mark` is how far that is."""

    def __init__(self, path: str, mark: Mark) -> None:
        self.path = path
        self.mark = mark if mark.read and ends_at(path, mark.read) == mark.tail else Mark()
        self.continues = bool(self.mark.read)

    def conversation(self, agent: str) -> IndexedSession:
        """The log as a conversation, its messages read while they are asked for."""
        header = _header(self.path).data
        id = str(header.get("id") or os.path.splitext(os.path.basename(self.path))[0])
        return IndexedSession(id, agent or PI, str(header.get("cwd") or ""), self._messages())

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
        self.mark = Mark(read, ends_at(self.path, read))


def _header(path: str) -> Record:
    with open(path, "rb") as file:
        return Record(Line(0, file.readline().removeprefix(BOM)))
