"""Folds in Claude Code's own rows.

A fold is a `compact_boundary`, the row of its summary, and a copy of each row that the fold kept, chained behind it;
one without a summary starts at a first row instead. A `last-prompt` row ends it, naming the newest row: without it
the client goes on from where it was. Copies have ids of their own, of rows and of responses, since the client joins
rows of one response wherever they stand, and their bills are nought: they were made for the longer context, and
would have the client compact at once.

Seen with Claude Code 2.1.330, resumed with `--resume`: the request holds the summary, the copied rows, the new prompt
and the client's reminders, which it announces anew once those in the folded part are gone; nothing else of the folded
part. Seen as well: stubs in place of outputs, a fold behind a fold, the undoing of both and of the client's own
`/compact`, in a file of 8 MB too. A row that hangs on what stands before a boundary does not undo a fold: in a large
file the client drops everything before the newest boundary, so an undoing is written as a whole context.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import takewhile
from uuid import uuid4

from foldline import _wires as wire
from foldline._errors import SessionError
from foldline._messages import Summary
from foldline._sessions.claude_code import FORMAT, attachments
from foldline._sessions.claude_code.reading import read
from foldline._sessions.claude_code.rows import CONTINUED, LEAVES, SYNTHETIC, ClaudeRow, Tree
from foldline._sessions.lines import encoded
from foldline._sessions.source import Source
from foldline._sessions.values import Json, count, mapping, mappings, string, words
from foldline._sessions.writable import Branching, Owner, Records, WrittenEntry
from foldline._sessions.writing import now

SUMMARY_START = f"{CONTINUED} The summary below covers the earlier portion of the conversation.\n\n"
SUMMARY_END = (
    "\n\nIf you need specific details from before compaction (like exact code snippets, error messages, or content you "
    "generated), read the full transcript at: {path}"
)
"""Claude Code's own words around a summary."""

_ENVELOPE = ("userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "slug")
"""What every row repeats of the session."""

_NOT_COPIED = ("foldline", "uuid", "parentUuid", "logicalParentUuid", "sourceToolAssistantUUID")

_WITHOUT_IDS = "only a main conversation whose rows have ids is folded"

_NO_BILL = {"input_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 0}


class ClaudeRows(Records):
    """The rows of one session file by the entries that they make up, and those of a group in a chain, each by its `uuid`."""

    def __init__(self, path: str, ids: Collection[str]) -> None:
        super().__init__()
        self._path = path
        self._last: str | None = None
        """The row that the chain ends with."""
        self._renamed: dict[str, str] = {}
        self._data: dict[str, Json] = {}
        self._prompt = ""
        source = Source(path)
        tree = Tree(self._rows(source), source)
        self._tree = tree
        live = tree.live()
        self._groups = _groups(live, ids)
        self._snapshots = _snapshots(live)
        self._newest = live[-1].uuid if live else ""
        newest = self._data.get(self._newest, {})
        self._envelope = {key: newest[key] for key in _ENVELOPE if key in newest}

    def _rows(self, source: Source) -> Iterator[ClaudeRow]:
        before = ""
        for line, data in source.rows():
            if data.get("type") == "last-prompt":
                self._prompt = string(data.get("lastPrompt"), self._prompt)
            if "uuid" in data or "message" in data:
                row = ClaudeRow(line, data, before)
                if data.get("uuid") == row.uuid:
                    self._data.setdefault(row.uuid, data)
                before = row.uuid
                yield row

    def raw(self, id: str) -> Sequence[Json]:
        """The rows behind an entry: of a response all its blocks, of a user's message the reminders behind it too."""
        if any(row.uuid == id for row in self._snapshots):
            if not all(row.uuid in self._data for row in self._snapshots):
                raise SessionError(_WITHOUT_IDS, path=self._path)
            return [self._data[row.uuid] for row in self._snapshots]
        return [self._data[uuid] for uuid in self._groups.get(id, ()) if uuid in self._data]

    def line_of(self, fold: str) -> int | None:
        """The line of a boundary, or of a summary without one."""
        return next((row.line for row in self._tree.rows if row.uuid == fold), None)

    def made_by(self, fold: str) -> set[str]:
        """The summary behind a boundary, what was kept once more, and the reminders that were announced anew before anyone spoke."""
        start = self.line_of(fold) or 0
        main = [row for row in self._tree.rows if not row.sidechain]
        said = {_said(row) for row in main if row.line < start and row.kind in LEAVES}
        behind = (row for row in main if row.line >= start)
        made = takewhile(
            lambda row: row.is_summary or row.kind not in ("user", "assistant") or _said(row) in said, behind
        )
        return {row.uuid for row in made}

    def written(self, pieces: Sequence[WrittenEntry], note: Mapping[str, object]) -> list[Json]:
        """The rows that make the pieces the live context, from a boundary or a first row to the last prompt."""
        if self._newest not in self._data or self._data[self._newest].get("isSidechain") is True:
            raise SessionError(_WITHOUT_IDS, path=self._path)
        if any(piece.message.summary for piece in pieces):
            self._begin_anew(note)
        system = [piece for piece in pieces if piece.message.role == "system"]
        rest = [piece for piece in pieces if piece.message.role != "system"]
        for piece in (*rest[:1], *system, *rest[1:]):
            self.add(piece)
        prompt = {"lastPrompt": self._prompt} if self._prompt else {}
        end = {"leafUuid": self._last, "explicit": True, "sessionId": self._envelope.get("sessionId")}
        return self.noted([*self.rows, {"type": "last-prompt", **prompt, **end}], note)

    def _begin_anew(self, note: Mapping[str, object]) -> None:
        """The row behind which the context starts anew."""
        receipt = mapping(note.get("receipt"))
        sizes = {"preTokens": count(receipt.get("tokens_before")), "postTokens": count(receipt.get("tokens_after"))}
        trigger = "manual" if note.get("trigger") in (None, "manual") else "auto"
        row = {"logicalParentUuid": self._newest, "isSidechain": False, "type": "system", "subtype": "compact_boundary"}
        told = {"content": "Conversation compacted", "level": "info", "compactMetadata": {"trigger": trigger, **sizes}}
        uuid = self.append({**row, **told})
        self.origin[uuid] = None

    def append(self, record: Mapping[str, object]) -> str:
        """A row with an id, behind the newest one; the keys stand in the client's own order."""
        uuid = str(uuid4())
        logical = {"logicalParentUuid": record["logicalParentUuid"]} if "logicalParentUuid" in record else {}
        data = {key: value for key, value in record.items() if key not in (*_NOT_COPIED, *_ENVELOPE, "timestamp")}
        asked = self._renamed.get(string(record.get("sourceToolAssistantUUID")))
        if asked:
            data["sourceToolAssistantUUID"] = asked
        if old := string(record.get("uuid")):
            self._renamed[old] = uuid
        place = {"uuid": uuid, "timestamp": now()}
        self.rows.append({"parentUuid": self._last, **logical, **data, **place, **self._envelope})
        self._last = uuid
        return uuid

    def copies(self, piece: WrittenEntry) -> Iterator[Mapping[str, object]]:
        """The rows with ids of their own, of rows and of responses, and without a bill that does not hold."""
        response = _response_id()
        for row in piece.raw:
            if row.get("type") != "assistant":
                yield row
                continue
            message = {**mapping(row.get("message")), "id": response}
            yield {**row, "message": message if piece.billed else message | {"usage": _NO_BILL}}

    def summary(self, summary: Summary, raw: Sequence[Json]) -> tuple[str, Json]:
        """The row behind a boundary; our words stand between Claude Code's own."""
        said = words(mapping(raw[0].get("message")).get("content")) if raw else ""
        text = said or SUMMARY_START + summary.text + SUMMARY_END.format(path=self._path)
        row = {"isSidechain": False, "type": "user", "message": {"role": "user", "content": text}}
        return text, {**row, "isVisibleInTranscriptOnly": True, "isCompactSummary": True}

    def said(self, piece: WrittenEntry) -> Iterator[Mapping[str, object]]:
        """A row for a user's message, and one for each block of a reply."""
        item = wire.encode(piece.message, "anthropic")
        kind = "assistant" if item["role"] == "assistant" else "user"
        own = next((dict(row) for row in piece.raw if row.get("type") == kind), {"isSidechain": False})
        own.pop("toolUseResult", None)
        if kind == "user":
            yield {**own, "type": kind, "message": item}
            return
        was = mapping(own.get("message"))
        model = string(was.get("model"), SYNTHETIC)
        head = {"id": _response_id(), "type": "message", "role": "assistant", "model": model}
        end = {"stop_reason": was.get("stop_reason"), "stop_sequence": None, "usage": _NO_BILL}
        content = item["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            yield {**own, "type": kind, "message": {**head, "content": [block], **end}}


def _said(row: ClaudeRow) -> tuple[str, ...]:
    """What a row and its copy by the client have in common: the response, the calls that it answers, or its time and words."""
    if row.response:
        return (row.response,)
    content = row.message.get("content")
    answered = tuple(id for item in mappings(content) if (id := string(item.get("tool_use_id"))))
    return ("", *answered) if answered else (string(row.data.get("timestamp")), words(content))


def _groups(live: Sequence[ClaudeRow], ids: Collection[str]) -> dict[str, list[str]]:
    """The rows of each entry; what is sent with none of them, and a recorded system prompt, belongs to no entry."""
    groups: dict[str, list[str]] = {}
    responses: dict[str, str] = {}
    newest = ""
    for row in live:
        if row.uuid in ids and not attachments.system_prompt(row.data):
            newest = row.uuid
            groups[newest] = [row.uuid]
            if row.response:
                responses[row.response] = newest
        elif row.response in responses:
            groups[responses[row.response]].append(row.uuid)
        elif row.kind == "attachment" and newest and not attachments.system_prompt(row.data):
            groups[newest].append(row.uuid)
    return groups


def _snapshots(live: Sequence[ClaudeRow]) -> list[ClaudeRow]:
    """The newest rows that together record the system prompt and the tools."""
    rows: list[ClaudeRow] = []
    prompt = tools = False
    for row in reversed(live):
        found = attachments.system_prompt(row.data) if row.kind == "attachment" else None
        if found and not (prompt and tools):
            rows.insert(0, row)
            prompt, tools = prompt or bool(found[0]), tools or bool(found[1])
    return rows


def _response_id() -> str:
    return f"msg_{os.urandom(12).hex()}"


def _branched(lines: Sequence[bytes], id: str, entry: str) -> list[bytes]:
    """The lines with the new id on each, and a last prompt that names the entry: the client goes on from there."""
    end = {"type": "last-prompt", "leafUuid": entry, "explicit": True, "sessionId": id}
    return [*(_SESSION_ID.sub(b'\\g<1>"' + id.encode() + b'"', data) for data in lines), encoded(end).rstrip(b"\n")]


_SESSION_ID = re.compile(rb'("sessionId"\s*:\s*)"[^"\\]*"')
"""A row's session; in a text its quotes would be escaped."""


open_session = Owner(read, ClaudeRows, FORMAT.overhead, branching=Branching(_branched, lambda id: f"{id}.jsonl")).open
