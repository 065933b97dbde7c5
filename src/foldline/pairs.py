"""Which call each tool result answers: found by position, since real agents use the ids of calls again."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from foldline.messages import Message, ToolCall, ToolResult


class Answer(NamedTuple):
    """A tool result and the call that it answers, each with the place of its message; None and -1 where there is no call."""

    result: ToolResult
    at: int
    call: ToolCall | None
    called_at: int


def answers(messages: Iterable[Message]) -> Iterator[Answer]:
    """Every tool result in order, with the nearest call of its id before it that is still open.

    Calls that one message makes under one id are answered in their order, and so are calls without ids, wherever in
    one reply they stand. A result that finds no call open came twice, and goes with the newest call of its id.
    """
    open: dict[str, list[tuple[int, deque[tuple[ToolCall, int]]]]] = {}
    closed: dict[str, tuple[ToolCall, int]] = {}
    reply, replying = 0, False
    for at, message in enumerate(messages):
        if not (replying and message.role == "assistant"):
            reply, replying = at, message.role == "assistant"
        for part in message.parts:
            if type(part) is ToolCall:
                batch = at if part.id else reply
                batches = open.setdefault(part.id, [])
                if not batches or batches[-1][0] != batch:
                    batches.append((batch, deque()))
                batches[-1][1].append((part, at))
            elif type(part) is ToolResult:
                if batches := open.get(part.call_id, []):
                    closed[part.call_id] = batches[-1][1].popleft()
                    if not batches[-1][1]:
                        batches.pop()
                yield Answer(part, at, *closed.get(part.call_id, (None, -1)))
