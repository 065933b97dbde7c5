"""Messages of a session as every provider takes them: each call with its one result, and the user's word first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, count

from foldline._messages import Message, Part, Text, ToolCall, ToolResult, replace
from foldline._pairs import Answer, answers

NO_RESULT = "[no result: the session does not have it]"
NO_REQUEST = "[The request that this answers is not in the session.]"
"""What stands where a provider wants something that a session does not have."""


def answered(messages: Iterable[Message], lost: Counter[str], *, in_items: bool) -> Iterator[Message]:
    """Each call under an id of its own, with its one result right behind the reply that made it.

    A call without a result gets one that says so; what answers no call is left out and counted. `in_items` says that a
    reply may be several messages.
    """
    messages = list(messages)
    found: dict[tuple[int, int], Answer] = {}
    for answer in answers(messages):
        if answer.call is None or found.setdefault((answer.called_at, id(answer.call)), answer) is not answer:
            lost["result without a call"] += 1
    within = {id(answer.result) for answer in found.values() if answer.at == answer.called_at}
    taken: set[str] = set()
    due: list[Message] = []
    for at, message in enumerate(messages):
        if not (in_items and message.role == "assistant"):
            yield from due
            due = []
        parts: list[Part] = []
        for part in message.parts:
            if type(part) is ToolCall and ((own := found.get((at, id(part)))) is None or own.at != at):
                parts.append(call := replace(part, id=_free(part.id, taken)))
                due.append(_result_of(call, own.result, messages[own.at]) if own else _no_result_of(call, message))
            elif type(part) is not ToolResult or id(part) in within:
                parts.append(part)
        if parts:
            same = len(parts) == len(message.parts)
            yield replace(message, parts=tuple(parts), extra=message.extra if same else {})
    yield from due


def _free(id: str, taken: set[str]) -> str:
    """The id, or one made of it where a call has it already."""
    id = id or "call"
    free = next(each for each in chain([id], (f"{id[:56]}-{n}" for n in count(2))) if each not in taken)
    taken.add(free)
    return free


def _result_of(call: ToolCall, result: ToolResult, stood: Message) -> Message:
    """The message that answers a call, which is the one that the result stood in where that has nothing else."""
    extra = stood.extra if stood.parts == (result,) else {}
    return Message("tool", (replace(result, call_id=call.id),), None, extra, stood.format)


def _no_result_of(call: ToolCall, stood: Message) -> Message:
    result = ToolResult(call.id, (Text(NO_RESULT),), error=True)
    return Message("tool", (result,), format=stood.format)


def begun_by_user(messages: Iterable[Message]) -> Iterator[Message]:
    """The messages, those of the system aside, with the user's word first: providers refuse a reply to nothing but a summary."""
    begun = False
    for message in messages:
        if not begun and message.role == "assistant" and not message.summary:
            yield Message("user", (Text(NO_REQUEST),))
        begun = begun or message.role != "system"
        yield message
