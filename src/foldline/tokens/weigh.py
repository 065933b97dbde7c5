"""Tokens of a message, estimated part by part."""

from __future__ import annotations

import msgspec

from foldline.messages import Media, Message, Opaque, Part, Summary, Text, Thinking, ToolCall, ToolResult
from foldline.tokens.estimate import estimate

MESSAGE_FRAME = 4
"""Tokens that a provider adds around each message (OpenAI's cookbook counts 3, and 1 for a name)."""

CALL_FRAME = 12
"""Tokens around a tool call or its result: id, type and field names."""

SUMMARY_FRAME = 24
"""Tokens of the words that a summary is wrapped in."""

MEDIA_TOKENS = {"image": 1_600, "document": 2_000, "audio": 1_000}
"""What a picture, document or sound is taken to cost: Claude's cap for a picture is 1,568, OpenAI's tiles are 85 to 1,700."""


def weigh(message: Message, family: str = "o200k") -> int:
    """Estimates what a message adds to a request, in tokens of the tokenizer `family`; never raises."""
    total = MESSAGE_FRAME
    for part in message.parts:
        total += estimate(part.text, family) if type(part) is Text else weigh_part(part, family)
    return total


def weigh_part(part: Part, family: str = "o200k") -> int:
    """Estimates what one part adds to a request, in tokens; never raises."""
    match part:
        case Text(text):
            return estimate(text, family)
        case Thinking(text, _, data):
            return estimate(text, family) if data is None else len(data) // 6
        case ToolCall(_, name, arguments):
            return CALL_FRAME + estimate(name, family) + estimate(arguments, family)
        case ToolResult(_, parts):
            return CALL_FRAME + sum(weigh_part(p, family) for p in parts)
        case Media(kind):
            return MEDIA_TOKENS[kind]
        case Summary(text):
            return SUMMARY_FRAME + estimate(text, family)
        case Opaque(source):
            return estimate(_as_text(source), family)


def _as_text(source: object) -> str:
    try:
        return msgspec.json.encode(source).decode()
    except (ValueError, TypeError, OverflowError):
        return repr(source)
