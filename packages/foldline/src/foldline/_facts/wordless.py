"""Agents that say no word beside their calls: what they think stands for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from foldline._facts.splitting import split
from foldline._messages import Message, Text, Thinking, replace

FEWEST = 3
"""Calls from which an agent that says nothing beside them is silent."""

REPORT = 200
"""Characters from which what an agent says at the end of a turn tells what came of its thoughts."""

_HEAD, _TAIL = 500, 300
"""Characters of the sentences with which a thought begins and ends: how the last step came out, and what comes of that."""


def with_thoughts(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages; of an agent that says nothing beside its calls, or has said nothing since the user spoke last, with how its
    thoughts begin and end as what it says, in turns that it closes without a report."""
    begin = _silent_from(messages)
    told = [*messages[:begin]]
    for turn in _turns(messages[begin:]):
        closed = sum(len(m.text) for m in turn if m.role == "assistant") >= REPORT
        told += turn if closed else [_aloud(m) if m.role == "assistant" else m for m in turn]
    return told


def _turns(messages: Sequence[Message]) -> Iterator[list[Message]]:
    """The messages by the words of the user that stand before them."""
    turn: list[Message] = []
    for message in messages:
        if _speaks(message):
            yield turn
            turn = []
        turn.append(message)
    yield turn


def _speaks(message: Message) -> bool:
    """Whether a message has words of the user, and no tool's."""
    return message.role == "user" and bool(message.text.strip()) and not any(message.results)


def _silent_from(messages: Sequence[Message]) -> int:
    """From where the agent says nothing: from the beginning, from the user's newest words, or nowhere."""
    if _wordless([m for m in messages if m.role == "assistant" and any(m.calls)]):
        return 0
    last = max((at for at, m in enumerate(messages) if _speaks(m)), default=0)
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
