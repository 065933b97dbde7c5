"""Wire formats: one module for each, which declares how a provider's items decode into messages and encode again.

One item is one message. What was decoded from a format encodes into it as the same JSON, to the byte.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from foldline._errors import WireError
from foldline._framing import SUMMARY_PREFIX, SUMMARY_SUFFIX, summary_in, summary_text
from foldline._messages import Message
from foldline._wires.format import Ended, Picture, Sign, Tool, WireFormat, neighbours_joined
from foldline._wires.registry import FORMATS, OWN, named
from foldline._wires.reply import read_reply, read_usage
from foldline._wires.telling import detect

__all__ = [
    "FORMATS", "OWN", "SUMMARY_PREFIX", "SUMMARY_SUFFIX", "Ended", "Picture", "Sign", "Tool", "WireFormat", "decode",
    "decode_all", "detect", "encode", "joined", "named", "read_reply", "read_usage", "summary_in", "summary_text",
    "with_ids",
]  # fmt: skip


def decode(item: Mapping[str, Any], format: str, where: str = "") -> Message:
    """The message that an item of a format says; raises `WireError` where it has no role that the format knows."""
    return named(format).decode(item, where)


def decode_all(
    items: Sequence[Mapping[str, object]], format: str, before: Sequence[Message] = (), first: int | None = None
) -> list[Message]:
    """The messages that the items of a history say, where `before` stands before them.

    Errors count from `first` on; where it is not given, all that stands before is counted.
    Calls of a format that needs no ids get some, the same each time that the same history is decoded.
    """
    read = named(format).decode
    try:
        messages = [read(item, "") for item in items]
    except WireError:  # once more, for the place that is to blame
        messages = [
            read(item, f"messages[{i}]") for i, item in enumerate(items, len(before) if first is None else first)
        ]
    return with_ids(messages, format, before)


def with_ids(messages: Sequence[Message], format: str, before: Sequence[Message] = ()) -> list[Message]:
    """The messages with an id for each call and result that states none, where the format needs none."""
    give = named(format).ids
    return give(messages, before) if give is not None else list(messages)


def encode(message: Message, format: str) -> Any:
    """The item of a format that says a message."""
    return named(format).encode(message)


def joined(items: Sequence[object], format: str) -> list[Any]:
    """The items, neighbours of one role as one where the provider refuses such; each other is the very same."""
    join = named(format).join
    return list(items) if join is None else neighbours_joined(items, join)
