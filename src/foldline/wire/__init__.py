"""Wire formats: one module for each, which decodes a provider's items into messages and encodes them again.

One item is one message. What was decoded from a format encodes into it as the same JSON, to the byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from foldline.errors import WireError
from foldline.messages import Message
from foldline.wire import anthropic, openai_chat
from foldline.wire.summary import SUMMARY_PREFIX, SUMMARY_SUFFIX
from foldline.wire.usage import read_usage

__all__ = ["FORMATS", "SUMMARY_PREFIX", "SUMMARY_SUFFIX", "Wire", "decode", "detect", "encode", "read_usage"]


class Wire(Protocol):
    """A wire format, as its module offers it."""

    NAME: str

    def decode(self, item: Mapping[str, Any], where: str = "") -> Message:
        """The message that an item says; `where` names the item in errors."""

    def encode(self, message: Message) -> dict[str, Any]:
        """The item that says a message."""


FORMATS: dict[str, Wire] = {openai_chat.NAME: openai_chat, anthropic.NAME: anthropic}
"""The formats by name."""


def decode(item: Mapping[str, Any], format: str, where: str = "") -> Message:
    """The message that an item of a format says; raises `WireError` where it has no role that the format knows."""
    return _wire(format).decode(item, where)


def encode(message: Message, format: str) -> dict[str, Any]:
    """The item of a format that says a message."""
    return _wire(format).encode(message)


def _wire(format: str) -> Wire:
    if format not in FORMATS:
        raise WireError(f"no such wire format: {format!r}; there are {', '.join(FORMATS)}", format=format)
    return FORMATS[format]


# -- which format? ------------------------------------------------------------------------------------------------

_OPENAI_ROLES = ("tool", "developer", "function")
_OPENAI_KEYS = frozenset(
    ("tool_calls", "tool_call_id", "function_call", "refusal", "reasoning_content", "reasoning", "reasoning_details")
)
_OPENAI_TYPES = frozenset(("image_url", "input_audio", "file", "refusal"))
_ANTHROPIC_KEYS = frozenset(("stop_reason", "stop_sequence"))
_ANTHROPIC_TYPES = frozenset(
    (
        "tool_use",
        "server_tool_use",
        "mcp_tool_use",
        "tool_result",
        "thinking",
        "redacted_thinking",
        "document",
        "search_result",
        "container_upload",
        "compaction",
    )
)


def detect(items: Iterable[Mapping[str, Any]], default: str = openai_chat.NAME) -> str:
    """The format of a history: the one whose words the first telling item uses, or the default where none tells."""
    for item in items:
        if isinstance(item, Mapping) and (format := _told_by(item)):
            return format
    return default


def _told_by(item: Mapping[str, Any]) -> str | None:
    if item.get("role") in _OPENAI_ROLES or not _OPENAI_KEYS.isdisjoint(item):
        return openai_chat.NAME
    if not _ANTHROPIC_KEYS.isdisjoint(item):
        return anthropic.NAME
    content = item.get("content")
    for part in content if isinstance(content, (list, tuple)) else ():
        kind = part.get("type") if isinstance(part, Mapping) else None
        if not isinstance(kind, str):
            continue
        if kind in _OPENAI_TYPES:
            return openai_chat.NAME
        if kind in _ANTHROPIC_TYPES or kind.endswith("_tool_result") or (kind == "image" and "source" in part):
            return anthropic.NAME
    return None
