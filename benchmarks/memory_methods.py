"""What `memory` compares: foldline's hard budget, and the controls beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from foldline import CannotFit, Compactor
from memory_controls import CONTROLS
from memory_histories import Chat, History, Item, as_chat, size
from memory_page import Folded

Method = Callable[[History, int], Sequence[Item]]
"""From a history and a budget in tokens to what is left of it; raises `CannotFit` where it can leave nothing."""

OURS = "foldline"
WHOLE = "no folding"
WINDOW = 10_000_000


def compactor() -> Compactor:
    """A compactor that folds only when it is told to."""
    return Compactor(window=WINDOW)


def fold(history: History, budget: int) -> list[Item]:
    """What a user gets from `Compactor.fold_to`."""
    return compactor().fold_to(history.items, budget)


def whole(history: History, budget: int) -> list[Chat]:
    """No folding, whatever the budget: what can be known at all."""
    return history.chat


METHODS: dict[str, Method] = {OURS: fold, **CONTROLS, WHOLE: whole}
"""The methods by name."""


class Left(Folded):
    """What a method left of a history at a budget, with the share of the budget that it took, what no chat shows included."""

    def __init__(self, history: History, after: Sequence[Item], budget: int, *, refused: bool = False) -> None:
        super().__init__(history.chat, as_chat(after))
        self.used = size(after) / budget if after else 0.0
        self.refused = refused


def left(history: History, name: str, share: float) -> Left:
    """What a method leaves of a history at a share of its tokens."""
    budget = max(1, int(history.tokens * share))
    try:
        return Left(history, METHODS[name](history, budget), budget)
    except CannotFit:
        return Left(history, [], budget, refused=True)
