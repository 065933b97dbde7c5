"""Messages of a session as pydantic-ai sends them, and its replies as messages: nothing that a provider needs back is lost."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_core import to_jsonable_python

from foldline import Message, Summary, Usage
from foldline.extend import Media, Part, Text, Thinking, ToolCall, ToolResult, summary_text

KEPT = ("id", "provider_name", "provider_details")
"""What pydantic-ai keeps on a part for its provider."""

BESIDE = "foldline"
"""Under which key that stands beside the part in the session."""

_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]")
"""What some providers refuse in the id of a call, which another one made."""


def requests(messages: Sequence[Message], system: str) -> list[ModelMessage]:
    """What is sent: replies as they were, and all that stands between two of them as one request."""
    told: list[ModelMessage] = []
    spoken = (message for message in messages if message.role != "system")
    for replied, several in groupby(spoken, lambda message: message.role == "assistant"):
        if replied:
            told += [ModelResponse([*_said(message.parts)]) for message in several]
        else:
            told.append(ModelRequest([*_asked(several)], instructions=system))
    return told


def _asked(messages: Iterable[Message]) -> Iterator[Any]:
    for message in messages:
        words: list[Any] = []
        for part in message.parts:
            if isinstance(part, ToolResult):
                yield _returned(part)
            else:
                words += _content(part)
        if words:
            yield UserPromptPart(words[0] if len(words) == 1 and isinstance(words[0], str) else words)


def _returned(result: ToolResult) -> ToolReturnPart:
    content = [each for part in result.parts for each in _content(part)]
    plain = "\n".join(content) if all(isinstance(each, str) for each in content) else content
    outcome: Any = "failed" if result.error else "success"
    return ToolReturnPart(result.name, plain, _id(result.call_id), outcome=outcome)


def _content(part: Part) -> list[Any]:
    match part:
        case Text(text):
            return [text] if text else []
        case Summary():
            return [summary_text(part)]
        case Media(source={"data": str(data), "mimeType": str(kind)}):
            return [BinaryContent(base64.b64decode(data), media_type=kind)]
    return []


def _said(parts: Iterable[Part]) -> Iterator[Any]:
    for part in parts:
        match part:
            case Text(text, extra) if text:
                yield TextPart(text, **_kept(extra))
            case Thinking(text, signature, _, extra):
                yield ThinkingPart(text, signature=signature, **_kept(extra))
            case ToolCall(id, name, arguments, extra):
                yield ToolCallPart(name, arguments, _id(id), **_kept(extra))


def _kept(extra: dict[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = extra.get(BESIDE, {})
    return kept


def _id(id: str) -> str:
    return _FOREIGN.sub("_", id)


def reply(response: ModelResponse) -> Message:
    """A reply as a message, with what was billed for it."""
    return Message("assistant", tuple(_parts(response)), _billed(response))


def _parts(response: ModelResponse) -> Iterator[Part]:
    for part in response.parts:
        kept = {name: value for name in KEPT if (value := getattr(part, name, None))}
        extra: dict[str, Any] = {BESIDE: to_jsonable_python(kept)} if kept else {}
        match part:
            case TextPart(content=text) if text:
                yield Text(text, extra)
            case ThinkingPart(content=text, signature=signature):
                yield Thinking(text, signature, extra=extra)
            case ToolCallPart():
                yield ToolCall(part.tool_call_id, part.tool_name, part.args_as_json_str(), extra)


def _billed(response: ModelResponse) -> Usage | None:
    """pydantic-ai counts what was cached within the input."""
    bill = response.usage
    read, written = bill.cache_read_tokens, bill.cache_write_tokens
    usage = Usage(max(0, bill.input_tokens - read - written), bill.output_tokens, read, written)
    return usage if usage.context else None
