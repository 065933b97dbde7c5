"""What the browser shows of a session, and what it does to one: all that takes time, for its worker threads."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from foldline.by_hand import by_model, why_extracted
from foldline.cli.branch import branchable
from foldline.config import Settings, read_settings
from foldline.fold import Fold
from foldline.inspection import Inspection, Opened, inspect
from foldline.messages import Message, Summary
from foldline.policy import Policy
from foldline.recall.index import Index
from foldline.recall.scope import scope_of
from foldline.recall.search import Hit
from foldline.session import PastFold
from foldline.session.branching import Branch, branch
from foldline.session.log import COUNTED_SIZE
from foldline.transcripts import open_session
from foldline.transcripts.busy import refuse_busy
from foldline.view import View
from foldline.writers import EXTRACT

MOST_HITS = 60
"""Hits that are asked for: what was folded is chosen of them."""


class Step(NamedTuple):
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

    opened: Opened
    inspection: Inspection
    folds: list[PastFold]
    steps: list[Step]
    largest: int
    folded: int
    whole: bool


class Plan(NamedTuple):
    """A fold that was thought out and not made: its summary is by extraction, whoever writes the one that is installed."""

    opened: Opened
    after: View
    fold: Fold
    settings: Settings

    @property
    def summary(self) -> str:
        """The text that it would install."""
        return next((m.summary.text for m in self.after.messages if m.summary), "")


def policy(environment: Mapping[str, str]) -> Policy:
    """The policy that the settings name."""
    return read_settings(environment=environment).to_policy()


def load(path: str, environment: Mapping[str, str]) -> Detail:
    """Reads a session and what is folded in it, oldest first."""
    opened = Opened(open_session(path))
    live = {entry.id: entry for entry in opened.view.entries}
    whole = os.path.getsize(path) <= COUNTED_SIZE
    steps: list[Step] = []
    if whole:
        for id, message in opened.session.messages():
            if id not in live:
                steps.append(Step(id, message, opened.meter.count(message), live=False))
    folded = len(steps)
    steps += [Step(entry.id, entry.message, entry.tokens) for entry in opened.view.entries]
    largest = max((step.tokens for step in steps), default=0)
    folds = list(opened.session.folds()) if whole else []
    return Detail(opened, inspect(opened, policy(environment)), folds, steps, largest, folded, whole)


def plan(path: str, environment: Mapping[str, str]) -> Plan:
    """The fold that `foldline compact` would make now; refused where the session's agent has it open."""
    refuse_busy(path)
    opened, settings = Opened(open_session(path)), read_settings(environment=environment)
    return Plan(opened, *opened.plan(settings.to_policy()), settings)


def make(planned: Plan) -> Fold:
    """Writes a planned fold and answers it as it was made, its summary by the model that the settings name.

    Raises `SummaryFailed` where no model wrote one, unless extraction is among the fallbacks; nothing is written then.
    """
    opened, after, fold, settings = planned
    refuse_busy(opened.session.path)
    if settings.summary.model != EXTRACT:
        after, fold = by_model(opened, settings.to_policy(), "", settings.summary)
        why_extracted(fold.receipt, settings.summary)
    opened.session.fold(opened.view, after, fold, opened.meter)
    return fold


def undo(path: str) -> str | None:
    """Takes back the newest fold and answers its id, or None where none stands."""
    refuse_busy(path)
    return open_session(path).undo()


def branch_at(path: str, at: str) -> Branch:
    """A new session that ends with a user message of this one."""
    return branch(branchable(open_session(path)), at)


def search(detail: Detail, query: str, index: str) -> list[Hit]:
    """The folded messages of a session that fit some words best; where nothing was folded, of all messages."""
    live = {step.id for step in detail.steps if step.live}
    with Index(index) as opened:
        hits = scope_of(detail.opened.session).search(opened, query, MOST_HITS)
    return [hit for hit in hits if hit.id not in live] if detail.folded else hits
