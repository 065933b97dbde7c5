"""All that was said: every message of a conversation with its id and its size, each worked out once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from math import ceil
from typing import Any

from foldline._messages import Message
from foldline._tokens.meter import Meter
from foldline._view import Entry, chain, identity

Naming = Callable[[Sequence[Message]], list[str]]


class SaidMessages:
    """The messages of a conversation, with ids and estimated sizes, uncalibrated.

    `named` tells the ids that the newest messages have where they are kept; none where they are not. Then an id hangs on
    all before it.
    """

    def __init__(self, meter: Meter, pinned: Callable[[Message], bool], named: Naming) -> None:
        self.messages: list[Message] = []
        self._meter = meter
        self._pinned = pinned
        self._named = named
        self._ids: list[str] = []
        self._weights: list[int] = []
        self._changed: set[int] = set()
        """Where messages stand that must be weighed again."""

    @property
    def ids(self) -> list[str]:
        """The id of each message."""
        known = len(self._ids)
        if known < len(self.messages):
            self._ids += self._named(self.messages[known:]) or chain(
                islice(self.messages, known, None), *self._parent(known)
            )
        return self._ids

    @property
    def weights(self) -> list[int]:
        """The size of each message."""
        self._weights += self._meter.weigh_all(self.messages[len(self._weights) :])
        for at in self._changed:
            self._weights[at] = self._meter.weigh(self.messages[at])
        self._changed.clear()
        return self._weights

    def entries(self, places: Sequence[int]) -> Iterator[Entry]:
        """The messages at some places, as a view has them."""
        ids, weights, ratio = self.ids, self.weights, self._meter.ratio
        for at in places:
            message = self.messages[at]
            yield Entry(ids[at], message, ceil(weights[at] * ratio), self._pinned(message))

    def before(self, place: int) -> Sequence[Message]:
        """The messages before a place, which are not copied."""
        return self.messages if place == len(self.messages) else Prefix(self.messages, place)

    def put(self, at: int, message: Message) -> bool:
        """Puts a message in the place of another, and says whether it says the same."""
        old, self.messages[at] = self.messages[at], message
        if identity(old) == identity(message):
            return True
        if at < len(self._weights):
            self._changed.add(at)
        if not old.role == message.role == "system":
            del self._ids[at:]
        elif at < len(self._ids):
            self._ids[at] = next(chain([message], *self._parent(at)))
        return False

    def cut(self, first: int, standing: Sequence[Message]) -> None:
        """Rewrites the messages from a place on."""
        self.messages[first:] = standing
        del self._weights[first:], self._ids[first:]
        self._changed = {at for at in self._changed if at < first}

    def _parent(self, at: int) -> tuple[str, int]:
        """The id of the last message before a place that is no system message, and how many stand between."""
        spoken = next((i for i in range(at - 1, -1, -1) if self.messages[i].role != "system"), -1)
        return self._ids[spoken] if spoken >= 0 else "", at - 1 - spoken


class Prefix(Sequence[Message]):
    """The first messages of a list, which are not copied for it."""

    def __init__(self, messages: Sequence[Message], length: int) -> None:
        self._messages = messages
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, at: Any) -> Any:
        found = range(self._length)[at]
        return self._messages[found] if isinstance(found, int) else [self._messages[i] for i in found]
