"""pydantic-ai's messages: requests of several parts, and responses."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from pydantic_ai.messages import (
    BinaryContent,
    CompactionPart,
    FilePart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryFeedbackPart,
    RetryPromptPart,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from foldline import Message, Summary
from foldline.extend import Media, Opaque, Part, Text, Thinking, ToolCall, ToolResult, text_of
from foldline.integrations._history import KEY, Now, Shape, as_json, content_now, in_place

SPOKEN = (UserPromptPart, ToolReturnPart, RetryFeedbackPart, RetryPromptPart, CompactionPart)
"""The parts of a request that belong to the conversation; all others are the program's settings, and stay."""


def read(native: ModelMessage) -> list[Message]:
    """What a response says, or each run of a request's parts that are the conversation's, or the program's."""
    if isinstance(native, ModelResponse):
        return [Message("assistant", tuple(part for each in native.parts for part in _pieces(each)))]
    runs = groupby(native.parts, lambda each: isinstance(each, SPOKEN))
    return [
        Message("user" if spoken else "system", tuple(part for each in of for part in _pieces(each)))
        for spoken, of in runs
    ]


def _pieces(native: Any) -> list[Part]:
    match native:
        case UserPromptPart(content=content):
            return [Text(content)] if isinstance(content, str) else [_content(each) for each in content]
        case ToolReturnPart():
            return [ToolResult(native.tool_call_id, _returned(native), native.outcome != "success", native.tool_name)]
        case ToolCallPart():
            return [ToolCall(native.tool_call_id, native.tool_name, native.args_as_json_str())]
        case SystemPromptPart(content=str(text)) | TextPart(content=text):
            return [Text(text)]
        case ThinkingPart():
            return [Thinking(native.content, native.signature)]
        case CompactionPart(content=str(text)):
            return [Summary(text, (native.metadata or {}).get(KEY, {}))]
        case RetryPromptPart(tool_name=str(name)):
            return [ToolResult(native.tool_call_id, (Text(native.model_response()),), True, name)]
        case RetryFeedbackPart() | RetryPromptPart():
            return [Text(native.model_response(), by="harness")]
        case FilePart(content=content):
            return [_content(content)]
    return [Opaque({"type": native.part_kind, "said": repr(native)})]


def _content(native: Any) -> Text | Media | Opaque:
    """One item of a prompt, or of what a tool returned."""
    if isinstance(native, str):
        return Text(native)
    if isinstance(native, TextContent):
        return Text(native.content)
    if isinstance(native, BinaryContent):
        source = {"media_type": native.media_type, "data": native.data}
        kind = native.media_type.partition("/")[0]
    elif url := getattr(native, "url", None):
        source, kind = {"url": url}, str(native.kind).partition("-")[0]
    else:
        return Opaque({"type": str(getattr(native, "kind", type(native).__name__)), "said": repr(native)})
    known: Any = kind if kind in ("image", "audio", "video") else "document"
    return Media(known, source)


def _returned(native: ToolReturnPart) -> tuple[Text | Media | Opaque, ...]:
    if not native.files:
        return (Text(native.model_response_str()),)
    return tuple(_content(each) if _shows(each) else Text(as_json(each)) for each in native.content_items())


def _shows(native: Any) -> bool:
    return isinstance(native, (str, TextContent, BinaryContent)) or hasattr(native, "url")


def made(message: Message) -> ModelMessage:
    """A request or response that says what a fold made; a summary as pydantic-ai has summaries."""
    if message.role == "assistant":
        return ModelResponse([TextPart(message.text)])
    if (summary := message.summary) is not None:
        metadata: dict[str, Any] | None = {KEY: summary.facts} if summary.facts else None
        return ModelRequest([CompactionPart(summary.text, metadata=metadata)])
    part = SystemPromptPart if message.role == "system" else UserPromptPart
    return ModelRequest([part(message.text)])


def edited(native: ModelMessage, now: Now) -> ModelMessage:
    """A copy with the parts as they are now; all else of it stays."""
    parts = [part for was, is_now in now for part in (in_place(was, is_now) if is_now else [None] * len(was.parts))]
    before = [part for was, _ in now for part in was.parts]
    return replace(native, parts=list(_edited(native.parts, before, parts)))  # type: ignore[arg-type]


def _edited(natives: Iterable[Any], before: Sequence[Part], now: Sequence[Part | None]) -> Iterator[Any]:
    at = 0
    for native in natives:
        many = len(_pieces(native))
        was, parts = before[at : at + many], now[at : at + many]
        at += many
        if all(a == b for a, b in zip(was, parts)):
            yield native
        elif any(parts):
            yield _changed(native, was, parts)


def _changed(native: Any, was: Sequence[Part], now: Sequence[Part | None]) -> Any:
    first = now[0]
    if isinstance(native, UserPromptPart) and not isinstance(native.content, str):
        return replace(native, content=content_now(native.content, was, now, _said))
    if isinstance(native, ToolReturnPart) and isinstance(first, ToolResult):
        return replace(native, content=_shortened(native, was[0], first))
    if isinstance(native, ToolCallPart) and isinstance(first, ToolCall):
        return replace(native, args=first.arguments if isinstance(native.args, str) else json.loads(first.arguments))
    if isinstance(native, RetryPromptPart) and isinstance(first, ToolResult):
        return ToolReturnPart(native.tool_name or "", text_of(first), native.tool_call_id, timestamp=native.timestamp)
    if isinstance(first, Text):
        plain = isinstance(native, (UserPromptPart, SystemPromptPart, TextPart))
        return replace(native, content=first.text) if plain else UserPromptPart(first.text, timestamp=native.timestamp)
    return native


def _said(item: Any, text: str) -> Any:
    return replace(item, content=text) if isinstance(item, TextContent) else text


def _shortened(native: ToolReturnPart, was: Part, now: ToolResult) -> Any:
    """What a tool returned, with its files where they stay."""
    if not native.files or not isinstance(was, ToolResult) or len(was.parts) != len(now.parts):
        return text_of(now)
    return content_now(native.content_items(), was.parts, now.parts, _said)


SHAPE: Shape[ModelMessage] = Shape(read, made, edited)
