"""Chats of Qwen Code: one row a line, a tree by `uuid` and `parentUuid`, contents in Gemini's shape."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Raw, Struct

from foldline._messages import Message
from foldline._sessions.ancestry import named_ancestry
from foldline._sessions.format import Row, SessionFormat, StoreFolder, Tail, folder, last_said, later
from foldline._sessions.gemini_parts import SNAPSHOT, content, plain
from foldline._sessions.parts import spoken_by, summary, unique, wire_usage
from foldline._sessions.reading import PastFold, Reading, summarized
from foldline._sessions.source import Source
from foldline._sessions.values import Json, count, mapping, mappings, newest, string

_TREE = re.compile(rb'[{,]\s*"parentUuid"\s*:')
_OWN = re.compile(
    rb'"message"\s*:\s*\{\s*"role"\s*:\s*"[a-z]+"\s*,\s*"parts"\s*:|[{,]\s*"(?:systemPayload|usageMetadata)"\s*:'
)
_TRIGGERS = {
    "token_limit": "threshold",
    "payload_overflow": "overflow",
    "image_overflow": "overflow",
}

Numbered = tuple[int, Json]


def read(path: str, *, strict: bool = False) -> Reading:
    """What the next request of the session would send, and what the file holds beside it."""
    source = Source(path, strict=strict)
    rows = rows_of(source)
    way = way_of(rows, source)
    at = next((i for i in range(len(way) - 1, -1, -1) if compressed(way[i][1]) is not None), -1)
    folds = _folds(rows, {string(row["uuid"]) for _, row in way})
    rounds = sum(1 for fold in folds if not fold.undone)
    entries = _replaced(way[at][1], rounds) if at >= 0 else []
    since = len(entries)
    entries += [entry for _, row in way[at + 1 :] if (entry := _entry(row))]
    live = {id for id, _ in entries}
    told = [row for _, row in rows]
    return Reading(
        FORMAT.name,
        newest(told, "sessionId") or source.stem,
        source.path,
        unique(entries),
        newest(told, "cwd"),
        newest([row for row in told if row.get("type") == "assistant"], "model"),
        since=since,
        folds=tuple(folds),
        folded=tuple(entry for entry in _told(told) if entry[0] not in live),
        faults=tuple(source.faults),
        window=next((size for row in reversed(told) if (size := count(row.get("contextWindowSize")))), 0),
        branch=newest(told, "gitBranch"),
    )


class _Message(Struct):
    parts: Raw = Raw()


class _Last(Struct):
    uuid: str | None = None
    parentUuid: str | None = None  # noqa: N815
    subtype: str | None = None
    model: str | None = None
    message: _Message | None = None
    usageMetadata: Json | None = None  # noqa: N815
    contextWindowSize: int | None = None  # noqa: N815


_decoded = msgspec.json.Decoder(_Last).decode


def _tell(line: bytes) -> Row:
    row = _decoded(line)
    content = memoryview(row.message.parts) if row.message else b""
    anew, window = row.subtype == "chat_compression", count(row.contextWindowSize)
    return Row(
        row.uuid, row.parentUuid, wire_usage(row.usageMetadata, "gemini"), row.model or "", content, anew, window
    )


FORMAT = SessionFormat(
    "qwen-code",
    lambda head, path: bool(_TREE.search(head)) and bool(_OWN.search(head)),
    read,
    open=later("qwen_writing", "open_session"),
    stores=lambda environment: (
        StoreFolder(folder(environment, "QWEN_HOME", ".qwen") / "projects", "*/chats/*.jsonl"),
    ),
    overhead=12_000,
    tail=lambda: Tail(_tell, (b'"chat_compression"',)),
    about=lambda path, ends, about: about._replace(title=last_said(ends, b"customTitle")),
    program=("qwen", "qwen-code"),
    holds_open=False,
)


def rows_of(source: Source) -> list[Numbered]:
    """The rows of a chat; a file without any is refused."""
    rows = [row for row in source.rows() if isinstance(row[1].get("uuid"), str)]
    if not rows:
        raise source.refused("no chat of Qwen Code")
    return rows


def way_of(rows: Sequence[Numbered], source: Source) -> list[Numbered]:
    """The rows from the first to the newest one, by their parents."""
    places = {string(row["uuid"]): i for i, (_, row) in enumerate(rows)}

    def missing(at: int, name: str) -> None:
        source.fault(rows[at][0], f"its parent {name} is not in the file")

    way = named_ancestry(len(rows) - 1, lambda at: string(rows[at][1].get("parentUuid")), places, missing)
    return [rows[at] for at in way][::-1]


def _entry(row: Json) -> tuple[str, Message] | None:
    message = mapping(row.get("message"))
    kind = row.get("type")
    if kind not in ("user", "assistant", "tool_result"):
        return None
    parts = content(message.get("parts"))
    if not parts:
        return None
    if kind != "assistant":
        user = row.get("provenance", "real_user") == "real_user"
        return string(row["uuid"]), Message("user", parts) if user else spoken_by(Message("user", parts), "harness")
    return string(row["uuid"]), Message("assistant", parts, wire_usage(row.get("usageMetadata")))


def _told(rows: Sequence[Json]) -> Iterator[tuple[str, Message]]:
    """Every message of the file, the summaries of its compressions among them; what else those kept is told already."""
    rounds = 0
    for row in rows:
        if entry := _entry(row):
            yield entry
        elif compressed(row) is not None:
            rounds += 1
            yield from ((id, message) for id, message in _replaced(row, rounds) if message.summary)


def compressed(row: Json) -> list[object] | None:
    """The history that a compression put in place of all before it, or None where the row is none."""
    history = mapping(row.get("systemPayload")).get("compressedHistory")
    return history if row.get("subtype") == "chat_compression" and isinstance(history, list) else None


def _replaced(row: Json, rounds: int) -> list[tuple[str, Message]]:
    made: list[tuple[str, Message]] = []
    for index, each in enumerate(mappings(compressed(row)), 1):
        id, role, text = f"{row['uuid']}:{index}", each.get("role"), plain(each.get("parts"))
        if text.lstrip().startswith(SNAPSHOT) and role == "user":
            made.append((id, summary(text, rounds)))
        elif parts := content(each.get("parts")):
            made.append((id, Message("assistant" if role == "model" else "user", parts)))
    return made


def _folds(rows: Sequence[Numbered], path: set[str]) -> list[PastFold]:
    folds: list[PastFold] = []
    for _, row in rows:
        history = compressed(row)
        if history is None:
            continue
        info = mapping(mapping(row.get("systemPayload")).get("info"))
        before, after = count(info.get("originalTokenCount")), count(info.get("newTokenCount"))
        text = next((t for each in mappings(history) if SNAPSHOT in (t := plain(each.get("parts")))), "")
        reason, undone = string(info.get("triggerReason")), row["uuid"] not in path
        trigger, when = _TRIGGERS.get(reason, reason), string(row.get("timestamp"))
        told = summarized(
            string(row["uuid"]), when, before, len(folds) + 1, text, trigger=trigger, after=after, undone=undone
        )
        folds.append(told)
    return folds
