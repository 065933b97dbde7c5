"""What may give when a window fills: each strategy proposes edits and changes nothing.

A strategy is a function from a view and a number of tokens to free, to edits. It has no mark of its own, does no
I/O and keeps no state; the engine applies what it proposes, one edit at a time, until enough is free.
"""

from foldline._strategies.hard import hard_strategies
from foldline._strategies.media import drop_media
from foldline._strategies.older import summarize_older
from foldline._strategies.strategy import Strategy, may_summarize, never_summarizes
from foldline._strategies.tool_outputs import prune_tool_outputs, shorten_tool_outputs
from foldline._strategies.truncate import truncate

__all__ = [
    "Strategy", "drop_media", "hard_strategies", "may_summarize", "never_summarizes", "prune_tool_outputs",
    "shorten_tool_outputs", "summarize_older", "truncate",
]  # fmt: skip
