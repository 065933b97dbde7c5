"""The OpenAI Responses format: an item is a message, a tool call, its output, reasoning, or what only OpenAI knows.

A reply is several items, and each decodes to a message of its own. Calls that OpenAI runs itself (`mcp_call`) hold
their output; the items of other built-in tools, references and unknown ones stay as they are. What a request names by
`previous_response_id` is not in the history, so it is neither counted nor folded: send the items instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal

from foldline._errors import WireError
from foldline._framing import summary_text
from foldline._messages import Media, Message, Opaque, Part, Role, Summary, Text, Thinking, ToolCall, ToolResult, Usage
from foldline._wires.arranging import parts_alone
from foldline._wires.format import Ended, Picture, Sign, WireFormat, at, item_as_mapping, kind_of, parts_of, role_in
from foldline._wires.responses_tools import (
    CALLS,
    MCP,
    OUTPUTS,
    call_in,
    call_out,
    mcp_in,
    mcp_out,
    output_in,
    output_out,
)
from foldline._wires.shape import (
    BARE,
    TEXT,
    Shape,
    as_own,
    content_in,
    content_out,
    extra_of,
    item_of,
    stand_in,
    verbatim,
)
from foldline._wires.usage import count, less_cached, stated

NAME = "openai-responses"

WORDS = Shape(("role", "content"), 2)
REFUSAL = Shape(("type", "refusal"), 2)

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}
_SETTINGS = frozenset(("additional_tools", "configuration_update"))
"""Items that set up what follows them: they stand with the system's messages, which no fold touches."""

_WHOLE = {"type": BARE}
"""The extra of a message whose one part is the item itself."""


# -- decode -------------------------------------------------------------------------------------------------------


def decode(item: Mapping[str, object], where: str = "") -> Message:
    """The message that an item says; `where` names the item in errors."""
    item = item_as_mapping(item, NAME, where)
    kind = item.get("type", "message")
    if not isinstance(kind, str) or kind == "message":
        return _words_in(item, where)
    if kind in CALLS and (found := call_in(item, kind)):
        return Message("assistant", (found[0],), None, found[1], NAME)
    if kind in OUTPUTS and (answered := output_in(item, kind, partial(_part_in, role="tool"))):
        return Message("tool", (answered[0],), None, answered[1], NAME)
    if kind == MCP and (both := mcp_in(item)):
        return Message("assistant", both[0], None, both[1], NAME)
    if kind == "reasoning":
        return Message("assistant", (_thinking_in(item),), None, {}, NAME)
    if kind == "compaction":
        return Message("assistant", (Summary("", {}, dict(item)),), None, dict(_WHOLE), NAME)
    part: Part = Media("image", dict(item)) if kind == "image_generation_call" else Opaque(dict(item))
    return Message(_role_of(item, kind), (part,), None, dict(_WHOLE), NAME)


def _role_of(item: Mapping[str, object], kind: str) -> Role:
    """Whose an item is that is kept as it stands: what answers a call goes with it, all else is the model's."""
    if kind in _SETTINGS:
        return "system"
    return "tool" if kind in OUTPUTS else "assistant"


def _words_in(item: Mapping[str, object], where: str) -> Message:
    role = role_in(item, _ROLES, NAME, where)
    marks: dict[str, object] = {} if item["role"] == role else {"role": item["role"]}
    parts: tuple[Part, ...] = ()
    if "content" in item:
        parts, mark = content_in(item["content"], partial(_part_in, role=role))
        if mark:
            marks["content"] = mark
    return Message(role, parts, None, extra_of(item, WORDS, marks), NAME)


def _thinking_in(item: Mapping[str, object]) -> Thinking:
    """Reasoning, which is never edited: the item stands in its extra."""
    told = [each for key in ("summary", "content") if isinstance(each := item.get(key), list)]
    said = [part.get("text") for each in told for part in each if isinstance(part, dict)]
    data = item.get("encrypted_content")
    words = "\n\n".join(text for text in said if isinstance(text, str))
    return Thinking(words, None, data if isinstance(data, str) else None, {k: verbatim(v) for k, v in item.items()})


def _part_in(item: object, role: Role) -> Text | Media | Opaque:
    if isinstance(item, dict) and isinstance(kind := item.get("type"), str):
        marks = {} if kind == _text_kind(role) else {"type": kind}
        if kind in _TEXTS and isinstance(text := item.get("text"), str):
            return Text(text, extra_of(item, TEXT, marks))
        if kind == "refusal" and isinstance(text := item.get("refusal"), str):
            return Text(text, extra_of(item, REFUSAL, marks))
        if kind in _MEDIA:
            return Media(_MEDIA[kind], dict(item))
    return Opaque(verbatim(item))


_TEXTS = frozenset(("input_text", "output_text", "text", "summary_text"))
_MEDIA: dict[str, Literal["image", "document", "audio"]] = {
    "input_image": "image",
    "computer_screenshot": "image",
    "input_file": "document",
    "input_audio": "audio",
}


def _text_kind(role: Role) -> str:
    return "output_text" if role == "assistant" else "input_text"


# -- encode -------------------------------------------------------------------------------------------------------


def encode(message: Message) -> dict[str, object]:
    """The item that says a message; of one that came from here, the same item.

    Raises `WireError` where it takes several items: calls and results stand alone here, each in its own.
    """
    message = as_own(message, NAME)
    whole = message.extra == _WHOLE
    extra = {} if whole else message.extra
    parts = message.parts
    if len(parts) == 1:
        match part := parts[0]:
            case Thinking(text, extra=item):
                return dict(item) or {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}
            case Summary(source=item) if whole:
                return dict(item)
            case Media() | Opaque() if whole:
                return dict(part.source)
            case ToolCall():
                return call_out(part, extra)
            case ToolResult():
                return output_out(part, extra, partial(_part_out, role="tool"))
    if extra.get("type") == MCP and (ran := mcp_out(parts, extra)):
        return ran
    if any(type(part) in (Thinking, ToolCall, ToolResult) for part in parts):
        raise WireError("calls, their outputs, reasoning and what stands beside them take an item each", format=NAME)
    given = extra.get("role")
    role = given if isinstance(given, str) and _ROLES.get(given) == message.role else message.role
    content = content_out(parts, extra.get("content"), partial(_part_out, role=message.role), "")
    fields = {"role": "user" if role == "tool" else role, "content": content}
    return item_of(fields, extra, WORDS, {"content": ""})


def _part_out(part: Part, role: Role) -> object:
    match part:
        case Text(text, extra):
            return _text_out(text, extra, role)
        case Summary():
            return {"type": _text_kind(role), "text": summary_text(part)}
        case Opaque(source):
            return verbatim(source)
        case Media(kind, source):
            ours = source.get("type") in _MEDIA
            return dict(source) if ours else {"type": _text_kind(role), "text": stand_in(kind)}
    raise WireError(f"a {type(part).__name__} does not stand in a content", format=NAME)


def _text_out(text: str, extra: Mapping[str, object], role: Role) -> dict[str, object]:
    kind = extra.get("type")
    if kind == "refusal":
        return item_of({"type": kind, "refusal": text}, extra, REFUSAL)
    return item_of({"type": kind if kind in _TEXTS else _text_kind(role), "text": text}, extra, TEXT)


# -- what else there is to know of the format ---------------------------------------------------------------------

_ITEMS = frozenset(
    (
        *CALLS,
        *OUTPUTS,
        MCP,
        *("message", "reasoning", "compaction", "compaction_trigger", "item_reference", "additional_tools"),
        *("web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_list_tools"),
        "configuration_update",
    )
)
_OWN_PARTS = frozenset(("input_text", "output_text", "input_image", "input_file"))
_CHATS_KEYS = frozenset(("tool_calls", "tool_call_id", "function_call", "stop_reason"))


def _tells(item: Mapping[str, object]) -> Sign:
    role, kind = item.get("role"), item.get("type")
    if "parts" in item or not _CHATS_KEYS.isdisjoint(item):
        return Sign.NEVER
    if isinstance(kind, str):
        return Sign.SURELY if kind in _ITEMS else Sign.NEVER if "role" in item else Sign.LIKELY
    kinds = [kind_of(part) for part in parts_of(item)]
    if not _OWN_PARTS.isdisjoint(kinds):
        return Sign.SURELY
    spoken = isinstance(role, str) and role in _ROLES and all(kind == "refusal" for kind in kinds)
    return Sign.MAYBE if spoken else Sign.NEVER


def _usage(usage: object) -> Usage | None:
    details = stated(usage, "input_tokens_details")
    if details is None:
        return None
    read, written = count(details, "cached_tokens"), count(details, "cache_write_tokens")
    return less_cached(count(usage, "input_tokens"), read, written, count(usage, "output_tokens"))


def _reply(reply: Mapping[str, object]) -> Ended | None:
    """The items of a reply as one message."""
    if not isinstance(output := reply.get("output"), list):
        return None
    parts = tuple(part for item in output for part in decode(item).parts)
    end = at(reply, "incomplete_details", "reason") or reply.get("status")
    return Ended(Message("assistant", parts, format=NAME), str(end or ""))


def _picture(item: Mapping[str, object]) -> Picture | None:
    return Picture.at(item.get("image_url")) if item.get("type") == "input_image" else None


def _request(messages: Sequence[Message]) -> tuple[object, int]:
    items = [encode(message) for message in parts_alone(messages)]
    return items, len(items)


FORMAT = WireFormat(
    name=NAME,
    tells=_tells,
    decode=decode,
    encode=encode,
    usage=_usage,
    reply=_reply,
    summaries=("user", "assistant", "system"),
    appended="*reply.output",
    tool=lambda tool: {"type": "function", **tool._asdict(), "strict": False},
    picture=_picture,
    image=lambda picture: {"type": "input_image", "image_url": picture.url},
    many_items=True,
    request=_request,
)
