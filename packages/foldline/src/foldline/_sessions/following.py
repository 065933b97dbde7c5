"""Files that only grow, read on from where the last reading stopped."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import NamedTuple, Protocol

from foldline._messages import Message

TAIL = 4_096
"""Bytes before the place that was read up to, by which a file that grew is told from one that was written anew."""

Said = tuple[str, str, Message]
"""A message with its id and its time, which is empty where the file does not say it."""


class Mark(NamedTuple):
    """How far a file was read: the bytes, and what they end with."""

    read: int = 0
    tail: bytes = b""


class IndexedSession(NamedTuple):
    """One session of a file: what tells it apart, and its messages."""

    id: str
    agent: str
    cwd: str
    messages: Iterable[Said]


class Follower(Protocol):
    """A file that is read on; `mark` is how far that is once the messages were read, `continues` whether it goes on."""

    @property
    def mark(self) -> Mark:
        """How far the file is read."""

    @property
    def continues(self) -> bool:
        """Whether what was read before still stands, so that only what came since is read."""

    def conversation(self, agent: str) -> IndexedSession:
        """The session, its messages read while they are asked for."""


def ends_at(path: str, place: int) -> bytes:
    """What tells whether a file up to a place is still the file that was read."""
    start = max(0, place - TAIL)
    with open(path, "rb") as file:
        head = file.read(min(TAIL, place))
        file.seek(start)
        return blake2b(head + file.read(place - start), digest_size=16).digest()
