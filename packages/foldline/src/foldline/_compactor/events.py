"""What a compactor tells while it works."""

from __future__ import annotations

from foldline._compactor.degradation import Risk
from foldline._compactor.guards import Looping
from foldline._fold import Fold
from foldline._messages import Value


class FoldDue(Value, frozen=True):
    """The history fills the window up to a mark, and a fold is about to be made; sizes are tokens.

    `Folded` follows, unless no fold comes of it that is worth it.
    """

    tokens: int
    window: int


class Folded(Value, frozen=True):
    """A fold was made and is what `fit` hands out from now on."""

    fold: Fold


class SummaryFellBack(Value, frozen=True):
    """The summarizer's draft was not installed; extraction took its place."""

    reason: str


class Rewound(Value, frozen=True):
    """The history no longer starts like the one before; folds that do not stand on it are left out."""

    kept: int
    """How many messages of the earlier history still stand."""


class Interleaved(Value, frozen=True):
    """Several conversations take turns in one compactor, which undoes its folds each time: each needs its own (`Compactors`)."""


class Skipped(Value, frozen=True):
    """Somebody else's function raised, or a strategy proposed what is not safe; it was left out."""

    reason: str


Event = FoldDue | Folded | SummaryFellBack | Rewound | Looping | Risk | Interleaved | Skipped
