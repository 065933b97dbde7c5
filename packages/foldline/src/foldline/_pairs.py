"""Which call each tool result answers: found by position, since real agents use the ids of calls again."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from foldline._messages import Message, ToolCall, ToolResult

Half = tuple[type, str]
"""A call or a result, by its type and the id of the call."""


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


def pairs_split(messages: Sequence[Message], start: int, stop: int, into: Sequence[Message]) -> list[str]:
    """The ids of the pairs that would be split where the messages from `start` to `stop` gave way to `into`.

    A half that goes must take its other half with it; halves that stood alone before may go alone.
    """
    gone = messages[start:stop]
    if (before := _halves(gone)) == (after := _halves(into)):
        return []
    inside: dict[tuple[int, int], tuple[str, bool]] = {}
    answered: dict[tuple[int, int], set[bool]] = {}
    for result, at, call, called_at in answers(messages):
        if call is not None:
            pair = called_at, id(call)
            inside[pair] = result.call_id, start <= called_at < stop
            answered.setdefault(pair, set()).add(start <= at < stop)
    due: Counter[Half] = Counter()
    for pair, (call_id, called_inside) in inside.items():
        if called_inside and False in answered[pair]:
            due[ToolCall, call_id] += 1
        elif not called_inside and answered[pair] == {True}:
            due[ToolResult, call_id] += 1
    lone, lone_before = _lone_halves(into), _lone_halves(gone)
    split = (*(due - lone), *(lone - lone_before), *(Counter(after) - Counter(before)))
    return [call_id for _, call_id in split]


def _halves(messages: Iterable[Message]) -> list[Half]:
    """The tool calls and results in the messages, in order."""
    halves: list[Half] = []
    for message in messages:
        for part in message.parts:
            if type(part) is ToolCall:
                halves.append((ToolCall, part.id))
            elif type(part) is ToolResult:
                halves.append((ToolResult, part.call_id))
    return halves


def _lone_halves(messages: Sequence[Message]) -> Counter[Half]:
    """How many calls of each id are not answered in the messages, and how many results answer no call there."""
    lone = Counter(_halves(messages))
    pairs = [answer for answer in answers(messages) if answer.call is not None]
    lone.subtract((ToolResult, answer.result.call_id) for answer in pairs)
    called = {(answer.called_at, id(answer.call)): answer.result.call_id for answer in pairs}
    lone.subtract((ToolCall, call_id) for call_id in called.values())
    return +lone
