"""Folds in Codex's own rows.

A fold is one `compacted` row whose replacement history is the whole new context: what Codex says to the model before
the first prompt, the summary in a user's message that begins with Codex's own words, and the items that were kept. An
undoing is such a row with the history from before. Where all that Codex told the model of its surroundings still
stands, its newest record of them follows, as after a compaction of its own; without it Codex says everything anew.

Seen with Codex 0.169.0, resumed with `exec resume`: the request holds the replacement history, item for item, and the
new prompt; nothing else of the folded part. Seen as well: stubs in place of outputs, a fold behind a fold, the undoing
of both, and that of the compactions that Codex made itself.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from foldline._errors import SessionError
from foldline._messages import Media, Message, Opaque, Summary, Text, ToolCall, ToolResult
from foldline._sessions.codex import FORMAT
from foldline._sessions.codex import items as codex_items
from foldline._sessions.codex.rollout import Rollout, read
from foldline._sessions.lines import Line, Record, encoded
from foldline._sessions.source import Source
from foldline._sessions.values import Json, mapping, string, words
from foldline._sessions.writable import Branching, Owner, Records, WrittenEntry
from foldline._sessions.writing import now

SUMMARY_START = (
    f"{codex_items.SUMMARY_START} of its thinking process. You also have access to the state of the tools that were "
    "used by that language model. Use this to build on the work that has already been done and avoid duplicating work. "
    "Here is the summary produced by the other language model, use the information in this summary to assist with your "
    "own analysis:\n"
)
"""Codex's own words before a summary."""

FOLD = "0"
"""What a note calls the fold itself; entries are called by the place of their first item, counted from 1."""


class CodexRows(Records):
    """The items of one rollout by the entries that they make up, and a replacement history's by their places."""

    text = ""
    """The words of the summary in the history."""

    def __init__(self, path: str, ids: Collection[str]) -> None:
        super().__init__()
        self.origin[FOLD] = None
        self._path = path
        self._surroundings: list[Json] = []
        self._turn: Json | None = None
        self._ordinal: int | None = None
        self._head: Json = {}
        rollout = Rollout()
        for line, row in Source(path).rows():
            self._remember(row)
            rollout.take(line, row)
        self._live = rollout.live
        self._entries = {entry.id: entry for entry in (*rollout.gone, *rollout.live)}

    def _remember(self, row: Json) -> None:
        self._head = self._head or row
        if type(ordinal := row.get("ordinal")) is int:
            self._ordinal = ordinal
        match row.get("type"):
            case "compacted":
                self._surroundings, self._turn = [], None
            case "world_state" if "payload" in row:
                full = mapping(row.get("payload")).get("full") is True
                self._surroundings = [row] if full else [*self._surroundings, row]
            case "turn_context" if "payload" in row:
                self._turn = row

    def raw(self, id: str) -> Sequence[Json]:
        """The items behind an entry."""
        return self._entries[id].items if id in self._entries else ()

    def line_of(self, fold: str) -> int | None:
        """The line of a `compacted` row, by which its fold is known."""
        return int(fold) if fold.isdecimal() else None

    def made_by(self, fold: str) -> set[str]:
        """The entries of a replacement history."""
        return {entry.id for entry in self._entries.values() if str(entry.order[0]) == fold}

    def line_of_entry(self, id: str) -> int | None:
        """The line of an item; one that a replacement history made has none, and neither has what Codex says itself."""
        own = id.isdecimal() and not any(map(_is_told, self.raw(id)[:1]))
        return int(id) if own else None

    def written(self, pieces: Sequence[WrittenEntry], note: Mapping[str, object]) -> list[Json]:
        """The `compacted` row that makes the pieces the live context, and what Codex knew of its surroundings."""
        if "payload" not in self._head:
            raise SessionError("a rollout of Codex's first years is only read", path=self._path)
        for piece in pieces:
            if piece.raw or piece.message.role != "system":
                self.add(piece)
        rows: list[Json] = [{"type": "compacted", "payload": {"message": self.text, "replacement_history": self.rows}}]
        if self._keeps_surroundings(self.rows):
            told = (row for row in (*self._surroundings, self._turn) if row)
            rows += [{"type": row["type"], "payload": row["payload"]} for row in told]
        return self.noted([self._row(row, n) for n, row in enumerate(rows, 1)], note)

    def _row(self, row: Json, n: int) -> Json:
        ordinal = {} if self._ordinal is None else {"ordinal": self._ordinal + n}
        return {"timestamp": now(), **ordinal, **row}

    def _keeps_surroundings(self, history: Sequence[Json]) -> bool:
        """Whether all that Codex itself told the model still stands."""
        kept = [item.get("content") for item in history]
        told = (item for entry in self._live for item in entry.items if _is_told(item))
        return bool(self._surroundings and self._turn) and all(item.get("content") in kept for item in told)

    def append(self, record: Mapping[str, object]) -> str:
        """Adds an item."""
        self.rows.append(dict(record))
        return str(len(self.rows))

    def summary(self, summary: Summary, raw: Sequence[Json]) -> tuple[str, Json]:
        """A user's message; our words stand behind Codex's own."""
        self.text = words(raw[0].get("content")) if raw else SUMMARY_START + summary.text
        return self.text, _words("user", self.text)

    def said(self, piece: WrittenEntry) -> Iterator[Mapping[str, object]]:
        """The message's own items as far as they hold, else new ones."""
        message = piece.message
        if message.role == "tool" or (not piece.raw and any(True for _ in message.results)):
            was = {string(item.get("call_id")): item for item in piece.raw}
            yield from (_output(result, was.get(result.call_id, {})) for result in message.results)
        elif message.role == "assistant":
            yield from _reply(message, piece.raw)
        elif content := [_content(part) for part in message.parts if isinstance(part, Text | Summary | Media | Opaque)]:
            role = "developer" if message.role == "system" else "user"
            yield {"type": "message", "role": role, "content": content}


def _is_told(item: Json) -> bool:
    """Whether Codex itself speaks in the item, and not a user, a model or a tool."""
    if item.get("type") != "message" or item.get("role") == "assistant":
        return False
    return not codex_items.opens_turn(item) and not words(item.get("content")).startswith(codex_items.SUMMARY_START)


def _reply(message: Message, raw: Sequence[Json]) -> Iterator[Json]:
    left = list(message.parts)
    for item in raw:
        parts = codex_items.reply_part(item)
        calls = {part.id for part in parts if isinstance(part, ToolCall)}
        if all(part in left for part in parts):
            yield item
            left = [part for part in left if part not in parts]
        elif changed := next((part for part in left if isinstance(part, ToolCall) and part.id in calls), None):
            yield _call(changed, item)
            left.remove(changed)
    for part in left:
        if isinstance(part, Text | Summary):
            yield _words("assistant", part.text)
        elif isinstance(part, ToolCall):
            yield _call(part, {"type": "function_call", "call_id": part.id, "name": part.name})


def _call(part: ToolCall, item: Mapping[str, object]) -> Json:
    if item.get("type") == "local_shell_call":
        return {**item, "action": json.loads(part.arguments)}
    return {**item, "input" if item.get("type") == "custom_tool_call" else "arguments": part.arguments}


def _output(result: ToolResult, item: Mapping[str, object]) -> Json:
    said: object = [_content(part) for part in result.parts]
    if len(result.parts) < 2 and all(isinstance(part, Text) for part in result.parts):
        said = "".join(part.text for part in result.parts if isinstance(part, Text))
    was = item.get("output")
    if isinstance(was, dict) and "content" in was:
        said = {**was, "content": said}
    return {"type": "function_call_output", "call_id": result.call_id, **item, "output": said}


def _words(role: str, text: str) -> Json:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _content(part: Text | Summary | Media | Opaque) -> object:
    return part.source if isinstance(part, Media | Opaque) else {"type": "input_text", "text": part.text}


def _entry_id(line: int, key: str) -> str:
    """An entry in a replacement history is known by the line and its place there, the fold by its line."""
    return str(line) if key == FOLD else f"{line}.{key}"


def _branched(lines: Sequence[bytes], id: str, entry: str) -> list[bytes]:
    """The lines with the new id in the header, which is the first of them that can be read; none without a header."""
    for head, data in enumerate(lines):
        row = Record(Line(0, data)).data if b'"session_meta"' in data else {}
        if old := mapping(row.get("payload")):
            own: Json = {key: id for key in ("id", "session_id") if key in old}
            header = {**row, "payload": {**old, **own, "forked_from_id": old.get("id")}}
            return [*lines[:head], encoded(header).rstrip(b"\n"), *lines[head + 1 :]]
    return []


def _name(id: str) -> str:
    return f"rollout-{datetime.now(UTC):%Y-%m-%dT%H-%M-%S}-{id}.jsonl"


open_session = Owner(read, CodexRows, FORMAT.overhead, _entry_id, Branching(_branched, _name)).open
