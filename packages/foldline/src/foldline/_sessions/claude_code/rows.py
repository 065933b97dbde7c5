"""Claude Code's rows and the tree that they make: which of them the next request is built from, and what the last ones tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Raw, Struct

from foldline._sessions.ancestry import ancestry, named_ancestry
from foldline._sessions.claude_code.restoring import Opened, opened
from foldline._sessions.claude_code.windows import billed
from foldline._sessions.format import Row, Tail
from foldline._sessions.parts import wire_usage
from foldline._sessions.source import Source
from foldline._sessions.values import Json, items, mapping, mappings, string

SYNTHETIC = "<synthetic>"
"""The model of what Claude Code itself wrote in a model's place."""

LEAVES = ("user", "assistant", "attachment", "system")
"""Kinds of row that a conversation can end with; progress rows only hang beside it."""

_KEPT = (
    "message", "attachment", "rendered", "subtype", "content", "compactMetadata", "compact_metadata", "isMeta", "version",
    "microcompactMetadata", "isApiErrorMessage", "origin", "promptSource", "sourceToolUseID", "isVisibleInTranscriptOnly", "isCompactSummary", "timestamp",
    "foldline",
)  # fmt: skip
"""Keys that say something about the context; what else a row holds is for the screen, and often larger."""


CONTINUED = "This session is being continued from a previous conversation that ran out of context."
"""How Claude Code begins a summary."""


class ClaudeRow:
    """One row with a place in the tree."""

    __slots__ = ("data", "kind", "line", "logical", "opened", "parent", "sidechain", "uuid")

    def __init__(self, line: int, row: Json, before: str) -> None:
        self.line = line
        self.kind = string(row.get("type"))
        self.uuid = string(row.get("uuid")) or f"line-{line}"
        linked = "parentUuid" in row or not string(row.get("uuid"))
        self.parent = string(row.get("parentUuid")) if linked and string(row.get("uuid")) else before
        self.logical = string(row.get("logicalParentUuid"))
        self.sidechain = row.get("isSidechain") is True
        self.data = {key: row[key] for key in _KEPT if key in row} if self.kind in LEAVES else {}
        self.opened: Opened | None = opened(mapping(row.get("toolUseResult"))) if self.kind == "user" else None

    @property
    def message(self) -> Json:
        """The wire message in it, or an empty one."""
        return mapping(self.data.get("message"))

    @property
    def response(self) -> str:
        """The id of the response that it is a part of, or an empty one."""
        return string(self.message.get("id")) if self.kind == "assistant" else ""

    @property
    def is_boundary(self) -> bool:
        """Whether the context starts anew behind it."""
        return self.kind == "system" and self.data.get("subtype") == "compact_boundary"

    @property
    def is_clearing(self) -> bool:
        """Whether it clears tool results before it in place."""
        return self.kind == "system" and self.data.get("subtype") == "microcompact_boundary"

    @property
    def is_summary(self) -> bool:
        """Whether it holds what stands in for the rows before the boundary; one that a mod wrote is not marked as such."""
        if self.kind != "user":
            return False
        return self.data.get("isCompactSummary") is True or string(self.message.get("content")).startswith(CONTINUED)

    @property
    def metadata(self) -> Json:
        """What a boundary says about its fold."""
        return mapping(self.data.get("compactMetadata") or self.data.get("compact_metadata"))


class Tree:
    """The rows of a file in order, and the path that ends at the newest of them."""

    def __init__(self, rows: Iterable[ClaudeRow], source: Source) -> None:
        self._source = source
        self.rows: list[ClaudeRow] = []
        self._by_uuid: dict[str, int] = {}
        for row in rows:
            if row.uuid not in self._by_uuid:
                self._by_uuid[row.uuid] = len(self.rows)
                self.rows.append(row)
        if all(row.sidechain for row in self.rows if row.kind in LEAVES):
            for row in self.rows:
                row.sidechain = False
        ends = (at for at, row in enumerate(self.rows) if row.kind in LEAVES and not row.sidechain)
        newest = max(ends, default=None)
        path = [self.rows[at] for at in named_ancestry(newest, self._hangs_on, self._by_uuid, self._missing)]
        self.boundaries = {row.uuid for row in path if row.is_boundary}
        end = next((i for i, row in enumerate(path) if row.is_boundary), len(path) - 1)
        self.path = path[: end + 1][::-1]

    def live(self) -> list[ClaudeRow]:
        """The rows of the context in the order in which they are sent: what the boundary kept stands behind the summary."""
        chosen = {row.uuid for row in self.path}
        chosen |= self._beside(chosen)
        rows = [row for row in self.rows if row.uuid in chosen]
        kept = self.preserved()
        if not kept:
            return rows
        names = {row.uuid for row in kept}
        rows = [row for row in rows if row.uuid not in names]
        anchor = string(mapping(self.path[0].metadata.get("preservedSegment")).get("anchorUuid"))
        at = next((i for i, row in enumerate(rows) if row.uuid == anchor or (not anchor and row.is_summary)), 0)
        return [*rows[: at + 1], *kept, *rows[at + 1 :]]

    def preserved(self) -> list[ClaudeRow]:
        """The rows before the newest boundary that it kept word for word."""
        metadata = self.path[0].metadata if self.path else {}
        listed = mapping(metadata.get("preservedMessages"))
        names = [name for name in items(listed.get("allUuids") or listed.get("uuids")) if isinstance(name, str)]
        if not names:
            segment = mapping(metadata.get("preservedSegment"))
            names = self._segment(string(segment.get("headUuid")), string(segment.get("tailUuid")))
        return [self.rows[self._by_uuid[name]] for name in dict.fromkeys(names) if name in self._by_uuid]

    def _segment(self, head: str, tail: str) -> list[str]:
        newest = self._by_uuid.get(tail)
        names = [self.rows[at].uuid for at in ancestry(newest, lambda at: self._by_uuid.get(self.rows[at].parent))]
        return names[names.index(head) :: -1] if head in names else []

    def _hangs_on(self, at: int) -> str:
        """The row before across boundaries, too; of what hangs on the progress of a hook the row that was newest by then.

        Up to 2.1.78 a prompt hung on the progress rows of the hooks of the turn before, and these on the call at which that turn began.
        """
        row = self.rows[at]
        before = self._by_uuid.get(row.parent)
        if before is not None and self.rows[before].kind == "progress":
            return self._newest_by(before)
        return row.parent or (row.logical if row.is_boundary else "")

    def _newest_by(self, progress: int) -> str:
        """The newest row of the conversation that stands before a progress row and comes of what that hangs on."""
        upwards = ancestry(progress, lambda at: self._by_uuid.get(self.rows[at].parent))
        began = next((at for at in upwards if self.rows[at].kind != "progress"), None)
        for at in range(progress - 1, -1 if began is None else began, -1):
            row = self.rows[at]
            if row.kind in LEAVES and not row.sidechain and (began is None or self._comes_of(at, began)):
                return row.uuid
        return "" if began is None else self.rows[began].uuid

    def _comes_of(self, at: int, root: int) -> bool:
        upwards = ancestry(at, lambda each: self._by_uuid.get(self.rows[each].parent) if each > root else None)
        return root in upwards

    def _missing(self, at: int, name: str) -> None:
        if not self.rows[at].is_boundary:
            self._source.fault(self.rows[at].line, f"its parent {name} is not in the file")

    def _beside(self, path: set[str]) -> set[str]:
        """Rows off the path that belong to it: calls made side by side hang under each other, not in a line."""
        responses = {row.response for row in self.path} - {""}
        after = self.path[0].line if self.path else 0
        more = [row for row in self.rows if row.line > after and row.uuid not in path and not row.sidechain]
        found = {row.uuid for row in more if row.response in responses}
        on_path = [row for row in self.rows if row.uuid in path or row.uuid in found]
        calls = {id for row in on_path for id in _ids(row, "tool_use", "id")}
        calls -= {id for row in on_path for id in _ids(row, "tool_result", "tool_use_id")}
        results: set[str] = set()
        for row in more:
            answered = set(_ids(row, "tool_result", "tool_use_id"))
            if answered & calls:
                calls -= answered
                results.add(row.uuid)
        found |= results
        return found | {row.uuid for row in more if row.kind == "attachment" and row.parent in results}


def _ids(row: ClaudeRow, kind: str, key: str) -> Iterator[str]:
    for block in mappings(row.message.get("content")):
        if block.get("type") == kind and isinstance(id := block.get(key), str):
            yield id


# -- the last rows -----------------------------------------------------------------------------------------------


class _Message(Struct):
    model: str = ""
    usage: Json | None = None
    content: Raw = Raw()


class _Last(Struct):
    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    parentUuid: str | None = None  # noqa: N815
    isSidechain: bool | None = None  # noqa: N815
    isCompactSummary: bool | None = None  # noqa: N815
    message: _Message | None = None
    foldline: Raw = Raw()


_decoded = msgspec.json.Decoder(_Last).decode


def _tell(line: bytes) -> Row | None:
    row = _decoded(line)
    if row.uuid is None or row.isSidechain or row.type == "progress":
        return None
    message = row.message or _Message()
    usage = wire_usage(message.usage, "anthropic") if row.type == "assistant" and message.model != SYNTHETIC else None
    boundary = row.subtype in ("compact_boundary", "microcompact_boundary")
    anew = boundary or bool(row.isCompactSummary) or bool(row.foldline)
    model, window = (message.model, billed(usage)) if usage else ("", 0)
    return Row(row.uuid, row.parentUuid, usage, model, memoryview(message.content), anew, window)


def tail() -> Tail:
    """How full a session is, as its last rows tell it."""
    return Tail(_tell, (b'compact_boundary"', b'"isCompactSummary"'))
