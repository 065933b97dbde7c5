"""Messages of one agent as another one takes them: what cannot be carried is replaced or left out, and named."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import groupby

from foldline._handoff.paired import answered, begun_by_user
from foldline._messages import Media, Message, Opaque, Part, Summary, Text, Thinking, ToolCall, ToolResult
from foldline._sessions.pi import PI
from foldline._wires import FORMATS, Picture

NO_OUTPUT = "[no output]"
"""What stands for the words of a tool that said nothing: blank ones are refused."""

_ID = re.compile(r"[^\w-]", re.ASCII)
_FREEFORM = frozenset(("custom", "custom_tool_call"))
_SAYING = ("text", "refusal", None)
_BOUND = frozenset(("tool_reference",))
"""Kinds of content that name what only the request that they stood in has."""


def portable(messages: Iterable[Message], format: str, lost: Counter[str]) -> Iterator[Message]:
    """The messages as `format` can say them; `lost` counts what was left out, by kind."""
    carried = (_message(message, format, lost) for message in replies_together(messages, format))
    said = (message for message in carried if not message.empty)
    if format == PI:
        return said
    return begun_by_user(answered(said, lost, in_items=FORMATS[format].many_items))


def _message(message: Message, format: str, lost: Counter[str]) -> Message:
    parts = tuple(p for part in message.parts if (p := _carried(part, message, format, lost)) is not None)
    return Message(message.role, parts, None, _known(message.extra, message, format), format)


def _known(extra: dict[str, object], message: Message, format: str) -> dict[str, object]:
    """What a message of the format itself says beyond its parts, as far as its provider takes it."""
    if message.format != format or format == PI:
        return {}
    keys = FORMATS[format].keys
    return {key: value for key, value in extra.items() if keys is None or key in keys}


def _carried(part: Part, message: Message, format: str, lost: Counter[str]) -> Part | None:
    own = message.format == format
    match part:
        case Thinking(_, signature, data):
            if own and format != PI and (signature or data):
                return part
            lost["thinking"] += 1
            return None
        case _ if own and format == PI:
            return part
        case Text(text):
            return _words(part, message, format) if text.strip() else None
        case ToolCall(id, name, extra=extra):
            return ToolCall(_taken(id), _taken(name), _arguments(part, message), _known(extra, message, format))
        case ToolResult():
            return _result(part, message, format, lost)
        case Summary("") if not own:
            lost["compaction"] += 1
            return None
        case Opaque({"type": "tool_call"}) if any(True for _ in message.calls):
            return None
        case Media() | Opaque():
            return _content(part, message, format, lost)
        case _:
            return part


def _words(part: Text, message: Message, format: str) -> Text:
    """Words without what a foreign wire or a transcript says of them."""
    known = _known(part.extra, message, format)
    return Text(part.text, known if known.get("type", "text") in _SAYING else {})


def _arguments(call: ToolCall, message: Message) -> str:
    """The arguments as a JSON object, which every provider wants of a function; a freeform call has none."""
    if {call.extra.get("type"), message.extra.get("type")} & _FREEFORM and message.format in FORMATS:
        return call.arguments
    try:
        read = json.loads(call.arguments)
    except (ValueError, RecursionError):
        read = None
    return call.arguments if isinstance(read, dict) else json.dumps({"input": call.arguments}, ensure_ascii=False)


def _result(result: ToolResult, message: Message, format: str, lost: Counter[str]) -> ToolResult:
    inner = (_content(part, message, format, lost) for part in result.parts)
    parts = tuple(part for part in inner if not isinstance(part, Text) or part.text.strip())
    if not parts and (result.error or message.format != format):
        parts = (Text(NO_OUTPUT),)
    extra = _known(result.extra, message, format)
    return ToolResult(_taken(result.call_id), parts, result.error, _taken(result.name), extra)


def _content(part: Text | Media | Opaque, message: Message, format: str, lost: Counter[str]) -> Text | Media | Opaque:
    """Words without a foreign wire's keys, an image in the shape of the format, or a note of what stood here."""
    if isinstance(part, Text):
        return _words(part, message, format)
    if message.format == format and isinstance(part.source, dict) and _kind(part.source) not in _BOUND:
        return part
    beside_words = message.role == "user" and not any(message.results)
    anywhere = format == PI or FORMATS[format].images_in_results
    if isinstance(part, Media) and (anywhere or beside_words) and (source := _image(part, format)):
        return Media("image", source)
    kind = part.kind if isinstance(part, Media) else _kind(part.source)
    lost[kind] += 1
    return Text(f"[{kind}]")


def _kind(source: object) -> str:
    kind = source.get("type") if isinstance(source, dict) else None
    return kind if isinstance(kind, str) and kind else "content of another format"


def _image(media: Media, format: str) -> dict[str, object] | None:
    """An image that stands whole in a message, in the shape of a format; None where it is none, or only linked."""
    if (picture := _picture(media.source)) is None:
        return None
    if format == PI:
        return {"type": "image", "data": picture.data, "mimeType": picture.mime}
    show = FORMATS[format].image
    return show(picture) if show is not None else None


def _picture(source: dict[str, object]) -> Picture | None:
    match source:
        case {"type": "image", "data": str(data), "mimeType": str(mime)}:
            return Picture(mime, data)
    return next((found for each in FORMATS.values() if (found := each.picture(source)) is not None), None)


def _taken(id: str) -> str:
    """A call's id or a tool's name as every provider takes it: letters, digits, `_` and `-`, at most 64 of them."""
    if len(id) <= 64 and not _ID.search(id):
        return id
    return f"{_ID.sub('_', id[:46])}-{blake2b(id.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}"


def replies_together(messages: Iterable[Message], format: str) -> Iterator[Message]:
    """What other formats say in several items as one reply each, and the results that stand in it behind it."""
    for in_items, several in groupby(messages, lambda message: _in_items(message, format)):
        together = list(several)
        if not in_items:
            yield from together
        elif parts := [part for message in together for part in message.parts]:
            origin = together[-1].format
            said = tuple(part for part in parts if not isinstance(part, ToolResult))
            yield Message("assistant", said, format=origin)
            answers = (part for part in parts if isinstance(part, ToolResult))
            yield from (Message("tool", (part,), format=origin) for part in answers)


def _in_items(message: Message, format: str) -> bool:
    """Whether a message may be one of several items of its reply, which another format says as one."""
    foreign = message.role == "assistant" and message.format != format
    return foreign and message.format in FORMATS and FORMATS[message.format].many_items
