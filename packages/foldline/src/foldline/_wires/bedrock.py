"""The Bedrock Converse format, which Strands speaks too: a role and a content of blocks, each named by its one key.

A request's `system` is not among the messages. Pictures, documents and videos are bytes here, as boto3 has them.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from foldline._framing import summary_text
from foldline._messages import Media, Message, Opaque, Part, Role, Summary, Text, Thinking, ToolCall, ToolResult, Usage
from foldline._wires.arranging import alternating, beside_system
from foldline._wires.format import Ended, Picture, Sign, WireFormat, at, opaque, parts_of, role_in
from foldline._wires.shape import (
    ANY,
    BROKEN,
    AnyPart,
    Shape,
    as_own,
    body_of,
    extra_of,
    from_json,
    item_of,
    list_in,
    list_out,
    stand_in,
    to_json,
    value_of,
    verbatim,
)
from foldline._wires.usage import count, states_any

NAME = "bedrock-converse"

MESSAGE = Shape(("role", "content"), 2)
TEXT = Shape(("text",), 1)
TOOL_USE = Shape(("toolUseId", "name", "input"), 3)
TOOL_RESULT = Shape(("toolUseId", "content", "status"), 2)

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_NAMES: dict[Role, str] = {"user": "user", "assistant": "assistant", "system": "system", "tool": "user"}
_MEDIA: tuple[Literal["image", "document", "video", "audio"], ...] = ("image", "document", "video", "audio")

JSON = "json"
"""The key of a block that is a value instead of words; its JSON text stands in the parts."""


# -- decode -------------------------------------------------------------------------------------------------------


def decode(item: Mapping[str, object], where: str = "") -> Message:
    """The message that an item says; `where` names the item in errors."""
    role = role_in(item, _ROLES, NAME, where)
    parts, mark = list_in(item["content"], _part_in) if "content" in item else ((), None)
    return Message(role, parts, None, extra_of(item, MESSAGE, {"content": mark} if mark else {}), NAME)


def _reader(known: Mapping[str, Callable[[dict[str, object]], AnyPart | None]]) -> Callable[[object], AnyPart | Opaque]:
    """Reads a block as the part that it is by the one key of it that is known."""

    def read(block: Any) -> AnyPart | Opaque:
        keys = [key for key in block if key in known] if isinstance(block, dict) else []
        part = known[keys[0]](block) if len(keys) == 1 else None
        return part or Opaque(verbatim(block))

    return read


def _text_in(block: dict[str, object]) -> Text | None:
    text = block["text"]
    if not isinstance(text, str):
        return None
    return Text(text) if len(block) == 1 else Text(text, extra_of(block, TEXT, {}))


def _json_in(block: dict[str, object]) -> Text | None:
    text = to_json(block[JSON])
    return Text(text, extra_of(block, Shape((JSON,), 1), {JSON: JSON})) if text is not None else None


def _guarded_in(block: dict[str, object]) -> Text | Media | None:
    """What a guardrail is to look at: words, which are the user's as any others, or a picture."""
    body = block["guardContent"]
    if isinstance(at(body, "image"), Mapping):
        return Media("image", dict(block))
    text = at(body, "text", "text")
    return Text(text, {"guardContent": body}) if isinstance(text, str) and len(block) == 1 else None


def _cited_in(block: dict[str, object]) -> Text | None:
    """What a model wrote with its sources."""
    body = block["citationsContent"]
    return Text(_cited(body), {"citationsContent": body}) if len(block) == 1 and _cited(body) else None


def _cited(body: object) -> str:
    said = at(body, "content")
    texts = [at(each, "text") for each in said] if isinstance(said, list) else []
    return "".join(text for text in texts if isinstance(text, str))


def _thinking_in(block: dict[str, object]) -> Thinking | None:
    body = block["reasoningContent"]
    said, sealed = at(body, "reasoningText"), at(body, "redactedContent")
    text, signature = at(said, "text"), at(said, "signature")
    if isinstance(text, str) and (signature is None or isinstance(signature, str)):
        return Thinking(text, signature, None, dict(block))
    if isinstance(sealed, bytes):
        sealed = base64.b64encode(sealed).decode()
    return Thinking("", None, sealed, dict(block)) if isinstance(sealed, str) else None


def _tool_use_in(block: dict[str, object]) -> ToolCall | None:
    body: Any = block["toolUse"]
    id, name, given = at(body, "toolUseId"), at(body, "name"), at(body, "input")
    arguments = to_json({} if given is None else given)
    if not isinstance(id, str) or not isinstance(name, str) or arguments is None:
        return None
    marks: dict[str, object] = {}
    if not isinstance(given, dict) and "input" in body:
        marks["input"] = {"is": None} if given is None else ANY
    return ToolCall(id, name, arguments, _extra_in(block, "toolUse", TOOL_USE, marks))


def _tool_result_in(block: dict[str, object]) -> ToolResult | None:
    body: Any = block["toolResult"]
    id = at(body, "toolUseId")
    if not isinstance(id, str):
        return None
    parts, mark = list_in(body["content"], _result_part_in) if "content" in body else ((), None)
    marks: dict[str, object] = {"content": mark} if mark and body["content"] != [] else {}
    failed = body.get("status") == "error"
    if not failed and "status" in body:
        marks["status"] = {"is": body["status"]}
    return ToolResult(id, parts, failed, "", _extra_in(block, "toolResult", TOOL_RESULT, marks))


def _extra_in(block: dict[str, Any], key: str, shape: Shape, marks: Mapping[str, object]) -> dict[str, object]:
    """The extra of a block: that of its body stands as the mark of the body's key; none where both are canonical."""
    body = extra_of(block[key], shape, marks)
    return extra_of(block, Shape((key,), 1), {key: body} if body else {})


def _media_in(kind: Literal["image", "document", "audio", "video"]) -> Callable[[dict[str, object]], Media]:
    return lambda block: Media(kind, dict(block))


_RESULT_BLOCKS: dict[str, Callable[[dict[str, object]], Text | Media | None]] = {
    "text": _text_in,
    JSON: _json_in,
    **{kind: _media_in(kind) for kind in _MEDIA},
}
_BLOCKS: dict[str, Callable[[dict[str, object]], Part | None]] = {
    "text": _text_in,
    "toolUse": _tool_use_in,
    "toolResult": _tool_result_in,
    "reasoningContent": _thinking_in,
    "guardContent": _guarded_in,
    "citationsContent": _cited_in,
    **{kind: _media_in(kind) for kind in _MEDIA},
}
_part_in = _reader(_BLOCKS)
_result_part_in: Callable[[object], Text | Media | Opaque] = _reader(_RESULT_BLOCKS)


# -- encode -------------------------------------------------------------------------------------------------------


def encode(message: Message) -> dict[str, object]:
    """The item that says a message; of one that came from here, the same item.

    A system message of another format becomes one whose blocks belong into the request's `system`.
    """
    message = as_own(message, NAME)
    content = list_out(message.parts, message.extra.get("content"), _part_out)
    return item_of({"role": _NAMES[message.role], "content": content}, message.extra, MESSAGE, {"content": []})


def _part_out(part: Part) -> object:
    match part:
        case Text(text, extra):
            return _text_out(text, extra)
        case Summary():
            return {"text": summary_text(part)}
        case Thinking():
            return _thinking_out(part)
        case ToolCall():
            return _tool_use_out(part)
        case ToolResult():
            return _tool_result_out(part)
        case Opaque(source):
            return verbatim(source)
        case Media(kind, source):
            ours = len(source) == 1 and not source.keys().isdisjoint((*_MEDIA, "guardContent"))
            return dict(source) if ours else {"text": stand_in(kind)}


def _text_out(text: str, extra: Mapping[str, Any]) -> dict[str, object]:
    """The block that says a text; words that a fold changed need no sources, and are no JSON any more."""
    if JSON in extra and (value := from_json(text, BROKEN)) is not BROKEN:
        return item_of({JSON: value}, extra, Shape((JSON,), 1))
    if (body := extra.get("citationsContent")) is not None and _cited(body) == text:
        return {"citationsContent": body}
    if (body := extra.get("guardContent")) is not None:
        return {"guardContent": {**body, "text": {**body["text"], "text": text}}}
    if JSON in extra or "citationsContent" in extra:
        return {"text": text}
    return item_of({"text": text}, extra, TEXT)


def _thinking_out(part: Thinking) -> dict[str, object]:
    """Thinking, which is never edited: its block stands in its extra."""
    if part.extra:
        return dict(part.extra)
    if part.data is not None:
        return {"reasoningContent": {"redactedContent": base64.b64decode(part.data)}}
    signed = {"signature": part.signature} if part.signature is not None else {}
    return {"reasoningContent": {"reasoningText": {"text": part.text, **signed}}}


def _tool_use_out(call: ToolCall) -> dict[str, object]:
    marks = call.extra.get("toolUse") or {}
    given = value_of(call.arguments, any=marks.get("input") == ANY)
    body = item_of({"toolUseId": call.id, "name": call.name, "input": given}, marks, TOOL_USE, {"input": {}})
    return body_of("toolUse", body, call.extra)


def _tool_result_out(result: ToolResult) -> dict[str, object]:
    marks = result.extra.get("toolResult") or {}
    content = list_out(result.parts, marks.get("content"), _part_out)
    fields: dict[str, object] = {"toolUseId": result.call_id, "content": content}
    if result.error:
        fields["status"] = "error"
    body = item_of(fields, marks, TOOL_RESULT, {"content": []})
    return body_of("toolResult", body, result.extra)


# -- what else there is to know of the format ---------------------------------------------------------------------

_OWN_BLOCKS = frozenset((*_BLOCKS, "cachePoint", "searchResult")) - {"text"}


def _tells(item: Mapping[str, object]) -> Sign:
    role, content = item.get("role"), item.get("content")
    if not isinstance(role, str) or role not in _ROLES or not isinstance(content, (list, tuple)):
        return Sign.NEVER
    if any(not isinstance(block, Mapping) or "type" in block for block in content):
        return Sign.NEVER
    if any(not _OWN_BLOCKS.isdisjoint(block) for block in content):
        return Sign.SURELY
    return Sign.LIKELY if any(isinstance(block.get("text"), str) for block in content) else Sign.MAYBE


def _is_block(source: object) -> bool:
    """Whether it is a block at all: one holds a mapping under its one key, by which Amazon names new kinds too."""
    if not isinstance(source, dict) or len(source) != 1:
        return False
    key, body = next(iter(source.items()))
    return isinstance(body, Mapping) and key not in ("toolUse", "toolResult")


def _usage(usage: object) -> Usage | None:
    if not states_any(usage, "inputTokens", "outputTokens"):
        return None
    read, written = count(usage, "cacheReadInputTokens"), count(usage, "cacheWriteInputTokens")
    return Usage(count(usage, "inputTokens"), count(usage, "outputTokens"), read, written)


def _reply(reply: Mapping[str, object]) -> Ended | None:
    message = at(reply, "output", "message")
    return Ended(decode(message), str(reply.get("stopReason") or "")) if isinstance(message, Mapping) else None


def _join(one: object, other: object) -> dict[str, object] | None:
    """Two neighbours as one message: a conversation has to alternate between user and assistant here."""
    if not (isinstance(one, Mapping) and isinstance(other, Mapping)) or one.get("role") != other.get("role"):
        return None
    return {**one, "content": [*parts_of(one), *parts_of(other)]}


def _picture(item: Mapping[str, object]) -> Picture | None:
    match item:
        case {"image": {"format": str(kind), "source": {"bytes": bytes(data)}}}:
            return Picture(f"image/{kind}", base64.b64encode(data).decode())
        case {"image": {"format": str(kind), "source": {"bytes": str(data)}}}:
            return Picture(f"image/{kind}", data)
    return None


def _image(picture: Picture) -> dict[str, object]:
    """Its bytes as base64, as REST has them: what is written into a file is JSON."""
    return {"image": {"format": picture.mime.partition("/")[2], "source": {"bytes": picture.data}}}


def _request(messages: Sequence[Message]) -> tuple[Any, int]:
    system, rest = beside_system(messages)
    items = alternating(map(encode, rest))
    return {"messages": items, "system": [{"text": system}]} if system else items, len(items)


FORMAT = WireFormat(
    name=NAME,
    tells=_tells,
    decode=decode,
    encode=encode,
    usage=_usage,
    reply=_reply,
    appended='reply["output"]["message"]',
    strange=lambda message: (source for source in opaque(message.parts) if not _is_block(source)),
    join=_join,
    tool=lambda tool: {
        "toolSpec": {"name": tool.name, "description": tool.description, "inputSchema": {"json": tool.parameters}}
    },
    picture=_picture,
    image=_image,
    request=_request,
)
