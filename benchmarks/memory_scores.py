"""The scores of `memory`: what a method keeps of each case at a budget, and of each session over five chained folds."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from foldline.errors import CannotFit
from foldline.messages import Message, ToolCall, ToolResult, replace
from memory_cases import MOST, SPLITS, Case, cut_at, newest, session
from memory_methods import METHODS, Kept, compactor, fold, recalled, size
from memory_metrics import changed, made_faults, seen, share, stale, trail, trail_kept, user_lines, words_kept
from memory_planted import CORRECTIONS, RULES, planted, told

ROUNDS = 5
NEAR = 12
"""A tool call so many messages before the end, or fewer, belongs to the newest step."""

Scores = dict[str, list[float]]


def hindsight(cases: Sequence[Case], name: str, budget: float) -> Scores:
    """What a method left of each case at a budget: shown, shown or recallable, over budget, refused, faults."""
    scores: Scores = defaultdict(list)
    for case in cases:
        most = int(case.tokens * budget)
        kept = METHODS[name](case.before, most, case.needed)
        scores["shown"].append(0.0 if kept.refused else share(case.needed, seen(kept.messages)))
        scores["recallable"].append(share(case.needed, seen([*kept.messages, *kept.recalled])))
        scores["refused"].append(kept.refused)
        scores["over"].append(size(kept.messages) > most and not kept.refused)
        scores["faults"].append(len(made_faults(case.before, kept.messages)))
    return scores


def histories(folder: Path, split: str) -> list[list[Message]]:
    """The sessions of a split, each with its turn of the split's rules and values planted in it."""
    found = filter(None, (session(folder, name) for name in SPLITS[split]))
    return [planted(newest(messages, MOST), split, turn) for turn, messages in enumerate(found)]


def chained(history: Sequence[Message], name: str, budget: float) -> Iterator[tuple[list[Message], Kept, int]]:
    """A history that comes in five parts and is folded after each: all so far, what is left of it, and the budget.

    The budget is a share of the whole history in each round, as a window is.
    """
    most = int(size(history) * budget)
    folding = compactor()
    left: list[Message] = []
    done = 0
    for step in range(1, ROUNDS + 1):
        cut = cut_at(history, step / ROUNDS)
        so_far = list(history[:cut])
        if METHODS[name] is fold:
            try:
                kept = Kept(folding.fold_to(so_far, most), recalled(folding))
            except CannotFit:
                kept = Kept(so_far, refused=True)
        else:
            kept = METHODS[name]([*left, *history[done:cut]], most, ())
        left, done = kept.messages, cut
        yield so_far, kept, most


def chained_scores(found: Sequence[list[Message]], split: str, name: str, budget: float) -> list[Scores]:
    """For each round, what the method kept of each history."""
    rounds: list[Scores] = [defaultdict(list) for _ in range(ROUNDS)]
    for history in found:
        for scores, (so_far, kept, most) in zip(rounds, chained(history, name, budget)):
            scores["refused"].append(kept.refused)
            if kept.refused or newest_step(so_far) > most // 2:
                scores["left out"].append(1.0)
                continue
            for measure, value in _kept_of(so_far, kept.messages, split).items():
                scores[measure].append(value)
            scores["over"].append(size(kept.messages) > most)
            scores["faults"].append(len(made_faults(so_far, kept.messages)))
    return rounds


def _kept_of(so_far: Sequence[Message], left: Sequence[Message], split: str) -> dict[str, float]:
    files = trail(so_far)
    said = {message.text for message in so_far}
    rules = list(told(RULES[split], so_far))
    text = seen(left)
    return {
        "user words": words_kept(user_lines(so_far), left),
        "rules": sum(rule in text for rule in rules) / len(rules) if rules else 1.0,
        "stale values": len(stale([fact for fact in CORRECTIONS[split] if fact.corrected in said], so_far, left)),
        "file trail": trail_kept(files, left),
        "changed files": trail_kept(changed(files), left),
    }


def newest_step(history: Sequence[Message]) -> int:
    """What the newest call and its results take that no method may cut: words and thinking; or the newest message."""
    calls = [i for i, message in enumerate(history) if any(True for _ in message.calls)]
    last = calls[-1] if calls and len(history) - calls[-1] < NEAR else len(history) - 1
    return size(
        replace(m, parts=tuple(p for p in m.parts if type(p) not in (ToolCall, ToolResult))) for m in history[last:]
    )


def median(values: Iterable[float]) -> float:
    """The median; 0 of nothing."""
    values = list(values)
    return statistics.median(values) if values else 0.0


def mean(values: Iterable[float]) -> float:
    """The mean; 0 of nothing."""
    values = list(values)
    return statistics.fmean(values) if values else 0.0
