"""Finds what `default` should be: a grid of marks, targets and keeps, replayed on recorded sessions for cost and memory.

    python scripts/tune_default.py [--half tune|sealed] [--policy NAME-OR-FILE]... [--grid] [--results FILE] [--corpus FOLDER]

The sessions are the recorded ones of `benchmarks/memory.py`, in its two halves: `tune` is what is chosen on, `sealed` is what
the choice is looked at on, once. Each is replayed in windows that it fills, at the prices of one model. What is listed is
what no other candidate beats in cost and memory together; below it stand those that `default` may be: of all that know
as much as the newest messages alone would (the control `tail`), that send nothing over the limit, and that cost at most
1.1 times their folds at the best moments in the median and never twice, the cheapest and what costs 3 % more at most.
Which of these is cheapest is chance; `default` is the one that stays nearest to its best moments, which stands first.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from foldline_lab.replaying import Asked, Outcome, replay
from foldline_lab.totals import Total, table, totals

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from memory_corpus import CORPUS, SESSIONS  # noqa: E402

MODEL = "claude-sonnet-4-5"
WINDOWS = (100_000, 160_000)

MEDIAN, WORST = 1.1, 2.0
"""What it may cost beside its folds at the best moments, in the median over sessions and at most."""

ALIKE = 1.03
"""Costs that are no further apart than this are taken for the same."""

PRUNING = """\
[[layers]]
name = "prune"
at = {at}
to = {to}
pays = true
outputs_over = {over}
strategies = [{{ use = "prune_tool_outputs", protect = 40_000, minimum = 20_000 }}]

"""

SUMMARIZING = """\
[[layers]]
name = "summarize"
at = {at}
to = {to}
strategies = [{{ use = "summarize_older", keep = {keep}, max_tokens = {room} }}]

[[layers]]
name = "full"
at = 0.95
to = {to}
hard = true
strategies = [{{ use = "hard_strategies", keep = 10_000 }}]
"""

PRUNED = [None, *product((0.5, 0.6), (0.1, 0.2, 0.3), (0, 30_000, 50_000))]
"""From which fill outputs are hidden, once that pays, down to which, and over how many tokens of them; None: not at all."""

SUMMARIZED = [
    (0.85, 0.65, 25_000, 8_000),
    (0.88, 0.5, 25_000, 4_000),
    (0.88, 0.65, 25_000, 8_000),
    (0.88, 0.65, 40_000, 8_000),
]
"""From which fill older history is summarized, down to which, how many tokens stay, and how many a summary may take."""


def candidates(folder: Path) -> Iterator[str]:
    """The files of the grid's policies."""
    for pruned, (at, to, keep, room) in product(PRUNED, SUMMARIZED):
        text = SUMMARIZING.format(at=at, to=to, keep=keep, room=room)
        if pruned:
            text = PRUNING.format(at=pruned[0], to=pruned[1], over=pruned[2]) + text
        path = folder / f"{'-'.join(map(str, pruned or ('none',)))}-{at}-{to}-{keep}-{room}.toml"
        path.write_text(text, "utf-8")
        yield str(path)


def replayed(paths: Sequence[str], policies: Sequence[str], results: str | None) -> list[Outcome]:
    """The sessions in each of the windows."""
    found: list[Outcome] = []
    for window in WINDOWS:
        found += replay(paths, Asked(tuple(policies), MODEL, window), results, jobs=2)
    return found


def memory(each: Total) -> float:
    """What is known of what is needed, near and far, in equal parts."""
    return sum(count.right / max(1, count.of) for count in (each.near, each.far)) / 2


def unbeaten(found: Sequence[Total]) -> list[Total]:
    """What no other one beats in cost without knowing less."""
    return [
        each
        for each in found
        if not any(
            (o.cost or 0) < (each.cost or 0) and memory(o) >= memory(each) and o.over <= each.over for o in found
        )
    ]


def eligible(found: Sequence[Total]) -> list[Total]:
    """What `default` may be, what stays nearest to its best moments first."""
    least = memory(next(each for each in found if each.contender == "tail"))
    fitting = [
        each
        for each in found
        if each.contender.endswith(".toml")
        and not each.over + each.refused
        and memory(each) >= least
        and (each.ratio or 0) <= MEDIAN
        and (each.worst or 0) <= WORST
    ]
    cheapest = min((each.cost or 0 for each in fitting), default=0)
    near = [each for each in fitting if (each.cost or 0) <= ALIKE * cheapest]
    return sorted(near, key=lambda each: each.ratio or 0)


def main() -> None:
    """Prints the table of a half."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=sorted(SESSIONS), default="tune")
    parser.add_argument("--policy", action="append", default=[], metavar="NAME-OR-FILE")
    parser.add_argument("--grid", action="store_true")
    parser.add_argument("--results", metavar="FILE")
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    asked = parser.parse_args()
    paths = [str(path) for name in SESSIONS[asked.half] if (path := asked.corpus / name).exists()]
    if not paths:
        sys.exit(f"there are no recorded sessions in {asked.corpus}")
    with tempfile.TemporaryDirectory() as folder:
        policies = [*(asked.policy or ["default"]), *(candidates(Path(folder)) if asked.grid else ())]
        outcomes = replayed(paths, policies, asked.results)
    found = totals(outcomes)
    shown = unbeaten(found) if asked.grid else found
    named = [each for each in found if each.contender in policies[: len(asked.policy or [1])] and each not in shown]
    rows = [
        each._replace(contender=Path(each.contender).name)
        for each in sorted([*shown, *named], key=lambda t: t.cost or 0)
    ]
    print(
        f"{asked.half}: {len(paths)} sessions in windows of {' and '.join(f'{w:,}' for w in WINDOWS)}, at {MODEL}'s prices\n"
    )
    print(table(rows))
    if asked.grid:
        print("\nmay be the default: " + ", ".join(Path(each.contender).name for each in eligible(found)))


if __name__ == "__main__":
    main()
