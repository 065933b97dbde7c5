"""pydantic-ai's messages: requests of several parts, and responses."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import is_
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
from foldline.extend import HostFormat, Media, Opaque, Part, Text, Thinking, ToolCall, ToolResult, text_of
from foldline.integrations._content import KEY, as_json, content_now, in_place

SPOKEN = (UserPromptPart, ToolReturnPart, RetryFeedbackPart, RetryPromptPart, CompactionPart)
"""The parts of a request that belong to the conversation; all others are the program's settings, and stay."""


class Requests:
    """The requests of a conversation, each of which may hold what the program set beside what was said: these are set apart."""

    def __init__(self) -> None:
        self._natives: list[ModelMessage] = []
        """The messages of the newest call."""
        self._said: list[ModelMessage] = []
        """The same, those parted that hold both."""
        self._parted: dict[int, tuple[ModelMessage, list[ModelMessage]]] = {}
        """Each that was parted, by its identity, with what it was parted into."""

    def apart(self, natives: Sequence[ModelMessage]) -> list[ModelMessage]:
        """The messages, those parted that hold both; the very same each time."""
        known, before = len(self._natives), self._parted
        if known > len(natives) or not all(map(is_, natives, self._natives)):
            known, self._said, self._parted = 0, [], {}
        for native in natives[known:]:
            if _holds_both(native):
                _, parts = self._parted[id(native)] = before.get(id(native)) or (native, list(_runs(native)))
                self._said += parts
            else:
                self._said.append(native)
        self._natives = list(natives)
        return list(self._said)

    def together(self, sent: Sequence[ModelMessage]) -> list[ModelMessage]:
        """The messages, those put together again all of which still stands."""
        begun = {id(parts[0]): (native, parts) for native, parts in self._parted.values()}
        whole, done = [], 0
        for at in [at for at, each in enumerate(sent) if id(each) in begun]:
            native, parts = begun[id(sent[at])]
            if all(map(is_, parts, sent[at : at + len(parts)])) and len(sent) >= at + len(parts):
                whole += [*sent[done:at], native]
                done = at + len(parts)
        return [*whole, *sent[done:]]


def _holds_both(native: ModelMessage) -> bool:
    return len(native.parts) > 1 and isinstance(native, ModelRequest) and len(set(map(_is_spoken, native.parts))) > 1


def _runs(native: ModelMessage) -> Iterator[ModelMessage]:
    """What a request holds of the program's and of the conversation's, run by run."""
    for _, parts in groupby(native.parts, _is_spoken):
        yield replace(native, parts=list(parts))  # type: ignore[arg-type]


def _is_spoken(part: Any) -> bool:
    return isinstance(part, SPOKEN)


def read(native: ModelMessage) -> Message:
    """What a response says, or a request of nothing but the conversation's parts, or of the program's."""
    said = tuple(part for each in native.parts for part in _pieces(each))
    if isinstance(native, ModelResponse):
        return Message("assistant", said)
    return Message("user" if all(map(_is_spoken, native.parts)) else "system", said)


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


def edited(native: ModelMessage, was: Message, now: Message) -> ModelMessage:
    """A copy with the parts as they are now; all else of it stays."""
    parts = list(_edited(native.parts, was.parts, in_place(was, now)))
    return replace(native, parts=parts)  # type: ignore[arg-type]


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


FORMAT: HostFormat[ModelMessage] = HostFormat(read, made, edited)
