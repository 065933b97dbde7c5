"""A hard budget, used: the newest steps stay whole, all that is older gives way to a page that takes the rest of the room."""

from __future__ import annotations

from collections.abc import Iterator

from foldline._facts.chitchat import acknowledges
from foldline._strategies.older import cut_for, edit_for, tokens_of, told_together
from foldline._strategies.strategy import Share, Strategy, remembered
from foldline._tokens.weigh import summary_frame
from foldline._view import Edit, View, opens_turn

TAIL = 0.1
"""The share of a hard budget that the newest steps take word for word; a page says more than they do for its length."""

MOST_PAGE = 16_000
"""Tokens of the largest page; what a larger budget leaves goes to the newest steps."""

MOST_SHARE = 0.6
"""The share of what a page stands for that it takes at most: with more room than that, messages stay as they are."""

LEAST_PAGE = 12
"""Tokens of the smallest page that says anything."""


SMALL = 600
"""Tokens of room below which the newest message gives way as well where the agent only acknowledges something in it."""


@remembered
def use_budget(*, tail: Share = TAIL) -> Strategy:
    """Replaces all but the newest steps by a page that takes what room they and the pins leave.

    The newest steps have the share `tail` of the room, and what the largest page leaves of it, or one as long as it is worth.
    """

    def strategy(view: View, excess: int) -> Iterator[Edit]:
        aim = view.tokens - excess
        pins = sum(entry.tokens for entry in view.entries if entry.pinned)
        room = aim - pins
        spared = int((room - MOST_SHARE * (view.tokens - pins)) / (1 - MOST_SHARE))
        cut = cut_for(view, max(int(room * tail), room - MOST_PAGE, spared))
        if room < SMALL and _only_acknowledged(view):
            cut = len(view.entries)
        told = told_together(view, list(view.unpinned(cut)))
        folded = sum(tokens_of(view, spans) for spans in told)
        left = aim - (view.tokens - folded)
        for spans in told:
            size = left * tokens_of(view, spans) // max(1, folded)
            if size - summary_frame(size) >= LEAST_PAGE:
                yield edit_for(view, spans, size - summary_frame(size), by="use_budget")

    return strategy


def _only_acknowledged(view: View) -> bool:
    """Whether the newest message says no more than that the user was heard."""
    if len(view.entries) < 2:
        return False
    said, answer = (entry.message for entry in view.entries[-2:])
    return opens_turn(said) and answer.role == "assistant" and [*answer.calls] == [] and acknowledges(answer.text)
