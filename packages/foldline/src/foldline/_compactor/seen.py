"""What the model sees of all that was said: the caller's own messages, what folds put between them, and how much that is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil
from typing import NamedTuple

from foldline._compactor.codec import Codec, Item
from foldline._compactor.said import SaidMessages
from foldline._messages import Message, replace
from foldline._tokens.media import media_bytes
from foldline._tokens.meter import Meter
from foldline._tokens.payload import media_in
from foldline._tokens.weigh import at_most
from foldline._view import Entry, View

BYTES_PER_TOKEN = 5
"""More than most text has."""


class MadeMessage(NamedTuple):
    """A message that a fold put among those that the model sees, its size, and the item that is handed out for it."""

    entry: Entry
    weight: int
    item: Item


class Seen:
    """What the newest fold left, and every message of the conversation from `tail` on.

    A step costs what is seen, not what was ever said; what came since the last step is weighed only once that matters.
    """

    def __init__(self, said: SaidMessages, codec: Codec, meter: Meter) -> None:
        self.tail = 0
        self.images = 0
        self.media_bytes = 0
        """What is seen of pictures, documents and sounds."""
        self.said = said
        self.codec = codec
        self._meter = meter
        self._shown: list[int | MadeMessage] = []
        """The places of messages before the tail, and what folds put between them."""
        self._weight = 0
        self._unweighed = 0
        """What came since `_weight` was summed up takes at most so much more."""
        self._weighed = True

    # -- how much it is --------------------------------------------------------------------------------------------

    @property
    def weight(self) -> int:
        """The estimated size, uncalibrated; what is new is weighed now."""
        if not self._weighed:
            self._weigh()
        return self._weight

    @property
    def at_most(self) -> int:
        """What `weight` can be at most; while that is far from any mark, nothing has to be weighed."""
        return self._weight + self._unweighed

    @property
    def text_bytes(self) -> int:
        """The bytes of text, rather more than there are; they need not be counted while that is little."""
        return BYTES_PER_TOKEN * self._weight + self._unweighed

    # -- what it is ------------------------------------------------------------------------------------------------

    @property
    def places(self) -> list[int | None]:
        """Where all that is seen stands among what was said; None for what a fold made."""
        shown = (slot if isinstance(slot, int) else None for slot in self._shown)
        return [*shown, *range(self.tail, len(self.said.messages))]

    @property
    def made(self) -> list[Message]:
        """What folds put among the messages."""
        return [slot.entry.message for slot in self._shown if isinstance(slot, MadeMessage)]

    def items(self, items: Sequence[Item]) -> list[Item]:
        """The items that are seen, of those that the caller has for all that was said."""
        shown = (items[slot] if isinstance(slot, int) else slot.item for slot in self._shown)
        return [*shown, *items[self.tail : len(self.said.messages)]]

    def entries(self) -> Iterator[Entry]:
        """The entries of a view."""
        for slot in self._shown:
            if isinstance(slot, int):
                yield from self.said.entries((slot,))
            else:
                yield replace(slot.entry, tokens=ceil(slot.weight * self._meter.ratio))
        yield from self.said.entries(range(self.tail, len(self.said.messages)))

    # -- what changes in it ----------------------------------------------------------------------------------------

    def append(self, messages: Sequence[Message]) -> None:
        """Takes messages that are said behind all others."""
        self.said.messages += messages
        self._carry(messages)
        self._outgrow(messages)

    def put(self, at: int, message: Message) -> bool:
        """Takes a message in the place of another; False where a fold may not stand on it.

        One does on what says the same, and on another system message that is seen.
        """
        old = self.said.messages[at]
        same = self.said.put(at, message)
        seen = at >= self.tail or at in self._shown
        if seen:
            self._carry((old,), -1)
            self._carry((message,))
            if not same:
                self._outgrow((message,))
        return same or (seen and old.role == message.role == "system") or not self._shown

    def cut(self, first: int, standing: Sequence[Message]) -> None:
        """Rewrites the messages from a place on, which is not before the tail unless `show` follows."""
        self._carry(self.said.messages[first:], -1)
        self._carry(standing)
        self._outgrow(standing)
        self.said.cut(first, standing)

    def clear(self) -> None:
        """Forgets all that was said."""
        self.said.cut(0, ())
        self._shown = []
        self.tail = self.images = self.media_bytes = self._weight = self._unweighed = 0

    def show(self, view: View, places: Mapping[int, int], items: Sequence[Item]) -> None:
        """Makes a view what is seen from now on.

        `places` tells where its messages stand, by identity; `items` are those that the caller has for all that was said.
        """
        made = {id(slot.entry.message): slot for slot in self._shown if isinstance(slot, MadeMessage)}
        at = [places.get(id(message)) for message in view.messages]
        shown = [self._made(e, made, items) if place is None else place for e, place in zip(view.entries, at)]
        self.tail = len(self.said.messages)
        while shown and shown[-1] == self.tail - 1:
            shown.pop()
            self.tail -= 1
        self._shown = shown
        self.images = self.media_bytes = 0
        self._carry(view.messages)
        self._weigh()

    def adopt(self, items: Iterable[Item]) -> None:
        """Takes a caller's items in place of those that were handed out for what folds made."""
        self._shown = [
            slot if isinstance(slot, int) else slot._replace(item=item) for slot, item in zip(self._shown, items)
        ]

    def _made(self, entry: Entry, made: Mapping[int, MadeMessage], items: Sequence[Item]) -> MadeMessage:
        if known := made.get(id(entry.message)):
            return known._replace(entry=entry)
        item = self.codec.encode(entry.message, lambda: self._stood(entry.id, items))
        return MadeMessage(entry, self._meter.weigh(entry.message), item)

    def _stood(self, id: str, items: Sequence[Item]) -> tuple[Item, Message] | None:
        """The item of that id before any fold, and what it says; one message that takes another's place keeps its id."""
        ids = self.said.ids
        return (items[at := ids.index(id)], self.said.messages[at]) if id in ids else None

    def _weigh(self) -> None:
        weights = self.said.weights
        shown = sum(weights[slot] if isinstance(slot, int) else slot.weight for slot in self._shown)
        self._weight = shown + sum(weights[self.tail :])
        self._unweighed, self._weighed = 0, True

    def _outgrow(self, messages: Iterable[Message]) -> None:
        """Notes that the size is another than was summed up: by these messages at most, which are to be weighed yet."""
        self._unweighed += sum(map(at_most, messages))
        self._weighed = False

    def _carry(self, messages: Iterable[Message], sign: int = 1) -> None:
        """Counts the media of messages that are seen from now on, or no longer."""
        media = media_in(messages)
        self.images += sign * sum(1 for each in media if each.kind == "image")
        self.media_bytes += sign * sum(media_bytes(each.source) for each in media)
