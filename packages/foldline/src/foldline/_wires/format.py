"""A wire format as one declared object: what its module says of it, and all that the rest of the house asks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from operator import eq
from typing import Any, Generic, NamedTuple, TypeVar

from msgspec import Struct

from foldline._errors import WireError
from foldline._messages import Message, Opaque, Part, Role, ToolResult, Usage
from foldline._patterns import pattern

_DATA_URL = pattern(r"data:([\w.+/-]+);base64,(.+)", re.DOTALL)

Known = TypeVar("Known")
Native = TypeVar("Native")


class Sign(IntEnum):
    """What one item tells of a format."""

    NEVER = 0
    """No item of the format looks so."""
    MAYBE = 1
    """One may look so, and so may others'."""
    LIKELY = 2
    """One mostly looks so, though others' may."""
    SURELY = 3
    """Only its items look so."""


class Tool(NamedTuple):
    """A tool that a model may call; `parameters` is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: dict[str, Any]


class Picture(NamedTuple):
    """A picture that stands whole in a message: its media type and its base64."""

    mime: str
    data: str

    @property
    def url(self) -> str:
        """It as a data URL."""
        return f"data:{self.mime};base64,{self.data}"

    @classmethod
    def at(cls, url: object) -> Picture | None:
        """The picture that a data URL holds; None for any other."""
        found = _DATA_URL.fullmatch(url) if isinstance(url, str) else None
        return cls(found[1], found[2]) if found else None


class Ended(NamedTuple):
    """The message in a whole reply, and why the reply ended, in the provider's own word."""

    message: Message
    reason: str


def _nothing(value: object) -> None:
    return None


def strangers(message: Message) -> Iterable[Any]:
    """What a message holds verbatim without a `type` that would name it: items that no typed wire has."""
    return (
        source for source in opaque(message.parts) if not (type(source) is dict and type(source.get("type")) is str)
    )


def opaque(parts: Iterable[Part]) -> Iterable[Any]:
    """What stands verbatim in some parts, those of tool results included."""
    for part in parts:
        if type(part) is Opaque:
            yield part.source
        elif type(part) is ToolResult:
            yield from (inner.source for inner in part.parts if type(inner) is Opaque)


class WireFormat(Struct, frozen=True, kw_only=True):
    """A provider's message format.

    The first four fields are what it takes to fold a history; each of the others has a default that says "not known".
    A package adds its own as an entry point of the group `foldline.wires` that names such an object.
    """

    name: str
    """How callers name it: `Compactor(format=…)`."""

    tells: Callable[[Mapping[str, Any]], Sign]
    """What an item tells of the format. It is asked of items of every format, so it never raises."""

    decode: Callable[[Mapping[str, Any], str], Message]
    """The message that an item says; the second argument names the item in errors. Raises `WireError`."""

    encode: Callable[[Message], Any]
    """The item that says a message; of one that was decoded here, the same JSON. Raises `WireError` where it takes several."""

    usage: Callable[[Any], Usage | None] = _nothing
    """The bill in what a reply states as its usage, a dict or an object; None where that is not spelt as here."""

    reply: Callable[[Mapping[str, Any]], Ended | None] = _nothing
    """The message in a whole reply; None where it is no reply of this provider's."""

    appended: str = ""
    """How the message in a reply is written in Python, for who appends the whole reply by mistake."""

    strange: Callable[[Message], Iterable[Any]] = strangers
    """What a decoded message holds that the format does not know: histories with such are refused, since a fold would lose it."""

    ids: Callable[[Sequence[Message], Sequence[Message]], list[Message]] | None = None
    """Gives ids to calls and results that state none: the messages and those before them, to the messages with ids."""

    join: Callable[[Any, Any], Any] | None = None
    """The item that says two neighbours of one role, where the provider refuses such; None where it takes them."""

    tool: Callable[[Tool], dict[str, Any]] | None = None
    """How a request declares a tool."""

    picture: Callable[[Mapping[str, Any]], Picture | None] = _nothing
    """The picture in an item of a message's content; None where it is none, or only linked."""

    image: Callable[[Picture], dict[str, Any]] | None = None
    """The item of a message's content that shows a picture; None where the format shows none."""

    images_in_results: bool = True
    """Whether a tool's result may show pictures."""

    keys: frozenset[str] | None = None
    """The keys that its provider takes in an item; None where others than those do no harm."""

    summaries: tuple[Role, ...] = ("user",)
    """The roles that a summary may have where it stands before all else but the system's messages."""

    many_items: bool = False
    """Whether one reply is several items."""

    request: Callable[[Sequence[Message]], tuple[Any, int]] | None = None
    """The part of a request that says a conversation, its system's messages included, and how many items that has."""


class HostFormat(Struct, Generic[Native], frozen=True):
    """How a framework says a message: `Compactor(format=…)` takes lists of its messages and hands out such."""

    read: Callable[[Native], Message]
    """What one of its messages says."""

    made: Callable[[Message], Native]
    """One of its messages that says what a fold put into the history."""

    edited: Callable[[Native, Message, Message], Native]
    """A copy of one of its messages, given what that said and what it says now; all else of it stays as it is."""

    same: Callable[[Native, Native], bool] = eq
    """Whether two of its messages are alike: many frameworks make them anew for each call."""


def neighbours(items: Iterable[object], join: Callable[[object, object], object]) -> list[tuple[Any, list[Any]]]:
    """The items, neighbours that `join` puts together as one, each with those that it was made of."""
    together: list[tuple[object, list[object]]] = []
    for item in items:
        last, of = together[-1] if together else (None, [])
        both = join(last, item) if together else None
        together[-1:] = [(both, [*of, item])] if both is not None else [*together[-1:], (item, [item])]
    return together


def neighbours_joined(items: Iterable[object], join: Callable[[object, object], object]) -> list[Any]:
    """The items, neighbours that `join` puts together as one; each other is the very same."""
    return [item for item, _ in neighbours(items, join)]


def item_as_mapping(item: object, format: str, where: str) -> Mapping[str, Any]:
    """The item where it is a mapping; raises `WireError` otherwise."""
    if isinstance(item, Mapping):
        return item
    raise WireError(f"a message must be a mapping, not {type(item).__name__}", format=format, where=where)


def role_in(item: Any, roles: Mapping[str, Known], format: str, where: str) -> Known:
    """What a format knows by the role of an item; raises `WireError` where it knows none of that name."""
    given = item_as_mapping(item, format, where).get("role")
    known = roles.get(given) if isinstance(given, str) else None
    if known is None:
        problem = f"no such role: {given!r}" if "role" in item else "a message without a role"
        raise WireError(problem, format=format, where=f"{where}.role" if where else "role")
    return known


def parts_of(item: Mapping[str, object]) -> Sequence[Any]:
    """What an item lists as its content; nothing where that is a text, or none."""
    content = item.get("content")
    return content if isinstance(content, (list, tuple)) else ()


def kind_of(part: object) -> str:
    """The type that a part of a content states, or an empty text."""
    kind = part.get("type") if isinstance(part, Mapping) else None
    return kind if isinstance(kind, str) else ""


def at(value: Any, *path: Any) -> Any:
    """What stands at a path of keys and places, or None where it leads nowhere."""
    for step in path:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and len(value) > step else None
        else:
            value = value.get(step) if isinstance(value, Mapping) else None
    return value
