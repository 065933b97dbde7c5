"""Inspect's messages: a content of text or items, and calls beside it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, ContentText

from foldline import Message
from foldline.extend import HostFormat, Media, Opaque, Part, Role, Text, Thinking, ToolCall, ToolResult
from foldline.integrations._content import as_json, content_now, in_place, inside, result_now, words_of

MEDIA = ("image", "audio", "video", "document")


def read(native: ChatMessage) -> Message:
    """What a message says."""
    content = [native.content] if isinstance(native.content, str) else native.content
    parts: list[Part] = [_part(item) for item in content if item != ""]
    if native.role == "tool":
        inner = inside(parts)
        failed = (Text(native.error.message),) if native.error is not None and not inner else ()
        result = (*inner, *failed)
        return Message(
            "tool", (ToolResult(native.tool_call_id or "", result, bool(native.error), native.function or ""),)
        )
    if native.role == "assistant":
        parts += [ToolCall(call.id, call.function, as_json(call.arguments)) for call in native.tool_calls or []]
    role: Role = native.role
    return Message(role, tuple(parts))


def _part(item: Any) -> Part:
    if isinstance(item, str):
        return Text(item)
    if item.type == "text":
        return Text(item.text)
    if item.type == "reasoning":
        return Thinking(item.reasoning, item.signature, item.reasoning if item.redacted else None)
    if item.type in MEDIA:
        return Media(item.type, {"url": getattr(item, item.type), "media_type": getattr(item, "mime_type", None)})
    return Opaque(item.model_dump(mode="json"))


def made(message: Message) -> ChatMessage:
    """A message that says what a fold made."""
    if message.summary is not None:
        return ChatMessageUser(content=words_of(message))
    if message.role == "assistant":
        return ChatMessageAssistant(content=message.text)
    return (ChatMessageSystem if message.role == "system" else ChatMessageUser)(content=message.text)


def edited(native: ChatMessage, was: Message, now: Message) -> ChatMessage:
    """A copy that says what it says now; items that stand as they did are the very same."""
    if native.role == "tool":
        content = result_now(native.content, was, now, _text)
        return native.model_copy(update={"content": content, "error": native.error if was == now else None})
    update: dict[str, Any] = {"content": content_now(native.content, was.parts, in_place(was, now), _text)}
    if native.role == "assistant" and native.tool_calls:
        said = (json.loads(call.arguments) for call in now.calls)
        update["tool_calls"] = [replace(call, arguments=each) for call, each in zip(native.tool_calls, said)]
    return native.model_copy(update=update)


def _text(item: Any, said: str) -> Any:
    return item.model_copy(update={"text": said}) if isinstance(item, ContentText) else ContentText(text=said)


FORMAT: HostFormat[ChatMessage] = HostFormat(read, made, edited)
