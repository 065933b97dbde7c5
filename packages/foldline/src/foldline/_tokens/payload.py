"""Bytes and pictures of a message: what a provider caps besides tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from foldline._messages import Media, Message, Opaque, Part, Summary, Text, Thinking, ToolCall, ToolResult
from foldline._tokens.media import media_bytes
from foldline._tokens.weigh import as_text, bytes_in


def bytes_of(message: Message) -> int:
    """The bytes of a message's content in a request: text as UTF-8, media as the base64 that stands there."""
    return _bytes(message.parts)


def images_of(message: Message) -> int:
    """How many pictures a message holds."""
    return sum(1 for media in media_in((message,)) if media.kind == "image")


def media_in(messages: Iterable[Message]) -> list[Media]:
    """The pictures, documents and sounds in the messages, those in tool results included."""
    found: list[Media] = []
    for message in messages:
        for part in message.parts:
            if type(part) is Media:
                found.append(part)
            elif type(part) is ToolResult:
                found += [p for p in part.parts if type(p) is Media]
    return found


def _bytes(parts: Sequence[Part]) -> int:
    return sum(map(_part_bytes, parts))


def _part_bytes(part: Part) -> int:
    match part:
        case Text(text) | Summary(text):
            return bytes_in(text)
        case ToolCall(_, name, arguments):
            return bytes_in(name) + bytes_in(arguments)
        case ToolResult(parts=parts):
            return _bytes(parts)
        case Thinking(text, signature, data):
            return bytes_in(text) + len(signature or "") + len(data or "")
        case Media(source=source):
            return media_bytes(source)
        case Opaque(source):
            return bytes_in(as_text(source))
