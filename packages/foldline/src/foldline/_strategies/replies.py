"""Long replies of the agent among the newest steps: what is too large for a hard budget keeps its head and tail."""

from __future__ import annotations

from collections.abc import Iterator

from foldline._messages import Text, replace
from foldline._strategies.strategy import Strategy, never_summarizes, remembered
from foldline._strategies.tool_outputs import CUT_FRAME, middle_cut
from foldline._view import Edit, View

LEAST = 48
"""Tokens of a reply that stay however little room there is."""


@remembered
def shorten_replies() -> Strategy:
    """Cuts the middle out of the agent's own texts, largest first, as much as frees the excess; the user's stay whole."""

    @never_summarizes
    def strategy(view: View, excess: int) -> Iterator[Edit]:
        replies = [e for e in view.entries if e.message.role == "assistant" and not e.pinned]
        for entry in sorted(replies, key=lambda e: -e.tokens):
            if excess <= 0 or entry.tokens <= LEAST + CUT_FRAME:
                return
            share = max(LEAST, entry.tokens - excess - CUT_FRAME) / entry.tokens
            parts = tuple(middle_cut(p, share, entry.id) if type(p) is Text else p for p in entry.message.parts)
            short = replace(entry.message, parts=parts)
            if (freed := entry.tokens - view.count(short)) > 0:
                excess -= freed
                yield Edit((entry.id,), (short,), by="shorten_replies")

    return strategy
