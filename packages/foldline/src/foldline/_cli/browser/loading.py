"""What the browser shows of a session: all that takes time, for its worker threads."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from foldline._desk.desk import Desk
from foldline._desk.inspection import Inspection, inspect
from foldline._handoff.exporting import export as export_state
from foldline._handoff.exporting import write_state
from foldline._messages import Message
from foldline._recall.index import Index
from foldline._recall.scope import scope_of
from foldline._recall.search import Hit
from foldline._sessions.pi.log import COUNTED_SIZE
from foldline._sessions.reading import PastFold
from foldline._sessions.source import parted

MOST_HITS = 60
"""Hits that are asked for: what was folded is chosen of them."""


class TimelineRow(NamedTuple):
    """One line of the timeline: a message with its tokens, and whether the model still sees it."""

    id: str
    message: Message
    tokens: int
    live: bool = True


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

    @property
    def notes(self) -> list[str]:
        """What is to be known beside the figures."""
        off = [] if self.desk.settings.to_policy().automatic.enabled else ["auto-compaction off"]
        return off if self.whole else [*off, "too large a file to show what was folded"]


def load(path: str, environment: Mapping[str, str]) -> Detail:
    """Reads a session and what is folded in it, oldest first."""
    desk = Desk.open(path, environment=environment)
    live = {entry.id: entry for entry in desk.view.entries}
    whole = os.path.getsize(parted(path)[0]) <= COUNTED_SIZE
    steps: list[TimelineRow] = []
    if whole:
        for id, message in desk.session.messages():
            if id not in live:
                steps.append(TimelineRow(id, message, desk.meter.count(message), live=False))
    folded = len(steps)
    steps += [TimelineRow(entry.id, entry.message, entry.tokens) for entry in desk.view.entries]
    largest = max((step.tokens for step in steps), default=0)
    folds = list(desk.session.folds()) if whole else []
    return Detail(desk, inspect(desk, desk.settings.to_policy()), folds, steps, largest, folded, whole)


def changed(path: str) -> tuple[int, ...]:
    """What changes when somebody writes into a session's file; empty where it is gone."""
    try:
        told = os.stat(parted(path)[0])
    except OSError:
        return ()
    return told.st_size, told.st_mtime_ns


def export(path: str, folder: str) -> str:
    """Writes what a session came to know beside nothing else of its name, and answers where."""
    desk = Desk.open(path)
    place = os.path.join(folder, f"{desk.session.id or 'session'}.json")
    write_state(export_state(desk.session, window=desk.budget.window), place)
    return place


def open_to_undo(path: str, environment: Mapping[str, str]) -> tuple[Desk, str]:
    """A session on the desk, and what is to be asked before its newest fold is taken back; empty where nothing is."""
    desk = Desk.open(path, environment=environment)
    return desk, desk.not_ours


def search(detail: Detail, query: str, index: str) -> list[Hit]:
    """The folded messages of a session that fit some words best; where nothing was folded, of all messages."""
    live = {step.id for step in detail.steps if step.live}
    with Index(index) as opened:
        hits = scope_of(detail.desk.session).search(opened, query, MOST_HITS)
    return [hit for hit in hits if hit.id not in live] if detail.folded else hits
