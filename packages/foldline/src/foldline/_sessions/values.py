"""What session files say, whatever types they say it in: each value as what it should be, else as nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from foldline._messages import LARGEST_BILL

Json = dict[str, object]
"""An object of JSON: what stands in it may be anything, and is looked at where it is read."""


def mapping(value: object) -> Json:
    """The value where it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[object]:
    """The value where it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def mappings(value: object) -> Iterator[Json]:
    """The mappings in the value where it is a list."""
    return (item for item in items(value) if isinstance(item, dict))


def string(*values: object) -> str:
    """The first of the values that is a text with something in it, else the empty one."""
    return next((v for v in values if isinstance(v, str) and v), "")


def newest(rows: Sequence[Mapping[str, object]], key: str) -> str:
    """The text under a key in the last of the rows that has one with something in it, else the empty one."""
    return string(*(row.get(key) for row in reversed(rows)))


def count(value: object) -> int:
    """The value where it is a possible number of tokens, else 0."""
    return value if type(value) is int and 0 < value <= LARGEST_BILL else 0


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


def words(value: object) -> str:
    """The text in a content: a string, text parts, or a mapping with a text in it."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(words, value)))
    if isinstance(value, dict):
        return string(value.get("text"), value.get("content"), value.get("output"))
    return ""
