"""What the browser shows of a session, and what it does to one: all that takes time, for its worker threads."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from foldline._config import read_settings
from foldline._desk.desk import Desk
from foldline._desk.inspection import Inspection, inspect
from foldline._desk.plan import FoldPlan, plan
from foldline._fold import Fold
from foldline._messages import Message, Summary
from foldline._policy import Policy
from foldline._recall.index import Index
from foldline._recall.scope import scope_of
from foldline._recall.search import Hit
from foldline._sessions.file import Branch
from foldline._sessions.opening import open_session
from foldline._sessions.pi.log import COUNTED_SIZE
from foldline._sessions.reading import PastFold

MOST_HITS = 60
"""Hits that are asked for: what was folded is chosen of them."""


class TimelineRow(NamedTuple):
    """One line of the timeline: a message with its tokens, and whether the model still sees it."""

    id: str
    message: Message
    tokens: int
    live: bool = True

    @property
    def summary(self) -> Summary | None:
        """The summary that stands here for what was folded."""
        return self.message.summary


class Detail(NamedTuple):
    """A session as the right side shows it.

    `largest` is the largest message in tokens, and `folded` how many messages the model no longer sees; `whole` is False
    where these were too much to read.
    """

    desk: Desk
    inspection: Inspection
    folds: list[PastFold]
    steps: list[TimelineRow]
    largest: int
    folded: int
    whole: bool


def policy(environment: Mapping[str, str]) -> Policy:
    """The policy that the settings name."""
    return read_settings(environment=environment).to_policy()


def load(path: str, environment: Mapping[str, str]) -> Detail:
    """Reads a session and what is folded in it, oldest first."""
    desk = Desk.open(path)
    live = {entry.id: entry for entry in desk.view.entries}
    whole = os.path.getsize(path) <= COUNTED_SIZE
    steps: list[TimelineRow] = []
    if whole:
        for id, message in desk.session.messages():
            if id not in live:
                steps.append(TimelineRow(id, message, desk.meter.count(message), live=False))
    folded = len(steps)
    steps += [TimelineRow(entry.id, entry.message, entry.tokens) for entry in desk.view.entries]
    largest = max((step.tokens for step in steps), default=0)
    folds = list(desk.session.folds()) if whole else []
    return Detail(desk, inspect(desk, policy(environment)), folds, steps, largest, folded, whole)


def plan_fold(path: str, environment: Mapping[str, str]) -> FoldPlan:
    """The fold that `foldline compact` would make now; refused where the session cannot be written to."""
    desk, settings = Desk.open(path), read_settings(environment=environment)
    desk.check_writable()
    return plan(desk, settings.to_policy(), writer=settings.summary)


def make(planned: FoldPlan) -> Fold:
    """Writes a planned fold and answers it as it was made, its summary by the model that the settings name.

    Raises `SummaryFailed` where no model wrote one, unless extraction is among the fallbacks; nothing is written then.
    """
    planned.desk.check_writable()
    planned = planned.summarized()
    planned.why_extracted()
    planned.write()
    return planned.fold


def undo(path: str) -> str | None:
    """Takes back the newest fold and answers its id, or None where none stands."""
    return Desk.open(path).undo()


def branch_at(path: str, at: str) -> Branch:
    """A new session that ends with a user message of this one."""
    return open_session(path).branch(at)


def search(detail: Detail, query: str, index: str) -> list[Hit]:
    """The folded messages of a session that fit some words best; where nothing was folded, of all messages."""
    live = {step.id for step in detail.steps if step.live}
    with Index(index) as opened:
        hits = scope_of(detail.desk.session).search(opened, query, MOST_HITS)
    return [hit for hit in hits if hit.id not in live] if detail.folded else hits
