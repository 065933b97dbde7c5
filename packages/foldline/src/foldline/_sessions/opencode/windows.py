"""What a session of opencode proves of its model's window, which no row states."""

from __future__ import annotations

from collections.abc import Iterable

from foldline._models import model
from foldline._sessions.reading import PastFold

LEAST = 20_000
"""Tokens below which no compaction is believed to tell a window."""

HELD_BACK, USUAL = 32_000, 20_000
"""Tokens of its window that opencode keeps free for a reply at most, and of one whose size is not known."""


def window(name: str, folds: Iterable[PastFold], most: int) -> int:
    """The window of a model in tokens, of which `most` were billed, as opencode's newest compaction by itself proves it.

    0 where none does, or where the model's own window fits to it: opencode compacts once less is free than it holds back.
    """
    full = 0
    for fold in folds:
        if fold.trigger == "threshold":
            full = fold.receipt.tokens_before
    if full < LEAST or most < model(name).window <= full + HELD_BACK:
        return 0
    return full + USUAL
