"""What survives a fold, measured without a judge on real sessions.

    python benchmarks/memory.py [FOLDER] [--split report|tune] [--methods NAME,...]

FOLDER holds recorded sessions of agents (`../shared/corpus` beside the repository where it is not given); without it
nothing is measured. The sessions of the split `tune` are those that the extraction was tuned on, those of `report` are
not; the output names them. Every method gets the same budgets, counted by the same estimate. It takes about four minutes.

- *Hindsight recall*: a session is cut at 40, 60 and 80 % of its tokens. A literal (path, name, number, quoted words) is
  needed where the agent writes it in a later tool call, it stood before the cut, and nothing in between shows it again;
  what other projects' sessions hold as well is no memory and not counted. The share that the folded history shows, and
  the share that it shows or that a recall by the ids of what was folded brings back. In a second table the newest
  stretch before the cut stands between stretches of six sessions about other things.
- *Chained folds*: a session comes in five parts and is folded after each, with rules and values planted in it that are
  corrected later. The users' words and the rules that stand word for word, the values asserted after their correction,
  the files whose last state is told.
"""

from __future__ import annotations

import argparse
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from measuring import Figure, Row, figure, heading
from memory_cases import MOST, SPLITS, STRETCH, Case, interrupted, plain
from memory_methods import METHODS, fold
from memory_scores import Scores, chained_scores, hindsight, histories, mean, median

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
BUDGETS = (0.02, 0.05, 0.10, 0.20, 0.30)
OURS = "foldline: fold_to"
CHAINED = ("no folding", "tail", "head and tail", "masking", "user messages first", "random", "list of patterns")
MEASURES = ("user words", "rules", "stale values", "file trail", "changed files")


# -- the tables --------------------------------------------------------------------------------------------------


def hindsight_table(cases: Sequence[Case], names: Iterable[str]) -> None:
    """Prints a row for each method: median and mean of what is shown at each budget."""
    needed = sum(len(case.needed) for case in cases)
    print(f"{len(cases)} cuts, {needed} needed literals, {median(c.tokens for c in cases):,.0f} tokens (median)")
    lines = [("shown: median (mean)", *(f"{b:.0%}" for b in BUDGETS), "recallable", "over budget", "refused", "faults")]
    for name in names:
        scores = [hindsight(cases, name, budget) for budget in BUDGETS]
        shown = [f"{median(s['shown']):.2f} ({mean(s['shown']):.2f})" for s in scores]
        back = min(min(s["recallable"]) for s in scores)
        sums = [sum(sum(s[key]) for s in scores) for key in ("over", "refused", "faults")]
        lines.append((name, *shown, f"{back:.2f}", *(f"{n:.0f}" for n in sums)))
    _print(lines)


def chained_tables(folder: Path, split: str, names: Sequence[str]) -> None:
    """Prints a table for each measure: its mean over the sessions after one fold and after five, and the worst."""
    found = histories(folder, split)
    budgets = BUDGETS[:4]
    scores = {name: [chained_scores(found, split, name, b) for b in budgets] for name in names}
    for measure in MEASURES:
        what = "sum" if measure == "stale values" else "mean"
        print(f"\n{measure}: {what} over the sessions after one fold → after five (the worst session of any round)")
        lines = [("", *(f"{b:.0%}" for b in budgets))]
        _print([*lines, *((name, *(_cell(rounds, measure) for rounds in scores[name])) for name in names)])
    ours = [each for name in names if METHODS[name] is fold for rounds in scores[name] for each in rounds]
    sums = {key: sum(sum(each[key]) for each in ours) for key in ("over", "faults", "refused", "left out")}
    print(f"\nfoldline: {sum(len(each['refused']) for each in ours)} folds, {sums['over']:.0f} over budget, ", end="")
    print(f"{sums['faults']:.0f} faults, {sums['refused']:.0f} refused since one message alone is over the budget;")
    print(f"{sums['left out']:.0f} folds, those among them, where the newest step's own words ", end="")
    print("take more than half of the budget are in none of these tables")


def _cell(rounds: Sequence[Scores], measure: str) -> str:
    first, last = rounds[0][measure], rounds[-1][measure]
    every = [value for scores in rounds for value in scores[measure]]
    if measure == "stale values":
        return f"{sum(first):.0f} → {sum(last):.0f} ({max(every, default=0):.0f})"
    return f"{mean(first):.2f} → {mean(last):.2f} ({min(every, default=0):.2f})"


def _print(lines: Sequence[Sequence[str]]) -> None:
    """Prints lines under a head, in columns."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for n, line in enumerate(lines):
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
        if n == 0:
            print("  ".join("-" * width for width in widths))


# -- the rows beside other benchmarks ----------------------------------------------------------------------------


def rows(asked: Namespace) -> list[Row]:
    """The lines for the table of all benchmarks: what is lost on the report split, in %."""
    names = SPLITS["report"]
    if not _there(CORPUS, names):
        return [heading("memory: there are no recorded sessions here")]
    apart, amid = plain(CORPUS, names), interrupted(CORPUS, names)
    found = histories(CORPUS, "report")
    ours, tail = (chained_scores(found, "report", name, 0.2)[-1] for name in (OURS, "tail"))
    small = chained_scores(found, "report", OURS, 0.05)[-1]
    stale = figure([sum(ours["stale values"])], "values")
    return [
        heading("what a fold loses of recorded sessions (the report split), in % of what is needed again"),
        _shown_row("not shown at 30 % of the tokens", apart, 0.3, 20.0),
        _shown_row("not shown at 20 %, amid six unrelated conversations", amid, 0.2, 60.0),
        Row("the same, not even recallable", _lost(hindsight(amid, OURS, 0.2)["recallable"]), 0.01),
        heading("after five folds to 20 % of the tokens, in % (mean)"),
        *(
            Row(f"{measure} lost", _mean_lost(ours[measure]), 1.0, "the newest that fits", _mean_lost(tail[measure]))
            for measure in ("user words", "rules", "file trail")
        ),
        Row("values told after their correction", stale, 1.0),
        Row("rules lost at 5 %", _mean_lost(small["rules"]), 1.0),
        Row("changed files lost at 5 %", _mean_lost(small["changed files"]), 1.0),
    ]


def _shown_row(what: str, cases: Sequence[Case], budget: float, target: float) -> Row:
    ours, theirs = (hindsight(cases, name, budget)["shown"] for name in (OURS, "list of patterns"))
    return Row(what, _lost(ours), target, "a list of what looks like a name", _lost(theirs))


def _lost(kept: Iterable[float]) -> Figure:
    return figure((100 * (1 - share) for share in kept), "%")


def _mean_lost(kept: Sequence[float]) -> Figure:
    return Figure(100 * (1 - mean(kept)), 100 * (1 - max(kept)), "%")


# -- the command -------------------------------------------------------------------------------------------------


def _there(folder: Path, names: Iterable[str]) -> bool:
    return any((folder / name).exists() for name in names)


def _timed(what: str, run: Callable[[], None]) -> None:
    """Runs a part under a heading and says on standard error how long it took."""
    print(f"\n== {what} ==")
    began = time.perf_counter()
    run()
    print(f"{what}: {time.perf_counter() - began:.0f} s", file=sys.stderr)


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=CORPUS)
    parser.add_argument("--split", choices=list(SPLITS), default="report")
    parser.add_argument("--methods", default="", help="only the methods whose names hold one of these words")
    asked = parser.parse_args()
    names = SPLITS[asked.split]
    if not _there(asked.folder, names):
        print(f"no sessions in {asked.folder}: nothing measured")
        return
    words = [word for word in asked.methods.split(",") if word]
    methods = [name for name in METHODS if not words or any(word in name for word in words)]
    chain = [name for name in methods if name in CHAINED or METHODS[name] is fold]
    print(f"split {asked.split}: {', '.join(Path(name).name.split('.')[0] for name in names)}")
    print("system messages and other compactors' summaries are left out; budgets are shares of the history's tokens")
    _timed(
        f"hindsight recall, up to {MOST:,} tokens before the cut",
        lambda: hindsight_table(plain(asked.folder, names), methods),
    )
    _timed(
        f"hindsight recall, {STRETCH:,} tokens amid six unrelated stretches of that size",
        lambda: hindsight_table(interrupted(asked.folder, names), methods),
    )
    _timed("one to five chained folds", lambda: chained_tables(asked.folder, asked.split, chain))


if __name__ == "__main__":
    main()
