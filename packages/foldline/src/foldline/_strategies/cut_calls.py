"""Calls of a reply that was cut off at its output limit, whose arguments are incomplete, go."""

from __future__ import annotations

import json
from collections.abc import Iterator

from foldline._messages import Thinking, ToolCall, replace
from foldline._strategies.strategy import Strategy, never_summarizes
from foldline._view import Edit, View


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
