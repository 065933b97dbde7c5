"""The notes that foldline leaves in other agents' session files: what it folded there, and what stands for what."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from foldline._messages import Message, Summary, Text, replace, speaker_named
from foldline._sessions.ancestry import ancestry
from foldline._sessions.lines import decode
from foldline._sessions.reading import PastFold, Reading, receipt_in
from foldline._sessions.source import Source
from foldline._sessions.values import Json, count, mapping, string

SIGN = b'"foldline":'
"""What a line with a note holds."""


class Note(NamedTuple):
    """A note, the line and the time of the record that carries it, and the ids of what its group made.

    `origin` says which entry each new one stands for, None where it stands for none; `speakers` whose the texts are of
    those whose rows are new, so that no mark can stand in them.
    """

    line: int
    timestamp: str
    data: Json
    origin: dict[str, str | None]
    summaries: dict[str, Json]
    speakers: dict[str, list[object]]
    billed: str
    """The entry whose bill holds again, for the context that an undoing brought back; empty where there is none."""


class Notes:
    """The notes of one file, oldest first; of a file without any, no line is decoded."""

    def __init__(self, path: str | os.PathLike[str], entry_id: Callable[[int, str], str]) -> None:
        self._notes = notes = list(_notes(Source(path), entry_id))
        self._origin = {id: old for note in notes for id, old in note.origin.items()}
        self._summaries = {id: said for note in notes for id, said in note.summaries.items()}
        self._speakers = {id: by for note in notes for id, by in note.speakers.items()}
        self._undone = {string(note.data.get("undo")) for note in notes} - {""}

    @property
    def learned(self) -> Json:
        """What the newest fold or undoing knew of the counting."""
        return next((meter for note in reversed(self._notes) if (meter := mapping(note.data.get("meter")))), {})

    @property
    def billed_again(self) -> str:
        """The entry whose bill holds again where the newest note undid a fold; empty where none does."""
        return self._notes[-1].billed if self._notes and self._notes[-1].data.get("undo") else ""

    def lineage(self, id: str) -> list[str]:
        """An entry's id and those of all that it stands for, the newest first."""
        return list(ancestry(id, lambda newer: self._origin.get(newer) or None))

    def root(self, id: str) -> str:
        """The id under which an entry was first written."""
        return self.lineage(id)[-1]

    def is_summary(self, id: str) -> bool:
        """Whether foldline wrote the entry as a summary."""
        return id in self._summaries

    def made_by(self, fold: str) -> set[str]:
        """The ids that a fold of foldline's made; empty where it is another's."""
        return next((set(note.origin) for note in self._notes if note.data.get("fold") == fold), set())

    def line_of(self, fold: str) -> int | None:
        """The line where a fold of foldline's begins."""
        return next((note.line for note in self._notes if note.data.get("fold") == fold), None)

    def undoing(self, fold: str) -> Json:
        """The note for the group that undoes a fold."""
        meter = next((note.data.get("meter") for note in self._notes if note.data.get("fold") == fold), None)
        return {"undo": fold, **({"meter": meter} if meter else {})}

    def told(self, reading: Reading) -> Reading:
        """A reading with what the notes add: summaries with their facts, and folds with their receipts."""
        if not self._notes:
            return reading
        entries = tuple((id, self._completed(id, message)) for id, message in reading.entries)
        folded = tuple((id, self._completed(id, message)) for id, message in reading.folded)
        said = {id: m.summary.text for id, m in (*entries, *folded) if m.summary}
        newest = self._notes[-1].timestamp
        theirs = [
            replace(fold, undone=fold.id in self._undone or (fold.undone and fold.timestamp > newest))
            for fold in reading.folds
            if fold.id not in self._origin
        ]
        ours = [self._past(note, said) for note in self._notes if note.data.get("fold")]
        folds = sorted([*theirs, *ours], key=lambda fold: fold.timestamp)
        return replace(reading, entries=entries, folded=folded, folds=tuple(folds))

    def _completed(self, id: str, message: Message) -> Message:
        """The message with what only a note tells of it: a summary's facts, and whose the texts of a rewritten one are."""
        speakers = self._speakers_of(id)
        if speakers is not None and len(speakers) == sum(1 for p in message.parts if type(p) is Text):
            left = iter(speakers)
            parts = tuple(replace(p, by=speaker_named(next(left))) if type(p) is Text else p for p in message.parts)
            return replace(message, parts=parts)
        noted = self._summaries.get(id)
        if noted is None:
            return message
        start, length = count(noted.get("start")), count(noted.get("length"))
        text = message.text[start : start + length] if length else message.text
        return Message(message.role, (Summary(text, mapping(noted.get("facts"))),))

    def _speakers_of(self, id: str) -> list[object] | None:
        """Whose the texts of an entry are, where a note says it, of itself or of the one that it is a copy of."""
        if not self._speakers:
            return None
        return next((self._speakers[each] for each in self.lineage(id) if each in self._speakers), None)

    def _past(self, note: Note, said: Mapping[str, str]) -> PastFold:
        receipt = receipt_in(note.data.get("receipt"))
        text = next((said[id] for id in note.summaries if id in said), "")
        id, layer = string(note.data.get("fold")), string(note.data.get("layer"))
        return PastFold(id, note.timestamp, string(note.data.get("trigger")), layer, receipt, text, id in self._undone)


def summary_note(said: str, summary: Summary) -> Json:
    """What a note keeps of a summary: where its words stand in what the owner reads, and the facts behind them."""
    start = max(0, said.find(summary.text))
    return {"start": start, "length": len(summary.text), "facts": summary.facts}


def speakers_note(message: Message) -> list[str]:
    """What a note keeps of a message that is written anew: whose each of its texts is."""
    return [part.by for part in message.parts if type(part) is Text]


def _notes(source: Source, entry_id: Callable[[int, str], str]) -> Iterator[Note]:
    for line, data in source.lines():
        if SIGN not in data:
            continue
        try:
            row = mapping(decode(data))
        except ValueError:
            continue
        note = mapping(row.get("foldline"))
        if count(note.get("rows")):
            made = mapping(note.get("of")).items()
            origin = {entry_id(line, key): old or None for key, old in made if old is None or isinstance(old, str)}
            said = mapping(note.get("summaries")).items()
            summaries = {entry_id(line, key): value for key, value in said if isinstance(value, dict)}
            whose = mapping(note.get("speakers")).items()
            speakers = {entry_id(line, key): by for key, by in whose if isinstance(by, list)}
            key = string(note.get("billed"))
            billed = entry_id(line, key) if key else ""
            yield Note(line, string(row.get("timestamp")), note, origin, summaries, speakers, billed)
