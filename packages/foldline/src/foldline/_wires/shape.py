"""How an item keeps its order and shape while its values stand in parts.

An `extra` has one of two forms. Without a modelled key it holds the unmodelled ones, and the item is the encoder's
canonical one followed by them. With modelled keys it lists all keys of the item in their order, and the value of a
modelled key is a mark: `None` says "the parts tell what stands here", `{"is": value}` says "the parts tell nothing
and the wire had this value", and anything else names a shape.

Marks never overrule parts: what an edit put into the parts is written, wherever the marks come from.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from foldline._messages import Message, Opaque, Part, Summary, Text, Thinking, ToolResult, replace

AnyPart = TypeVar("AnyPart", bound=Part)


class Shape(NamedTuple):
    """The modelled keys of one kind of item in canonical order; the first `always` are never left out."""

    keys: tuple[str, ...]
    always: int


def extra_of(item: Mapping[str, object], shape: Shape, marks: Mapping[str, object]) -> dict[str, object]:
    """The extra of an item: what it says beyond its parts, and how it says it."""
    given = list(item)
    known = [key for key in shape.keys if key in item]
    canonical = known[: shape.always] == list(shape.keys[: shape.always]) and given[: len(known)] == known
    if canonical and not marks:
        return {key: item[key] for key in given[len(known) :]}
    return {key: marks.get(key) if key in shape.keys else value for key, value in item.items()}


def item_of(
    fields: dict[str, object], extra: Mapping[str, object], shape: Shape, void: Mapping[str, object] | None = None
) -> dict[str, object]:
    """The item that says `fields` in the shape of `extra`.

    A field that equals its `void` says nothing: where the extra knows better, or does not have its key, it yields.
    """
    if not extra:
        return fields
    if extra.keys().isdisjoint(shape.keys):
        return {**fields, **extra}
    telling = {key: value for key, value in fields.items() if not void or key not in void or void[key] != value}
    item: dict[str, object] = {}
    for key, mark in extra.items():
        if key not in shape.keys:
            item[key] = mark
        elif key in telling:
            item[key] = telling[key]
        elif type(mark) is dict and "is" in mark:
            item[key] = mark["is"]
        elif key in fields:
            item[key] = fields[key]
    for key, value in telling.items():
        if key not in extra:
            item[key] = value
    return item


def body_of(key: str, body: dict[str, object], extra: Mapping[str, object]) -> dict[str, object]:
    """The item that says a body under one key."""
    return item_of({key: body}, extra, Shape((key,), 1))


# -- content: a string, a list of parts, or something else --------------------------------------------------------

LIST = "list"
"""The mark of a list where a string would do."""

BARE = "bare"
"""The mark of a content that is neither string nor list and stands in one `Opaque`."""


def content_in(value: object, part_in: Callable[[object], AnyPart]) -> tuple[tuple[AnyPart | Text | Opaque, ...], Any]:
    """The parts of a content, and its mark."""
    if isinstance(value, str):
        return (Text(value),), None
    parts, mark = list_in(value, part_in)
    plain = mark is None and len(parts) == 1 and type(part := parts[0]) is Text and not part.extra
    return parts, LIST if plain else mark


def list_in(value: object, part_in: Callable[[object], AnyPart]) -> tuple[tuple[AnyPart | Opaque, ...], Any]:
    """The parts of a content that is a list and never a string, and its mark."""
    if isinstance(value, (list, tuple)) and value:
        return tuple([part_in(item) for item in value]), None
    if value is None or value == []:
        return (), {"is": value}
    return (Opaque(verbatim(value)),), BARE


def list_out(parts: Sequence[Part], mark: object, part_out: Callable[[Part], object]) -> object:
    """The list that says the parts, or what stood in its place."""
    if mark == BARE and len(parts) == 1 and type(part := parts[0]) is Opaque:
        return verbatim(part.source)
    return [part_out(part) for part in parts]


def content_out(parts: Sequence[Part], mark: object, part_out: Callable[[Part], Any], void: object) -> object:
    """The content that says the parts, in the shape that the mark names where they still fit it."""
    if not parts:
        return void
    if len(parts) == 1:
        part = parts[0]
        if mark == BARE and type(part) is Opaque:
            return verbatim(part.source)
        item = part_out(part)
        plain = mark != LIST and type(part) in (Text, Summary) and tuple(item) == TEXT.keys
        return item["text"] if plain else [item]
    return [part_out(part) for part in parts]


# -- parts that the formats share ---------------------------------------------------------------------------------

TEXT = Shape(("type", "text"), 2)


def text_in(item: dict[str, object]) -> Text | None:
    """The text of a text part, or None where it has no words."""
    text = item.get("text")
    if not isinstance(text, str):
        return None
    return Text(text) if tuple(item) == TEXT.keys else Text(text, extra_of(item, TEXT, {}))


def verbatim(item: object) -> object:
    """The item as it is; outer dicts are copied, since callers move cache markers about in their own."""
    if isinstance(item, dict):
        return dict(item)
    if isinstance(item, list):
        return [dict(each) if isinstance(each, dict) else each for each in item]
    return item


def reader(known: Mapping[str, Callable[[dict[str, object]], AnyPart | None]]) -> Callable[[object], AnyPart | Opaque]:
    """Reads an item as the part that it decodes to by its type; what no decoder wants is opaque."""

    def read(item: object) -> AnyPart | Opaque:
        if isinstance(item, dict):
            kind = item.get("type")
            decoder = known.get(kind) if isinstance(kind, str) else None
            if decoder is not None and (part := decoder(item)) is not None:
                return part
        return Opaque(verbatim(item))

    return read


# -- what another format knows ------------------------------------------------------------------------------------


def as_own(message: Message, name: str, thinks: Callable[[Thinking], bool] = lambda part: False) -> Message:
    """A message as the format of that name may say it: of another format's messages only what any format knows.

    Thinking is bound to the provider that made it; in a message that names no format it stays where `thinks` says so.
    """
    if message.format == name:
        return message
    foreign = bool(message.format)
    left = (part for part in message.parts if type(part) is not Thinking or (not foreign and thinks(part)))
    return replace(message, parts=tuple(_known(part, foreign) for part in left), extra={})


def _known(part: Part, foreign: bool) -> object:
    match part:
        case Opaque(source) if foreign:
            kind = source.get("type") if isinstance(source, dict) else None
            return Text(stand_in(kind or "content of another format"))
        case ToolResult(parts=parts):
            return replace(part, parts=tuple(_known(inner, foreign) for inner in parts), extra={})
        case Summary(source=source) if source:
            return replace(part, source={})
    return replace(part, extra={}) if getattr(part, "extra", None) else part


def stand_in(kind: str) -> str:
    """The words that stand in for what a format cannot say."""
    return f"[{kind}]"


# -- tool arguments -----------------------------------------------------------------------------------------------

# Not escaped, so that lone surrogates do not merge into pairs on the way back.
_dumps = json.JSONEncoder(ensure_ascii=False).encode
_loads = json.JSONDecoder().decode


def to_json(value: object) -> str | None:
    """The JSON text of a value, or None where it has none."""
    try:
        return _dumps(value)
    except (TypeError, ValueError, RecursionError):
        return None


ANY = "any"
"""The mark of a call's input that is not a mapping."""

BROKEN = object()
"""What stands for a JSON text that cannot be read."""


def value_of(arguments: str, *, any: bool) -> object:
    """The value of a call's arguments; where that is no mapping, and not `any` value may stand, one that holds their text."""
    value = from_json(arguments, BROKEN)
    return value if isinstance(value, dict) or (any and value is not BROKEN) else {"arguments": arguments}


def from_json(text: str, default: object) -> object:
    """The value of a JSON text, or the default where it is broken."""
    try:
        return _loads(text)
    except (ValueError, RecursionError):
        return default
