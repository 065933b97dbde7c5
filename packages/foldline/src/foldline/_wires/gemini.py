"""The Gemini format: contents with a role and parts, in REST's spelling (`functionCall`) or the SDK's (`function_call`).

A request's `systemInstruction` is not among the contents. Calls need no ids here; they get some of ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from foldline._framing import summary_text
from foldline._messages import (
    Media,
    Message,
    Opaque,
    Part,
    Role,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    replace,
)
from foldline._wires.arranging import alternating, beside_system, results_named
from foldline._wires.format import Ended, Picture, Sign, Tool, WireFormat, at, item_as_mapping, opaque, role_in
from foldline._wires.shape import (
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
from foldline._wires.usage import count, less_cached, states_any

NAME = "gemini"

CONTENT = Shape(("role", "parts"), 2)
TEXT = Shape(("text",), 1)
THOUGHT = Shape(("text", "thought"), 2)
CALL = Shape(("name", "args", "id"), 2)
SERVER_CALL = Shape(("toolType", "args", "id"), 2)
RESPONSE = Shape(("name", "response", "id", "parts"), 2)
SERVER_RESPONSE = Shape(("toolType", "response", "id", "parts"), 2)

_ROLES: dict[str, Role] = {"user": "user", "model": "assistant", "system": "system", "function": "tool", "tool": "tool"}
_NAMES: dict[Role, str] = {"user": "user", "assistant": "model", "system": "system", "tool": "user"}
_CALLS = {"functionCall": CALL, "function_call": CALL, "toolCall": SERVER_CALL, "tool_call": SERVER_CALL}
_RESPONSES = {
    "functionResponse": RESPONSE,
    "function_response": RESPONSE,
    "toolResponse": SERVER_RESPONSE,
    "tool_response": SERVER_RESPONSE,
}
_MEDIA = ("inlineData", "inline_data", "fileData", "file_data")
_SAID = ("output", "result", "error", "content")
"""The keys of a response that hold a tool's words where they stand alone."""

JSON = "json"
"""The mark of a response whose JSON text stands in the parts."""

STATED = "stated"
"""The mark of an id that begins as ours do."""

UNSTATED = "unstated-"
"""How an id begins that no wire stated: it is ours and is never written where none stood."""

_ABSENT: dict[str, object] = {"is": None}
"""What stands for a value that is not there."""


# -- decode -------------------------------------------------------------------------------------------------------


def decode(item: Mapping[str, object], where: str = "") -> Message:
    """The message that a content says; `where` names it in errors."""
    item = item_as_mapping(item, NAME, where)
    given = item.get("role")
    role: Role = "user" if given is None and "parts" in item else role_in(item, _ROLES, NAME, where)
    marks: dict[str, object] = {} if given == _NAMES[role] else {"role": {"is": given}}
    parts, mark = list_in(item["parts"], _part_in) if "parts" in item else ((), None)
    marks |= {"parts": mark} if mark else {}
    return Message(role, parts, None, extra_of(item, CONTENT, marks), NAME)


def _part_in(part: object) -> Part:
    if not isinstance(part, dict):
        return Opaque(verbatim(part))
    if isinstance(text := part.get("text"), str):
        if part.get("thought") is True:
            signature = part.get("thoughtSignature", part.get("thought_signature"))
            return Thinking(text, signature if isinstance(signature, str) else None, None, extra_of(part, THOUGHT, {}))
        return Text(text) if len(part) == 1 else Text(text, extra_of(part, TEXT, {}))
    bodies = [key for key in part if key in _CALLS or key in _RESPONSES or key in _MEDIA]
    body = part[bodies[0]] if len(bodies) == 1 else None
    found = _body_in(part, bodies[0], body) if isinstance(body, dict) else None
    return found or Opaque(verbatim(part))


def _body_in(part: dict[str, object], key: str, body: dict[str, object]) -> Part | None:
    if key in _CALLS:
        return _call_in(part, key, body)
    if key in _RESPONSES:
        return _response_in(part, key, body)
    kind = str(body.get("mimeType", body.get("mime_type"))).partition("/")[0]
    return Media("image" if kind == "image" else "audio" if kind == "audio" else "document", dict(part))


def _call_in(part: dict[str, object], key: str, body: dict[str, object]) -> ToolCall | None:
    shape = _CALLS[key]
    name, args = body.get(shape.keys[0]), body.get("args")
    marks: dict[str, object] = {}
    id, arguments = _id_in(body, marks), to_json({} if args is None else args)
    if not isinstance(name, str) or arguments is None or id is None:
        return None
    if not isinstance(args, dict) and "args" in body:
        marks["args"] = {"is": None} if args is None else JSON
    return ToolCall(id, name, arguments, _extra_in(part, key, body, shape, marks))


def _response_in(part: dict[str, object], key: str, body: dict[str, object]) -> ToolResult | None:
    shape = _RESPONSES[key]
    name = body.get(shape.keys[0])
    marks: dict[str, object] = {}
    id = _id_in(body, marks)
    if not isinstance(name, str) or id is None:
        return None
    parts: list[Text | Media | Opaque] = []
    response = body.get("response")
    only = next(iter(response)) if isinstance(response, dict) and len(response) == 1 else None
    if only in _SAID and isinstance(text := response[only], str):  # type: ignore[index]
        parts, marks["response"] = [Text(text)], only
    elif "response" in body:
        said = to_json(response)
        if said is None:
            return None
        parts, marks["response"] = [Text(said)], JSON
    more = body.get("parts")
    if isinstance(more, list) and more:
        read = [_part_in(each) for each in more]
        parts += [each if isinstance(each, (Media, Opaque)) else Opaque(verbatim(raw)) for each, raw in zip(read, more)]
    elif "parts" in body:
        marks["parts"] = {"is": more}
    failed = isinstance(response, dict) and response.get("error") is not None
    return ToolResult(id, tuple(parts), failed, name, _extra_in(part, key, body, shape, marks))


def _id_in(body: dict[str, object], marks: dict[str, object]) -> str | None:
    """The id that a body states, empty where it states none; None where what it states is no id."""
    id = body.get("id")
    if id is None or id == "":
        if "id" in body:
            marks["id"] = {"is": id}
        return ""
    if isinstance(id, str) and id.startswith(UNSTATED):
        marks["id"] = STATED
    return id if isinstance(id, str) else None


def _extra_in(
    part: dict[str, object], key: str, body: dict[str, object], shape: Shape, marks: Mapping[str, object]
) -> dict[str, object]:
    """The extra of a part: that of its body stands as the mark of the body's key."""
    return extra_of(part, Shape((key,), 1), {key: extra_of(body, shape, marks)})


# -- encode -------------------------------------------------------------------------------------------------------


def encode(message: Message) -> dict[str, object]:
    """The content that says a message; of one that came from here, the same content.

    A system message of another format becomes a content that belongs into the request's `systemInstruction`.
    """
    message = as_own(message, NAME)
    extra = message.extra
    parts = list_out(message.parts, extra.get("parts"), _part_out)
    role: object = _NAMES[message.role]
    if "parts" in extra or "role" in extra:
        given = extra.get("role", _ABSENT)
        role = given["is"] if given is not None else role
    return item_of({"role": role, "parts": parts}, extra, CONTENT, {"role": None, "parts": []})


def _part_out(part: Part) -> object:
    match part:
        case Text(text, extra):
            return item_of({"text": text}, extra, TEXT)
        case Summary():
            return {"text": summary_text(part)}
        case Thinking(text, extra=extra):
            return item_of({"text": text, "thought": True}, extra, THOUGHT)
        case ToolCall():
            return _call_out(part)
        case ToolResult():
            return _response_out(part)
        case Opaque(source):
            return verbatim(source)
        case Media(kind, source):
            return {"text": stand_in(kind)} if source.keys().isdisjoint(_MEDIA) else dict(source)


def _call_out(call: ToolCall) -> dict[str, object]:
    key = next((key for key in call.extra if key in _CALLS), "functionCall")
    shape, marks = _CALLS[key], call.extra.get(key) or {}
    args = value_of(call.arguments, any=marks.get("args") == JSON)
    body = {shape.keys[0]: call.name, "args": args, **_id_out(call.id, marks)}
    return body_of(key, item_of(body, marks, shape, {"args": {}}), call.extra)


def _response_out(result: ToolResult) -> dict[str, object]:
    key = next((key for key in result.extra if key in _RESPONSES), "functionResponse")
    shape, marks = _RESPONSES[key], result.extra.get(key) or {}
    words = [part.text for part in result.parts if type(part) is Text]
    body: dict[str, object] = {shape.keys[0]: result.name or result.call_id}
    if words or not marks:
        body["response"] = _said_out("\n".join(words), marks.get("response"), result.error)
    body |= _id_out(result.call_id, marks)
    if more := [_part_out(part) for part in result.parts if type(part) is not Text]:
        body["parts"] = more
    return body_of(key, item_of(body, marks, shape), result.extra)


def _said_out(text: str, mark: object, failed: bool) -> object:
    """What a tool said, in the shape that the mark names; words that a fold put in place of JSON are output."""
    if mark == JSON and (data := from_json(text, _ABSENT)) is not _ABSENT:
        return data
    return {mark if mark in _SAID else "error" if failed else "output": text}


def _id_out(id: str, marks: Mapping[str, object]) -> dict[str, str]:
    ours = id.startswith(UNSTATED) and marks.get("id") != STATED
    return {} if ours or not id else {"id": id}


# -- ids for calls and results that state none: what answers a call is told by its name and place -------------------


def paired(messages: Sequence[Message], before: Sequence[Message] = ()) -> list[Message]:
    """The messages of a format that needs no ids with one for each call and result that states none.

    `before` stands before them. The ids are the same each time that the same history is read.

    A result answers the first call of its name that is open, also where it states an id and the call does not, as Gemini CLI writes
    them; the next message with calls closes what is still open.
    """
    open = _open(before)
    return [_with_ids(message, number, open) for number, message in enumerate(messages, len(before))]


def _open(messages: Sequence[Message]) -> list[ToolCall]:
    """The calls that wait for a result at the end of messages."""
    answered: set[str] = set()
    for message in reversed(messages):
        answered.update(result.call_id for result in message.results)
        if calls := list(message.calls):
            return [call for call in calls if call.id not in answered]
    return []


def _with_ids(message: Message, number: int, open: list[ToolCall]) -> Message:
    if any(True for _ in message.calls):
        open.clear()
    parts = tuple(_with_id(part, f"{UNSTATED}{number}-{i}", open) for i, part in enumerate(message.parts))
    return replace(message, parts=parts) if parts != message.parts else message


def _with_id(part: Part, fresh: str, open: list[ToolCall]) -> Part:
    if type(part) is ToolCall:
        open.append(part if part.id else replace(part, id=fresh))
        return open[-1]
    if type(part) is not ToolResult or any(call.id == part.call_id for call in open):
        return part
    answered = next((call for call in open if call.name == part.name and call.id.startswith(UNSTATED)), None)
    if answered is None:
        return part
    open.remove(answered)
    return _answering(part, answered.id)


def _answering(result: ToolResult, id: str) -> ToolResult:
    """A result with the id of the call that it answers; one that it states itself is kept for the wire."""
    if not result.call_id:
        return replace(result, call_id=id)
    key = next((key for key in result.extra if key in _RESPONSES), "functionResponse")
    marks = {**(result.extra.get(key) or {}), "id": {"is": result.call_id}}
    return replace(result, call_id=id, extra={**result.extra, key: marks})


# -- what else there is to know of the format ---------------------------------------------------------------------


def _tells(item: Mapping[str, object]) -> Sign:
    role, parts = item.get("role"), item.get("parts")
    if isinstance(role, str) and role not in _ROLES:
        return Sign.NEVER
    if isinstance(parts, (list, tuple)) and any(isinstance(part, Mapping) and "type" in part for part in parts):
        return Sign.NEVER
    return Sign.SURELY if "parts" in item or role == "model" else Sign.NEVER


def _usage(usage: object) -> Usage | None:
    named = ("promptTokenCount", "prompt_token_count", "candidatesTokenCount", "candidates_token_count")
    if not states_any(usage, *named):
        return None
    total = count(usage, "promptTokenCount", "prompt_token_count")
    total += count(usage, "toolUsePromptTokenCount", "tool_use_prompt_token_count")
    output = count(usage, "candidatesTokenCount", "candidates_token_count")
    output += count(usage, "thoughtsTokenCount", "thoughts_token_count")
    return less_cached(total, count(usage, "cachedContentTokenCount", "cached_content_token_count"), 0, output)


def _reply(reply: Mapping[str, object]) -> Ended | None:
    content = at(reply, "candidates", 0, "content")
    if not isinstance(content, Mapping):
        return None
    end = at(reply, "candidates", 0, "finishReason") or at(reply, "candidates", 0, "finish_reason")
    return Ended(decode({**content, "role": "model"}), str(end or ""))


def _tool(tool: Tool) -> dict[str, object]:
    declared = {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters}
    return {"functionDeclarations": [declared]}


def _picture(item: Mapping[str, object]) -> Picture | None:
    match item:
        case {"inlineData": {"mimeType": str(mime), "data": str(data)}}:
            return Picture(mime, data)
    return None


def _request(messages: Sequence[Message]) -> tuple[object, int]:
    system, rest = beside_system(messages)
    items = alternating((encode(message) for message in results_named(rest)), "parts")
    named = {"contents": items, "systemInstruction": {"parts": [{"text": system}]}} if system else items
    return named, len(items)


FORMAT = WireFormat(
    name=NAME,
    tells=_tells,
    decode=decode,
    encode=encode,
    usage=_usage,
    reply=_reply,
    appended="reply.candidates[0].content",
    # its parts have no types, and Google adds kinds of them
    strange=lambda message: (source for source in opaque(message.parts) if not isinstance(source, dict)),
    ids=paired,
    tool=_tool,
    picture=_picture,
    image=lambda picture: {"inlineData": {"mimeType": picture.mime, "data": picture.data}},
    request=_request,
)
