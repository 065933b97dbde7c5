"""LangChain's messages: a content of text or blocks, and tool calls beside it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

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
)
from foldline.integrations._content import KEY, as_json, content_now, in_place, inside, result_now

CALLS = frozenset(("tool_use", "tool_call", "tool_call_chunk", "function_call"))
"""Blocks of a reply that say once more what stands in its `tool_calls`."""

MEDIA: dict[str, Any] = {
    **dict.fromkeys(("image", "image_url", "input_image"), "image"),
    **dict.fromkeys(("audio", "input_audio"), "audio"),
    **dict.fromkeys(("file", "document", "input_file", "text-plain"), "document"),
    "video": "video",
}


def read(native: BaseMessage) -> Message:
    """What a message says."""
    content = tuple(_parts(native))
    if isinstance(native, AIMessage):
        calls = [ToolCall(call["id"] or "", call["name"], as_json(call["args"])) for call in native.tool_calls]
        broken = [ToolCall(c["id"] or "", c["name"] or "", c["args"] or "") for c in native.invalid_tool_calls]
        return Message("assistant", (*content, *calls, *broken))
    if isinstance(native, ToolMessage):
        inner = inside(content)
        result = ToolResult(native.tool_call_id, inner, native.status == "error", native.name or "")
        return Message("tool", (result,))
    if isinstance(native, HumanMessage) and KEY in native.additional_kwargs:
        told = summary_in(native.text)
        content = (Summary(told, native.additional_kwargs[KEY]),) if told is not None else content
    return Message("system" if isinstance(native, SystemMessage) else "user", content)


def _parts(native: BaseMessage) -> Iterable[Part]:
    if isinstance(native.content, str):
        return [Text(native.content)] if native.content else []
    return [part for block in native.content if (part := _part(block)) is not None]


def _part(block: Any) -> Part | None:
    """What a block of a content says; None for one that repeats a call."""
    if isinstance(block, str):
        return Text(block)
    kind = block.get("type", "")
    if kind in CALLS:
        return None
    if kind in ("text", "input_text", "output_text") and isinstance(block.get("text"), str):
        return Text(block["text"])
    if kind in ("thinking", "redacted_thinking", "reasoning"):
        said = block.get("thinking") or block.get("reasoning") or ""
        return Thinking(str(said), block.get("signature"), block.get("data") or block.get("encrypted_content"))
    if kind in MEDIA:
        return Media(MEDIA[kind], {**block, "data": block["base64"]} if "base64" in block else dict(block))
    return Opaque(dict(block))


def made(message: Message) -> AnyMessage:
    """A message that says what a fold made."""
    if message.role == "assistant":
        return AIMessage(message.text)
    if (summary := message.summary) is not None:
        return HumanMessage(summary_text(summary), additional_kwargs={KEY: summary.facts})
    return SystemMessage(message.text) if message.role == "system" else HumanMessage(message.text)


def edited(native: BaseMessage, was: Message, now: Message) -> BaseMessage:
    """A copy that says what it says now: a result that was pruned, arguments that were shortened, thinking that went."""
    if isinstance(native, ToolMessage):
        return native.model_copy(update={"content": result_now(native.content, was, now, _block)})
    update: dict[str, Any] = {"content": _content(native, was.parts, in_place(was, now))}
    if isinstance(native, AIMessage):
        update["tool_calls"] = [_call(call, now) for call in native.tool_calls]
    return native.model_copy(update=update)


def _content(native: BaseMessage, was: Iterable[Part], now: Iterable[Part | None]) -> Any:
    if isinstance(native.content, str):
        return content_now(native.content, was, now, _block)
    spoken = [block for block in native.content if _part(block) is not None]
    stay = content_now(spoken, was, now, _block)
    calls = [block for block in native.content if _part(block) is None]
    return [*stay, *calls]


def _block(block: Any, text: str) -> Any:
    if isinstance(block, str):
        return text
    return {**block, "text": text} if "text" in block else {"type": "text", "text": text}


def _call(call: Any, now: Message) -> Any:
    said = next((each.arguments for each in now.calls if each.id == call["id"]), None)
    return call if said is None or said == as_json(call["args"]) else {**call, "args": json.loads(said)}


FORMAT: HostFormat[Any] = HostFormat(read, made, edited)
