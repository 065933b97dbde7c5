"""A caller's own format: its items are read as messages, and messages are said as items of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import eq
from typing import Any

from foldline import _wires as wire
from foldline._errors import WireError
from foldline._messages import Message, Speaker, Text, Thinking, ToolCall, ToolResult, replace
from foldline._wires.format import HostFormat, neighbours
from foldline._wires.objects import as_data
from foldline._wires.strangers import refuse_strangers
from foldline._wires.telling import Hearing

Item = Any
"""One message as the caller has it: a dict, an object of a provider's library or of a framework, or a `Message`."""

Stood = Callable[[], tuple[Item, Message] | None]
"""What stood where a message stands now: the caller's item and what that said; None where there was no such one."""


class Codec:
    """Reads a caller's items and writes such: dicts or objects of one provider's format, or `Message`s.

    The format is the one that the caller named, or that the items tell. `speaker` says whose words a message holds.
    """

    def __init__(self, format: str, speaker: Callable[[Message], Speaker | None] | None) -> None:
        self.told = Hearing(format, bool(format))
        """What the items told of their format so far."""
        self._speaker = speaker
        self._plain = False
        """Whether the caller's items are `Message`s."""
        self._together: list[tuple[Item, list[Item]]] = []
        """What was handed out as one item, with those that it was made of."""

    def lots(self, items: list[Item]) -> tuple[int, int]:
        """How many items of a history of copies are compared in each step: of the newest, and of the others in turn."""
        return (512, 1_024) if isinstance(items[-1], dict) else (48, 48)

    def alike(self, items: list[Item], others: list[Item]) -> bool:
        """Whether two lists of one length say the same, item for item."""
        return items == others

    def data(self, items: Sequence[Item], first: int) -> list[Any]:
        """What is read of items, the first of which stands at that place; raises `WireError` for what is no data."""
        return as_data(items, first)

    def read(self, data: Sequence[Item], told: Hearing, first: int, before: Sequence[Message]) -> list[Message]:
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

    def encode(self, message: Message, stood: Stood) -> Item:
        """The item that says a message which a fold made of what stood there, or of nothing."""
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


class HostCodec(Codec):
    """Reads and writes messages that are a framework's own objects."""

    def __init__(self, host: HostFormat[Any], speaker: Callable[[Message], Speaker | None] | None) -> None:
        super().__init__("host", speaker)
        self._host = host

    def alike(self, items: list[Item], others: list[Item]) -> bool:
        """Whether two lists of one length hold the same messages, or such as the framework takes for the same."""
        same = self._host.same
        return items == others if same is eq else all(a is b or same(a, b) for a, b in zip(items, others))

    def data(self, items: Sequence[Item], first: int) -> list[Any]:
        """The framework's objects themselves."""
        return list(items)

    def read(self, data: Sequence[Item], told: Hearing, first: int, before: Sequence[Message]) -> list[Message]:
        """The messages that the framework's say."""
        return [self._host.read(item) for item in data]

    def encode(self, message: Message, stood: Stood) -> Item:
        """A message of the framework's: the one that stood there, edited, where only words or thinking gave way."""
        item, was = stood() or (None, None)
        if was is None or _frame(was) != _frame(message):
            return self._host.made(message)
        return self._host.edited(item, was, message)

    def join(self, items: list[Item]) -> list[Item]:
        """The items: a framework puts neighbours together by itself."""
        return items


def codec_of(format: str | HostFormat[object], speaker: Callable[[Message], Speaker | None] | None) -> Codec:
    """What reads and writes the messages of a format: of the wire of that name, or of a framework."""
    return Codec(format, speaker) if isinstance(format, str) else HostCodec(format, speaker)


def listed(messages: Iterable[Item]) -> list[Item]:
    """Messages as a list; raises `WireError` where they are no messages at all, or one alone."""
    if not isinstance(messages, Iterable) or isinstance(messages, str | bytes | Mapping):
        raise WireError(f"a list of messages, not {messages!r}", format="", where="messages")
    return list(messages)


def _frame(message: Message) -> list[object]:
    """What stays of a message in which only texts, results, arguments and media gave way."""
    spoken = [part for part in message.parts if type(part) is not Thinking]
    return [message.role, *(part.id if type(part) is ToolCall else type(part) is ToolResult for part in spoken)]
