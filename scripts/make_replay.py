"""Writes the run that docs/replay.md shows: the sample session under two policies, as `foldline replay` tells it.

    python scripts/make_replay.py

The last column is how long each took, which is another one in each run.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from foldline_lab.comparing import compared
from foldline_lab.replaying import Asked, Outcome, replayed
from foldline_lab.totals import table, totals

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "replay.md"
POLICIES = ("default", "pi")
BEGIN, END = "## A run\n", "\n## "
"""What the run stands between."""

COMMAND = "foldline replay samples/invoices.jsonl --model claude-sonnet-4-5 --window 60000 --policy default --policy pi --compare default pi"


def outcomes() -> list[Outcome]:
    """What the command replays."""
    return [replayed(str(ROOT / "samples" / "invoices.jsonl"), Asked(POLICIES, "claude-sonnet-4-5", 60_000))]


def run(found: Sequence[Outcome]) -> str:
    """The run as the page shows it."""
    verdict = textwrap.fill(compared(found, *POLICIES), 112)
    return f"\n```console\n$ {COMMAND}\n```\n\n```text\n{table(totals(found))}\n\n{verdict}\n```\n"


def page(found: Sequence[Outcome]) -> str:
    """The page with the run in its place."""
    text = PAGE.read_text("utf-8")
    before, begin, behind = text.partition(BEGIN)
    return before + begin + run(found) + behind[behind.index(END) :]


if __name__ == "__main__":
    PAGE.write_text(page(outcomes()), "utf-8")
