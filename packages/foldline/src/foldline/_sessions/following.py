"""Files that only grow, read on from where the last reading stopped."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

from foldline._messages import Message
from foldline._sessions.source import BOM

TAIL = 4_096
"""Bytes before the place that was read up to, by which a file that grew is told from one that was written anew."""

Said = tuple[str, str, Message]
"""A message with its id and its time, which is empty where the file does not say it."""


class ReadUpTo(NamedTuple):
    """How far a file was read: the bytes, and what they end with."""

    read: int = 0
    tail: bytes = b""


class IndexedSession(NamedTuple):
    """One session of a file: what tells it apart, its messages, and when it changed, in seconds since 1970, 0 if unknown.

    `live` says by their ids which of them its context still holds, where a fold took others out of it.
    """

    id: str
    agent: str
    cwd: str
    messages: Iterable[Said]
    changed: float = 0.0
    live: Callable[[], Collection[str]] = tuple


class Follower:
    """A file of one message a line, read from where the last reading stopped: `said` tells the one in a line, or None.

    `mark` is how far that is once the messages were read, and `continues` whether what was read before still stands, so
    that only what came since is read.
    """

    def __init__(self, path: str, mark: ReadUpTo, about: IndexedSession, said: Callable[[bytes], Said | None]) -> None:
        self.mark = mark if mark.read and _ends_at(path, mark.read) == mark.tail else ReadUpTo()
        self.continues = bool(self.mark.read)
        self._path, self._about, self._said = path, about, said

    def conversation(self, agent: str) -> IndexedSession:
        """The session, its messages read while they are asked for."""
        return self._about._replace(agent=agent or self._about.agent, messages=self._messages())

    def _messages(self) -> Iterator[Said]:
        read = self.mark.read
        with open(self._path, "rb") as file:
            file.seek(read)
            for line in file:
                if line.endswith(b"\n"):
                    read += len(line)
                if (said := self._said(line.removeprefix(BOM))) is not None:
                    yield said
        self.mark = ReadUpTo(read, _ends_at(self._path, read))


def _ends_at(path: str, place: int) -> bytes:
    """What tells whether a file up to a place is still the file that was read."""
    from hashlib import blake2b

    start = max(0, place - TAIL)
    with open(path, "rb") as file:
        head = file.read(min(TAIL, place))
        file.seek(start)
        return blake2b(head + file.read(place - start), digest_size=16).digest()
