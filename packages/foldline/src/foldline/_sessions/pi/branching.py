"""A second session beside the first: the lines up to one user message, copied as they stand."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from foldline._errors import SessionError
from foldline._messages import Media, Message, Text
from foldline._sessions import writing
from foldline._sessions.ancestry import ancestry
from foldline._sessions.file import Branch, Point, Told
from foldline._sessions.lines import Record, encoded, line_number, lines_from_end, opened
from foldline._sessions.pi import composing, dialect
from foldline._sessions.pi.marks import group_of, mark_of, may_be_marked
from foldline._sessions.pi.tree import Walk, numbered
from foldline._sessions.reading import Fault
from foldline._sessions.values import Json

if TYPE_CHECKING:
    from foldline._sessions.pi.log import Session

BRANCH = "foldline:branch"
"""The kind of `custom` record behind a branch point inside of a fold's own records, which would else count as torn."""


def points(session: Session) -> list[Point]:
    """Every user message of the file once, in its order, before and after folds.

    Folds copy messages. The one that stands there before is told, or what an undo made of it, which is not behind the
    fold any more.
    """
    history = _History(session)
    live = {id for id, _ in session.context.entries}
    folds = history.folds()
    found: list[tuple[int, Point]] = []
    for same in _copied(history.records):
        stands = [r for r in same if r is same[0] or "undo" in mark_of(r)]
        record = next((r for r in reversed(stands) if r.id in live), stands[-1])
        words, seen = _words(dialect.message_of(record)), any(r.id in live for r in same)
        found.append((record.line.offset, Point(record.id or "", words, folds[record], seen)))
    return [point for _, point in sorted(found, key=lambda each: each[0])]


def branch(session: Session, at: str) -> Branch:
    """A new session beside the old one that ends with the user message `at`, which it holds.

    The lines are copied, not written anew. What was folded behind the message is not folded in the branch; a fold
    before it stands. Damaged lines are left out: what hung on them is bridged in the branch as it was in the file.
    """
    if session.version > dialect.KNOWN_VERSION:
        raise SessionError(f"version {session.version} is unknown: not branched", path=session.path, line=1)
    if session.version == 1 and not session.header:
        raise SessionError("without its header the records cannot be counted: not branched", path=session.path, line=1)
    history = _History(session)
    last = history.last(at)
    if dialect.role_of(last) != "user":
        raise SessionError(f"{at} is no user message: a branch ends with one that the user wrote", path=session.path)
    way = history.way(last)
    whole = [record for record in way if not record.damaged]
    folder = os.path.dirname(os.path.abspath(session.path))
    id, stamp = composing.new_session_id(), writing.now()
    kept = {
        key: value
        for key, value in session.header.items()
        if key not in ("parentSession", "branchedFrom", "draftUntil")
    }
    header = {"type": "session", **({} if session.header else {"version": dialect.KNOWN_VERSION}), **kept}
    header |= {"id": id, "timestamp": stamp, "parentSession": os.path.abspath(session.path)}
    extra = [] if session.version == 1 else _behind(history, whole)
    path = composing.new_path(folder, id, stamp)
    lines = [encoded(header).rstrip(b"\n"), *(r.line.data for r in whole)]
    lines += [encoded(record).rstrip(b"\n") for record in extra]
    writing.write_whole(path, b"".join(line + b"\n" for line in lines))
    return Branch(session.path, path, id, at, len(whole), history.folds()[last], tuple(history.faults(way)))


def standing(session: Session, leaf: str) -> set[int]:
    """Where the records start, in bytes, that a leaf stands behind: on its way, and on the ways to where folds on it began."""
    history = _History(session)
    ends = [history.last(leaf)]
    behind: set[int] = set()
    while ends:
        for record in history.way(ends.pop()):
            if record.line.offset in behind:
                continue
            behind.add(record.line.offset)
            began = mark_of(record).get("leaf") if may_be_marked(record.line.data) else None
            ends += [history.last(began)] if began in history.named else []
    return behind


def lineage(session: Session) -> list[Told]:
    """What `Session.lineage` tells; the note is foldline's own on the record."""
    last = next((id for id, _ in reversed(session.context.entries)), None)
    if last is None:
        return []
    history = _History(session)
    told: list[Told] = []
    summed: set[tuple[str, str]] = set()
    for record in history.way(history.last(last.removesuffix(":system"))):
        group = group_of(record)
        if record.type == "compaction" and group:
            summed.add(group)
        if (record.type == "compaction" and told) or (record.type != "compaction" and group in summed):
            continue
        unseen = session.version >= 3 and dialect.role_of(record) == "hookMessage"
        if record.id and not unseen and (message := dialect.message_of(record)):
            told.append((record.id, message, mark_of(record)))
    return told


class _History:
    """All records of a file in order, and what each one hangs on."""

    def __init__(self, session: Session) -> None:
        self.path = session.path
        with opened(session.path) as fd:
            newest_first = [*map(Record, lines_from_end(fd, os.fstat(fd).st_size))]
        self.records = newest_first[::-1]
        if session.version == 1:
            numbered(self.records)
            self.bridged: dict[int, str] = {}
            self.parents: dict[Record, Record | None] = dict(zip(self.records, (None, *self.records)))
        else:
            walk = Walk(iter(newest_first))
            self.parents = {record: walk.parent(record) for record in walk.before()}
            self.bridged = {offset: what for offset, what in walk.faults if what.endswith("bridged")}

    @cached_property
    def named(self) -> dict[str, Record]:
        """The last record of each id."""
        return {r.id: r for r in self.records if r.id and not r.damaged and r.type != "session"}

    def last(self, id: str) -> Record:
        """The last record of that id."""
        if id not in self.named:
            raise SessionError(f"no message {id} in it", path=self.path)
        return self.named[id]

    def way(self, last: Record) -> list[Record]:
        """The records from the first behind the header to one, damaged ones among them."""
        return [r for r in ancestry(last, self.parents.__getitem__) if r.type != "session"][::-1]

    def folds(self) -> dict[Record, int]:
        """How many folds stand before each record on its way."""
        counts: dict[Record, int] = {}
        for record in self.records:
            parent = self.parents.get(record)
            fold = record.type == "compaction" and "undo" not in mark_of(record)
            counts[record] = (counts[parent] if parent else 0) + fold
        return counts

    def faults(self, way: Sequence[Record]) -> Iterator[Fault]:
        """What was wrong on the way."""
        with opened(self.path) as fd:
            for record in way:
                what = "damaged line, left out" if record.damaged else self.bridged.get(record.line.offset)
                if what:
                    yield Fault(line_number(fd, record.line.offset), what)


def _behind(history: _History, whole: Sequence[Record]) -> list[Json]:
    """The records behind the copied ones: labels that were set elsewhere, and a mark behind a fold that is cut short."""
    records: list[Json] = []
    ids = {record.id for record in whole}
    here, everywhere = _labels(whole), _labels(history.records)
    for target, data in everywhere.items():
        if target in ids and (data.get("label") or None) != (here.get(target, {}).get("label") or None):
            records.append({key: data[key] for key in ("type", "timestamp", "targetId", "label") if key in data})
    if group_of(whole[-1]) and not records:
        records.append({"type": "custom", "customType": BRANCH, "timestamp": writing.now()})
    return composing.chained(records, whole[-1].id)


def _copied(records: Sequence[Record]) -> list[list[Record]]:
    """Each user message with the copies that folds and undos made of it."""
    found: dict[str, list[Record]] = {}
    for record in records:
        if record.id and dialect.role_of(record) == "user":
            found[record.id] = found.get(str(mark_of(record).get("of")), [])
            found[record.id].append(record)
    return list({id(same): same for same in found.values()}.values())


def _labels(records: Sequence[Record]) -> dict[str, Json]:
    """The newest label of each entry that ever had one."""
    found = (r.data for r in records if r.type == "label" and not r.damaged)
    return {target: data for data in found if isinstance(target := data.get("targetId"), str)}


def _words(message: Message | None) -> str:
    parts = message.parts if message else ()
    return "\n".join(p.text if isinstance(p, Text) else f"[{p.kind}]" for p in parts if isinstance(p, Text | Media))
