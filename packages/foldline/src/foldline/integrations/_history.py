"""A framework's own messages, kept inside the window: read once each, and handed out as the very objects that came."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import eq
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from foldline import Compactor, Message
from foldline.extend import Part, Summary, Text, Thinking, ToolCall, ToolResult, replace, text_of

Native = TypeVar("Native")

Now = Sequence[tuple[Message, Message | None]]
"""What each message of a framework's own was, and what it is now: the same, another, or none."""

KEY = "foldline"
"""Under which name what is foldline's stands in what is a framework's."""

NEWEST, LOT = 48, 48
"""Messages of a history of copies that are compared in each step: the newest, and so many of the others, in turn."""


@dataclass(frozen=True)
class Shape(Generic[Native]):
    """How a framework says a message."""

    read: Callable[[Native], Sequence[Message]]
    """What one of its messages says: several messages where a part of it stays that is no part of the conversation."""

    made: Callable[[Message], Native]
    """One of its messages that says what a fold put into the history."""

    edited: Callable[[Native, Now], Native]
    """A copy of one of its messages that says what it says now, and all else as it did."""

    same: Callable[[Native, Native], bool] = eq
    """Whether two of its messages are alike."""


def alone(edit: Callable[[Native, Message, Message], Native]) -> Callable[[Native, Now], Native]:
    """How a message is edited that says one of ours, by what that was and what it is now."""

    def edited(native: Native, now: Now) -> Native:
        ((was, is_now),) = now
        return native if is_now is None else edit(native, was, is_now)

    return edited


def as_json(value: Any) -> str:
    """The JSON text of what a framework holds as data."""
    return json.dumps(value, default=str, ensure_ascii=False)


def in_words(value: Any) -> str:
    """A text as it is, and the JSON text of anything else."""
    return value if isinstance(value, str) else as_json(value)


def in_place(was: Message, now: Message) -> list[Part | None]:
    """What takes the place of each part of a message: the same, another, or none where its thinking went."""
    left = deque(now.parts)
    return [
        left.popleft() if left and (type(part) is not Thinking or type(left[0]) is Thinking) else None
        for part in was.parts
    ]


def content_now(
    given: Iterable[Any], was: Iterable[Part], now: Iterable[Part | None], say: Callable[[Any, str], Any]
) -> Any:
    """A content as it is now: a text, or the items that stand as they did, the others as `say` makes them, the same with a text."""
    if isinstance(given, str):
        return next((part.text for part in now if isinstance(part, Text)), "")
    content = []
    for item, before, after in zip(given, was, now):
        if before == after:
            content.append(item)
        elif isinstance(after, (Text, Summary)):
            content.append(say(item, after.text))
    return content


def result_now(given: Iterable[Any], was: Message, now: Message, say: Callable[[Any, str], Any]) -> Any:
    """The content of a tool's message as it is now: a text where its items are not those that it had."""
    before, after = (next(message.results) for message in (was, now))
    if isinstance(given, str) or len(before.parts) != len(after.parts):
        return text_of(after)
    return content_now(given, before.parts, after.parts, say)


class _Made(NamedTuple):
    """A message of the framework's own that a fold made, and what it says."""

    native: Any
    messages: tuple[Message, ...]


class HostHistory(Generic[Native]):
    """One conversation of a framework, and the compactor that keeps it; a step reads what is new and no more."""

    def __init__(self, compactor: Compactor, shape: Shape[Native]) -> None:
        self.compactor = compactor
        self._shape = shape
        self._natives: list[Native] = []
        """The framework's messages as they came last: many frameworks make them anew each time."""
        self._said: list[tuple[Message, ...]] = []
        """What each of them says."""
        self._places: dict[int, int] = {}
        """Where a message stands among them, by its identity."""
        self._made: dict[tuple[int, ...], _Made] = {}
        """What was made for what was handed out last, by the identities of its messages."""
        self._origins: dict[int, tuple[Message, Message | None]] = {}
        """What was edited of it, by its identity, and what it was before."""
        self._turn = 0

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
        """What the framework's messages say; what stands as it did is not read again."""
        stands = self._stands(natives)
        if stands < len(self._natives):
            self._rewrite(natives, stands)
        for at in range(len(self._said), len(natives)):
            self._take(tuple(self._shape.read(natives[at])))
        self._natives = list(natives)
        return [message for said in self._said for message in said]

    def _stands(self, natives: Sequence[Native]) -> int:
        """How many of the framework's messages stand at the beginning of others, the same or equal ones."""
        known = self._natives
        pairs = list(zip(natives, known))
        if all(a is b for a, b in pairs):
            return len(pairs)
        self._turn += 1
        spots = _spots(len(known), self._turn)
        if len(natives) >= len(known) and all(self._shape.same(natives[at], known[at]) for at in spots):
            return len(known)
        return next((at for at, (a, b) in enumerate(pairs) if a is not b and not self._shape.same(a, b)), len(pairs))

    def _rewrite(self, natives: Sequence[Native], stands: int) -> None:
        """Goes on from others, some of which may be known from elsewhere in the history, or as what was handed out."""
        known = {id(made.native): made.messages for made in self._made.values()}
        known |= {id(native): said for native, said in zip(self._natives, self._said)}
        said, self._said, self._places = self._said[:stands], [], {}
        for messages in said:
            self._take(messages)
        for native in natives[stands:]:
            self._take(known.get(id(native)) or tuple(self._shape.read(native)))

    def _take(self, messages: tuple[Message, ...]) -> None:
        self._places.update((id(message), len(self._said)) for message in messages)
        self._said.append(messages)

    def _handed(self, sent: Sequence[Message], read: Sequence[Message]) -> list[Native]:
        """The framework's messages that say what is sent."""
        if len(sent) == len(read) and all(a is b for a, b in zip(sent, read)):
            return list(self._natives)
        handed: list[Any] = []
        edited: dict[int, tuple[int, dict[int, Message]]] = {}
        made: dict[tuple[int, ...], _Made] = {}
        origins: dict[int, tuple[Message, Message | None]] = {}
        for message in sent:
            was: Message | None = message
            if id(message) not in self._places:
                _, was = self._origins.get(id(message)) or (message, self._before(message, read))
                was = was if id(was) in self._places else None
                origins[id(message)] = message, was
            if was is None:
                key = (id(message),)
                made[key] = self._made.get(key) or _Made(self._shape.made(message), (message,))
                handed.append(made[key].native)
                continue
            at = self._places[id(was)]
            if was is message and len(self._said[at]) == 1:
                handed.append(self._natives[at])
                continue
            if at not in edited:
                edited[at] = len(handed), {}
                handed.append(None)
            edited[at][1][id(was)] = message
        for at, (place, now) in edited.items():
            handed[place] = self._edited(at, now, made)
        self._made, self._origins = made, origins
        return handed

    def _edited(self, at: int, now: dict[int, Message], made: dict[tuple[int, ...], _Made]) -> Any:
        """One of the framework's messages as it is now; the same object where it is what it was."""
        change = [(message, now.get(id(message))) for message in self._said[at]]
        if all(was is is_now for was, is_now in change):
            return self._natives[at]
        left = tuple(message for _, message in change if message is not None)
        key = tuple(map(id, left))
        made[key] = self._made.get(key) or _Made(self._shape.edited(self._natives[at], change), left)
        return made[key].native

    def _before(self, message: Message, read: Sequence[Message]) -> Message | None:
        """The message of the history that a fold made this one of; None where it stands for several, or for none."""
        if not isinstance(message, Message) or message.summary is not None:
            return None
        for fold in self.compactor.folds:
            for edit in fold.edits:
                if len(edit.drop) == 1 and isinstance(edit.into, tuple) and message in edit.into:
                    was = self.compactor.recall(edit.drop[0])
                    stands = next((m for m in read if m is was), None) or next((m for m in read if m == was), None)
                    return stands if stands and _frame(stands) == _frame(message) else None
        return {_without_thinking(m): m for m in read if m.role == "assistant"}.get(_without_thinking(message))


class ItemHistory(HostHistory[Any]):
    """One conversation of a framework whose messages are what a compactor takes and hands out."""

    def __init__(self, compactor: Compactor) -> None:
        self.compactor = compactor

    def _read(self, natives: Sequence[Any]) -> list[Any]:
        return list(natives)

    def _handed(self, sent: Sequence[Any], read: Sequence[Any]) -> list[Any]:
        return list(sent)


def _spots(length: int, turn: int) -> Sequence[int]:
    """Where a history is looked at in a turn."""
    newest = max(0, length - NEWEST)
    start = turn * LOT % newest if newest else 0
    return [*range(newest, length), *range(start, min(start + LOT, newest))]


def _without_thinking(message: Message) -> bytes:
    """What a message says besides its thinking, which a fold takes from those behind it where a model binds it to its past."""
    return msgspec.json.encode(replace(message, parts=tuple(p for p in message.parts if type(p) is not Thinking)))


def _frame(message: Message) -> list[Any]:
    """What stays of a message in which only texts, results, arguments and media gave way."""
    spoken = [part for part in message.parts if type(part) is not Thinking]
    return [message.role, *(part.id if isinstance(part, ToolCall) else isinstance(part, ToolResult) for part in spoken)]
