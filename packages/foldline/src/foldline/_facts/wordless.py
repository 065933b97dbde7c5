"""Agents that say no word beside their calls: what they think stands for it."""

from __future__ import annotations

from collections.abc import Sequence

from foldline._facts.splitting import split
from foldline._messages import Message, Text, Thinking, replace

FEWEST = 3
"""Calls from which an agent that says nothing beside them is silent."""

_HEAD, _TAIL = 500, 300
"""Characters of the sentences with which a thought begins and ends: how the last step came out, and what comes of that."""


def with_thoughts(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages; of an agent that says nothing beside its calls, or has said nothing since the user spoke last, with how its
    thoughts begin and end as what it says."""
    begin = _silent_from(messages)
    return [*messages[:begin], *(_aloud(m) if m.role == "assistant" else m for m in messages[begin:])]


def _silent_from(messages: Sequence[Message]) -> int:
    """From where the agent says nothing: from the beginning, from the user's newest words, or nowhere."""
    if _wordless([m for m in messages if m.role == "assistant" and any(m.calls)]):
        return 0
    spoke = (at for at, m in enumerate(messages) if m.role == "user" and m.text.strip() and not any(m.results))
    last = max(spoke, default=0)
    return last if _wordless([m for m in messages[last:] if m.role == "assistant"]) else len(messages)


def _wordless(said: Sequence[Message]) -> bool:
    return sum(any(m.calls) for m in said) >= FEWEST and not any(m.text.strip() for m in said)


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
