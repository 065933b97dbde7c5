"""Ids for tool calls and results of formats that need none: what answers a call is told by its name and place."""

from __future__ import annotations

from collections.abc import Sequence

from foldline._messages import Message, Part, ToolCall, ToolResult, replace

UNSTATED = "unstated-"
"""How an id begins that no wire stated: it is ours and is never written where none stood."""


def paired(messages: Sequence[Message], before: Sequence[Message] = ()) -> list[Message]:
    """The messages of a format that needs no ids with one for each call and result that states none.

    `before` stands before them. The ids are the same each time that the same history is read.

    A result answers the first call of its name that is open; the next message with calls closes what is still open.
    """
    open = _open(before)
    return [_with_ids(message, number, open) for number, message in enumerate(messages, len(before))]


def _open(messages: Sequence[Message]) -> list[ToolCall]:
    """The calls that wait for a result at the end of messages, those without an id of their own."""
    answered: set[str] = set()
    for message in reversed(messages):
        answered.update(result.call_id for result in message.results)
        if calls := list(message.calls):
            return [call for call in calls if call.id.startswith(UNSTATED) and call.id not in answered]
    return []


def _with_ids(message: Message, number: int, open: list[ToolCall]) -> Message:
    if any(True for _ in message.calls):
        open.clear()
    parts = tuple(_with_id(part, f"{UNSTATED}{number}-{i}", open) for i, part in enumerate(message.parts))
    return replace(message, parts=parts) if parts != message.parts else message


def _with_id(part: Part, fresh: str, open: list[ToolCall]) -> Part:
    if type(part) is ToolCall and not part.id:
        open.append(replace(part, id=fresh))
        return open[-1]
    if type(part) is ToolResult and not part.call_id:
        answered = next((call for call in open if call.name == part.name), None)
        if answered is not None:
            open.remove(answered)
            return replace(part, call_id=answered.id)
    return part
