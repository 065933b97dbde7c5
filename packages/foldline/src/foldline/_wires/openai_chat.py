"""The OpenAI chat completions format, with the reasoning keys that DeepSeek, OpenRouter and others add to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from foldline._errors import WireError
from foldline._framing import summary_text
from foldline._messages import Media, Message, Opaque, Part, Role, Summary, Text, Thinking, ToolCall, ToolResult, Usage
from foldline._wires.arranging import one_item_each
from foldline._wires.format import Ended, Picture, Sign, WireFormat, at, kind_of, parts_of, role_in, strangers
from foldline._wires.shape import (
    BARE,
    TEXT,
    Shape,
    as_own,
    content_in,
    content_out,
    extra_of,
    from_json,
    item_of,
    reader,
    stand_in,
    text_in,
    to_json,
    verbatim,
)
from foldline._wires.usage import count, less_cached, stated, states_any

NAME = "openai-chat"

WORDS = Shape(("role", "content"), 2)
REASONING = ("reasoning_content", "reasoning", "reasoning_details")
KEYED = ("audio", "function_call")
"""The keys of a reply that say what was thought, and those that hold one part each beside its content."""

REPLY = Shape(("role", "content", "refusal", *REASONING, *KEYED, "tool_calls"), 2)
RESULT = Shape(("role", "tool_call_id", "content", "name"), 3)
REFUSAL = Shape(("type", "refusal"), 2)
CALL = {"function": Shape(("id", "type", "function"), 3), "custom": Shape(("id", "type", "custom"), 3)}
BODY = {"function": Shape(("name", "arguments"), 2), "custom": Shape(("name", "input"), 2)}

JSON = "json"
"""The mark of arguments that are a value instead of its JSON text."""

_ROLES: dict[str, tuple[Role, Shape]] = {
    "user": ("user", WORDS),
    "assistant": ("assistant", REPLY),
    "tool": ("tool", RESULT),
    "system": ("system", WORDS),
    "developer": ("system", WORDS),
    "function": ("tool", RESULT),
}
_SHAPES: dict[Role, Shape] = {"user": WORDS, "system": WORDS, "assistant": REPLY, "tool": RESULT}
_REFUSAL_KEY = {"type": "message.refusal"}
"""The extra of a text that stands in the message's own `refusal`."""


# -- decode: the shapes that nearly all items have ----------------------------------------------------------------


def decode(item: Mapping[str, object], where: str = "") -> Message:
    """The message that an item says; `where` names the item in errors."""
    if type(item) is dict:
        quick = _QUICK.get(tuple(item))
        if quick is not None:
            message = quick(item)
            if message is not None:
                return message
    return _decode(item, where)


def _quick_words(item: dict[str, object]) -> Message | None:
    role, content = item.values()
    if type(content) is str and (role == "user" or role == "assistant" or role == "system"):
        return Message(role, (Text(content),), None, {}, NAME)
    return None


def _quick_calls(item: dict[str, object]) -> Message | None:
    role, content, calls = item.values()
    if role != "assistant" or type(calls) is not list or not calls:
        return None
    parts: list[Part | None] = [_call_in(call) for call in calls]
    if type(content) is str:
        parts.insert(0, Text(content))
    elif content is not None:
        return None
    return None if None in parts else Message(role, tuple(parts), None, {}, NAME)  # type: ignore[arg-type]


def _quick_result(item: dict[str, object]) -> Message | None:
    role, call_id, content = item.values()
    if type(content) is str and type(call_id) is str and role == "tool":
        return Message(role, (ToolResult(call_id, (Text(content),)),), None, {}, NAME)
    return None


def _quick_turned_result(item: dict[str, object]) -> Message | None:
    role, content, call_id = item.values()
    if type(content) is str and type(call_id) is str and role == "tool":
        extra: dict[str, object] = {"role": None, "content": None, "tool_call_id": None}
        return Message(role, (ToolResult(call_id, (Text(content),)),), None, extra, NAME)
    return None


_QUICK: dict[tuple[str, ...], Callable[[dict[str, object]], Message | None]] = {
    ("role", "content"): _quick_words,
    ("role", "content", "tool_calls"): _quick_calls,
    ("role", "tool_call_id", "content"): _quick_result,
    ("role", "content", "tool_call_id"): _quick_turned_result,
}


# -- decode: everything else --------------------------------------------------------------------------------------


def _decode(item: Mapping[str, object], where: str) -> Message:
    role, shape = role_in(item, _ROLES, NAME, where)
    marks: dict[str, object] = {} if item["role"] == role else {"role": item["role"]}
    parts: tuple[Part, ...] = _content_in(item, marks)
    if shape is RESULT:
        parts = (_result_in(item, parts, marks),)
    elif shape is REPLY:
        parts = _reply_in(item, parts, marks)
    return Message(role, parts, None, extra_of(item, shape, marks), NAME)


def _content_in(item: Mapping[str, object], marks: dict[str, object]) -> tuple[Text | Media | Opaque, ...]:
    if "content" not in item:
        return ()
    parts, mark = content_in(item["content"], _part_in)
    if mark:
        marks["content"] = mark
    return parts


def _result_in(item: Mapping[str, object], parts: tuple[Any, ...], marks: dict[str, object]) -> ToolResult:
    said: dict[str, str] = {}
    for key in ("tool_call_id", "name"):
        value = item.get(key)
        if isinstance(value, str) and value:
            said[key] = value
        elif key in item:
            marks[key] = {"is": value}
    return ToolResult(said.get("tool_call_id", ""), parts, False, said.get("name", ""))


def _reply_in(item: Mapping[str, object], content: tuple[Part, ...], marks: dict[str, object]) -> tuple[Part, ...]:
    """Thinking comes first, then what was said, then the calls, in whatever order the keys stand."""
    if any(_keyed(part) for part in content):
        content = (Opaque(verbatim(item["content"])),)
        marks["content"] = BARE
    parts: list[Part] = [*_thinking_in(item, marks), *content]
    if isinstance(refusal := item.get("refusal"), str) and refusal:
        parts.append(Text(refusal, dict(_REFUSAL_KEY)))
    elif "refusal" in item:
        marks["refusal"] = {"is": refusal}
    for key in KEYED:
        if isinstance(value := item.get(key), dict):
            parts.append(Media("audio", {key: value}) if key == "audio" else Opaque({key: value}))
        elif key in item:
            marks[key] = {"is": value}
    return (*parts, *_calls_in(item, marks))


def _keyed(part: Part) -> str | None:
    """The key of the message that the part stands in, where that is not its content."""
    if type(part) in (Media, Opaque) and type(part.source) is dict and len(part.source) == 1:  # type: ignore[union-attr]
        key = next(iter(part.source))  # type: ignore[union-attr]
        return key if key in KEYED else None
    return None


def _thinking_in(item: Mapping[str, object], marks: dict[str, object]) -> list[Thinking]:
    """One thinking for each text; the extra of each names its keys, unless it is `reasoning_content` alone."""
    keys: dict[str, dict[str, object]] = {}
    for key in ("reasoning_content", "reasoning"):
        if isinstance(value := item.get(key), str) and value:
            keys.setdefault(value, {})[key] = None
        elif key in item:
            marks[key] = {"is": value}
    details = item.get("reasoning_details")
    data: str | None = None
    if isinstance(details, list) and details:
        words, data = _details_in(details)
        keys.setdefault(next(reversed(keys), words), {})["reasoning_details"] = details
    elif "reasoning_details" in item:
        marks["reasoning_details"] = {"is": details}
    return [
        Thinking(
            text,
            None,
            data if "reasoning_details" in extra else None,
            {} if [*extra] == ["reasoning_content"] else extra,
        )
        for text, extra in keys.items()
    ]


def _details_in(details: list[object]) -> tuple[str, str | None]:
    told = [detail for detail in details if isinstance(detail, dict)]
    words = [text for d in told for text in (d.get("text"), d.get("summary")) if isinstance(text, str)]
    data = [text for d in told if isinstance(text := d.get("data"), str)]
    return "\n".join(words), "\n".join(data) if data else None


def _calls_in(item: Mapping[str, object], marks: dict[str, object]) -> list[ToolCall]:
    if "tool_calls" not in item:
        return []
    given = item["tool_calls"]
    if not isinstance(given, list) or not any(calls := [_call_in(call) for call in given]):
        marks["tool_calls"] = {"is": given}
        return []
    if None in calls:
        marks["tool_calls"] = {"items": [{"is": each} if call is None else None for call, each in zip(calls, given)]}
    return [call for call in calls if call is not None]


def _call_in(item: object) -> ToolCall | None:
    """The call that an item says, or None where it must stay as it is."""
    if type(item) is dict and tuple(item) == ("id", "type", "function"):
        id, kind, body = item.values()
        if kind == "function" and type(body) is dict and tuple(body) == ("name", "arguments"):
            name, arguments = body.values()
            if type(id) is str and type(name) is str and type(arguments) is str:
                return ToolCall(id, name, arguments)
    return _odd_call_in(item) if isinstance(item, dict) else None


def _odd_call_in(item: dict[str, object]) -> ToolCall | None:
    kind = item.get("type", "function")
    if not isinstance(kind, str) or kind not in BODY:
        return None
    body = item.get(kind)
    if not isinstance(body, dict) or not isinstance(name := body.get("name"), str):
        return None
    text = BODY[kind].keys[1]
    arguments, body_marks = body.get(text, "{}"), {}
    if not isinstance(arguments, str):
        if (arguments := to_json(arguments)) is None:
            return None
        body_marks = {text: JSON}
    marks: dict[str, object] = {"type": "custom"} if kind == "custom" else {}
    if body_extra := extra_of(body, BODY[kind], body_marks):
        marks[kind] = body_extra
    id = item.get("id", "")
    if id is None:
        id, marks["id"] = "", {"is": None}
    if not isinstance(id, str):
        return None
    return ToolCall(id, name, arguments, extra_of(item, CALL[kind], marks))


def _refusal_in(item: dict[str, object]) -> Text | None:
    refusal = item.get("refusal")
    return Text(refusal, extra_of(item, REFUSAL, {"type": "refusal"})) if isinstance(refusal, str) else None


def _named_text_in(item: dict[str, object]) -> Text | None:
    """A text under a name that transcripts give it and the API does not know."""
    text = item.get("text")
    return Text(text, extra_of(item, TEXT, {"type": item["type"]})) if isinstance(text, str) else None


_NAMED_TEXTS = ("input_text", "output_text", "tool_output")
_PARTS: dict[str, Callable[[dict[str, object]], Text | Media | None]] = {
    "text": text_in,
    "refusal": _refusal_in,
    **dict.fromkeys(_NAMED_TEXTS, _named_text_in),
    "image_url": lambda item: Media("image", dict(item)),
    "input_audio": lambda item: Media("audio", dict(item)),
    "file": lambda item: Media("document", dict(item)),
}
_part_in: Callable[[object], Text | Media | Opaque] = reader(_PARTS)


# -- encode -------------------------------------------------------------------------------------------------------


def encode(message: Message) -> dict[str, object]:
    """The item that says a message; of one that came from here, the same item.

    Raises `WireError` where it takes several items: tool results stand alone here, each in its own.
    """
    message = as_own(message, NAME, lambda thinking: bool(thinking.text))
    if message.role == "tool" or any(message.results):
        return _result_out(message)
    return _reply_out(message)


def _result_out(message: Message) -> dict[str, object]:
    extra, results = message.extra, list(message.results)
    if len(results) > 1 or (len(message.parts) > 1 and message.role != "tool"):
        raise WireError("tool results and what stands beside them take an item each", format=NAME)
    result = results[0] if results else ToolResult("")
    others = [part for part in message.parts if part is not result]
    content = content_out((*result.parts, *others), extra.get("content"), _part_out, "")
    fields = {"role": _role_out("tool", extra), "tool_call_id": result.call_id, "content": content}
    if result.name:
        fields["name"] = result.name
    return item_of(fields, extra, RESULT, {"tool_call_id": "", "content": ""})


def _reply_out(message: Message) -> dict[str, object]:
    role, extra = message.role, message.extra
    said: dict[str, object] = {}
    content: list[Part] = []
    calls: list[dict[str, object]] = []
    bare = extra.get("content") == BARE
    for part in message.parts:
        if type(part) is ToolCall:
            calls.append(_call_out(part))
        elif type(part) is Thinking:
            _thinking_out(part, said)
        elif type(part) is Text and part.extra == _REFUSAL_KEY:
            said["refusal"] = part.text
        elif role == "assistant" and not (bare and not content) and (key := _keyed(part)):
            said[key] = part.source[key]  # type: ignore[union-attr]
        else:
            content.append(part)
    if calls:
        said["tool_calls"] = _calls_out(calls, extra.get("tool_calls"))
    void = None if role == "assistant" else ""
    said["role"] = _role_out(role, extra)
    said["content"] = content_out(content, extra.get("content"), _part_out, void)
    fields = {key: said[key] for key in REPLY.keys if key in said}
    return item_of(fields, extra, _SHAPES[role], {"content": void})


def _role_out(role: Role, extra: Mapping[str, object]) -> str:
    given = extra.get("role")
    return given if given in _ROLES and _ROLES[given][0] == role else role


def _thinking_out(part: Thinking, said: dict[str, object]) -> None:
    if part.extra:
        for key, value in part.extra.items():
            said[key] = value if key == "reasoning_details" else part.text
    elif part.text:
        before = said.get("reasoning_content")
        said["reasoning_content"] = f"{before}\n\n{part.text}" if before else part.text


def _calls_out(calls: Sequence[object], mark: object) -> Sequence[object]:
    if not isinstance(mark, dict) or "items" not in mark:
        return calls
    rest = iter(calls)
    items = [each["is"] if each else next(rest, None) for each in mark["items"]]
    return [*(item for item, each in zip(items, mark["items"]) if each or item is not None), *rest]


def _call_out(call: ToolCall) -> dict[str, object]:
    """The item that says a call in the shape of its extra."""
    if not (extra := call.extra):
        return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
    kind = "custom" if extra.get("type") == "custom" else "function"
    text = BODY[kind].keys[1]
    body_extra = extra.get(kind) or {}
    arguments = from_json(call.arguments, call.arguments) if body_extra.get(text) == JSON else call.arguments
    body = item_of({"name": call.name, text: arguments}, body_extra, BODY[kind], {text: "{}"})
    return item_of({"id": call.id, "type": kind, kind: body}, extra, CALL[kind], {"id": "", "type": "function"})


def _part_out(part: Any) -> Any:
    match part:
        case Text(text, extra) if extra.get("type") == "refusal":
            return item_of({"type": "refusal", "refusal": text}, extra, REFUSAL)
        case Text(text, extra):
            kind = extra.get("type") if extra.get("type") in _NAMED_TEXTS else "text"
            return item_of({"type": kind, "text": text}, extra, TEXT)
        case Summary():
            return {"type": "text", "text": summary_text(part)}
        case Opaque(source):
            return verbatim(source)
        case Media(kind, source):
            return dict(source) if source.get("type") in _PARTS else {"type": "text", "text": stand_in(kind)}


# -- what else there is to know of the format ---------------------------------------------------------------------

_OWN_KEYS = frozenset(("tool_calls", "tool_call_id", "function_call", "refusal", *REASONING))
_OWN_PARTS = frozenset(("image_url", "input_audio", "file"))
_OTHERS_PARTS = frozenset(("input_text", "output_text", "input_image", "input_file", "tool_use", "tool_result"))


def _tells(item: Mapping[str, object]) -> Sign:
    role, kind = item.get("role"), item.get("type", "message")
    if not isinstance(role, str) or role not in _ROLES or kind != "message" or "parts" in item:
        return Sign.NEVER
    if role in ("tool", "function") or not _OWN_KEYS.isdisjoint(item):
        return Sign.SURELY
    signs = [_told_by(part) for part in parts_of(item)]
    if Sign.SURELY in signs:
        return Sign.SURELY
    if Sign.NEVER in signs:
        return Sign.NEVER
    return Sign.LIKELY if role == "developer" else Sign.MAYBE


def _told_by(part: Any) -> Sign:
    kind = kind_of(part)
    if not kind or kind in _OTHERS_PARTS:
        return Sign.NEVER
    # Mistral's thinking is a list of parts, Anthropic's a text
    ours = kind in _OWN_PARTS or (kind == "thinking" and isinstance(part.get("thinking"), list))
    return Sign.SURELY if ours else Sign.MAYBE


def _strange(message: Message) -> Iterator[object]:
    """What no typed part names, and calls that are none; a `function_call` stands beside the parts."""
    yield from (source for source in strangers(message) if not (type(source) is dict and "function_call" in source))
    mark = message.extra.get("tool_calls")
    for each in [mark, *mark.get("items", ())] if isinstance(mark, dict) else ():
        if each and (given := each.get("is")):
            given = given if isinstance(given, list) else [given]
            yield from (call for call in given if kind_of(call) in ("", *CALL))


def _usage(usage: object) -> Usage | None:
    if not states_any(usage, "prompt_tokens", "completion_tokens"):
        return None
    details = stated(usage, "prompt_tokens_details")
    read = count(details, "cached_tokens")
    read = read or count(usage, "cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens")
    written = count(details, "cache_write_tokens", "cache_creation_tokens")
    written = written or count(usage, "cache_creation_input_tokens")
    return less_cached(count(usage, "prompt_tokens"), read, written, count(usage, "completion_tokens"))


def _reply(reply: Mapping[str, object]) -> Ended | None:
    message = at(reply, "choices", 0, "message")
    if not isinstance(message, Mapping):
        return None
    return Ended(decode({"role": "assistant", **message}), str(at(reply, "choices", 0, "finish_reason") or ""))


def _picture(item: Mapping[str, object]) -> Picture | None:
    return Picture.at(at(item, "image_url", "url")) if item.get("type") == "image_url" else None


def _request(messages: Sequence[Message]) -> tuple[object, int]:
    items = [encode(message) for message in one_item_each(messages)]
    return items, len(items)


_CALLING = ("tool_calls", "tool_call_id", "function_call", "function", "custom")

FORMAT = WireFormat(
    name=NAME,
    tells=_tells,
    decode=decode,
    encode=encode,
    usage=_usage,
    reply=_reply,
    summaries=("user", "assistant", "system"),
    appended="reply.choices[0].message",
    strange=_strange,
    tool=lambda tool: {"type": "function", "function": tool._asdict()},
    picture=_picture,
    image=lambda picture: {"type": "image_url", "image_url": {"url": picture.url}},
    images_in_results=False,
    keys=frozenset(("role", "content", "name", "refusal", "audio", "type", "text", "id", *_CALLING)),
    request=_request,
)
