"""Messages set out as formats have them: what takes an item each, what goes together, what stands beside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from foldline._messages import Message, Part, ToolCall, ToolResult, replace
from foldline._pairs import answers
from foldline._wires.format import neighbours_joined


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


def alternating(items: Iterable[Any], content: str = "content") -> list[object]:
    """The items, neighbours of one role as one: results of one round together, and what the user said behind them."""

    def join(one: Any, other: Any) -> object:
        same = one["role"] == other["role"]
        return {**one, content: [*_listed(one, content), *_listed(other, content)]} if same else None

    return neighbours_joined(items, join)


def _listed(item: Any, content: str) -> Any:
    said = item.get(content)
    if isinstance(said, str):
        return [{"type": "text", "text": said}] if said else []
    return said if isinstance(said, list) else []


def beside_system(messages: Iterable[Message]) -> tuple[str, list[Message]]:
    """The words of the system's messages, for where a request has a place of its own for them, and all others."""
    messages = list(messages)
    system = "\n\n".join(m.text for m in messages if m.role == "system" and m.text)
    return system, [m for m in messages if m.role != "system"]
