"""A caller's own format: its items are read as messages, and messages are said as items of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from foldline import _wires as wire
from foldline._messages import Message, Speaker, Text, replace
from foldline._wires.format import neighbours
from foldline._wires.strangers import refuse_strangers
from foldline._wires.telling import Told

Item = Any
"""One message as the caller has it: a dict or an object of a provider's library, or a `Message`."""


class Codec:
    """Reads a caller's items and writes such: dicts or objects of one provider's format, or `Message`s.

    The format is the one that the caller named, or that the items tell. `speaker` says whose words a message holds.
    """

    def __init__(self, format: str, speaker: Callable[[Message], Speaker | None] | None) -> None:
        self.told = Told(format, bool(format))
        """What the items told of their format so far."""
        self._speaker = speaker
        self._plain = False
        """Whether the caller's items are `Message`s."""
        self._together: list[tuple[Item, list[Item]]] = []
        """What was handed out as one item, with those that it was made of."""

    def read(self, data: Sequence[Item], told: Told, first: int, before: Sequence[Message]) -> list[Message]:
        """The messages that plain data say, as `told`, behind others; the caller has the first of them at that place.

        Raises `WireError`.
        """
        if not data:
            return []
        self._plain = isinstance(data[0], Message)
        if self._plain:
            return list(data)
        messages = wire.decode_all(data, told.format, before, first)
        refuse_strangers(messages, data, told.format, first)
        return messages

    def marked(self, message: Message) -> Message:
        """A message with its words marked as the speaker's, where one is named."""
        if self._speaker is None or not (speaker := self._speaker(message)):
            return message
        return replace(message, parts=tuple(replace(p, by=speaker) if type(p) is Text else p for p in message.parts))

    def encode(self, message: Message) -> Item:
        """The item that says a message."""
        return message if self._plain else wire.encode(message, self.told.format)

    def join(self, items: list[Item]) -> list[Item]:
        """Items that folds made neighbours, as one item where the provider refuses such; the same one each time."""
        join = wire.named(self.told.format).join
        if join is None or self._plain:
            return items
        before, self._together = self._together, []
        handed = []
        for item, of in neighbours(items, join):
            if len(of) > 1:
                item = next((one for one, parts in before if [*map(id, parts)] == [*map(id, of)]), item)
                self._together.append((item, of))
            handed.append(item)
        return handed

    def part(self, items: list[Item], handed: list[Item]) -> list[Item]:
        """The items of a caller who goes on from what was handed out, those parted again that `join` put together."""
        made_of = {id(one): of for one, of in self._together}
        parted = (made_of.get(id(one), [item]) if item == one else [item] for item, one in zip(items, handed))
        return [*(each for several in parted for each in several), *items[len(handed) :]]
