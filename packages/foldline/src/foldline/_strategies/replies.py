"""The agent's own replies: long ones keep head and tail, calls in one that was cut off go."""

from __future__ import annotations

import json
from collections.abc import Iterator

from foldline._messages import Text, Thinking, ToolCall, replace
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


def discard_cut_calls() -> Strategy:
    """Drops calls at the end of a history whose arguments are no whole JSON, and a reply that said nothing else."""

    @never_summarizes
    def strategy(view: View, excess: int) -> Iterator[Edit]:
        for entry in view.entries[-1:]:
            left = tuple(part for part in entry.message.parts if type(part) is not ToolCall or _is_whole(part))
            if len(left) < len(entry.message.parts) and not entry.pinned:
                said = any(type(part) is not Thinking for part in left)
                into = (replace(entry.message, parts=left),) if said else ()
                yield Edit((entry.id,), into, by="discard_cut_calls")

    return strategy


def _is_whole(call: ToolCall) -> bool:
    try:
        return isinstance(json.loads(call.arguments or "{}"), dict)
    except (ValueError, RecursionError):
        return False
