"""Messages made of what session files say, whatever types they say it in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from foldline._errors import WireError
from foldline._messages import LARGEST_BILL, Media, Message, Opaque, Speaker, Summary, Text, ToolResult, Usage, replace
from foldline._sessions.lines import encoded


def mapping(value: object) -> dict[str, Any]:
    """The value where it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """The value where it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def mappings(value: object) -> Iterator[dict[str, Any]]:
    """The mappings in the value where it is a list."""
    return (item for item in items(value) if isinstance(item, dict))


def string(*values: object) -> str:
    """The first of the values that is a text with something in it, else the empty one."""
    return next((v for v in values if isinstance(v, str) and v), "")


def newest(rows: Sequence[Mapping[str, Any]], key: str) -> str:
    """The text under a key in the last of the rows that has one with something in it, else the empty one."""
    return string(*(row.get(key) for row in reversed(rows)))


def count(value: object) -> int:
    """The value where it is a possible number of tokens, else 0."""
    return value if type(value) is int and 0 < value <= LARGEST_BILL else 0


def usage(prompt: object, output: object, cached: object = 0, written: object = 0) -> Usage | None:
    """What a reply was billed where `prompt` includes the cached tokens, or None where nothing was."""
    total, read, write = count(prompt), count(cached), count(written)
    if read + write > total:
        read = write = 0
    billed = Usage(total - read - write, count(output), read, write)
    return billed if billed.prompt else None


def usage_at(bill: Mapping[str, Any], *keys: str) -> Usage | None:
    """The same of a bill, by its keys for the prompt, the output, what was cached and what was written to the cache."""
    return usage(*(bill.get(key) for key in keys))


def iso(milliseconds: object) -> str:
    """A time as text, or an empty one where the value is no time."""
    if not isinstance(milliseconds, int | float) or not 0 < milliseconds < 4e12:
        return ""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def as_json(value: object) -> str:
    """Arguments as their JSON text; a text stands for itself."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return "{}"


def as_written(*values: object) -> bytes:
    """The values as the rows of a file hold them, by whose length they are counted; nothing for what is not there."""
    return b"".join(encoded(value).rstrip() for value in values if value is not None)


def from_wire(item: Mapping[str, Any], format: str) -> Message | None:
    """The message that a wire item says, or None where it is none."""
    from foldline import _wires as wire

    try:
        return wire.decode(item, format)
    except WireError:
        return None


def wire_usage(bill: object) -> Usage | None:
    """What a provider's own bill says, or None where no prompt was billed."""
    from foldline._wires import read_usage

    billed = read_usage(bill)
    return billed if billed is not None and billed.prompt else None


def words(value: object) -> str:
    """The text in a content: a string, text parts, or a mapping with a text in it."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(words, value)))
    if isinstance(value, dict):
        return string(value.get("text"), value.get("content"), value.get("output"))
    return ""


def texts(values: Iterable[object]) -> tuple[Text, ...]:
    """A part for each of the values that is a text with something in it."""
    return tuple(Text(value) for value in values if isinstance(value, str) and value)


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
    used: dict[str, int] = {}
    made: list[tuple[str, Message]] = []
    for id, message in entries:
        number = used[id] = used.get(id, 0) + 1
        name = f"{id}~{number}" if number > 1 else id or "~"
        while number > 1 and name in used:
            number += 1
            name = f"{id}~{number}"
        used.setdefault(name, 1)
        made.append((name, message))
    return tuple(made)
