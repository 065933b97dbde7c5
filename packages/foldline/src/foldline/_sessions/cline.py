"""Histories of Cline and Roo Code: Anthropic messages, with what each was billed and tags of what was condensed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from foldline._fold import Receipt
from foldline._messages import Message, Part, Text, ToolCall, Usage, replace
from foldline._sessions.cline_results import ASKING, answering
from foldline._sessions.format import SessionFormat
from foldline._sessions.parts import from_wire, summary
from foldline._sessions.reading import PastFold, Reading, summarized
from foldline._sessions.source import Source
from foldline._sessions.values import Json, count, iso, mapping, mappings, newest, string, words

FILE = "api_conversation_history.json"

_START = re.compile(rb'\s*\[\s*\{\s*"(?:role|content|ts|type|id)"\s*:')
_SIGN = re.compile(
    rb'[{,]\s*"(?:modelInfo|condenseId|condenseParent|truncationId|truncationParent|isTruncationMarker|isSummary)"\s*:'
    rb'|[{,]\s*"ts"\s*:\s*\d{13}\s*[,}]'
)

_SHOWN = re.compile(rb'\s*\[\s*\{\s*"ts"\s*:\s*\d{13}\s*,\s*"type"\s*:\s*"(?:say|ask)"')
"""How the file begins that an editor shows a task from."""

_LEFT_OUT = (
    f"what the editor shows of a task leaves out what the model read; its conversation stands in {FILE} beside it"
)


def _recognizes(head: bytes, path: str) -> bool:
    if not head and os.path.isdir(path):
        return os.path.isfile(os.path.join(path, FILE))
    if _SHOWN.match(head):
        return True
    return bool(_START.match(head)) and bool(_SIGN.search(head)) and b'"role"' in head


def _read(path: str, *, strict: bool = False) -> Reading:
    """What the next request of the task would send, and what the file holds beside it."""
    source = Source(os.path.join(path, FILE) if os.path.isdir(path) else path, strict=strict)
    history = source.document()
    if not isinstance(history, list):
        raise source.refused("no history of Cline")
    rows = [mapping(row) for row in history]
    if rows and rows[0].get("type") in ("say", "ask") and "role" not in rows[0]:
        raise source.refused(_LEFT_OUT)
    folds = list(_folds(rows))
    hidden = _hidden(rows)
    marks = any(_is_marked(row) for row in rows)
    live: list[tuple[str, Message]] = []
    folded: list[tuple[str, Message]] = []
    calls: list[ToolCall] = []
    for index, row in enumerate(rows):
        if message := _message(row, len(folds)):
            message = _marked(message) if marks and message.role == "user" else message
            message, calls = answering(message, calls), [*message.calls]
            (folded if index in hidden else live).append((str(index + 1), message))
        else:
            source.fault(1, f"message {index + 1} has no role that a model knows")
    summaries = [i for i, (_, message) in enumerate(live) if message.summary]
    return Reading(
        FORMAT.name,
        os.path.basename(os.path.dirname(os.path.abspath(source.path))),
        source.path,
        tuple(live),
        _cwd(live),
        newest([mapping(row.get("modelInfo")) for row in rows], "modelId"),
        since=summaries[-1] + 1 if summaries else 0,
        folds=tuple(folds),
        folded=tuple(folded),
        faults=tuple(source.faults),
    )


FORMAT = SessionFormat("cline", _recognizes, _read, overhead=7_000)


def _is_marked(row: Json) -> bool:
    """Whether a row marks the user's words with a tag, as Cline and Roo Code do."""
    from foldline._facts.speakers import framed

    return row.get("role") == "user" and any(framed(string(each.get("text"))) for each in mappings(row.get("content")))


def _message(row: Json, rounds: int) -> Message | None:
    message = from_wire({"role": row.get("role"), "content": row.get("content")}, "anthropic")
    if message is None:
        return None
    if row.get("isSummary") is True:
        return summary(words(row.get("content")), rounds)
    return replace(message, usage=usage_of(row)) if message.role == "assistant" else message


def _marked(message: Message) -> Message:
    """The message with its texts marked in which no user speaks: what tools answered, and what the client says."""
    from foldline._facts.speakers import framed, whose
    from foldline._facts.wrappers import RESULT

    parts: list[Part] = []
    answering = False
    for part in message.parts:
        if type(part) is Text and part.text.strip():
            tool = RESULT.match(part.text.lstrip())
            if (answering and part.text.lstrip().startswith(BARE)) or not framed(part.text):
                part = replace(part, by="tool" if tool or answering else whose(part.text) or "harness")
            answering = bool(tool) and not part.text.lstrip().startswith(ASKING)
        parts.append(part)
    return replace(message, parts=tuple(parts))


BARE = ("<task>", "<user_message>", "<answer>", "<user_input")
"""How the user's own words begin, and contents of a file that a tool read may too."""


def usage_of(row: Json) -> Usage | None:
    """What a reply was billed; its prompt excludes what was cached."""
    tokens = mapping(mapping(row.get("metrics")).get("tokens"))
    billed = Usage(count(tokens.get("prompt")), count(tokens.get("completion")), count(tokens.get("cached")))
    return billed if billed.prompt else None


def _hidden(rows: list[Json]) -> set[int]:
    """The messages whose summary or whose truncation still stands in the history."""
    standing = {string(row.get("condenseId")) for row in rows if row.get("isSummary") is True}
    standing |= {string(row.get("truncationId")) for row in rows if row.get("isTruncationMarker") is True}
    standing.discard("")
    tags = ("condenseParent", "truncationParent")
    return {i for i, row in enumerate(rows) if any(string(row.get(tag)) in standing for tag in tags)}


def _folds(rows: list[Json]) -> Iterator[PastFold]:
    rounds = 0
    for index, row in enumerate(rows):
        if row.get("isSummary") is True:
            rounds += 1
            yield summarized(str(index + 1), iso(row.get("ts")), 0, rounds, words(row.get("content")))
        elif row.get("isTruncationMarker") is True:
            yield PastFold(str(index + 1), iso(row.get("ts")), "", "full", Receipt(0, 0), ours=False)


def _cwd(entries: list[tuple[str, Message]]) -> str:
    """The working directory that the first message's environment details name."""
    found = re.search(r"# Current Work(?:ing|space) Directory \(([^)\n]+)\)", entries[0][1].text) if entries else None
    return found[1] if found else ""
