"""What may give when a window fills: each strategy proposes edits and changes nothing.

A strategy is a function from a view and a number of tokens to free, to edits. It has no mark of its own, does no
I/O and keeps no state; the engine applies what it proposes, one edit at a time, until enough is free.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from foldline._view import Edit, View

Strategy = Callable[[View, int], Iterable[Edit]]


def never_summarizes(strategy: Strategy) -> Strategy:
    """Marks a strategy whose edits never ask for a summary; a layer of nothing but such asks no model."""
    vars(strategy)["summarizes"] = False
    return strategy


def may_summarize(strategy: Strategy) -> bool:
    """Whether a strategy's edits may ask for a summary: any but those that are marked."""
    return getattr(strategy, "summarizes", True) is True


from foldline._strategies.media import drop_media  # noqa: E402
from foldline._strategies.older import summarize_older  # noqa: E402
from foldline._strategies.tool_outputs import prune_tool_outputs, shorten_tool_outputs  # noqa: E402
from foldline._strategies.truncate import truncate  # noqa: E402

__all__ = [
    "Strategy",
    "drop_media",
    "may_summarize",
    "never_summarizes",
    "prune_tool_outputs",
    "shorten_tool_outputs",
    "summarize_older",
    "truncate",
]
