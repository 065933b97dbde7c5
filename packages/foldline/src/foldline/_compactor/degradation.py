"""How much quality the folds of a session may have cost: by their number, and by the facts that were measured lost."""

from __future__ import annotations

from foldline._fold import Receipt
from foldline._messages import Value

HARD_AFTER = 2
"""Compactions after the first warning from which a fresh start is strongly recommended (OpenClaw requirements, US-OC-4)."""

SOFT_LOSS = 0.15
HARD_LOSS = 0.40
"""The share of the folded facts that the newest summary does not show, from which the risk rises by as much."""


class Risk(Value, frozen=True, omit_defaults=False):
    """How much the folds may have cost in quality: a level, and why."""

    level: str
    why: str


def risk_of(compactions: int, kept: int, lost: int, warn_at: int) -> Risk:
    """The risk after so many compactions and facts; it rises at `warn_at` compactions and again two later, never at 0."""
    share = lost / (kept + lost) if kept + lost else 0.0
    many = (compactions >= warn_at) + (compactions >= warn_at + HARD_AFTER) if warn_at else 0
    grade = max(many, (share >= SOFT_LOSS) + (share >= HARD_LOSS))
    why = [f"{compactions} compaction{'' if compactions == 1 else 's'}"]
    if kept + lost:
        why.append(f"{lost} of {kept + lost} facts only by recall")
    return Risk(("Low", "Medium", "High")[grade], ", ".join(why))


def risk_after(made: Receipt, warn_at: int) -> Risk | None:
    """The risk to warn of after a fold: where it took messages out of the view, from the compaction `warn_at` on."""
    if not 0 < warn_at <= made.round or made.messages_folded == made.messages_pruned:
        return None
    return risk_of(made.round, made.facts_kept, made.facts_lost, warn_at)
