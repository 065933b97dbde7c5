"""Finds what `default` should be: a grid of marks, targets and keeps, replayed on recorded sessions for cost and memory.

    python scripts/tune_default.py [--half tune|sealed] [--policy NAME-OR-FILE]... [--grid] [--results FILE] [--corpus FOLDER]

The sessions are the recorded ones of `benchmarks/memory.py`, in its two halves: `tune` is what is chosen on, `sealed` is what
the choice is looked at on, once. Each is replayed in windows that it fills, at the prices of one model. What is listed is
what no other candidate beats in cost and memory together.
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

CANDIDATE = """\
[[layers]]
name = "summarize"
at = {at}
to = {to}
strategies = [{pruned}{{ use = "summarize_older", keep = {keep}, max_tokens = {room} }}]

[[layers]]
name = "full"
at = 0.95
to = {to}
hard = true
strategies = [{{ use = "hard_strategies", keep = 10_000 }}]
"""

PRUNED = '{{ use = "prune_tool_outputs", protect = {protect}, minimum = 20_000 }}, '

MARKS = (0.75, 0.88)
TARGETS = (0.35, 0.50, 0.60)
KEEPS = ((10_000, 4_000), (25_000, 8_000), (40_000, 8_000))
PROTECTED = (0, 10_000, 25_000)
"""What is tried: marks and targets as shares of the window; tokens that stay word for word, and of a summary; tokens of
tool outputs that stay where the others are hidden first, 0 where none are."""


def candidates(folder: Path) -> Iterator[str]:
    """The files of the grid's policies."""
    for at, to, (keep, room), protect in product(MARKS, TARGETS, KEEPS, PROTECTED):
        pruned = PRUNED.format(protect=protect) if protect else ""
        path = folder / f"{at}-{to}-{keep}-{room}-{protect}.toml"
        path.write_text(CANDIDATE.format(at=at, to=to, keep=keep, room=room, pruned=pruned), "utf-8")
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


if __name__ == "__main__":
    main()
