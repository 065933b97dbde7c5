"""The records of pi and OpenClaw as messages, and messages as their records.

The texts that pi wraps around summaries, commands and branches are pi's own (0.73 and 0.87 share them), so that the
model reads the same words whichever program builds the request.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct

from foldline._economics import price
from foldline._messages import (
    Media,
    Message,
    Opaque,
    Part,
    Speaker,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    replace,
)
from foldline._models import model as model_named
from foldline._sessions.format import Row, Tail
from foldline._sessions.lines import Record
from foldline._sessions.parts import texts
from foldline._sessions.pi.marks import FOLD
from foldline._sessions.values import Json, as_json, count, items, mapping, mappings, string
from foldline._wires.usage import BROKEN, broke_off

FORMAT = "pi"

KNOWN_VERSION = 3
"""The newest version of the dialect; a newer one is read like it, and not written to."""

EARLY_OVERHEAD, OVERHEAD, OPENCLAW_OVERHEAD = 2_500, 9_000, 11_000
"""Tokens of prompt and tools that no log of version 1 shows, of a later pi, and of OpenClaw with its bootstrap files."""

_OPENCLAW = ("openclaw", "model-snapshot")
"""How the types of the records begin that OpenClaw alone writes."""

SUMMARY_PREFIX = "The conversation history before this point was compacted into the following summary:\n\n<summary>\n"
SUMMARY_SUFFIX = "\n</summary>"
BRANCH_PREFIX = "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n"
BRANCH_SUFFIX = "</summary>"

CONTRIBUTES = ("message", "custom_message", "branch_summary", "compaction")
"""The kinds of record that the model sees; every other one is kept and passed over."""

CHARACTERS = 3.2
"""Characters of a token of what tools print, about: by the bills of a session that lost 490,000 of them."""

SETTINGS = ("model_change", "thinking_level_change")

ECHOES = ("delivery-mirror", "gateway-injected")
"""The models of OpenClaw's replies that no model made: echoes of what was delivered."""

EDITABLE = ("user", "assistant", "toolResult", "custom", "hookMessage")
"""The roles whose content a `context_edit` may replace; versions 1 and 2 call custom messages hook messages."""


def message_of(record: Record) -> Message | None:
    """The message that a record adds to the context, or None where it adds none."""
    data = record.data
    match record.type:
        case "message":
            return message_in(data.get("message"))
        case "custom_message":
            parts = _by(_blocks(data.get("content")), "harness")
            return Message("user", _copied(parts, data) if data.get("customType") == FOLD else parts, format=FORMAT)
        case "branch_summary" if isinstance(text := data.get("summary"), str) and text:
            return Message("user", (Text(BRANCH_PREFIX + text + BRANCH_SUFFIX, by="harness"),), format=FORMAT)
        case "compaction":
            return Message("user", (_summary(string(data.get("summary")), data),), format=FORMAT)
        case _:
            return None


def role_of(record: Record) -> str:
    """The role of the message in a record; `custom` where an extension put it there, empty where there is none."""
    if record.type == "custom_message":
        return "custom"
    return string(mapping(record.data.get("message")).get("role")) if record.type == "message" else ""


def broke(record: Record) -> bool:
    """Whether a record holds a reply that was aborted or failed."""
    return role_of(record) == "assistant" and broke_off(mapping(record.data.get("message")))


def elsewhere(record: Record) -> int:
    """The tokens, about, of what a client took out of a record behind a summary and keeps in a store of its own."""
    payloads = mapping(mapping(record.data.get("evictedContent")).get("payloads"))
    return round(sum(count(mapping(each).get("originalChars")) for each in payloads.values()) / CHARACTERS)


def model_of(record: Record) -> str:
    """The model that a reply is from, or that was chosen; empty where the record says neither."""
    if record.type == "model_change":
        return string(record.data.get("modelId"), record.data.get("model"))
    message = mapping(record.data.get("message"))
    name = string(message.get("model")) if record.type == "message" and message.get("role") == "assistant" else ""
    return "" if name in ECHOES else name


def facts_of(data: Mapping[str, object]) -> Json:
    """The facts behind a summary, as plain data; none where it is not foldline's own."""
    return mapping(_noted(data).get("facts"))


def _summary(text: str, data: Mapping[str, object]) -> Summary:
    """A summary with what foldline noted of it: the facts, and the words around it where a policy has its own."""
    match _noted(data).get("frame"):
        case [str(before), str(behind)]:
            return Summary(text, facts_of(data), frame=(before, behind))
    return Summary(text, facts_of(data))


def _noted(data: Mapping[str, object]) -> Json:
    """What foldline noted beside a summary."""
    return mapping(mapping(data.get("details")).get("foldline"))


def message_in(data: object) -> Message | None:
    if not isinstance(data, dict):
        return None
    match data.get("role"):
        case "user":
            return Message("user", _by(_blocks(data.get("content")), _sender(data)), format=FORMAT)
        case "assistant":
            parts = _by(_blocks(data.get("content")), "harness" if data.get("model") in ECHOES else "")
            usage = None if broke_off(data) else usage_of(data.get("usage"))
            return Message("assistant", parts, usage, format=FORMAT)
        case "toolResult":
            return Message("tool", (_result(data),), format=FORMAT)
        case "system":
            return Message("system", _system_parts(data), format=FORMAT)
        case "bashExecution" if not data.get("excludeFromContext"):
            return Message("user", (Text(_bash_text(data), by="tool"),), format=FORMAT)
        case "custom" | "hookMessage":
            return Message("user", _by(_blocks(data.get("content")), "harness"), format=FORMAT)
        case "branchSummary":
            told = BRANCH_PREFIX + string(data.get("summary")) + BRANCH_SUFFIX
            return Message("user", (Text(told, by="harness"),), format=FORMAT)
        case "compactionSummary":
            return Message("user", (Summary(string(data.get("summary"))),), format=FORMAT)
        case _:
            return None


def _copied(parts: tuple[Part, ...], data: Mapping[str, object]) -> tuple[Part, ...]:
    """The parts of a message that a fold made, a summary as such."""
    text = parts[0].text if len(parts) == 1 and isinstance(parts[0], Text) else ""
    if not (text.startswith(SUMMARY_PREFIX) and text.endswith(SUMMARY_SUFFIX)):
        return parts
    return (_summary(text[len(SUMMARY_PREFIX) : -len(SUMMARY_SUFFIX)], data),)


def _by(parts: tuple[Part, ...], by: Speaker) -> tuple[Part, ...]:
    """The parts with their texts marked as a speaker's."""
    return tuple(replace(p, by=by) if isinstance(p, Text) else p for p in parts) if by else parts


def _sender(data: Mapping[str, object]) -> Speaker:
    """Whose a user's message is, where OpenClaw says where it came in."""
    kind = mapping(data.get("provenance")).get("kind")
    return "peer" if kind == "inter_session" else "harness" if kind == "internal_system" else ""


def usage_of(data: object) -> Usage | None:
    """The usage of a reply; pi's `input` excludes cached tokens already. None where nothing usable was billed."""
    figures = [count(mapping(data).get(name)) for name in ("input", "output", "cacheRead", "cacheWrite")]
    return Usage(*figures) if any(figures) else None


def _blocks(content: object) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (Text(content),)
    return tuple(map(_block, items(content)))


def _block(block: Any) -> Part:
    match block:
        case {"type": "text", "text": str(text)}:
            return Text(text, _rest(block, "type", "text"))
        case {"type": "thinking", "thinking": str(text)}:
            signature = block.get("thinkingSignature")
            rest = _rest(block, "type", "thinking", "thinkingSignature")
            return Thinking(text, signature if isinstance(signature, str) else None, extra=rest)
        case {"type": "toolCall", "id": str(id), "name": str(name)}:
            arguments = as_json(block.get("arguments", {}))
            return ToolCall(id, name, arguments, _rest(block, "type", "id", "name", "arguments"))
        case {"type": "image"}:
            return Media("image", block)
        case _:
            return Opaque(block)


def _rest(block: Mapping[str, object], *modelled: str) -> Json:
    return {key: value for key, value in block.items() if key not in modelled}


def _result(data: Mapping[str, object]) -> ToolResult:
    parts = tuple(p for p in _blocks(data.get("content")) if isinstance(p, Text | Media | Opaque))
    name = data.get("toolName")
    return ToolResult(string(data.get("toolCallId")), parts, bool(data.get("isError")), string(name))


def _system_parts(data: Mapping[str, object]) -> tuple[Part, ...]:
    parts: list[Part] = [*texts((data.get("content"), *mapping(data.get("sections")).values()))]
    if tools := data.get("toolsAdded"):
        parts.append(Opaque(tools))
    return tuple(parts)


def _bash_text(data: Mapping[str, object]) -> str:
    output = data.get("output")
    text = f"Ran `{string(data.get('command'))}`\n" + (f"```\n{output}\n```" if output else "(no output)")
    code = data.get("exitCode")
    if data.get("cancelled"):
        text += "\n\n(command cancelled)"
    elif code not in (None, 0):
        text += f"\n\nCommand exited with code {code}"
    if data.get("truncated") and data.get("fullOutputPath"):
        text += f"\n\n[Output truncated. Full output: {data['fullOutputPath']}]"
    return text


# -- the last records --------------------------------------------------------------------------------------------


class _Message(Struct):
    role: str = ""
    model: str = ""
    usage: Json | None = None
    stopReason: str = ""  # noqa: N815
    content: Raw = Raw()
    output: Raw = Raw()


class _Last(Struct):
    type: str = ""
    id: str | None = None
    parentId: str | None = None  # noqa: N815
    modelId: str | None = None  # noqa: N815
    message: _Message | None = None
    foldline: Raw = Raw()
    details: Raw = Raw()


_decoded = msgspec.json.Decoder(_Last).decode


def _tell(line: bytes) -> Row | None:
    record = _decoded(line)
    if record.type == "session":
        return None
    message = record.message or _Message()
    billed = message.role == "assistant" and message.stopReason not in BROKEN
    usage = usage_of(message.usage) if billed else None
    model = record.modelId or (message.model if usage and message.model not in ECHOES else "")
    folds = record.type in ("compaction", "context_edit", "branch_summary")
    anew = folds or bool(record.foldline) or b'"foldline"' in bytes(record.details)
    return Row(
        record.id, record.parentId, usage, model, memoryview(bytes(message.content) + bytes(message.output)), anew
    )


def overhead(records: Sequence[Record], *, early: bool) -> int:
    """What the agent that wrote the records usually sends beside them, in tokens."""
    if early:
        return EARLY_OVERHEAD
    custom = (record.data.get("customType") for record in records if record.type in ("custom", "custom_message"))
    return OPENCLAW_OVERHEAD if any(string(kind).startswith(_OPENCLAW) for kind in custom) else OVERHEAD


def tail() -> Tail:
    """How full a log is, as its last records tell it."""
    return Tail(_tell, (b'"compaction"', b'"foldline'))


# -- and back ----------------------------------------------------------------------------------------------------


def content_of(message: Message) -> list[object]:
    """A message's content as pi's blocks."""
    result = next(message.results, None)
    return [_as_block(part) for part in (result.parts if result else message.parts)]


def stored(message: Message, milliseconds: int) -> list[Json]:
    """A message as pi stores it: one for each tool result, and one for the rest."""
    results = list(message.results)
    rest = tuple(part for part in message.parts if not isinstance(part, ToolResult))
    split = [replace(message, parts=(result,), usage=None) for result in results]
    if rest or not results:
        split.append(replace(message, parts=rest))
    return [_stored(m, milliseconds) for m in split]


def _stored(message: Message, milliseconds: int) -> Json:
    """A user's plain words become one text block, as pi writes them."""
    said: Json = {"role": message.role, "content": content_of(message)}
    if result := next(message.results, None):
        of = {"role": "toolResult", "toolCallId": result.call_id, "toolName": result.name}
        said = {**of, "content": said["content"], "isError": result.error}
    if u := message.usage:
        cached = {"cacheRead": u.cache_read, "cacheWrite": u.cache_write}
        said["usage"] = {"input": u.input, "output": u.output, **cached, "totalTokens": u.context}
    return {**said, "timestamp": milliseconds}


def reply(said: Mapping[str, object], model: str, provider: str, stop: str = "") -> Json:
    """A reply as pi needs it, with the model that made it, why it ended, and what it cost as far as that is known."""
    calls = any(isinstance(block, dict) and block.get("type") == "toolCall" for block in items(said["content"]))
    nothing = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
    bill = {**nothing, "totalTokens": 0, **mapping(said.get("usage"))}
    usage = usage_of(bill)
    cost = price(model_named(f"{provider}:{model}"), usage) if usage else None
    return {
        **said,
        "api": "unknown",
        "provider": provider or "unknown",
        "model": model or "unknown",
        "usage": {**bill, "cost": {**nothing, "total": cost or 0}},
        "stopReason": stop or ("toolUse" if calls else "stop"),
    }


def system_at(path: Sequence[Record]) -> Json | None:
    """The system prompt and the tools as they stand at the end of a path, as pi's checkpoint, or None where there are none.

    Later system messages patch the sections and the tools of earlier ones: `null` removes a section.
    """
    contents: list[str] = []
    sections: Json = {}
    tools: Json = {}
    stamp: object = None
    for message in _system_messages(path):
        stamp = message.get("timestamp") if stamp is None else stamp
        contents += filter(None, [string(message.get("content"))])
        sections |= mapping(message.get("sections"))
        tools |= _named(message.get("toolsAdded"))
        for name in _named(message.get("toolsRemoved")):
            tools.pop(name, None)
    if stamp is None:
        return None
    whole: Json = {"role": "system", "content": "\n\n".join(contents)}
    if sections := {name: value for name, value in sections.items() if value is not None}:
        whole["sections"] = sections
    if tools:
        whole["toolsAdded"] = list(tools.values())
    return whole | {"timestamp": stamp}


def _named(tools: object) -> Json:
    return {str(tool.get("name", "")): tool for tool in mappings(tools)}


def _system_messages(path: Sequence[Record]) -> list[Json]:
    found: list[Json] = []
    for record in path:
        data = record.data
        message = data.get("systemMessage") if record.type == "compaction" else data.get("message")
        if isinstance(message, dict) and message.get("role") == "system":
            found = [message] if record.type == "compaction" else [*found, message]
    return found


def _as_block(part: Part) -> object:
    match part:
        case Text(text, extra):
            return {"type": "text", "text": text, **extra}
        case Thinking(text, signature, _, extra):
            signed = {} if signature is None else {"thinkingSignature": signature}
            return {"type": "thinking", "thinking": text, **signed, **extra}
        case ToolCall(id, name, arguments, extra):
            return {"type": "toolCall", "id": id, "name": name, "arguments": _from_json(arguments), **extra}
        case Summary(text):
            return {"type": "text", "text": SUMMARY_PREFIX + text + SUMMARY_SUFFIX}
        case Media(_, source) | Opaque(source):
            return source
        case ToolResult():
            return {"type": "text", "text": "\n".join(p.text for p in part.parts if isinstance(p, Text))}


def _from_json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return {}


def kept_by(edit: Record | None) -> bool:
    """Whether a `context_edit` leaves its target in the context."""
    return edit is None or isinstance(edit.data.get("replacement"), dict)


def edited(record: Record, edit: Record) -> Message | None:
    """The message of a record as a `context_edit` replaced it, or None where the edit leaves it out."""
    message = message_of(record)
    replacement = edit.data.get("replacement")
    if message is None or not isinstance(replacement, dict):
        return None
    role = role_of(record)
    if role not in EDITABLE:
        return message
    blocks = _blocks(replacement.get("content"))
    if role == "toolResult":
        result = next(message.results)
        parts = tuple(p for p in blocks if isinstance(p, Text | Media | Opaque))
        return replace(message, parts=(replace(result, parts=parts),))
    return replace(message, parts=_by(blocks, next((p.by for p in message.parts if isinstance(p, Text)), "")))
