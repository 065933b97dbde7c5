"""Which of two policies, and why: in three sentences, with an interval over sessions."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from foldline_lab.replaying import Outcome
from foldline_lab.seen import Count
from foldline_lab.stepping import Run
from foldline_lab.totals import Total, total

RESAMPLES = 2_000
LEVEL = 0.9
"""How often the sessions are drawn anew, and the share of those draws that an interval holds."""


class Interval(NamedTuple):
    """A share, and between which bounds it stays in nine of ten draws of the sessions."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        more = "more" if self.value > 0 else "less"
        between = f" ({self.low:+.1%} to {self.high:+.1%})" if self.low < self.high else ""
        return f"{abs(self.value):.1%} {more}{between}"


class Words(NamedTuple):
    """How it is said what two policies differ by."""

    verb: str
    less: str
    noun: str


COSTS = Words("costs", "is cheaper", "what they cost")
SENDS = Words("sends", "sends less", "what they send")


def interval(pairs: Sequence[tuple[float, float]], seed: int = 12) -> Interval:
    """By how much the second sum differs from the first, as a share of it, bootstrapped over the pairs."""
    draw = Random(seed)
    shares = sorted(_gap([pairs[draw.randrange(len(pairs))] for _ in pairs]) for _ in range(RESAMPLES))
    edge = round((1 - LEVEL) / 2 * RESAMPLES)
    return Interval(_gap(pairs), shares[edge], shares[-1 - edge])


def _gap(pairs: Sequence[tuple[float, float]]) -> float:
    first, second = (sum(values) for values in zip(*pairs))
    return second / first - 1 if first else 0.0


def compared(outcomes: Sequence[Outcome], first: str, second: str) -> str:
    """Three sentences: what the second costs beside the first, what it forgets, and which of them to run."""
    both = [(runs[first], runs[second]) for o in outcomes if {first, second} <= (runs := _by_name(o)).keys()]
    if not both:
        return f"There is no session that was replayed under both {first} and {second}."
    priced = [(a.cost, b.cost) for a, b in both if a.cost is not None and b.cost is not None]
    words = COSTS if len(priced) == len(both) else SENDS
    gap = interval(priced if words is COSTS else [(a.sent, b.sent) for a, b in both])
    a, b = (total(name, runs) for name, runs in zip((first, second), zip(*both)))
    many = f"{len(both)} session{'' if len(both) == 1 else 's'}"
    sentences = [
        f"Over {many} {second} {words.verb} {gap} than {first}, with {b.folds:,} folds to its {a.folds:,}.",
        _known(a, b),
        _verdict(a, b, gap, words),
    ]
    return " ".join(sentences)


def _by_name(outcome: Outcome) -> dict[str, Run]:
    return {run.contender: run for run in outcome.runs}


def _known(a: Total, b: Total) -> str:
    """What the second still knows of what was said, beside the first."""
    kinds = (
        ("what was said far back and is written again", a.far, b.far),
        ("the user's rules", a.rules, b.rules),
        ("what is open", a.state, b.state),
    )
    told = [f"{_share(its)} of {what} ({a.contender} {_share(other)})" for what, other, its in kinds if its.of]
    known = " and ".join(filter(None, (", ".join(told[:-1]), *told[-1:])))
    return f"It knows {known or 'all that it needs'}."


def _share(each: Count) -> str:
    return f"{each.right / max(1, each.of):.0%}"


def _verdict(a: Total, b: Total, gap: Interval, words: Words) -> str:
    """Which to run: what is cheaper by more than chance and remembers no less, and else what there is to choose."""
    faults = [f"{t.contender} would be refused {t.refused + t.over:,} times" for t in (a, b) if t.refused + t.over]
    if faults:
        run = "neither before that is looked into" if len(faults) == 2 else (a if b.refused + b.over else b).contender
        return f"Run {run}: {' and '.join(faults)}."
    memory = (b.far.right - a.far.right) / a.far.of if a.far.of else 0.0
    certain = gap.low * gap.high > 0
    cheaper = b if gap.value < 0 else a
    remembers = b if memory > 0 else a
    if not certain and abs(memory) < 0.01:
        return "Neither is better by more than what sessions differ by."
    if not certain:
        return f"Run {remembers.contender}: it remembers more, and {words.noun} differs by no more than sessions do."
    if abs(memory) < 0.01 or cheaper is remembers:
        return f"Run {cheaper.contender}: it {words.less}, and remembers no less."
    return f"It is a choice: {cheaper.contender} {words.less}, {remembers.contender} remembers more."
