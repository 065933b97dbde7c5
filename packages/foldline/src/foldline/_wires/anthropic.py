"""The Anthropic messages format: a role and a content of typed blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from foldline._framing import summary_text
from foldline._messages import Media, Message, Opaque, Part, Role, Summary, Text, Thinking, ToolCall, ToolResult, Usage
from foldline._wires.arranging import alternating, beside_system
from foldline._wires.format import Ended, Picture, Sign, WireFormat, kind_of, parts_of, role_in
from foldline._wires.shape import (
    ANY,
    TEXT,
    Shape,
    as_own,
    content_in,
    content_out,
    extra_of,
    item_of,
    reader,
    stand_in,
    text_in,
    to_json,
    value_of,
    verbatim,
)
from foldline._wires.usage import count, stated, states_any

NAME = "anthropic"

MESSAGE = Shape(("role", "content"), 2)
THINKING = Shape(("type", "thinking", "signature"), 2)
REDACTED = Shape(("type", "data"), 2)
TOOL_USE = Shape(("type", "id", "name", "input"), 4)
TOOL_RESULT = Shape(("type", "tool_use_id", "content", "is_error"), 2)

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}


# -- decode -------------------------------------------------------------------------------------------------------


def decode(item: Mapping[str, object], where: str = "") -> Message:
    """The message that an item says; `where` names the item in errors."""
    role = role_in(item, _ROLES, NAME, where)
    if "content" not in item:
        return Message(role, (), None, extra_of(item, MESSAGE, {}), NAME)
    content = item["content"]
    if type(content) is str and tuple(item) == MESSAGE.keys:
        return Message(role, (Text(content),), None, {}, NAME)
    parts, mark = content_in(content, _part_in)
    return Message(role, parts, None, extra_of(item, MESSAGE, {"content": mark} if mark else {}), NAME)


def _thinking_in(block: dict[str, object]) -> Thinking | None:
    text, signature = block.get("thinking"), block.get("signature")
    if not isinstance(text, str):
        return None
    if isinstance(signature, str):
        return Thinking(text, signature, None, extra_of(block, THINKING, {}))
    marks = {"signature": {"is": signature}} if "signature" in block else {}
    return Thinking(text, None, None, extra_of(block, THINKING, marks))


def _redacted_in(block: dict[str, object]) -> Thinking | None:
    data = block.get("data")
    return Thinking("", None, data, extra_of(block, REDACTED, {})) if isinstance(data, str) else None


def _tool_use_in(block: dict[str, object]) -> ToolCall | None:
    id, name, given = block.get("id"), block.get("name"), block.get("input", {})
    if not isinstance(id, str) or not isinstance(name, str):
        return None
    arguments = to_json(given)
    if arguments is None:
        return None
    if type(given) is dict and tuple(block) == TOOL_USE.keys:
        return ToolCall(id, name, arguments)
    marks = {} if isinstance(given, dict) else {"input": ANY}
    return ToolCall(id, name, arguments, extra_of(block, TOOL_USE, marks))


def _tool_result_in(block: dict[str, object]) -> ToolResult | None:
    call_id = block.get("tool_use_id")
    if not isinstance(call_id, str):
        return None
    parts: tuple[Text | Media | Opaque, ...] = ()
    marks: dict[str, object] = {}
    if "content" in block:
        parts, mark = content_in(block["content"], _result_part_in)
        if mark:
            marks["content"] = mark
    error = block.get("is_error") is True
    if not error and "is_error" in block:
        marks["is_error"] = {"is": block["is_error"]}
    return ToolResult(call_id, parts, error, "", extra_of(block, TOOL_RESULT, marks))


def _compaction_in(block: dict[str, object]) -> Summary:
    """A summary that Anthropic made; one without a content is a failed one, which the server passes over."""
    said = block.get("content")
    return Summary(said if isinstance(said, str) else "", {}, dict(block))


_RESULT_BLOCKS: dict[str, Callable[[dict[str, object]], Text | Media | None]] = {
    "text": text_in,
    "image": lambda block: Media("image", dict(block)),
    "document": lambda block: Media("document", dict(block)),
}
_BLOCKS: dict[str, Callable[[dict[str, object]], Part | None]] = {
    **_RESULT_BLOCKS,
    "thinking": _thinking_in,
    "redacted_thinking": _redacted_in,
    "tool_use": _tool_use_in,
    "tool_result": _tool_result_in,
    "compaction": _compaction_in,
}
_part_in = reader(_BLOCKS)
_result_part_in: Callable[[object], Text | Media | Opaque] = reader(_RESULT_BLOCKS)


# -- encode -------------------------------------------------------------------------------------------------------


def encode(message: Message) -> dict[str, object]:
    """The item that says a message; of one that came from here, the same item."""
    message = as_own(message, NAME, _is_signed)
    content = content_out(message.parts, message.extra.get("content"), _part_out, [])
    role = "user" if message.role == "tool" else message.role
    return item_of({"role": role, "content": content}, message.extra, MESSAGE, {"content": []})


def _is_signed(part: Thinking) -> bool:
    """Whether Anthropic may have made the thinking of a message that names no wire; what it did not sign, it refuses."""
    return part.signature is not None or part.data is not None


def _part_out(part: Part) -> object:
    match part:
        case Text(text, extra):
            return item_of({"type": "text", "text": text}, extra, TEXT)
        case Thinking():
            return _thinking_out(part)
        case ToolCall(id, name, arguments, extra):
            given = value_of(arguments, any=extra.get("input") == ANY)
            return item_of({"type": "tool_use", "id": id, "name": name, "input": given}, extra, TOOL_USE, {"input": {}})
        case ToolResult():
            return _tool_result_out(part)
        case Summary(source=source):
            return dict(source) or {"type": "text", "text": summary_text(part)}
        case Opaque(source):
            return verbatim(source)
        case Media(kind, source):
            ours = source.get("type") in ("image", "document")
            return dict(source) if ours else {"type": "text", "text": stand_in(kind)}


def _thinking_out(part: Thinking) -> dict[str, object]:
    if part.data is not None:
        return item_of({"type": "redacted_thinking", "data": part.data}, part.extra, REDACTED)
    fields: dict[str, object] = {"type": "thinking", "thinking": part.text}
    if part.signature is not None:
        fields["signature"] = part.signature
    return item_of(fields, part.extra, THINKING)


def _tool_result_out(part: ToolResult) -> dict[str, object]:
    fields: dict[str, object] = {"type": "tool_result", "tool_use_id": part.call_id}
    if part.parts:
        fields["content"] = content_out(part.parts, part.extra.get("content"), _part_out, None)
    if part.error:
        fields["is_error"] = True
    return item_of(fields, part.extra, TOOL_RESULT)


# -- what else there is to know of the format ---------------------------------------------------------------------

_OWN_PARTS = frozenset(
    (
        *("tool_use", "server_tool_use", "mcp_tool_use", "tool_result", "redacted_thinking", "document"),
        *("search_result", "container_upload", "compaction"),
    )
)
_OTHERS_PARTS = frozenset(
    ("input_text", "output_text", "input_image", "input_file", "image_url", "input_audio", "file", "refusal")
)
_OTHERS_KEYS = frozenset(("tool_calls", "tool_call_id", "function_call", "parts"))


def _tells(item: Mapping[str, object]) -> Sign:
    role, kind = item.get("role"), item.get("type", "message")
    if not isinstance(role, str) or role not in _ROLES or kind != "message":
        return Sign.NEVER
    if any(item.get(key) for key in _OTHERS_KEYS):
        return Sign.NEVER
    if "stop_reason" in item or "stop_sequence" in item:
        return Sign.SURELY
    signs = [_told_by(part) for part in parts_of(item)]
    if Sign.SURELY in signs:
        return Sign.SURELY
    return Sign.NEVER if Sign.NEVER in signs else max(signs, default=Sign.MAYBE)


def _told_by(part: Any) -> Sign:
    kind = kind_of(part)
    if kind in _OWN_PARTS or kind.endswith("_tool_result") or (kind == "image" and "source" in part):
        return Sign.SURELY
    if kind == "thinking":
        signed = Sign.SURELY if isinstance(part.get("signature"), str) else Sign.LIKELY
        return signed if isinstance(part.get("thinking"), str) else Sign.NEVER
    if not kind or kind in _OTHERS_PARTS:
        return Sign.NEVER
    return Sign.LIKELY if "cache_control" in part else Sign.MAYBE


_BY_MODEL = ("message", "fallback_message")


def _usage(usage: object) -> Usage | None:
    """Server tools make several calls whose sum says nothing about the window, so the last one of a model counts."""
    if not states_any(usage, "input_tokens", "output_tokens", "cache_read_input_tokens"):
        return None
    iterations = stated(usage, "iterations")
    if isinstance(iterations, list):
        usage = next((each for each in reversed(iterations) if stated(each, "type") in _BY_MODEL), usage)
    written = count(usage, "cache_creation_input_tokens")
    if not written and (creation := stated(usage, "cache_creation")) is not None:
        written = count(creation, "ephemeral_5m_input_tokens") + count(creation, "ephemeral_1h_input_tokens")
    read = count(usage, "cache_read_input_tokens")
    return Usage(count(usage, "input_tokens"), count(usage, "output_tokens"), read, written)


def _reply(reply: Mapping[str, object]) -> Ended | None:
    if "content" not in reply:
        return None
    message = decode({"role": "assistant", "content": reply["content"]}, "")
    return Ended(message, str(reply.get("stop_reason") or ""))


def _picture(item: Mapping[str, object]) -> Picture | None:
    match item:
        case {"type": "image", "source": {"type": "base64", "data": str(data), "media_type": str(mime)}}:
            return Picture(mime, data)
    return None


def _request(messages: Sequence[Message]) -> tuple[Any, int]:
    system, rest = beside_system(messages)
    items = alternating(encode(message) for message in rest)
    return {"messages": items, "system": system} if system else items, len(items)


_OPTIONAL = ("cache_control", "citations", "caller")

FORMAT = WireFormat(
    name=NAME,
    tells=_tells,
    decode=decode,
    encode=encode,
    usage=_usage,
    reply=_reply,
    appended='{"role": "assistant", "content": reply.content}',
    tool=lambda tool: {"name": tool.name, "description": tool.description, "input_schema": tool.parameters},
    picture=_picture,
    image=lambda picture: {
        "type": "image",
        "source": {"type": "base64", "media_type": picture.mime, "data": picture.data},
    },
    keys=frozenset((*MESSAGE.keys, *THINKING.keys, *TOOL_USE.keys, *TOOL_RESULT.keys, *TEXT.keys, *_OPTIONAL)),
    request=_request,
)
