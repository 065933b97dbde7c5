"""LlamaIndex's messages: blocks of many types."""

from __future__ import annotations

import json
from typing import Any

from llama_index.core.llms import ChatMessage, TextBlock

from foldline import Message
from foldline.extend import HostFormat, Media, Opaque, Part, Role, Text, Thinking, ToolCall, ToolResult
from foldline.integrations._content import content_now, in_place, in_words, inside, result_now, words_of

ROLES: dict[str, Role] = {
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("assistant", "model", "chatbot"), "assistant"),
    **dict.fromkeys(("tool", "function"), "tool"),
}

MEDIA = {"image": "image", "audio": "audio", "video": "video", "document": "document"}


def read(native: ChatMessage) -> Message:
    """What a message says."""
    role = ROLES.get(native.role.value, "user")
    parts = tuple(map(_part, native.blocks))
    if role == "tool":
        inner = inside(parts)
        return Message(role, (ToolResult(str(native.additional_kwargs.get("tool_call_id", "")), inner),))
    return Message(role, parts)


def _part(block: Any) -> Part:
    if block.block_type == "text":
        return Text(block.text)
    if block.block_type == "thinking":
        return Thinking(block.content or "", block.additional_information.get("signature"))
    if block.block_type == "tool_call":
        return ToolCall(block.tool_call_id or "", block.tool_name, in_words(block.tool_kwargs))
    said = block.model_dump(mode="json", exclude_none=True)
    if block.block_type in MEDIA:
        kind: Any = block.block_type
        data = said.get("data") or said.get(kind)
        return Media(kind, {"url": str(block.url)} if block.url else {"data": data} if data else said)
    return Opaque(said)


def made(message: Message) -> ChatMessage:
    """A message that says what a fold made."""
    return ChatMessage(role=message.role, content=words_of(message))


def edited(native: ChatMessage, was: Message, now: Message) -> ChatMessage:
    """A copy that says what it says now; blocks that stand as they did are the very same."""
    if was.role == "tool":
        told = result_now(native.blocks, was, now, _text)
        return native.model_copy(update={"blocks": [TextBlock(text=told)] if isinstance(told, str) else told})
    blocks = []
    for block, before, after in zip(native.blocks, was.parts, in_place(was, now)):
        if isinstance(after, ToolCall) and after != before:
            whole = isinstance(block.tool_kwargs, str)
            given = after.arguments if whole else json.loads(after.arguments)
            blocks.append(block.model_copy(update={"tool_kwargs": given}))
        else:
            blocks += content_now([block], [before], [after], _text)
    return native.model_copy(update={"blocks": blocks})


def _text(block: Any, said: str) -> TextBlock:
    return block.model_copy(update={"text": said}) if isinstance(block, TextBlock) else TextBlock(text=said)


FORMAT: HostFormat[ChatMessage] = HostFormat(read, made, edited)
