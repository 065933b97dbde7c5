"""What a session of Claude Code proves of its model's window, which no row states."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from foldline._messages import Usage
from foldline._sessions.parts import wire_usage
from foldline._sessions.values import count, string

if TYPE_CHECKING:
    from foldline._sessions.claude_code.rows import ClaudeRow

SMALL, LARGE = 200_000, 1_000_000
"""The windows that Claude has, in tokens."""

LEAST, MOST = 100_000, 230_000
"""Tokens between which Claude Code compacts a small window by itself: it takes none of less than 100,000, and what it
reckons behind a refusal is beside the window by less than an eighth."""


def window(rows: Iterable[ClaudeRow]) -> int:
    """The window of the model that answered last, in tokens; 0 where nothing proves it: a bill or a compaction by itself."""
    model, proven = "", 0
    for row in rows:
        if row.sidechain:
            continue
        if row.is_boundary and row.metadata.get("trigger") == "auto" and "foldline" not in row.data:
            full = count(row.metadata.get("preTokens"))
            proven = proven if full < LEAST else SMALL if full < MOST else LARGE
        elif row.kind == "assistant" and (usage := wire_usage(row.message.get("usage"), "anthropic")):
            before, model = model, string(row.message.get("model"))
            proven = billed(usage) or (proven if model == before else 0)
    return proven


def billed(usage: Usage) -> int:
    """The window that a bill proves, in tokens; 0 where it fits into every one."""
    return LARGE if usage.prompt > SMALL else 0
