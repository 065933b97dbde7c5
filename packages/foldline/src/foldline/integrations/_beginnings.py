"""Conversations that nobody names: told apart by what they begin with, and by how they went on."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, MutableMapping, Sequence
from hashlib import blake2b
from itertools import count
from threading import Lock
from typing import Any

import msgspec

MOST = 1_000
"""Conversations that are remembered; those that were seen longest ago go first."""


class Beginnings:
    """A key for each history: the same one for all that go on from what was seen under it.

    Where `states` are kept, each says how far its conversation had come, so that another process tells those apart that
    begin alike.
    """

    def __init__(self, states: MutableMapping[str, bytes] | None = None) -> None:
        self._seen: OrderedDict[str, tuple[int, Any]] = OrderedDict()
        """How long each history was, and what it ended with."""
        self._states = states
        self._lock = Lock()

    def key(self, items: Sequence[Any], said: Callable[[Any], Any] = lambda item: item) -> str:
        """The key of a history: of what its first message says, and which of those that begin so it is.

        `said` answers what an item says, where more stands in it that is another each time.
        """
        if not items:
            return ""
        spoken = next((item for item in items if _role(item) not in ("system", "developer")), items[0])
        with self._lock:
            key = self._found(_digest(said(spoken)), items, said)
            self._seen[key] = len(items), said(items[-1])
            self._seen.move_to_end(key)
            if len(self._seen) > MOST:
                self._seen.popitem(last=False)
            return key

    def marked(self, key: str, state: bytes) -> bytes:
        """The state of a conversation, with how far that has come."""
        with self._lock:
            if key not in self._seen:
                return state
            length, end = self._seen[key]
            return b'%s,"came":[%d,"%s"]}' % (state[:-1], length, _digest(end).encode())

    def _found(self, begins: str, items: Sequence[object], said: Callable[[object], object]) -> str:
        """The key under which the history was seen or kept; else a new one, or one that was kept as other data say it."""
        kept = ""
        keys = (f"{begins}-{number}" for number in count())
        while True:
            key = next(keys)
            if key in self._seen:
                length, end = self._seen[key]
                if length <= len(items) and said(items[length - 1]) == end:
                    return key
                continue
            state = self._states.get(key) if self._states is not None else None
            if state is None:
                return kept or key
            length, end = _came(state)
            if length <= len(items):
                if length and _digest(said(items[length - 1])) == end:
                    return key
                kept = kept or key


def remember(known: dict[str, Any], key: str, value: Any) -> None:
    """Keeps a value by its key, among so many others."""
    known[key] = value
    if len(known) > MOST:
        del known[next(iter(known))]


def _role(item: object) -> object:
    return item.get("role") if isinstance(item, dict) else getattr(item, "role", None)


class _Kept(msgspec.Struct):
    """What a state says of its history: how long that was, and what it ended with."""

    came: tuple[int, str] = (0, "")


def _came(state: bytes) -> tuple[int, str]:
    try:
        return msgspec.json.decode(state, type=_Kept).came
    except msgspec.DecodeError:
        return 0, ""


def _digest(said: object) -> str:
    return blake2b(json.dumps(said, default=str, sort_keys=True).encode(), digest_size=8).hexdigest()
