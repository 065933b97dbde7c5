"""agno's messages: a content, and calls, thinking and media beside it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from typing import Any

from agno.models.message import Message as Native

from foldline import Message
from foldline.extend import HostFormat, Media, Part, Text, Thinking, ToolCall, ToolResult, text_of
from foldline.integrations._content import ROLES, in_words, words_of

MEDIA: dict[str, Any] = {"images": "image", "audio": "audio", "videos": "video", "files": "document"}


def read(native: Native) -> Message:
    """What a message says."""
    role = ROLES.get(native.role, "user")
    spoken: list[Part] = [Text(said)] if (said := in_words(native.content or "")) else []
    media = list(_media(native))
    if role == "tool":
        inner: tuple[Text | Media, ...] = (Text(said), *media)
        result = ToolResult(native.tool_call_id or "", inner, bool(native.tool_call_error), native.tool_name or "")
        return Message(role, (result,))
    thought: list[Part] = []
    if native.reasoning_content or native.redacted_reasoning_content:
        thought = [Thinking(native.reasoning_content or "", None, native.redacted_reasoning_content)]
    calls = [
        ToolCall(str(call.get("id") or ""), call["function"]["name"], call["function"].get("arguments") or "{}")
        for call in native.tool_calls or []
    ]
    return Message(role, (*thought, *spoken, *media, *calls))


def _media(native: Native) -> Iterable[Media]:
    for name, kind in MEDIA.items():
        for each in getattr(native, name) or ():
            kept = {"url": each.url} if each.url else {"id": each.id}
            if isinstance(each.content, bytes):
                kept = {"data": b64encode(each.content).decode()}
            yield Media(kind, {**kept, "media_type": each.mime_type})


def made(message: Message) -> Native:
    """A message that says what a fold made."""
    return Native(role=message.role, content=words_of(message))


def edited(native: Native, was: Message, now: Message) -> Native:
    """A copy that says what it says now: its text, its calls' arguments, and without the thinking that went."""
    update: dict[str, Any] = {}
    if native.role == "tool":
        before, after = (next(message.results) for message in (was, now))
        update = {"content": text_of(after), "compressed_content": None}
        return native if before == after else native.model_copy(update=update)
    if was.text != now.text:
        update["content"] = now.text
    if native.tool_calls:
        update["tool_calls"] = [_call(call, each) for call, each in zip(native.tool_calls, now.calls)]
    if not any(isinstance(part, Thinking) for part in now.parts):
        update |= {"reasoning_content": None, "redacted_reasoning_content": None}
    return native.model_copy(update=update)


def _call(call: dict[str, Any], now: ToolCall) -> dict[str, Any]:
    return {**call, "function": {**call["function"], "arguments": now.arguments}}


FORMAT: HostFormat[Native] = HostFormat(read, made, edited)
