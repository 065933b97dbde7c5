"""What a page that has said everything leaves of its room goes back to the newest of what it stands for."""

from __future__ import annotations

from collections.abc import Sequence

from foldline._messages import Message, Part, Thinking, ToolCall, ToolResult, replace
from foldline._strategies.tool_outputs import freed, level_of, middle_cut, shortened
from foldline._view import Brief, Edit, Entry, View

SPARE = 0.04
"""The share of its room that a page may leave before the newest of what it stands for stays instead."""

LEAST = 120
"""Tokens of a message below which its head and tail say too little."""

MARGINS = (1.15, 1.1, 1.05, 1.0, 0.97, 0.94, 0.9, 0.86, 0.8, 0.7, 0.6, 0.5)
"""The shares of the room that are aimed at, tried in turn: no cut is exact where head, middle and tail differ in density."""


def given_back(edit: Edit, brief: Brief, view: View, spare: int) -> tuple[Edit, Sequence[Edit]] | None:
    """The edit without the newest entries for which there is room to spare; None where there is none for any.

    They stay whole as far as that goes. What stands before them up to the next cut point stays too where head and tail of
    its messages fit: by the edits that are answered as well.
    """
    told = (*edit.drop, *brief.also)
    places = [view.index[id] for id in told]
    legal = view.cut_points()
    cuts: Sequence[Edit] = ()
    kept, given = len(told), 0
    for i in (i for i in range(len(told) - 1, 0, -1) if places[i] in legal):
        tokens = sum(view.entries[at].tokens for at in places[i:kept])
        if given + tokens > spare:
            if cuts := clamped(view, places[i:kept], spare - given):
                kept, given = i, given + tokens - sum(freed(view, cut) for cut in cuts)
            break
        kept, given = i, given + tokens
    if kept == len(told):
        return None
    less = replace(
        edit,
        drop=told[: min(kept, len(edit.drop))],
        into=replace(brief, max_tokens=brief.max_tokens - given, also=told[len(edit.drop) : kept]),
    )
    return less, cuts


def clamped(view: View, places: Sequence[int], room: int) -> list[Edit]:
    """Edits by which the entries at some places take at most `room` tokens together; none where they cannot."""
    entries = [view.entries[place] for place in places]
    sizes = [entry.tokens for entry in entries]
    for margin in MARGINS:
        if (level := level_of(sizes, int(room * margin))) < LEAST:
            break
        long = (entry for entry in entries if entry.tokens > level)
        edits = [Edit((entry.id,), _shorter(entry, level, view), by="clamped") for entry in long]
        if sum(sizes) - sum(freed(view, edit) for edit in edits) <= room:
            return edits
    return []


def _shorter(entry: Entry, level: int, view: View) -> tuple[Message, ...]:
    """An entry's message in about that many tokens: none of one that holds nothing but what was thought."""
    said = tuple(part for part in entry.message.parts if type(part) is not Thinking)
    share = level / max(level, view.count(replace(entry.message, parts=said)))
    parts = tuple(_cut(part, share, entry.id) for part in said)
    return (replace(entry.message, parts=parts),) if parts else ()


def _cut(part: Part, share: float, id: str) -> Part:
    if type(part) is ToolResult:
        return replace(part, parts=tuple(middle_cut(inner, share, id) for inner in part.parts))
    cut: Part = shortened(part, id, share) if type(part) is ToolCall else middle_cut(part, share, id)
    return cut
