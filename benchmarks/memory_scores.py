"""The scores of `memory`: what a method leaves of a labelled session at a budget, amid others, and after five folds."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from foldline import CannotFit
from memory_histories import Chat, History, as_chat, cut_at, interleaved, texts
from memory_material import Labelled, Need
from memory_measures import (
    LARGEST_TASK,
    Count,
    Rules,
    Speakers,
    State,
    counted,
    faults,
    rules,
    shown,
    speakers,
    stale,
    state,
    task_intact,
    told,
)
from memory_methods import METHODS, OURS, Left, Method, compactor, left
from memory_words import stands

SMALLEST = (0.02, 0.05, 0.1, 0.2, 0.3)
BUDGETS = (0.05, 0.1, 0.2, 0.3)
OTHERS = 6
ROUNDS = 5


class Case:
    """A history, what is needed of it, and its labels where there are some."""

    def __init__(
        self, name: str, kind: str, items: Sequence[Chat], needs: Sequence[Need], said: Labelled | None = None
    ):
        self.name, self.kind, self.needs, self.said = name, kind, needs, said
        self.history = History(items)
        self._left: dict[tuple[str, float], Left] = {}

    @cached_property
    def near(self) -> list[Need]:
        """What is needed of the newer part."""
        return [need for need in self.needs if not need.far]

    @cached_property
    def far(self) -> list[Need]:
        """What is needed of what was said first."""
        return [need for need in self.needs if need.far]

    def left(self, name: str, share: float) -> Left:
        """What a method leaves of it at a share of its tokens."""
        if (name, share) not in self._left:
            self._left[name, share] = left(self.history, name, share)
        return self._left[name, share]


class Score(NamedTuple):
    """What is known of one session."""

    near: Count
    far: Count
    shown: Count
    task: Count
    rules: Rules
    speakers: Speakers
    stale: Count
    state: State
    used: float
    refused: bool
    faults: int


def scored(case: Case, name: str, share: float) -> Score:
    """Every measure of what a method leaves of a labelled session."""
    assert case.said is not None
    labels, folded = case.said.labels, case.left(name, share)
    room = 4 * share * case.history.tokens * LARGEST_TASK
    fits = bool(labels.task) and sum(map(len, labels.task)) * _density(case.said.language) < room
    return Score(
        told(case.near, folded.said),
        told(case.far, folded.said),
        shown(case.needs, folded.said),
        counted([task_intact(labels, folded)]) if fits else Count(),
        rules(labels, folded),
        speakers(labels, case.history.chat, folded),
        stale(labels, folded),
        state(labels, folded),
        folded.used,
        folded.refused,
        len([fault for fault in faults(folded.messages) if fault not in faults(case.history.chat)]),
    )


def _density(language: str) -> float:
    """Tokens of four characters."""
    return 3.0 if language in ("zh", "ja", "ko") else 1.0


def alone(sessions: Sequence[Labelled]) -> list[Case]:
    """Each session by itself."""
    return [Case(s.name, s.kind, s.messages, s.labels.needed, s) for s in sessions]


def amid(sessions: Sequence[Labelled]) -> list[Case]:
    """Each session interleaved with six others, which go on after it; what those say as well is not asked for."""
    found = []
    for i, said in enumerate(sessions):
        others = [sessions[(i + n) % len(sessions)] for n in range(1, min(OTHERS, len(sessions) - 1) + 1)]
        noise = [text for other in others for text in texts(other.messages)]
        needs = [need for need in said.labels.needed if not any(stands(text, need.value) for text in noise)]
        items = interleaved([said.messages, *(other.messages for other in others)])
        found.append(Case(said.name, said.kind, as_chat(items), needs))
    return found


# -- five folds --------------------------------------------------------------------------------------------------


class Chained(NamedTuple):
    """What is told after one fold, after five of one compactor, and after five that begin with what the last left."""

    once: Count
    kept: Count
    handed_on: Count


def chained(case: Case, name: str, share: float) -> Chained:
    """What a method tells of a session that comes in five parts and is folded after each, always to the same budget."""
    most = int(case.history.tokens * share)
    whole, needs = case.history.chat, case.needs
    parts = [whole[: cut_at(whole, n / ROUNDS)] for n in range(1, ROUNDS)] + [whole]
    once = told(needs, case.left(name, share).said)
    handed_on = told(needs, texts(_handed_on(parts, METHODS[name], most)))
    return Chained(once, told(needs, texts(_kept(parts, most))) if name == OURS else handed_on, handed_on)


def _kept(parts: Sequence[Sequence[Chat]], most: int) -> list[Chat]:
    folding = compactor()
    after: Sequence[Chat] = []
    for part in parts:
        try:
            after = as_chat(folding.fold_to(list(part), most))
        except CannotFit:
            after = []
    return list(after)


def _handed_on(parts: Sequence[Sequence[Chat]], method: Method, most: int) -> list[Chat]:
    after: list[Chat] = []
    done = 0
    for part in parts:
        history = History([*after, *part[done:]])
        try:
            after = as_chat(method(history, most)) if history.tokens > most else history.chat
        except CannotFit:
            after = history.chat
        done = len(part)
    return after


# -- sums --------------------------------------------------------------------------------------------------------


def median(values: Iterable[float | None]) -> float | None:
    """The median of what is there."""
    there = [value for value in values if value is not None]
    return statistics.median(there) if there else None


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of what is there."""
    there = [value for value in values if value is not None]
    return statistics.fmean(there) if there else None


def total(counts: Iterable[Count]) -> Count:
    """All counts together."""
    return sum(counts, Count())
