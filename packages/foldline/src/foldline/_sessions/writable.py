"""Sessions that foldline folds in place, in the records of the agent that owns them.

A fold, and the undoing of one, is the whole new context written once more behind what is there, in one append: the
owner goes on from it, whatever its version, and every earlier byte stays. foldline's note stands in the first record
of each such group: what was done, and which entry each new one stands for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import NamedTuple
from uuid import uuid4

from foldline._errors import SessionError
from foldline._fold import Fold
from foldline._messages import Media, Message, Summary, Text, Usage, replace
from foldline._sessions.file import Branch, Point
from foldline._sessions.format import Opening
from foldline._sessions.lines import encoded
from foldline._sessions.notes import Notes, speakers_note, summary_note
from foldline._sessions.reading import Reading
from foldline._sessions.transcript import Transcript
from foldline._sessions.values import Json
from foldline._sessions.writing import append, fold_note, lent_file, write_whole
from foldline._tokens.meter import Meter
from foldline._view import Entry, View, opens_turn


class WrittenEntry(NamedTuple):
    """One entry of a context to be written: the owner's records of it, and whether they say the message as it stands.

    `id` is the one that the entry had; empty where the fold made it.
    """

    id: str
    message: Message
    raw: Sequence[Json]
    verbatim: bool
    billed: bool = False
    """Whether the bill of the reply holds for the context that is written."""


class Records:
    """The owner's records of a session: those behind its entries, and the group of them that a fold or an undoing is.

    Made for one writing, of the file and the ids of the entries that were read of it. The records of the group are known
    by keys, and its note says what stands behind each.
    """

    def __init__(self) -> None:
        self.rows: list[Json] = []
        self.origin: dict[str, str | None] = {}
        self.summaries: dict[str, Json] = {}
        self.speakers: dict[str, list[str]] = {}
        self.billed = ""

    def raw(self, id: str) -> Sequence[Json]:
        """The records behind an entry of the live context; none where the file has none of its own."""
        raise NotImplementedError

    def line_of(self, fold: str) -> int | None:
        """The line where a fold of the owner's stands."""
        raise NotImplementedError

    def line_of_entry(self, id: str) -> int | None:
        """The line where the file has an entry by its first id; None where it has no line of its own."""
        return self.line_of(id)

    def made_by(self, fold: str) -> set[str]:
        """The ids of the entries that a fold of the owner's brought with it."""
        raise NotImplementedError

    def written(self, pieces: Sequence[WrittenEntry], note: Mapping[str, object]) -> list[Json]:
        """The records that make the pieces the live context; the first one carries the note."""
        raise NotImplementedError

    def append(self, record: Mapping[str, object]) -> str:
        """Adds a record of what the model sees, and answers its key."""
        raise NotImplementedError

    def summary(self, summary: Summary, raw: Sequence[Json]) -> tuple[str, Json]:
        """The words of a summary, its owner's as they are and ours as the owner would put them, and the record of them."""
        raise NotImplementedError

    def copies(self, piece: WrittenEntry) -> Iterable[Mapping[str, object]]:
        """The owner's own records of a piece, once more."""
        return piece.raw

    def said(self, piece: WrittenEntry) -> Iterable[Mapping[str, object]]:
        """Records of a piece that the file does not hold as it stands."""
        raise NotImplementedError

    def add(self, piece: WrittenEntry) -> None:
        """The records of one piece, and who said what in it where no record tells."""
        message = piece.message
        if (summary := message.summary) and len(message.parts) == 1:
            text, record = self.summary(summary, piece.raw)
            keys = [self.append(record)]
            self.summaries[keys[0]] = summary_note(text, summary)
        else:
            keys = [self.append(record) for record in (self.copies(piece) if piece.verbatim else self.said(piece))]
            if keys and not piece.verbatim and message.role == "user" and (speakers := speakers_note(message)):
                self.speakers[keys[0]] = speakers
        if keys:
            self.origin[keys[-1 if message.role == "system" else 0]] = piece.id or None
        if keys and piece.billed:
            self.billed = keys[0]

    def noted(self, records: list[Json], note: Mapping[str, object]) -> list[Json]:
        """The records as one group, the note in the first of them."""
        more: Json = {"speakers": self.speakers} if self.speakers else {}
        if self.billed:
            more["billed"] = self.billed
        told = {**note, "rows": len(records), "of": self.origin, "summaries": self.summaries, **more}
        records[0]["foldline"] = told
        return records


class Branching(NamedTuple):
    """How the first lines of a session become another one."""

    lines: Callable[[Sequence[bytes], str, str], list[bytes]]
    """The lines as those of the session that ends with an entry: the old lines, the new session's id, the entry's.

    None where they lack what a session needs.
    """

    name: Callable[[str], str]
    """The name of the file of the session with an id."""


class Owner(NamedTuple):
    """An agent whose sessions are folded in place."""

    read: Opening[Reading]

    records: Callable[[str, Collection[str]], Records]
    """The records of the session in a file, for the entries of those ids that were read of it."""

    overhead: int

    entry_id: Callable[[int, str], str] = lambda line, key: key
    """The id that the reader gives to what a note on a line calls by a key."""

    branching: Branching | None = None
    """Given where a session can be branched: its first lines are a session, too."""

    def open(self, path: str, *, strict: bool = False) -> WritableTranscript:
        """The session in a file; raises `SessionError` where there is none."""
        return WritableTranscript(self, path, strict=strict)


class WritableTranscript(Transcript):
    """A session of another agent that is read, folded and unfolded in place, in the records of its owner."""

    def __init__(self, owner: Owner, path: str | os.PathLike[str], *, strict: bool = False) -> None:
        self._owner, self._strict, self._file = owner, strict, os.fspath(path)
        self._load()

    def _load(self) -> None:
        try:
            self._size = os.path.getsize(self._file)
        except (OSError, ValueError) as error:
            raise SessionError(f"cannot be read: {error}", path=self._file) from error
        reading = self._owner.read(self._file, strict=self._strict)
        self._notes = Notes(self._file, self._owner.entry_id)
        super().__init__(self._notes.told(reading), overhead=self._owner.overhead)
        self.context.learned = dict(self._notes.learned)
        made = self._notes.made_by(self.newest_fold.id) if self.newest_fold else ()
        behind = (i for i, (id, _) in enumerate(self.context.entries, 1) if id in made)
        self.context.since = max(self.context.since, *behind, 0)
        self._bill_copies()

    def _bill_copies(self) -> None:
        """Has replies that were written once more weigh what they were billed; the newest from before a fold that was undone is billed as it was."""
        billed = {id: message.usage for id, message in self.reading.folded if message.usage}
        entries, billed_again = self.context.entries, self._notes.billed_again
        newest = -1
        for at, (id, message) in enumerate(entries):
            usage = billed.get(self._notes.root(id)) if message.usage is None else None
            if usage:
                newest = at if id == billed_again else newest
                entries[at] = id, replace(message, usage=Usage(0, usage.output, 0, 0))
        if newest >= 0:
            id, message = entries[newest]
            entries[newest] = id, replace(message, usage=billed[self._notes.root(id)])
            self.context.since = min(self.context.since, newest)

    def messages(self) -> Iterator[tuple[str, Message]]:
        """Every message of the file, folded ones first; one that folds copied comes once, under its newest id."""
        live = {self._notes.root(id): (id, message) for id, message in self.reading.entries}
        for id, message in (*self.reading.folded, *self.reading.entries):
            if self._notes.root(id) != id:
                continue
            now, copy = live.get(id, (id, message))
            yield now, copy if copy.parts == message.parts else message

    def recall(self, id: str) -> Message | None:
        """The message of an entry as it was written, whatever was folded since, and by whichever of its ids."""
        written = dict((*self.reading.folded, *self.reading.entries))
        root = self._notes.root(id)
        copies = (m for newer, m in self.reading.entries if self._notes.root(newer) == root)
        return written.get(root) or written.get(id) or next(copies, None)

    def check_writable(self) -> None:
        """Nothing keeps it from being folded in place."""

    def fold(self, before: View, after: View, fold: Fold, meter: Meter) -> None:
        if not fold:
            return
        if all(message.role == "system" for message in after.messages):
            raise SessionError("a fold has to leave something; nothing was written", path=self.path)
        note = fold_note(fold, before, self.context, meter, self.path)
        records = self._records()
        known = dict(self.context.entries)
        pieces = [self._piece(records, entry, entry.message is known.get(entry.id)) for entry in after.entries]
        self._write(records.written(pieces, note))

    def undo(self) -> str | None:
        """Takes back the newest fold that stands and answers its id, or None where there is none.

        What came after the fold stays in the context. A fold that the owner made itself is taken back as well.
        """
        newest = self.newest_fold
        if newest is None:
            return None
        records = self._records()
        line = self._notes.line_of(newest.id) or records.line_of(newest.id)
        if line is None:
            raise SessionError(
                f"where the fold {newest.id} begins cannot be found; nothing was written", path=self.path
            )
        with self._before(line) as earlier:
            written = records.written(self._unfolded(earlier, newest.id, records), self._notes.undoing(newest.id))
        self._write(written)
        return newest.id

    def points(self) -> list[Point]:
        if self._owner.branching is None:
            return super().points()
        records = self._records()
        lines = [(fold, self._notes.line_of(fold.id) or records.line_of(fold.id) or 0) for fold in self.folds()]
        live = {id for id, _ in self.context.entries}
        found = []
        for id, message in self.messages():
            line = records.line_of_entry(self._notes.root(id))
            if line is not None and opens_turn(message) and (text := _typed(message)):
                folds = sum(not fold.undone and at < line for fold, at in lines)
                found.append((line, Point(id, text, folds, id in live)))
        return [point for _, point in sorted(found, key=lambda each: each[0])]

    def branch(self, at: str) -> Branch:
        """A new session beside this one that ends with the user message `at`: its lines up to there, as they stand.

        What was folded behind the message is not folded in the branch; a fold before it stands.
        """
        if (branching := self._owner.branching) is None:
            return super().branch(at)
        root = self._notes.root(at)
        line = self._records().line_of_entry(root)
        if line is None or all(self._notes.root(point.id) != root for point in self.points()):
            raise SessionError(f"{at} is no user message: a branch ends with one that the user wrote", path=self.path)
        with open(self._file, "rb") as file:
            lines = [data.rstrip(b"\n") for data in islice(file, line)]
        id = str(uuid4())
        path = os.path.join(os.path.dirname(os.path.abspath(self.path)), branching.name(id))
        branched = branching.lines(lines, id, root)
        if not branched:
            raise SessionError("its header cannot be read: not branched", path=self.path)
        write_whole(path, b"".join(data + b"\n" for data in branched))
        made = WritableTranscript(self._owner, path)
        return Branch(self.path, path, id, at, len(lines), made.compactions, tuple(made.faults))

    # -- inside ----------------------------------------------------------------------------------------------

    def _unfolded(self, earlier: WritableTranscript, fold: str, records: Records) -> list[WrittenEntry]:
        """The context from before a fold, and what came after it behind."""
        former = earlier._records()
        gone = {id for id, _ in (*earlier.reading.entries, *earlier.reading.folded)}
        gone |= self._notes.made_by(fold) or records.made_by(fold)
        was = earlier.context.entries
        later = [(id, m) for id, m in self.context.entries if gone.isdisjoint(self._notes.lineage(id))]
        billed = next((id for id, m in reversed(was) if m.usage and m.usage.prompt), None)
        return [
            *(earlier._piece(former, Entry(id, m), True, billed=id == billed) for id, m in was),
            *(self._piece(records, Entry(id, m), True) for id, m in later),
        ]

    def _piece(self, records: Records, entry: Entry, same: bool, *, billed: bool = False) -> WrittenEntry:
        raw = () if self._notes.is_summary(entry.id) else records.raw(entry.id)
        cleared = any(id == entry.id for id, _ in self.reading.folded)
        known = any(id == entry.id for id, _ in self.context.entries)
        return WrittenEntry(entry.id if known else "", entry.message, raw, same and bool(raw) and not cleared, billed)

    def _records(self) -> Records:
        return self._owner.records(self._file, {id for id, _ in self.context.entries})

    @contextmanager
    def _before(self, line: int) -> Iterator[WritableTranscript]:
        """The session as it stood before a line of its file was written."""
        with open(self._file, "rb") as file, lent_file(islice(file, line - 1)) as copy:
            yield WritableTranscript(self._owner, copy)

    def _write(self, records: Iterable[Json]) -> None:
        append(self._file, [encoded(record) for record in records], expected_size=self._size)
        self._load()


_TYPED = ("", "user", "paste")


def _typed(message: Message) -> str:
    """What a user may have typed of it, for all that the file tells."""
    return "\n".join(
        f"[{part.kind}]" if isinstance(part, Media) else part.text
        for part in message.parts
        if isinstance(part, Media) or (isinstance(part, Text) and part.by in _TYPED)
    )
