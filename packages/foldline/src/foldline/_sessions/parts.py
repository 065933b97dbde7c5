"""Messages made of what session files say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from itertools import count as numbers

from foldline._errors import WireError
from foldline._messages import Media, Message, Opaque, Speaker, Summary, Text, ToolResult, Usage, replace
from foldline._sessions.values import Json, count, string


def usage(prompt: object, output: object, cached: object = 0, written: object = 0) -> Usage | None:
    """What a reply was billed where `prompt` includes the cached tokens, or None where nothing was."""
    total, read, write = count(prompt), count(cached), count(written)
    if read + write > total:
        read = write = 0
    billed = Usage(total - read - write, count(output), read, write)
    return billed if billed.prompt else None


def usage_at(bill: Mapping[str, object], prompt: str, output: str, cached: str = "", written: str = "") -> Usage | None:
    """The same of a bill, by its keys for the prompt, the output, what was cached and what was written to the cache."""
    return usage(bill.get(prompt), bill.get(output), bill.get(cached), bill.get(written))


def from_wire(item: Mapping[str, object], format: str) -> Message | None:
    """The message that a wire item says, or None where it is none."""
    from foldline import _wires as wire

    try:
        return wire.decode(item, format)
    except WireError:
        return None


def wire_usage(bill: object, format: str = "") -> Usage | None:
    """What a provider's own bill says, in the spelling of a wire format or in that of any, or None where no prompt was billed."""
    billed = None if bill is None else _reader(format)(bill)
    return billed if billed is not None and billed.prompt else None


@cache
def _reader(format: str) -> Callable[[object], Usage | None]:
    """What reads the bills of a wire format, or of any."""
    from foldline._wires import FORMATS, read_usage

    return FORMATS[format].usage if format else read_usage


def texts(values: Iterable[object]) -> tuple[Text, ...]:
    """A part for each of the values that is a text with something in it."""
    return tuple(Text(value) for value in values if isinstance(value, str) and value)


def system(prompt: Iterable[object], tools: object = None) -> Message | None:
    """The system message of a prompt's texts and of the tools beside it, or None where there is neither."""
    parts = (*texts(prompt), *([Opaque(tools)] if tools else ()))
    return Message("system", parts) if parts else None


def media(mime: str, source: Json) -> Media:
    """A part that holds a file of a type."""
    kind = mime.partition("/")[0]
    return Media("image" if kind == "image" else "audio" if kind == "audio" else "document", source)


def spoken_by(message: Message, by: Speaker) -> Message:
    """The message with its texts marked as a speaker's; what is marked already stays.

    What is not the user's is whose it says it is, where it says so.
    """
    if not by or all(type(p) is not Text or p.by for p in message.parts):
        return message
    return replace(message, parts=tuple(_said_by(p, by) if type(p) is Text and not p.by else p for p in message.parts))


def _said_by(text: Text, by: Speaker) -> Text:
    from foldline._facts.speakers import whose

    return replace(text, by=(whose(text.text) or by) if by in ("harness", "peer") else by)


def result(call_id: str, content: object, *, error: bool = False, name: str = "") -> ToolResult:
    """A tool result of a content in any shape; what is no text stays verbatim."""
    parts: list[Text | Media | Opaque] = []
    for item in content if isinstance(content, list) else [content]:
        if isinstance(item, str):
            parts.append(Text(item))
        elif isinstance(item, dict) and isinstance(text := item.get("text"), str):
            parts.append(Text(text))
        elif isinstance(item, dict) and "image" in string(item.get("type")):
            parts.append(Media("image", item))
        elif item is not None:
            parts.append(Opaque(item))
    return ToolResult(call_id, tuple(parts), error, name)


def summary(text: str, round: int) -> Message:
    """The message that stands in for what the fold number `round` folded."""
    return Message("user", (Summary(text, {"round": round} if round else {}),))


def unique(entries: Iterable[tuple[str, Message]]) -> tuple[tuple[str, Message], ...]:
    """The entries, each with an id of its own: what repeats, or is missing, is numbered."""
    names: dict[str, Iterator[str]] = {}
    made: dict[str, Message] = {}
    for id, message in entries:
        if id not in names:
            names[id] = chain((id or "~",), (f"{id}~{number}" for number in numbers(2)))
        made[next(name for name in names[id] if name not in made)] = message
    return tuple(made.items())
