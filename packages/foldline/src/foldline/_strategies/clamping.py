"""Messages cut down to a room: the longest of them keep head and tail of what they say."""

from __future__ import annotations

from collections.abc import Sequence

from foldline._messages import Part, ToolCall, ToolResult, replace
from foldline._strategies.tool_outputs import freed, level_of, middle_cut, shortened
from foldline._view import Edit, View

LEAST = 120
"""Tokens of a message below which its head and tail say too little."""

MARGIN = 0.96
"""The share of the room that is aimed at, since no cut is exact."""


def clamped(view: View, places: Sequence[int], room: int) -> list[Edit]:
    """Edits by which the entries at some places take at most `room` tokens together; none where they cannot."""
    entries = [view.entries[place] for place in places]
    level = level_of([entry.tokens for entry in entries], int(room * MARGIN))
    if level < LEAST:
        return []
    edits = []
    for entry in entries:
        if entry.tokens > level:
            parts = tuple(_cut(part, level / entry.tokens, entry.id) for part in entry.message.parts)
            edits.append(Edit((entry.id,), (replace(entry.message, parts=parts),), by="clamped"))
    took = sum(entry.tokens for entry in entries) - sum(freed(view, edit) for edit in edits)
    return edits if took <= room else []


def _cut(part: Part, share: float, id: str) -> Part:
    if type(part) is ToolResult:
        return replace(part, parts=tuple(middle_cut(inner, share, id) for inner in part.parts))
    cut: Part = shortened(part, id) if type(part) is ToolCall else middle_cut(part, share, id)
    return cut
