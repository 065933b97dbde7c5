"""Messages of one agent as another one takes them: what cannot be carried is replaced or left out, and named."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

from foldline.messages import Media, Message, Opaque, Part, Summary, Text, Thinking, ToolCall, ToolResult, replace
from foldline.pairs import answers
from foldline.sessions.pi import PI
from foldline.view import is_empty
from foldline.wire import anthropic, gemini, openai_chat, openai_responses

_ID = re.compile(r"[^\w-]", re.ASCII)
_DATA_URL = re.compile(r"data:([\w.+/-]+);base64,(.+)", re.DOTALL)


def portable(messages: Iterable[Message], format: str, lost: Counter[str]) -> Iterator[Message]:
    """The messages as `format` can say them; `lost` counts what was left out, by kind."""
    for message in messages if format == openai_responses.NAME else replies_together(messages):
        if message.format == format and format != PI:
            yield message
            continue
        parts = tuple(p for part in message.parts if (p := _carried(part, message, format, lost)) is not None)
        carried = Message(message.role, parts, format=format)
        if not is_empty(carried):
            yield carried


def _carried(part: Part, message: Message, format: str, lost: Counter[str]) -> Part | None:
    own = message.format == format
    match part:
        case Thinking():
            lost["thinking"] += 1
            return None
        case Text(text):
            return part if own else Text(text) if text.strip() else None
        case ToolCall(id, name, arguments):
            return part if own else ToolCall(_call_id(id), name, arguments)
        case ToolResult(call_id, parts, error, name):
            if own:
                return part
            inner = tuple(_content(p, message, format, lost) for p in parts)
            return ToolResult(_call_id(call_id), inner, error, name)
        case Summary("") if not own:
            lost["compaction"] += 1
            return None
        case Media() | Opaque():
            return _content(part, message, format, lost)
        case _:
            return part


def _content(part: Text | Media | Opaque, message: Message, format: str, lost: Counter[str]) -> Text | Media | Opaque:
    """Words without a foreign wire's keys, an image in the shape of the format, or a note of what stood here."""
    if isinstance(part, Text):
        return part if message.format == format else Text(part.text)
    if message.format == format:
        return part
    beside_words = message.role == "user" and not any(message.results)
    if isinstance(part, Media) and (format != openai_chat.NAME or beside_words) and (source := _image(part, format)):
        return Media("image", source)
    kind = part.kind if isinstance(part, Media) else _kind(part.source)
    lost[kind] += 1
    return Text(f"[{kind}]")


def _kind(source: Any) -> str:
    kind = source.get("type") if isinstance(source, dict) else None
    return kind if isinstance(kind, str) and kind else "content of another format"


def _image(media: Media, format: str) -> dict[str, Any] | None:
    """An image that stands whole in a message, in the shape of a format; None where it is none, or only linked."""
    match media.source:
        case {"type": "image", "data": str(data), "mimeType": str(mime)}:
            pass
        case {"type": "image", "source": {"type": "base64", "data": str(data), "media_type": str(mime)}}:
            pass
        case {"type": "image_url", "image_url": {"url": str(url)}} if found := _DATA_URL.fullmatch(url):
            mime, data = found[1], found[2]
        case {"type": "input_image", "image_url": str(url)} if found := _DATA_URL.fullmatch(url):
            mime, data = found[1], found[2]
        case {"inlineData": {"mimeType": str(mime), "data": str(data)}}:
            pass
        case _:
            return None
    if format == PI:
        return {"type": "image", "data": data, "mimeType": mime}
    if format == anthropic.NAME:
        return {"type": "image", "source": {"type": "base64", "media_type": mime, "data": data}}
    if format == gemini.NAME:
        return {"inlineData": {"mimeType": mime, "data": data}}
    url = f"data:{mime};base64,{data}"
    return {"type": "input_image", "image_url": url} if format == openai_responses.NAME else _image_url(url)


def _image_url(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def _call_id(id: str) -> str:
    """A call's id as every provider takes it: letters, digits, `_` and `-`, at most 64 of them."""
    if len(id) <= 64 and not _ID.search(id):
        return id
    return f"{_ID.sub('_', id[:46])}-{blake2b(id.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}"


def one_item_each(messages: Iterable[Message]) -> Iterator[Message]:
    """Each tool result in a message of its own, as OpenAI has them, and what stood beside behind them."""
    for message in messages:
        results = list(message.results)
        rest = tuple(part for part in message.parts if not isinstance(part, ToolResult))
        if not results or (len(results) == 1 and (not rest or message.role == "tool")):
            yield message
            continue
        yield from (Message("tool", (result,), format=message.format) for result in results)
        if rest:
            yield Message("user", rest, format=message.format)


def parts_alone(messages: Iterable[Message]) -> Iterator[Message]:
    """Each call and each result in a message of its own, as OpenAI's responses have them, in their order."""
    for message in messages:
        words: list[Part] = []
        for part in message.parts:
            if not isinstance(part, ToolCall | ToolResult) or len(message.parts) == 1:
                words.append(part)
                continue
            if words:
                yield replace(message, parts=tuple(words), extra={})
            words = []
            yield Message("tool" if isinstance(part, ToolResult) else "assistant", (part,), format=message.format)
        if words:
            yield message if len(words) == len(message.parts) else replace(message, parts=tuple(words), extra={})


def replies_together(messages: Iterable[Message]) -> Iterator[Message]:
    """What OpenAI's responses say in several items as one reply each, and the results that stand in it behind it."""
    reply: list[Part] = []
    for message in (*messages, None):
        if message is not None and message.role == "assistant" and message.format == openai_responses.NAME:
            reply += message.parts
            continue
        if reply:
            said = tuple(part for part in reply if not isinstance(part, ToolResult))
            yield Message("assistant", said, format=openai_responses.NAME)
            answers = (part for part in reply if isinstance(part, ToolResult))
            yield from (Message("tool", (part,), format=openai_responses.NAME) for part in answers)
        reply = []
        if message is not None:
            yield message


def results_named(messages: Iterable[Message]) -> Iterator[Message]:
    """Each result with the name of the tool that it comes from, which Gemini asks for."""
    messages = list(messages)
    names = {id(answer.result): answer.call.name for answer in answers(messages) if answer.call is not None}
    for message in messages:
        parts = (
            replace(part, name=part.name or names.get(id(part), "tool")) if isinstance(part, ToolResult) else part
            for part in message.parts
        )
        yield replace(message, parts=tuple(parts)) if any(message.results) else message


def results_together(messages: Iterable[Message]) -> Iterator[Message]:
    """The results of one round in one message, as Anthropic has them."""
    round: Message | None = None
    for message in messages:
        answers = message.role in ("tool", "user") and any(message.results)
        if answers and round is not None:
            round = replace(round, parts=(*round.parts, *message.parts), extra={})
            continue
        if round is not None:
            yield round
        round = message if answers else None
        if not answers:
            yield message
    if round is not None:
        yield round
