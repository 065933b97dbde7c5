"""A session file of pi or OpenClaw: read, append, fold, undo, recall."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from foldline._errors import SessionError
from foldline._fold import Fold
from foldline._messages import Message
from foldline._sessions import writing
from foldline._sessions.context import Context
from foldline._sessions.descriptors import read_at
from foldline._sessions.file import Branch, Point, Told
from foldline._sessions.following import Follower, IndexedSession, ReadUpTo, Said
from foldline._sessions.holding import Hold, hold
from foldline._sessions.lines import CHUNK, Line, Record, encoded, first_line, line_number, lines_from_end, opened
from foldline._sessions.pi import FORMAT, branching, composing, dialect, folder_of, marks, tree
from foldline._sessions.reading import Fault, PastFold
from foldline._sessions.source import BOM
from foldline._sessions.stages import course_of
from foldline._sessions.values import Json, count, mapping
from foldline._tokens.meter import Meter
from foldline._view import View
from foldline._wires.usage import broke_off

_OURS = (*dialect.CONTRIBUTES, *dialect.SETTINGS, "custom", "label", "session_info", "context_edit")
"""The kinds of record that are pi's or OpenClaw's."""

_WAY_OUT = "a list of its messages, as OpenAI, Anthropic or Gemini take them, is read"
COUNTED_SIZE = 64 * 1024 * 1024
"""Bytes of a file up to which another program's folds are counted; beyond, the newest one counts as the first."""


class Session:
    """One session file as it was when it was opened.

    Only the live context is read: from the end of the file back to what the newest fold kept. `faults` lists what was
    wrong on the way and read around. Every write is one append under a lock, and refused where the file has grown
    since; after it the session is read again.
    """

    agent = FORMAT.name
    window = 0
    """The records do not say how large the model's window is."""

    def __init__(self, path: str | os.PathLike[str], *, strict: bool = False) -> None:
        self.path = os.fspath(path)
        self.strict = strict
        self._load()

    @classmethod
    def create(cls, path: str | os.PathLike[str] | None = None, *, cwd: str = "") -> Session:
        """A new, empty session file; refuses to take the place of one that is there.

        Without a path it is where pi keeps those of `cwd`, so that pi lists it.
        """
        id, stamp = composing.new_session_id(), writing.now()
        if path is None:
            folder = folder_of(cwd)
            writing.make_folder(folder)
            path = composing.new_path(str(folder), id, stamp)
        if os.path.exists(path):
            raise SessionError("there is a file already", path=os.fspath(path))
        about = {"id": id, "timestamp": stamp, "cwd": cwd}
        header = {"type": "session", "version": dialect.KNOWN_VERSION, **about}
        writing.replace_file(os.fspath(path), encoded(header))
        return cls(path)

    # -- what is there ---------------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        """The session's id, or the file's name where there is no header."""
        return str(self.header.get("id") or os.path.splitext(os.path.basename(self.path))[0])

    @property
    def changed(self) -> bool:
        """Whether another program wrote to the file since it was read: open it anew then."""
        try:
            return os.path.getsize(self.path) != self._size
        except OSError:
            return True

    @property
    def cwd(self) -> str:
        """The directory that the agent worked in; empty where there is no header."""
        return str(self.header.get("cwd") or "")

    @property
    def model(self) -> str:
        """The model that answered last, or was chosen last; empty where the file names none."""
        named = (name for record in reversed(self._path.records) if (name := dialect.model_of(record)))
        return next(named, str(self.header.get("modelId") or ""))

    def meter(self, family: str = "o200k") -> Meter:
        """A meter that learned from what the provider billed since the newest fold, or from that fold's own record."""
        return self.context.meter(family)

    def view(self, meter: Meter | None = None) -> View:
        """What the model sees: entries by the file's ids, sized by the meter (the session's own where none is given)."""
        return self.context.view(meter or self.meter())

    def recall(self, id: str) -> Message | None:
        """The message of an entry as it was written, wherever in the file it stands and whatever was folded since."""
        record = self._find(id)
        return dialect.message_of(record) if record else None

    def record(self, id: str) -> dict[str, Any]:
        """The record of an entry as it stands in the file; an empty one where there is none."""
        record = self._find(id)
        return record.data if record else {}

    def messages(self) -> Iterator[tuple[str, Message]]:
        """Every message in the file with its id, in order, whatever was folded or left on another branch since."""
        for record in self._path.records if self._linear else [*map(Record, self._lines())][::-1]:
            message = dialect.message_of(record) if record.type != "compaction" else None
            if message is not None and record.id:
                yield record.id, message

    def lineage(self) -> list[Told]:
        """Every message from the session's first to its newest, as written, whatever was folded.

        A compaction counts as a message only where nothing stands before it.
        """
        return branching.lineage(self)

    def folds(self) -> list[PastFold]:
        """Every fold in the file, oldest first, the undone ones among them; reads the whole file once."""
        records, live = self._path.records, {r.line.offset for r in self._path.records}
        if not self._linear:
            records = [Record(line) for line in self._lines() if marks.may_be_marked(line.data)][::-1]
            sizes = Counter(marks.group_of(r) for r in records)
            records = [r for r in records if r.line.offset in live or sizes[marks.group_of(r)] >= marks.promised(r)]
        undone = {marks.undoes(r) for r in records}
        starts = [r for r in records if not r.damaged and marks.starts_fold(r)]
        leaf = self._path.leaf
        passed = any(r.line.offset not in live and marks.fold_id(r) not in undone for r in starts)
        if passed and not self._linear and leaf:
            behind = branching.standing(self, leaf)
            undone |= {marks.fold_id(r) for r in starts if r.line.offset not in behind}
        return [marks.past_fold(r, undone) for r in starts]

    @property
    def newest_fold(self) -> PastFold | None:
        """The newest fold that stands on the path, or None."""
        group, _ = self._newest_fold()
        return marks.past_fold(group[0], set()) if group else None

    @property
    def compactions(self) -> int:
        """How many folds with a summary the context has seen: as foldline noted, or counted in the file."""
        summary = next((s for _, message in self.context.entries if (s := message.summary)), None)
        noted = summary.facts.get("round", 0 if self._size <= COUNTED_SIZE else 1) if summary else 0
        return noted or sum(1 for fold in self.folds() if fold.summary and not fold.undone)

    # -- writing ---------------------------------------------------------------------------------------------

    def hold(self) -> Hold:
        """Keeps agents of other processes off the session for as long as what is answered is kept.

        Raises `SessionError` where another process has it; what only reads it, or folds it by hand, is not kept off.
        """
        return hold(self.path)

    def append(self, message: Message, *, model: str = "", stop: str = "") -> str:
        """Adds a message behind the newest one and answers its id; of several tool results each is an entry, the last is named.

        `model` is who made a reply, with the provider before a colon, and `stop` why it ended, in pi's words.
        """
        self.check_writable()
        said = dialect.stored(message, time.time_ns() // 1_000_000)
        if message.role == "assistant" and model:
            provider, _, name = model.rpartition(":")
            said = [dialect.reply(each, name, provider, stop) for each in said]
        records = [{"type": "message", "message": each} for each in said]
        write = self._write if self._changes_what_was_read(message, stop) else self._extend
        write(composing.chained(records, self._path.leaf))
        return self._path.leaf or ""

    def note_stages(self, noted: Mapping[str, object]) -> None:
        """Notes the conversation's stages in a record that pi keeps and passes over."""
        self.check_writable()
        self._note(marks.STAGES, noted)

    def note_draft(self, ask: str, answer: Mapping[str, object]) -> None:
        """Notes a draft that was paid for, by what was asked for, which its context tells until the next fold."""
        self.check_writable()
        self._note(marks.DRAFT, {"ask": ask, "answer": answer})

    def fold(self, before: View, after: View, fold: Fold, meter: Meter) -> None:
        """Writes a fold that made `after` of this session's view `before`; an empty fold writes nothing."""
        if not fold:
            return
        self.check_writable()
        note = writing.fold_note(fold, before, self.context, meter, self.path)
        self._write(composing.fold_records(self._place(), before, after, note))

    def compaction(self, before: View, after: View, fold: Fold, meter: Meter) -> Json | None:
        """The one record that such a fold is, for the agent to write itself; None for a fold that one record cannot say."""
        self.check_writable()
        note = writing.fold_note(fold, before, self.context, meter, self.path)
        records = composing.fold_records(self._place(), before, after, note)
        first = records[0]
        kept = first.get("firstKeptEntryId")
        return first if len(records) == 1 and kept and kept != first["id"] else None

    def undo(self) -> str | None:
        """Takes back the newest fold on the path and answers its id, or None where there is none.

        What came after the fold stays in the context. Raises `SessionError` where what the fold took the place of is in
        another file: for the summary that a session was opened with, and for some folds that a branch began behind.
        """
        self.check_writable()
        group, mark = self._newest_fold()
        if not group:
            return None
        fold = marks.fold_id(group[0])
        note = {"undo": fold, "meter": mark.get("meter")}
        if self._linear:
            earlier = self._standing()[:-1]
            self._write([composing.reasserted(earlier[-1] if earlier else None, note)])
        else:
            noted = mark.get("leaf")
            known = isinstance(noted, str) and self._search(noted)
            if noted and not known and (origin := self.header.get("parentSession")):
                raise SessionError(f"what the fold replaced is in {origin}: undo it there", path=self.path)
            leaf = noted if isinstance(noted, str) and known else self._before(group[0])
            if leaf is None:
                raise SessionError(
                    "the session begins with its summary, so there is nothing to go back to", path=self.path
                )
            self._write(composing.undo_records(self._place(), group, leaf, note))
        return fold

    def pin(self, id: str, pinned: bool = True) -> Message:
        """Pins a message of the live context, so that no fold touches it, or takes the pin off, and answers the message."""
        self.check_writable()
        message = dict(self.context.entries).get(id)
        if message is None or message.role == "system":
            raise SessionError(f"no message {id} in its context; `foldline session show` lists them", path=self.path)
        self._note(marks.PIN, {"target": id, "pinned": pinned})
        return message

    def points(self) -> list[Point]:
        """Every user message of the file once, in its order, before and after folds."""
        return branching.points(self)

    def branch(self, at: str) -> Branch:
        """A new session beside this one that ends with the user message `at`, which it holds."""
        return branching.branch(self, at)

    # -- inside ----------------------------------------------------------------------------------------------

    def _load(self) -> None:
        with opened(self.path) as fd:
            self._size = os.fstat(fd).st_size
            head = first_line(fd) if self._size else None
            if head is None:
                raise SessionError("an empty file is no session", path=self.path)
            first = Record(head)
            self.header: Json = first.data if first.type == "session" else {}
            self.version = self._version(first)
            self._linear = self.version == 1
            records = (Record(line) for line in lines_from_end(fd, self._size))
            self._path = (tree.linear_path if self._linear else tree.live_path)(records)
            if stranger := self._stranger(fd):
                what = f"no log of pi or OpenClaw: of type {stranger.type!r} they have no such record; {_WAY_OUT}"
                raise SessionError(what, path=self.path, line=line_number(fd, stranger.line.offset))
            self._sources: dict[str, Record] = {}
            entries = list(self._contributions())
            opening = _opening(fd) if self._path.compaction else []
            late = (tree.Damage(r.line.offset, "damaged line") for r in self._path.records if r.damaged)
            faults = sorted({*self._path.faults, *late})
            self.faults = [Fault(line_number(fd, fault.offset), fault.what) for fault in faults]
        if not self.header and not self._path.records:
            raise SessionError("no log of pi or OpenClaw", path=self.path, line=1)
        if not self.header:
            self.faults.insert(0, Fault(1, "no header"))
        if self.version > dialect.KNOWN_VERSION:
            self.faults.insert(0, Fault(1, f"unknown version {self.version}, read as version {dialect.KNOWN_VERSION}"))
        if self.strict and self.faults:
            raise SessionError(self.faults[0].what, path=self.path, line=self.faults[0].line)
        noted = (marks.mark_of(record) for record in reversed(self._path.records))
        newest = next((mark for mark in noted if mark.get("meter")), {})
        shown = any(message.role == "system" for _, message in entries)
        overhead = 0 if shown else dialect.overhead(self._path.records, early=self._linear)
        undone = marks.undone_ids(self._path.records, linear=self._linear)
        self.context = Context(
            entries,
            since=self._since(entries, undone),
            stale=undone,
            unsent=self._unsent(entries),
            elsewhere={id: tokens for id, record in self._sources.items() if (tokens := dialect.elsewhere(record))},
            learned=mapping(newest.get("meter")),
            receipt=mapping(newest.get("receipt")),
            overhead=overhead,
            replaced=opening,
            pins=marks.pins(self._path.records),
            course=course_of(marks.stages(self._path.records), entries),
            drafts=marks.drafts(self._path.records),
        )

    def _stranger(self, fd: int) -> Record | None:
        """The first record of a file that has records, and none of pi's or OpenClaw's."""
        records = self._path.records or [Record(line) for line in lines_from_end(fd, self._size)][::-1]
        told = (record for record in records if record.type != "session" and not record.damaged)
        return None if any(map(_is_ours, records)) else next(told, None)

    def _version(self, first: Record) -> int:
        if self.header:
            return first.version or 1
        return dialect.KNOWN_VERSION if first.id or first.damaged else 1

    def _contributions(self) -> Iterator[tuple[str, Message]]:
        """The messages of the live context with their ids, as pi's own loader builds them."""
        path, compaction = self._path.records, self._path.compaction
        at = path.index(compaction) if compaction else 0
        kept = [r for r in path[self._path.kept : at] if not _is_system(r)]
        edits = {str(r.data.get("targetId")): r for r in (*kept, *path[at:]) if r.type == "context_edit"}
        if compaction and marks.mark_of(compaction).get("nothing") is not True:
            system = dialect.message_in(compaction.data.get("systemMessage"))
            if system and dialect.kept_by(edits.get(compaction.id or "")):
                yield f"{compaction.id}:system", system
            yield from self._contribution(compaction, edits)
        for record in (*kept, *path[at:]):
            if record.type != "compaction":
                yield from self._contribution(record, edits)

    def _contribution(self, record: Record, edits: Mapping[str, Record]) -> Iterator[tuple[str, Message]]:
        if self.version >= 3 and dialect.role_of(record) == "hookMessage":
            return
        edit = edits.get(record.id or "")
        message = dialect.edited(record, edit) if edit else dialect.message_of(record)
        if message is not None and record.id:
            self._sources[record.id] = record
            yield record.id, message

    def _unsent(self, entries: Sequence[tuple[str, Message]]) -> set[str]:
        """What pi loads and does not send: replies that broke off, before version 3 those of them with calls.

        One whose calls were answered all the same is sent, since the answers are.
        """
        broken = {id for id, record in self._sources.items() if dialect.broke(record)}
        answered = {result.call_id for _, message in entries for result in message.results} if broken else set()
        return {
            id
            for id, message in entries
            if id in broken
            and not any(call.id in answered for call in message.calls)
            and (self.version >= 3 or any(message.calls))
        }

    def _since(self, entries: Sequence[tuple[str, Message]], undone: Collection[str]) -> int:
        """The first message whose bill was made for the context as it stands: behind the newest fold or edit.

        Where a fold was undone the bills before it hold again, and those of the folded context do not. An agent that
        folds in the middle of its work may send the old context once more; such bills are as high as the one that the
        fold was made for, and are passed over.
        """
        folded = [
            i
            for i, r in enumerate(self._path.records)
            if r.type == "context_edit" or (r.id not in undone and (r.type == "compaction" or marks.mark_of(r)))
        ]
        if not folded:
            return 0
        stale = {*undone, *(r.id for r in self._path.records[: folded[-1] + 1])}
        late = [i for i, (id, _) in enumerate(entries) if id not in stale and not id.endswith(":system")]
        compaction = self._path.compaction
        before = compaction.data.get("tokensBefore") if compaction else None
        if isinstance(before, int) and before > 0:
            old = [i for i in late if (usage := entries[i][1].usage) and usage.prompt >= before]
            late = [i for i in late if not old or i > old[-1]]
        return late[0] if late else len(entries)

    def _newest_fold(self) -> tuple[list[Record], Json]:
        """The records of the newest fold on the path that was not undone, and what its first one notes."""
        path = self._path.records
        if self._linear:
            standing = self._standing()[-1:]
            return standing, marks.mark_of(standing[0]) if standing else {}
        for last in reversed(path):
            mark = marks.mark_of(last)
            if fold := mark.get("fold"):
                group = [r for r in path if marks.mark_of(r).get("fold") == fold]
                return group, marks.mark_of(group[0])
            if last.type == "compaction" and not mark.get("undo"):
                return [last], {}
            if last.type == "compaction":
                return [], {}
        return [], {}

    def _standing(self) -> list[Record]:
        """The folds of a version 1 session that were not undone; there an undo is a compaction, too."""
        compactions = [r for r in self._path.records if r.type == "compaction"]
        undone = {marks.undoes(r) for r in compactions}
        return [r for r in compactions if marks.undoes(r) is None and marks.fold_id(r) not in undone]

    def _before(self, record: Record) -> str | None:
        """The id of the record that one on the path hangs on."""
        if at := self._path.records.index(record):
            return self._path.records[at - 1].id
        return tree.parent_of(record, map(Record, self._lines(record.line.offset)))

    def _place(self) -> composing.Place:
        return composing.Place(self._path, self._sources, self._knows_edits(), self._linear)

    def _knows_edits(self) -> bool:
        """Whether the pi that wrote the file honours `context_edit`: 0.87 does, and it alone stores system messages."""
        told = (r.type == "context_edit" or _is_system(r) or r.data.get("systemMessage") for r in self._path.records)
        return not self._linear and any(told)

    def check_writable(self) -> None:
        """Raises `SessionError` for a version of the dialect that is not known."""
        if self.version > dialect.KNOWN_VERSION:
            raise SessionError(f"version {self.version} is unknown: not written to", path=self.path, line=1)

    def _write(self, records: Sequence[Json]) -> None:
        writing.append(self.path, [encoded(r) for r in records], expected_size=self._size)
        self._load()

    def _note(self, kind: str, data: Mapping[str, object]) -> None:
        """Writes a record of foldline's own, which pi keeps and passes over."""
        self._write(composing.chained([{"type": "custom", "customType": kind, "data": data}], self._path.leaf))

    def _extend(self, records: Sequence[Json]) -> None:
        """Writes messages and takes them behind the others, which are not read again."""
        lines = [encoded(record) for record in records]
        self._size = writing.append(self.path, lines, expected_size=self._size)
        offset = self._size - sum(map(len, lines))
        for line in lines:
            self._path.records.append(Record(Line(offset, line.rstrip(b"\n"))))
            offset += len(line)
        new = self._path.records[-len(lines) :]
        self.context = self.context.followed_by([each for record in new for each in self._contribution(record, {})])

    def _changes_what_was_read(self, message: Message, stop: str) -> bool:
        """Whether a message behind the others makes something else of what stands before it, or of its bills."""
        context, compaction, usage = self.context, self._path.compaction, message.usage
        if self._linear or self.faults or context.course.stages or message.role == "system":
            return True
        if broke_off({"stopReason": stop}) or (context.unsent and any(message.results)):
            return True
        if usage is None or compaction is None:
            return False
        return self._size < CHUNK or 0 < count(compaction.data.get("tokensBefore")) <= usage.prompt

    def _find(self, id: str) -> Record | None:
        """The record of an entry, on the path or left on another one."""
        return next((r for r in self._path.records if r.id == id), None) or self._search(id)

    def _search(self, id: str) -> Record | None:
        needle = encoded(id).rstrip()
        found = (Record(line) for line in self._lines() if needle in line.data)
        return next((record for record in found if record.id == id), None)

    def _lines(self, end: int | None = None) -> Iterator[Line]:
        """The lines before a byte, or all that there were when the file was read, last first."""
        with opened(self.path) as fd:
            yield from lines_from_end(fd, self._size if end is None else end)


def follow(path: str, mark: ReadUpTo) -> Follower | None:
    """A log that is read on from where the last reading stopped; None where its records have no ids, or its header is gone."""
    with open(path, "rb") as file:
        header = Record(Line(0, file.readline().removeprefix(BOM)))
    if header.type != "session" or (header.version or 1) < 2:
        return None
    id = str(header.data.get("id") or os.path.splitext(os.path.basename(path))[0])
    about = IndexedSession(
        id, FORMAT.name, str(header.data.get("cwd") or ""), (), live=lambda: dict(Session(path).context.entries)
    )
    return Follower(path, mark, about, _said)


def _said(line: bytes) -> Said | None:
    record = Record(Line(0, line))
    message = dialect.message_of(record) if record.id else None
    return (record.id, str(record.data.get("timestamp") or ""), message) if message and record.id else None


def _opening(fd: int) -> list[Message]:
    """The messages up to the file's first bill, which tells what every request carries; none where it is far from the start."""
    said: list[Message] = []
    for data in read_at(fd, CHUNK, 0).split(b"\n")[:-1]:
        if data.strip() and (message := dialect.message_of(Record(Line(0, data)))):
            said.append(message)
            if message.usage and message.usage.prompt:
                return said
    return []


def _is_ours(record: Record) -> bool:
    """Whether a record is of the dialect: of a kind of pi's or OpenClaw's, or a newer one that hangs on their tree."""
    if record.type == "message":
        return isinstance(record.data.get("message"), dict)
    return record.type in _OURS or "parentId" in record.data


def _is_system(record: Record) -> bool:
    return dialect.role_of(record) == "system"
