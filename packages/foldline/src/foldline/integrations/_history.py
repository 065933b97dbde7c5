"""A framework's own messages, kept inside the window: read once each, and handed out as the very objects that came."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from foldline import Compactor, Message
from foldline.extend import Part, Summary, Text, Thinking, ToolCall, ToolResult, replace

Native = TypeVar("Native")

Now = Sequence[tuple[Message, Message | None]]
"""What each message of a framework's own was, and what it is now: the same, another, or none."""

KEY = "foldline"
"""Under which name what is foldline's stands in what is a framework's."""

SPARE = 64
"""Messages that are remembered beyond twice the history, before those that left it are forgotten."""


@dataclass(frozen=True)
class Shape(Generic[Native]):
    """How a framework says a message."""

    read: Callable[[Native], Sequence[Message]]
    """What one of its messages says: several messages where a part of it stays that is no part of the conversation."""

    made: Callable[[Message], Native]
    """One of its messages that says what a fold put into the history."""

    edited: Callable[[Native, Now], Native]
    """A copy of one of its messages that says what it says now, and all else as it did."""


ITEMS: Shape[Any] = Shape(lambda native: (native,), lambda message: message, lambda native, now: native)
"""Of a framework whose messages are what a compactor takes and hands out."""


def in_place(was: Message, now: Message) -> list[Part | None]:
    """What takes the place of each part of a message: the same, another, or none where its thinking went."""
    left = deque(now.parts)
    return [
        left.popleft() if left and (type(part) is not Thinking or type(left[0]) is Thinking) else None
        for part in was.parts
    ]


def content_now(
    items: Iterable[Any], was: Iterable[Part], now: Iterable[Part | None], say: Callable[[str], Any]
) -> list[Any]:
    """The items of a content that stand as they did, and in the place of the others what says their text now."""
    content = []
    for item, before, after in zip(items, was, now):
        if before == after:
            content.append(item)
        elif isinstance(after, (Text, Summary)):
            content.append(say(after.text))
    return content


class _Home(NamedTuple):
    """One of the framework's messages, and what it says."""

    native: Any
    messages: tuple[Message, ...]


class HostHistory(Generic[Native]):
    """One conversation of a framework, and the compactor that keeps it; a step reads what is new and no more."""

    def __init__(self, compactor: Compactor, shape: Shape[Native]) -> None:
        self.compactor = compactor
        self._shape = shape
        self._homes: dict[int, _Home] = {}
        """What each of the framework's messages says, by its identity."""
        self._home_of: dict[int, _Home] = {}
        """Where a message stands, by its identity."""
        self._out: list[Native] = []
        """What was handed out last."""
        self._last: list[Native] = []
        """The framework's messages as they came last: many frameworks make them anew each time."""

    def fit(self, natives: Sequence[Native], *, system: Any = None) -> list[Native]:
        """The framework's messages that the model should see now."""
        read = self._read(natives)
        return self._handed(self.compactor.fit(read, system=system), read)

    async def afit(self, natives: Sequence[Native], *, system: Any = None) -> list[Native]:
        """The same, while the event loop goes on."""
        read = self._read(natives)
        return self._handed(await self.compactor.afit(read, system=system), read)

    def fold(self, natives: Sequence[Native]) -> list[Native]:
        """Those after a fold that was asked for, whatever the fill."""
        read = self._read(natives)
        return self._handed(self.compactor.fold(read), read)

    async def afold(self, natives: Sequence[Native], *, focus: str = "") -> list[Native]:
        """The same, while the event loop goes on, with what `focus` asks for."""
        read = self._read(natives)
        return self._handed(await self.compactor.afold(read, focus=focus), read)

    def recover(self, error: BaseException, natives: Sequence[Native]) -> list[Native]:
        """Those to send again, once, after the provider refused a request as too long; another error is raised again."""
        read = self._read(natives)
        return self._handed(self.compactor.recover(error, read), read)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _read(self, natives: Sequence[Native]) -> list[Message]:
        messages: list[Message] = []
        homes = self._homes
        for place, native in enumerate(natives):
            messages += (homes.get(id(native)) or self._home(native, place)).messages
        self._last = list(natives)
        if len(homes) > 2 * len(natives) + SPARE:
            self._forget_all_but([*self._out, *natives])
        return messages

    def _home(self, native: Native, place: int) -> _Home:
        """What one of the framework's messages says that was not seen before: the same as the one before it that equals it."""
        before = self._last[place] if place < len(self._last) else None
        known = self._homes.get(id(before)) if before is not None and before == native else None
        return self._settled(native, known.messages if known else tuple(self._shape.read(native)))

    def _settled(self, native: Any, messages: tuple[Message, ...]) -> _Home:
        home = self._homes[id(native)] = _Home(native, messages)
        for message in messages:
            self._home_of[id(message)] = home
        return home

    def _forget_all_but(self, natives: Iterable[Native]) -> None:
        """Lets go of what left the history."""
        kept = [home for native in natives if (home := self._homes.get(id(native)))]
        self._homes, self._home_of = {}, {}
        for home in kept:
            self._settled(*home)

    def _handed(self, sent: Sequence[Message], read: Sequence[Message]) -> list[Native]:
        """The framework's messages that say what is sent."""
        handed: list[Any] = []
        parts: dict[int, tuple[int, _Home, dict[int, Message]]] = {}
        for message in sent:
            home, was = self._home_of.get(id(message)), message
            if home is None:
                was = self._before(message, read) or message
                home = self._home_of.get(id(was)) or self._settled(self._shape.made(message), (message,))
            if was is message and len(home.messages) == 1:
                handed.append(home.native)
            else:
                if id(home) not in parts:
                    parts[id(home)] = len(handed), home, {}
                    handed.append(None)
                parts[id(home)][2][id(was)] = message
        for place, home, now in parts.values():
            handed[place] = self._edited(home, now)
        self._out = handed
        return handed

    def _edited(self, home: _Home, now: dict[int, Message]) -> Any:
        """One of the framework's messages as it is now; the same object where it is what it was."""
        change = [(message, now.get(id(message))) for message in home.messages]
        if all(was is is_now for was, is_now in change):
            return home.native
        left = tuple(message for _, message in change if message is not None)
        known = self._home_of.get(id(left[0]))
        if known is not None and known.messages == left:
            return known.native
        return self._settled(self._shape.edited(home.native, change), left).native

    def _before(self, message: Message, read: Sequence[Message]) -> Message | None:
        """The message of the history that a fold made this one of; None where it stands for several, or for none."""
        if message.summary is not None:
            return None
        for fold in self.compactor.folds:
            for edit in fold.edits:
                if len(edit.drop) == 1 and isinstance(edit.into, tuple) and message in edit.into:
                    was = self.compactor.recall(edit.drop[0])
                    stands = next((m for m in read if m is was), None) or next((m for m in read if m == was), None)
                    return stands if stands and _frame(stands) == _frame(message) else None
        return {_without_thinking(m): m for m in read if m.role == "assistant"}.get(_without_thinking(message))


def _without_thinking(message: Message) -> bytes:
    """What a message says besides its thinking, which a fold takes from those behind it where a model binds it to its past."""
    return msgspec.json.encode(replace(message, parts=tuple(p for p in message.parts if type(p) is not Thinking)))


def _frame(message: Message) -> list[Any]:
    """What stays of a message in which only texts, results, arguments and media gave way."""
    spoken = [part for part in message.parts if type(part) is not Thinking]
    return [message.role, *(part.id if isinstance(part, ToolCall) else isinstance(part, ToolResult) for part in spoken)]
