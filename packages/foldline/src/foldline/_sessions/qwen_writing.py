"""Folds in Qwen Code's own rows.

A fold, and the undoing of one, is one `chat_compression` row behind the newest one, whose history is the whole new
context.

Seen with Qwen Code 0.24.4, resumed with `--continue`: the request holds the summary, the kept contents and the new prompt,
and nothing else of the folded part. Seen as well: stubs in place of outputs, a fold behind a fold, and the undoing of
both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from uuid import uuid4

from foldline._messages import Summary, Text
from foldline._sessions.gemini_parts import plain, rewritten, stored, summarizing
from foldline._sessions.qwen import FORMAT, compressed, read, rows_of, way_of
from foldline._sessions.source import Source
from foldline._sessions.values import Json, count, mapping, mappings, string
from foldline._sessions.writable import Owner, Records, WrittenEntry
from foldline._sessions.writing import now

_ENVELOPE = ("sessionId", "cwd", "version", "gitBranch")
"""What every row repeats of the session."""


class QwenRows(Records):
    """The contents of one chat by the entries that they are, and a compression's by their places, counted from 1."""

    def __init__(self, path: str, ids: Collection[str]) -> None:
        super().__init__()
        self._uuid = str(uuid4())
        self.origin[self._uuid] = None
        source = Source(path)
        rows = rows_of(source)
        self._newest = rows[-1][1]
        self._contents: dict[str, Json] = {}
        self._lines: dict[str, int] = {}
        for line, row in way_of(rows, source):
            uuid, history = string(row["uuid"]), compressed(row)
            self._contents[uuid] = mapping(row.get("message"))
            if history is not None:
                self._lines[uuid] = line
                self._contents |= {f"{uuid}:{n}": each for n, each in enumerate(mappings(history), 1)}

    def raw(self, id: str) -> Sequence[Json]:
        """The content that an entry is."""
        content = self._contents.get(id)
        return [content] if content else []

    def line_of(self, fold: str) -> int | None:
        """The line of a compression, whose `uuid` is its fold's id."""
        return self._lines.get(fold)

    def made_by(self, fold: str) -> set[str]:
        """The entries of a compressed history."""
        return {id for id in self._contents if id.startswith(f"{fold}:")}

    def written(self, pieces: Sequence[WrittenEntry], note: Mapping[str, object]) -> list[Json]:
        """The compression that makes the pieces the live context."""
        for piece in pieces:
            self.add(piece)
        shared = {key: self._newest[key] for key in _ENVELOPE if key in self._newest}
        place = {"uuid": self._uuid, "parentUuid": self._newest["uuid"], **shared, "timestamp": now()}
        kind = {"type": "system", "provenance": "system", "subtype": "chat_compression"}
        payload = {"info": _info(pieces, note), "compressedHistory": self.rows}
        return self.noted([{**place, **kind, "systemPayload": payload}], note)

    def append(self, record: Mapping[str, object]) -> str:
        """Adds a content."""
        self.rows.append(dict(record))
        return f"{self._uuid}:{len(self.rows)}"

    def add(self, piece: WrittenEntry) -> None:
        """The content of a piece; whose its texts are stands in its row, and has to be noted once it has none."""
        marked = any(isinstance(part, Text) and part.by for part in piece.message.parts)
        super().add(piece._replace(verbatim=piece.verbatim and not marked))

    def summary(self, summary: Summary, raw: Sequence[Json]) -> tuple[str, Json]:
        """A user's content; our words stand where Qwen Code's own would."""
        text = plain(raw[0].get("parts")) if raw else summarizing(summary.text)
        return text, {"role": "user", "parts": [{"text": text}]}

    def said(self, piece: WrittenEntry) -> Iterator[Mapping[str, object]]:
        """A content with what the one in the file says, as far as that holds."""
        was = [part for content in piece.raw for part in stored(content.get("parts"))]
        role = "model" if piece.message.role == "assistant" else "user"
        yield {"role": role, "parts": list(rewritten(piece.message.parts, was))}


def _info(pieces: Sequence[WrittenEntry], note: Mapping[str, object]) -> Json:
    """The sizes that Qwen Code goes on from: those of the fold, or the newest bill that an undoing makes good again."""
    receipt = mapping(note.get("receipt"))
    billed = next((u.context for piece in reversed(pieces) if piece.billed and (u := piece.message.usage)), 0)
    sizes = (count(receipt.get("tokens_before")), count(receipt.get("tokens_after"))) if receipt else (billed, billed)
    reason = "manual" if note.get("trigger") in (None, "manual") else "token_limit"
    counts = {"originalTokenCount": sizes[0], "newTokenCount": sizes[1], "newTokenCountIsEstimated": True}
    return {**counts, "compressionStatus": 1, "triggerReason": reason}


open_session = Owner(read, QwenRows, FORMAT.overhead).open
