"""Wire formats: one module for each, which decodes a provider's items into messages and encodes them again.

One item is one message. What was decoded from a format encodes into it as the same JSON, to the byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from foldline.errors import WireError
from foldline.messages import Message
from foldline.wire import anthropic, gemini, openai_chat, openai_responses, responses_tools
from foldline.wire.pairing import paired
from foldline.wire.summary import SUMMARY_PREFIX, SUMMARY_SUFFIX
from foldline.wire.usage import read_usage

__all__ = [
    "FORMATS",
    "SUMMARY_PREFIX",
    "SUMMARY_SUFFIX",
    "Wire",
    "decode",
    "decode_all",
    "detect",
    "encode",
    "paired",
    "read_usage",
]


class Wire(Protocol):
    """A wire format, as its module offers it."""

    NAME: str

    def decode(self, item: Mapping[str, Any], where: str = "") -> Message:
        """The message that an item says; `where` names the item in errors."""

    def encode(self, message: Message) -> dict[str, Any]:
        """The item that says a message."""


FORMATS: dict[str, Wire] = {
    openai_chat.NAME: openai_chat,
    openai_responses.NAME: openai_responses,
    anthropic.NAME: anthropic,
    gemini.NAME: gemini,
}
"""The formats by name."""


def decode(item: Mapping[str, Any], format: str, where: str = "") -> Message:
    """The message that an item of a format says; raises `WireError` where it has no role that the format knows."""
    return _wire(format).decode(item, where)


def decode_all(items: Sequence[Mapping[str, Any]], format: str, before: Sequence[Message] = ()) -> list[Message]:
    """The messages that the items of a history say, where `before` stands before them.

    Calls of a format that needs no ids get some, the same each time that the same history is decoded.
    """
    read = _wire(format).decode
    try:
        messages = [read(item) for item in items]
    except WireError:  # once more, for the place that is to blame
        messages = [read(item, f"messages[{i}]") for i, item in enumerate(items, len(before))]
    return paired(messages, before) if format == gemini.NAME else messages


def encode(message: Message, format: str) -> dict[str, Any]:
    """The item of a format that says a message."""
    return _wire(format).encode(message)


def _wire(format: str) -> Wire:
    if format not in FORMATS:
        raise WireError(f"no such wire format: {format!r}; there are {', '.join(FORMATS)}", format=format)
    return FORMATS[format]


# -- which format? ------------------------------------------------------------------------------------------------

_ROLES = {
    **dict.fromkeys(("tool", "function"), openai_chat.NAME),
    "model": gemini.NAME,
}
_KEYS = {
    **dict.fromkeys(("stop_reason", "stop_sequence"), anthropic.NAME),
    **dict.fromkeys(("tool_calls", "tool_call_id", "function_call", "refusal"), openai_chat.NAME),
    **dict.fromkeys(("reasoning_content", "reasoning", "reasoning_details"), openai_chat.NAME),
    "parts": gemini.NAME,
}
_ITEMS = dict.fromkeys(
    (
        *responses_tools.CALLS,
        *responses_tools.OUTPUTS,
        responses_tools.MCP,
        *("message", "reasoning", "compaction", "compaction_trigger", "item_reference", "additional_tools"),
        *("web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_list_tools"),
        "configuration_update",
    ),
    openai_responses.NAME,
)
_PARTS = {
    **dict.fromkeys(("input_text", "output_text", "input_image", "input_file"), openai_responses.NAME),
    **dict.fromkeys(("image_url", "input_audio", "file", "refusal"), openai_chat.NAME),
    **dict.fromkeys(("tool_use", "server_tool_use", "mcp_tool_use", "tool_result"), anthropic.NAME),
    **dict.fromkeys(("thinking", "redacted_thinking", "document", "search_result"), anthropic.NAME),
    **dict.fromkeys(("container_upload", "compaction"), anthropic.NAME),
}
"""What only one format says: as a role, as a key, as the type of an item, as the type of a part of its content."""


def detect(items: Iterable[Mapping[str, Any]], default: str = openai_chat.NAME) -> str:
    """The format of a history: the one whose words the first telling item uses, or the default where none tells.

    The role "developer", which both formats of OpenAI have, means chat completions where nothing else tells.
    """
    hint = ""
    for item in items:
        if isinstance(item, Mapping):
            if format := _told_by(item):
                return format
            hint = hint or (openai_chat.NAME if item.get("role") == "developer" else "")
    return hint or default


def _told_by(item: Mapping[str, Any]) -> str | None:
    if told := next((_KEYS[key] for key in item if key in _KEYS), None):
        return told
    for key, known in (("role", _ROLES), ("type", _ITEMS)):
        if isinstance(said := item.get(key), str) and said in known:
            return known[said]
    content = item.get("content")
    for part in content if isinstance(content, (list, tuple)) else ():
        kind = part.get("type") if isinstance(part, Mapping) else None
        if not isinstance(kind, str):
            continue
        if kind in _PARTS:
            return _PARTS[kind]
        if kind.endswith("_tool_result") or (kind == "image" and "source" in part):
            return anthropic.NAME
    return None
