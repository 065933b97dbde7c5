"""What is tried, in which order, when a budget must be met and no model may be asked."""

from __future__ import annotations

from foldline._strategies.budget import use_budget
from foldline._strategies.replies import shorten_replies
from foldline._strategies.strategy import Share, Strategy, Tokens
from foldline._strategies.tool_outputs import UNREAD_SHARE, prune_tool_outputs, shorten_newest, shorten_tool_outputs
from foldline._strategies.truncate import truncate


def hard_strategies(keep: Tokens, newest: Share = UNREAD_SHARE) -> tuple[Strategy, ...]:
    """What is tried, in this order, when a budget must be met and no model may be asked.

    Outputs are pruned first only where a few of them are enough, or more may remain than a page can take: else a page
    knows more than their stubs. What is newer than any cut is cut down to `keep` tokens, or to the share `newest` of what may
    remain where that is less, and the summary has what room that leaves.
    """
    return (
        prune_tool_outputs(protect=keep, enough=True),
        shorten_newest(keep=keep, share=newest),
        use_budget(),
        prune_tool_outputs(protect=0, minimum=0),
        shorten_tool_outputs(keep=1_000),
        use_budget(tail=0.0),
        shorten_tool_outputs(keep=200),
        shorten_tool_outputs(keep=40),
        shorten_replies(),
        use_budget(tail=0.0),
        truncate(),
    )
