"""Agents that never say a word beside their calls: what they think stands for it."""

from __future__ import annotations

from collections.abc import Sequence

from foldline._facts.splitting import split
from foldline._messages import Message, Text, Thinking, ToolCall, replace

FEWEST = 3
"""Calls from which an agent that says nothing beside them is one that never does."""

_HEAD, _TAIL = 500, 300
"""Characters of the sentences with which a thought begins and ends: how the last step came out, and what comes of that."""


def with_thoughts(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages; of an agent that says nothing beside its calls with how its thoughts begin and end as what it says."""
    calls = [m for m in messages if m.role == "assistant" and any(type(part) is ToolCall for part in m.parts)]
    if len(calls) < FEWEST or any(message.text.strip() for message in calls):
        return messages
    return [_aloud(message) if message.role == "assistant" else message for message in messages]


def _aloud(message: Message) -> Message:
    if message.text.strip() or not any(type(part) is Thinking and part.text for part in message.parts):
        return message
    return replace(message, parts=tuple(Text(_ends(p.text)) if type(p) is Thinking else p for p in message.parts))


def _ends(thought: str) -> str:
    """The sentences with which a thought begins and ends, of a short one all."""
    if len(thought) <= _HEAD + _TAIL:
        return thought
    first, last = list(split(thought[: 2 * _HEAD])), list(split(thought[-2 * _TAIL :]))[1:]
    while len(first) > 1 and sum(map(len, first)) > _HEAD:
        first.pop()
    while len(last) > 1 and sum(map(len, last)) > _TAIL:
        last.pop(0)
    return f"{' '.join(first)}\n\n{' '.join(last)}"
