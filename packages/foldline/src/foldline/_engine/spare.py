"""What a page that has said everything leaves of its room goes back to the newest of what it stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from foldline._messages import replace
from foldline._strategies.clamping import clamped
from foldline._strategies.tool_outputs import freed
from foldline._view import Brief, Edit, View

SPARE = 0.04
"""The share of its room that a page may leave before the newest of what it stands for stays instead."""


class GivenBack(NamedTuple):
    """The edit without what stays after all, and the edits that cut down what has no room as a whole."""

    edit: Edit
    cuts: Sequence[Edit] = ()


def given_back(edit: Edit, brief: Brief, view: View, spare: int) -> GivenBack | None:
    """The edit without the newest entries for which there is room to spare; None where there is none for any.

    They stay whole as far as that goes. What stands before them up to the next cut point stays too where head and tail of
    its messages fit.
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
    return GivenBack(less, cuts)
