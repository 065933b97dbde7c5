"""OpenHands: the events of its SDK in any of the files that hold them, and the trajectories of its first version."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial

from foldline._messages import Message, Opaque
from foldline._sessions.openhands import events as openhands_events
from foldline._sessions.openhands import v0 as openhands_v0
from foldline._sessions.parts import unique
from foldline._sessions.reading import Reading, Stored
from foldline._sessions.source import Source
from foldline._sessions.values import Json, items, mapping, mappings, string

TOOLS = 5_000
"""Tokens of the tools of a usual agent, where a file shows its prompt without them."""


def read_all(path: str, *, strict: bool = False) -> list[Stored]:
    """Every conversation in the file."""
    source = Source(path, strict=strict)
    found = [
        (string(about.get("instance_id"), about.get("id")), partial(_reading, source, about, events))
        for about, events in _conversations(source)
        if events
    ]
    return source.sessions(found, "no events of OpenHands")


def _reading(source: Source, about: Json, events: list[Json], id: str, path: str) -> Reading:
    told = openhands_events if any("kind" in event for event in events) else openhands_v0
    story = told.story(events, _billed(about, events))
    llm = mapping(mapping(about.get("metadata")).get("llm")) or mapping(mapping(about.get("agent")).get("llm"))
    return Reading(
        "openhands",
        id,
        path,
        unique(story.entries),
        "",
        string(llm.get("model"), story.model),
        since=story.since,
        folds=tuple(story.folds),
        folded=tuple(story.folded),
        faults=tuple(source.faults),
        overhead=_unseen(story.entries),
    )


def _unseen(entries: Sequence[tuple[str, Message]]) -> int | None:
    """What the file leaves out of a prompt that it shows: nothing, or its tools; None where it shows no prompt."""
    system = [message for _, message in entries if message.role == "system"]
    if not system:
        return None
    return 0 if any(type(part) is Opaque for message in system for part in message.parts) else TOOLS


def _conversations(source: Source) -> Iterator[tuple[Json, list[Json]]]:
    """What is said about each conversation, and its events."""
    if os.path.isdir(source.path):
        yield _folder(source)
        return
    contents = source.contents()
    if isinstance(contents, dict):
        events = contents.get("history", contents.get("events", contents.get("trajectory")))
        yield contents, list(mappings(events))
        return
    rows = list(mappings(contents))
    if source.is_lined() and any("history" in row for row in rows):
        yield from ((row, list(mappings(row.get("history")))) for row in rows)
    else:
        yield {}, rows


def _folder(source: Source) -> tuple[Json, list[Json]]:
    """A conversation as the SDK keeps it: a document for each event, and one for its state."""
    folder = os.path.join(source.path, "events")
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    except OSError as error:
        raise source.refused(f"cannot be read: {error.strerror}") from error
    events: list[Json] = []
    for number, name in enumerate(names, 1):
        if isinstance(event := Source(os.path.join(folder, name)).optional(), dict):
            events.append(event)
        else:
            source.fault(number, f"{name} is not valid JSON")
    return mapping(Source(os.path.join(source.path, "base_state.json")).optional()), events


def _billed(about: Json, events: list[Json]) -> dict[str, Json]:
    """The bills by the response that they are for, wherever the file keeps them."""
    metrics = [mapping(about.get("metrics")), mapping(events[-1].get("llm_metrics"))]
    by_use = mapping(mapping(about.get("stats")).get("usage_to_metrics"))
    metrics += [mapping(each) for each in by_use.values()]
    bills = (bill for each in metrics for bill in mappings(items(each.get("token_usages"))))
    return {id: bill for bill in bills if (id := string(bill.get("response_id")))}
