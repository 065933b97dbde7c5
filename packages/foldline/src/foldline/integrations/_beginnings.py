"""Conversations that nobody names: told apart by what they begin with, and by how they went on."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Sequence
from hashlib import blake2b
from itertools import count
from threading import Lock
from typing import Any

MOST = 1_000
"""Conversations that are remembered; those that were seen longest ago go first."""


class Beginnings:
    """A key for each history: the same one for all that go on from what was seen under it."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, tuple[int, Any]] = OrderedDict()
        """How long each history was, and what it ended with."""
        self._lock = Lock()

    def key(self, items: Sequence[Any], said: Callable[[Any], Any] = lambda item: item) -> str:
        """The key of a history: of what its first message says, and which of those that begin so it is.

        `said` answers what an item says, where more stands in it that is another each time.
        """
        if not items:
            return ""
        spoken = next((item for item in items if _role(item) not in ("system", "developer")), items[0])
        begins = blake2b(json.dumps(said(spoken), default=str, sort_keys=True).encode(), digest_size=8).hexdigest()
        with self._lock:
            for number in count():
                length, end = self._seen.get(key := f"{begins}-{number}", (0, None))
                if not length or (length <= len(items) and said(items[length - 1]) == end):
                    break
            self._seen[key] = len(items), said(items[-1])
            self._seen.move_to_end(key)
            if len(self._seen) > MOST:
                self._seen.popitem(last=False)
            return key


def remember(known: dict[str, Any], key: str, value: Any) -> None:
    """Keeps a value by its key, among so many others."""
    known[key] = value
    if len(known) > MOST:
        del known[next(iter(known))]


def _role(item: Any) -> Any:
    return item.get("role") if isinstance(item, dict) else getattr(item, "role", None)
