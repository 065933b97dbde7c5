"""A hard budget, held in the provider's tokens and not in ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from foldline._errors import CannotFit
from foldline._fold import Fold
from foldline._messages import Message
from foldline._tokens.meter import Meter
from foldline._tokens.weigh import weigh_exactly
from foldline._view import View, in_the_way

CHECKED_FROM = 0.5
"""The share of the budget from which the estimate of what a fold reached is checked by the tokenizer."""

SPARE = 0.06
"""The share of the budget that a fold may leave before what had to be cut is given more of it."""

TRIES = 5
"""How often a fold is made anew, smaller, until it holds."""


def left_for_newest(before: View, after: View, most: int) -> int:
    """The tokens that what stands behind any cut can have, where it was cut although room for it is left; else 0."""
    spare = most - after.tokens
    stood, stands = (sum(e.tokens for e in view.entries[view.last_cut :] if not e.pinned) for view in (before, after))
    return min(stood, stands + spare) if spare > SPARE * most and stood > stands else 0


def fuller(made: tuple[View, Fold], fold: Callable[[], tuple[View, Fold]]) -> tuple[View, Fold]:
    """What was made, or what `fold` makes where that holds more and fits."""
    try:
        return max(made, fold(), key=lambda each: each[0].tokens)
    except CannotFit:
        return made


def fold_within(
    max_tokens: int,
    meter: Meter,
    error: float,
    fold: Callable[[int], tuple[View, Fold]],
    exactly: Callable[[Sequence[Message], str], int | None] = weigh_exactly,
) -> tuple[View, Fold]:
    """What `fold` makes, given the tokens of a view by the meter, so that a request holds at most `max_tokens`.

    Where the tokenizer's vocabulary is installed what the fold reached is counted exactly, and where that is too much the
    fold is made anew, a little smaller; else `error`, the relative one of our count, is taken off. Raises `CannotFit`.
    """
    most = max_tokens - meter.overhead
    aim = int(most / (1 + error)) if exactly((), meter.family) is None else most
    for _ in range(TRIES):
        try:
            view, made = fold(aim)
        except CannotFit as refusal:
            if aim == most or refusal.unit != "tokens":
                raise
            surely = max(refusal.tokens, max_tokens + 1)
            raise CannotFit(surely, max_tokens, refusal.in_the_way) from None
        took = exactly(view.messages, meter.family) if view.tokens > most * CHECKED_FROM else None
        if took is None or took <= most:
            return view, made
        aim = min(aim, view.tokens) * most // took - 1
    raise CannotFit(max_tokens + 1, max_tokens, in_the_way(view, meter.overhead))
