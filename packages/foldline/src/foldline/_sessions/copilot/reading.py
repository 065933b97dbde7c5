"""Sessions of GitHub Copilot CLI, read."""

from __future__ import annotations

import os

from foldline._sessions.copilot import LOG, noted, session_id
from foldline._sessions.copilot.event_log import EventLog
from foldline._sessions.parts import unique
from foldline._sessions.reading import Reading
from foldline._sessions.source import Source
from foldline._sessions.values import string

TOOLS = 15_000
"""Tokens of the tools of a usual session, where its log shows the prompt and does not count them."""


def read(path: str, *, strict: bool = False) -> Reading:
    """What the next request of the session would send, and what the log holds beside it."""
    source = Source(os.path.join(path, LOG) if os.path.isdir(path) else path, strict=strict)
    log, events = EventLog(), 0
    for line, row in source.rows():
        if log.take(string(row.get("id"), str(line)), row):
            events += 1
        else:
            source.fault(line, "a row without a type")
    if not events:
        raise source.refused("no events of GitHub Copilot")
    live = {id for id, _ in log.entries}
    return Reading(
        "copilot-cli",
        log.id or session_id(source.path),
        source.path,
        unique(log.entries),
        log.cwd or noted(source.path, "cwd"),
        log.model,
        title=noted(source.path, "name"),
        since=log.since,
        folds=tuple(log.folds),
        folded=tuple(entry for entry in log.gone if entry[0] not in live),
        faults=tuple(source.faults),
        window=log.window,
        overhead=_beside(log),
        branch=log.branch,
    )


def _beside(log: EventLog) -> int | None:
    """What is sent beside the entries: the tools, and the prompt where it is none of these; None where nothing tells."""
    shown = any(message.role == "system" for _, message in log.entries)
    if log.prompt is None:
        return TOOLS if shown else None
    return log.tools + (0 if shown else log.prompt)
