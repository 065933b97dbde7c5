"""Agent Framework's messages: contents of many types."""

from __future__ import annotations

import json
from copy import copy
from operator import attrgetter
from typing import Any

from agent_framework import Content
from agent_framework import Message as Native

from foldline import Message, Summary
from foldline.extend import (
    HostFormat,
    Media,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    summary_in,
    summary_text,
    text_of,
)
from foldline.integrations._content import KEY, ROLES, in_place, in_words, inside

_told = attrgetter("type", "text", "call_id", "arguments", "result", "uri", "exception")


def told(native: Native) -> list[Any]:
    """What tells one message from another, which the framework itself is slow to do, or does by their identities."""
    return [str(native.role), *map(_told, native.contents)]


def read(native: Native) -> Message:
    """What a message says."""
    role = ROLES.get(str(getattr(native.role, "value", native.role)), "user")
    if role == "user" and KEY in native.additional_properties and (told := summary_in(native.text)) is not None:
        return Message(role, (Summary(told, native.additional_properties[KEY]),))
    return Message(role, tuple(map(_part, native.contents)))


def _part(content: Any) -> Part:
    match content.type:
        case "text":
            return Text(content.text or "")
        case "text_reasoning":
            return Thinking(content.text or "", None, content.protected_data)
        case "function_call":
            return ToolCall(content.call_id or "", content.name or "", in_words(content.arguments or {}))
        case "function_result":
            return ToolResult(content.call_id or "", _returned(content), bool(content.exception), content.name or "")
        case "data" | "uri":
            kind = str(content.media_type or "").partition("/")[0]
            known: Any = kind if kind in ("image", "audio", "video") else "document"
            return Media(known, {"url": content.uri, "media_type": content.media_type})
    return Opaque({"type": content.type, "said": json.dumps(content.to_dict(), default=str)})


def _returned(content: Any) -> tuple[Text | Media | Opaque, ...]:
    if content.items:
        return inside(map(_part, content.items))
    result = content.result if content.result is not None else content.exception
    return (Text(in_words(result)),)


def made(message: Message) -> Native:
    """A message that says what a fold made."""
    if (summary := message.summary) is not None:
        return Native("user", [summary_text(summary)], additional_properties={KEY: summary.facts})
    return Native(message.role, [message.text])


def edited(native: Native, was: Message, now: Message) -> Native:
    """A copy that says what it says now; contents that stand as they did are the very same."""
    changed = copy(native)
    contents = zip(native.contents, was.parts, in_place(was, now))
    changed.contents = [_content(content, before, after) for content, before, after in contents if after is not None]
    return changed


def _content(content: Any, was: Part, now: Part) -> Any:
    if was == now:
        return content
    changed = copy(content)
    if isinstance(now, ToolCall):
        changed.arguments = now.arguments if isinstance(content.arguments, str) else json.loads(now.arguments)
    elif isinstance(now, ToolResult) and isinstance(was, ToolResult):
        if content.items and len(was.parts) == len(now.parts):
            changed.items = [_content(*each) for each in zip(content.items, was.parts, now.parts)]
        else:
            changed.items = [Content.from_text(text_of(now))]
        changed.result = text_of(now)
    elif isinstance(now, Text):
        changed.text = now.text
    return changed


FORMAT: HostFormat[Native] = HostFormat(read, made, edited, lambda one, other: told(one) == told(other))
