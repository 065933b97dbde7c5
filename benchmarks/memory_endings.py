"""Short sessions for `memory`, labelled for how they end: what is open, what is over, what binds.

All of a session is told on one page, as a fold by hand would tell it, and nothing stays behind the page: so what the page
says of its state is all that is known of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from foldline import Brief
from foldline.extend import decode_all, extract
from memory_material import Labelled, labelled
from memory_measures import Count, Rules, State, counted, rules, rules_missed, stale, state, task_intact
from memory_page import Folded

FOLDER = "endings"
TOKENS = 2_000
"""The page's tokens."""


def sessions(folder: Path, half: str) -> tuple[Labelled, ...]:
    """The sessions of a half; none where there are none."""
    return labelled(half, folder / FOLDER)


def told(session: Labelled) -> Folded:
    """A session as a page alone."""
    page = extract(Brief(TOKENS), decode_all(session.messages, "openai-chat", [])).text
    return Folded(session.messages, [{"role": "user", "content": page}])


def tables(folder: Path, half: str, cells: Callable[[Sequence[Sequence[str]]], None], *, missed: bool = False) -> None:
    """Prints for each language what the page says of open steps, errors and rules; with `missed` what it does not."""
    found: dict[str, list[tuple[State, Rules, Count, Count]]] = {}
    for session in sessions(folder, half):
        folded, labels = told(session), session.labels
        task = counted([task_intact(labels, folded)])
        score = state(labels, folded), rules(labels, folded), task, stale(labels, folded)
        found.setdefault(session.language, []).append(score)
        if missed:
            print(f"\n{session.name}")
            for line in rules_missed(labels, session.messages, folded):
                print(f"  {line}")
    if not found:
        print(f"no endings in {folder / FOLDER / half}: nothing measured")
        return
    every = [score for scores in found.values() for score in scores]
    heads = (
        "endings",
        "of",
        "steps told",
        "right",
        "errors told",
        "right",
        "rules: precision",
        "recall",
        "task",
        "stale",
    )
    cells([heads, *(_line(name, scores) for name, scores in [*sorted(found.items()), ("all", every)])])


def _line(name: str, scores: Sequence[tuple[State, Rules, Count, Count]]) -> Sequence[str]:
    ends = sum((each for each, _, _, _ in scores), State())
    bound = sum((each for _, each, _, _ in scores), Rules())
    task, over = (sum((score[i] for score in scores), Count()) for i in (2, 3))
    kept = (ends.steps_told, ends.steps_right, ends.errors_told, ends.errors_right, bound.precision, bound.found)
    return (name, str(len(scores)), *map(_of, kept), _of(task), f"{over.right}/{over.of}")


def _of(count: Count) -> str:
    return "-" if count.share is None else f"{count.share:.2f} of {count.of}"
