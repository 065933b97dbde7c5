"""Folds in Gemini CLI's own records.

A fold, and the undoing of one, is one change of the list of messages: the whole new context, its messages under ids of
their own. The results of a call stand in a message of their own and not in the call as well, where Gemini CLI would
send them a second time.

Seen with Gemini CLI 0.61.0, resumed with `--resume latest`: the request holds the summary, the kept messages and the new
prompt behind what the program says of its surroundings, which it says anew each time; nothing else of the folded part.
Seen as well: stubs in place of outputs, a fold behind a fold, and the undoing of both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from uuid import uuid4

from foldline._messages import Summary
from foldline._sessions.gemini_cli import FORMAT, Chat, read, rows
from foldline._sessions.gemini_parts import plain, rewritten, stored, summarizing
from foldline._sessions.source import Source
from foldline._sessions.transcript import Transcript
from foldline._sessions.values import Json, mappings, string
from foldline._sessions.writable import Owner, Records, WritableTranscript, WrittenEntry
from foldline._sessions.writing import now

_RESULTS = ":results"
"""How the id of the results ends that stand inside of their calls."""


class GeminiRecords(Records):
    """The messages of one chat by their ids, and what each of its folds made."""

    def __init__(self, path: str, ids: Collection[str]) -> None:
        super().__init__()
        self._answered: set[str] = set()
        self._made: dict[str, tuple[int, set[str]]] = {}
        chat = Chat()
        for line, row in rows(Source(path)):
            known = len(chat.folds)
            chat.take(row)
            for fold in chat.folds[known:]:
                self._made[fold.id] = line, {string(message.get("id")) for message in chat.messages}
        self._messages = {string(message.get("id")): message for message in reversed(chat.messages)}

    def raw(self, id: str) -> Sequence[Json]:
        """The message behind an entry."""
        message = self._messages.get(id.removesuffix(_RESULTS))
        return [message] if message else []

    def line_of(self, fold: str) -> int | None:
        """The line of the change that brought a summary, by which its fold is known."""
        return self._made[fold][0] if fold in self._made else None

    def made_by(self, fold: str) -> set[str]:
        """The entries of the list that a fold made."""
        made = self._made[fold][1] if fold in self._made else set()
        return made | {id + _RESULTS for id in made}

    def written(self, pieces: Sequence[WrittenEntry], note: Mapping[str, object]) -> list[Json]:
        """The change that makes the pieces the list of messages."""
        for piece in pieces:
            self.add(piece)
        when = now()
        return self.noted([{"$set": {"messages": self.rows, "lastUpdated": when}, "timestamp": when}], note)

    def append(self, record: Mapping[str, object]) -> str:
        """Adds a message under an id of its own."""
        id = str(uuid4())
        self.rows.append({"timestamp": now(), **record, "id": id})
        return id

    def add(self, piece: WrittenEntry) -> None:
        """The message of a piece; results that were given are not given again, as Gemini CLI does when it resumes."""
        given = {result.call_id for result in piece.message.results}
        if not given or not given <= self._answered:
            super().add(piece)
        self._answered |= given

    def summary(self, summary: Summary, raw: Sequence[Json]) -> tuple[str, Json]:
        """A user's message; our words stand where Gemini CLI's own would."""
        text = plain(raw[0].get("content")) if raw else summarizing(summary.text)
        return text, {"type": "user", "content": [{"text": text}]}

    def copies(self, piece: WrittenEntry) -> Iterator[Mapping[str, object]]:
        """The message without results inside of its calls, and without a bill that does not hold."""
        if piece.id.endswith(_RESULTS):
            yield from self.said(piece)
            return
        for message in piece.raw:
            copy = {key: value for key, value in message.items() if key != "tokens" or piece.billed}
            if calls := list(mappings(message.get("toolCalls"))):
                copy["toolCalls"] = [{key: call[key] for key in call if key != "result"} for call in calls]
            yield copy

    def said(self, piece: WrittenEntry) -> Iterator[Mapping[str, object]]:
        """A message with what the one in the file says, as far as that holds."""
        was: list[Json] = []
        for message in piece.raw:
            was += stored(message.get("content"))
            for call in mappings(message.get("toolCalls")):
                was.append({"functionCall": {key: call[key] for key in ("id", "name", "args") if key in call}})
                was += stored(call.get("result"))
        kind = "gemini" if piece.message.role == "assistant" else "user"
        yield {"type": kind, "content": list(rewritten(piece.message.parts, was))}


_OWNER = Owner(read, GeminiRecords, FORMAT.overhead)


def open_session(path: str, *, strict: bool = False) -> Transcript:
    """The session in a file; one of the years in which it was one document is only read."""
    if not Source(path).is_lined():
        return Transcript(read(path, strict=strict), overhead=FORMAT.overhead)
    return WritableTranscript(_OWNER, path, strict=strict)
