"""What the sessions of a replay come to, contender by contender, and the table of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median
from typing import NamedTuple

from foldline_lab.replaying import Outcome
from foldline_lab.seen import Count
from foldline_lab.stepping import Run


class Total(NamedTuple):
    """All sessions under one contender; sizes are tokens, costs US dollars for requests without replies."""

    contender: str
    sessions: int
    calls: int
    priced: int
    """The sessions whose model has a price: the cost is of those."""
    cost: float | None
    """None where no session's model has a price."""
    ratio: float | None
    """The median over sessions of the cost beside what the same folds would have cost at the best moments."""
    worst: float | None
    sent: int
    folds: int
    largest: int
    over: int
    refused: int
    near: Count
    far: Count
    user: Count
    rules: Count
    state: Count
    seconds: float


def totals(outcomes: Iterable[Outcome]) -> list[Total]:
    """A total for each contender, in the order in which they were replayed."""
    runs: dict[str, list[Run]] = {}
    for outcome in outcomes:
        for run in outcome.runs:
            runs.setdefault(run.contender, []).append(run)
    return [total(name, found) for name, found in runs.items()]


def total(name: str, runs: Sequence[Run]) -> Total:
    """All sessions under one contender."""
    costs = [run.cost for run in runs if run.cost is not None]
    ratios = [run.cost / run.best for run in runs if run.cost and run.best]
    return Total(
        name,
        len(runs),
        sum(run.calls for run in runs),
        len(costs),
        sum(costs) if costs else None,
        median(ratios) if ratios else None,
        max(ratios, default=None),
        sum(run.sent for run in runs),
        sum(len(run.folds) for run in runs),
        max((run.largest for run in runs), default=0),
        sum(run.over for run in runs),
        sum(len(run.refused) for run in runs),
        sum((run.near for run in runs), Count()),
        sum((run.far for run in runs), Count()),
        sum((run.user for run in runs), Count()),
        sum((run.rules for run in runs), Count()),
        sum((run.state for run in runs), Count()),
        sum(run.seconds for run in runs),
    )


def unpriced(outcomes: Iterable[Outcome]) -> str:
    """A line that tells whose sessions are in no cost, and what prices them; empty where all have a price."""
    runs = [outcome.runs[0] for outcome in outcomes if outcome.runs]
    without = sorted({run.model or "a session that names no model" for run in runs if run.cost is None})
    if not without:
        return ""
    priced, many = sum(run.cost is not None for run in runs), f"{len(runs)} session{'' if len(runs) == 1 else 's'}"
    verb = "has" if len(without) == 1 else "have"
    return f"cost of {priced} of {many}: {', '.join(without)} {verb} no price; --model NAME prices as if of that model"


FIGURES = ("cost", "of best", "worst", "sent", "folds", "largest", "over", "refused")
KNOWN = ("near", "far", "user's", "rules", "state")
HEAD = ("", *FIGURES, *KNOWN, "time")


def cells(each: Total) -> list[str]:
    """A total as the cells of a table under `HEAD`."""
    shares = [
        f"{c.right / c.of:.0%}" if c.of else "-" for c in (each.near, each.far, each.user, each.rules, each.state)
    ]
    return [
        each.contender,
        "-" if each.cost is None else f"${each.cost:,.2f}",
        *("-" if ratio is None else f"{ratio:.2f}" for ratio in (each.ratio, each.worst)),
        f"{each.sent / 1e6:,.1f}M",
        f"{each.folds:,}",
        f"{each.largest:,}",
        f"{each.over:,}",
        f"{each.refused:,}",
        *shares,
        f"{each.seconds:.1f}s",
    ]


def table(found: Sequence[Total], width: int | None = None) -> str:
    """The totals as a plain table: names to the left, figures to the right.

    Where it is wider than `width` it goes on in a table below it, with the names again.
    """
    names, *columns = zip(*[HEAD, *map(cells, found)])
    named = [name.ljust(max(map(len, names))) for name in names]
    parts = [named]
    for column in columns:
        wide = max(map(len, column))
        if width is not None and len(parts[-1][0]) + 2 + wide > width and parts[-1] is not named:
            parts.append(named)
        parts[-1] = [f"{row}  {cell.rjust(wide)}" for row, cell in zip(parts[-1], column)]
    return "\n\n".join("\n".join(row.rstrip() for row in part) for part in parts)
