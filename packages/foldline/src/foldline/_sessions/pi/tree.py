"""From a file's records to the path that leads to its newest one: where the live context is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, takewhile
from typing import NamedTuple

from foldline._sessions.ancestry import ancestry
from foldline._sessions.lines import Record
from foldline._sessions.pi.marks import group_of, promised


class Damage(NamedTuple):
    """Something wrong in a file that was read around: where, in bytes, and what."""

    offset: int
    what: str


class Path(NamedTuple):
    """The records from the boundary to the leaf, in order, and the newest compaction among them.

    `kept` is the place of the first record that the compaction kept; the compaction's own where it kept none.
    """

    records: list[Record]
    compaction: Record | None
    kept: int
    faults: list[Damage]

    @property
    def leaf(self) -> str | None:
        """The id of the newest record, which the next one hangs on."""
        return self.records[-1].id if self.records else None


def live_path(records: Iterator[Record]) -> Path:
    """The path of a file whose records come last first, read only as far back as its newest compaction keeps.

    The leaf is the last record. A parent is the nearest record before it of that id. What hangs on a record that is
    missing or unreadable is bridged to the record before it in the file.
    """
    walk = Walk(records)
    path: list[Record] = []
    compaction: Record | None = None
    stop: str | None = None
    left, found = 0, False
    for record in ancestry(walk.leaf(), walk.parent):
        path.append(record)
        if compaction is None and record.type == "compaction":
            compaction, stop, left = record, first_kept(record), kept_messages(record)
            if stop in (None, record.id) and not left:
                break
        elif left and record.type == "compaction":
            path.pop()
            break
        elif left and record.type == "message":
            found, left = True, left - 1
            if not left:
                break
        elif compaction is not None and record.id == stop:
            found = True
            break
    whole = [r for r in reversed(path) if not r.damaged]
    at = whole.index(compaction) if compaction else 0
    return Path(whole, compaction, 0 if found else at, walk.faults)


def linear_path(records: Iterator[Record]) -> Path:
    """The path of a version 1 file, which has no ids: every record hangs on the one before, and is named by its place."""
    whole = list(records)[::-1]
    faults = [Damage(r.line.offset, "damaged line") for r in whole if r.damaged]
    path = [r for r in numbered(whole) if r.type != "session"]
    compaction = next((r for r in reversed(path) if r.type == "compaction"), None)
    at = path.index(compaction) if compaction else 0
    if compaction and (count := kept_messages(compaction)):
        begin = next((i for i in range(at - 1, -1, -1) if path[i].type == "compaction"), -1) + 1
        said = [i for i in range(begin, at) if path[i].type == "message"]
        return Path(path, compaction, [*said[-count:], at][0], faults)
    first = first_kept(compaction) if compaction else None
    return Path(path, compaction, next((i for i, r in enumerate(path[:at]) if r.id == first), at), faults)


def numbered(records: Iterable[Record]) -> list[Record]:
    """The records of a version 1 file that are whole, each named by its place among them, the header's being 0."""
    whole = [record for record in records if not record.damaged]
    for place, record in enumerate(whole):
        record.id, record.parent = f"e{place}", f"e{place - 1}" if place > 1 else None
    return whole


def first_kept(compaction: Record) -> str | None:
    """The id of the first entry that a compaction left alone; None, or its own id, where it kept nothing."""
    kept = compaction.data.get("firstKeptEntryId")
    if kept is None and isinstance(place := compaction.data.get("firstKeptEntryIndex"), int):
        return f"e{place}"
    return kept if isinstance(kept, str) else None


def kept_messages(compaction: Record) -> int:
    """How many messages before it a compaction left alone, where it says a number, as pi's first plan had it; else 0."""
    count = compaction.data.get("keepLastMessages")
    return count if isinstance(count, int) and count > 0 and first_kept(compaction) is None else 0


def parent_of(record: Record, before: Iterator[Record]) -> str | None:
    """The id of the record that one hangs on, of those before it in the file, last first; bridged where it is missing."""
    walk = Walk(chain((record,), before))
    return next((each.id for each in ancestry(walk.parent(next(walk.before())), walk.parent) if not each.damaged), None)


class Walk:
    """The records of a file, last first, each read when it is come to; `faults` lists what was wrong on the way."""

    def __init__(self, records: Iterator[Record]) -> None:
        self.faults: list[Damage] = []
        self._records = records
        self._read: list[Record] = []
        self._places: dict[int, int] = {}
        self._ids: set[str] | None = None
        """Every id of the file, once all of it was read."""

    def before(self, record: Record | None = None) -> Iterator[Record]:
        """The records before one, the nearest first; without it all of them."""
        place = self._places[record.line.offset] + 1 if record else 0
        while place < len(self._read) or self._read_one():
            yield self._read[place]
            place += 1

    def leaf(self, behind: Record | None = None) -> Record | None:
        """The last record that is whole, and not of a fold or an undo that was never finished.

        A fold counts its records in its first one; one that is cut short at the end of the file never happened.
        """
        whole = (r for r in self.before(behind) if r.type != "session" and r.id and not r.damaged)
        last = next(whole, None)
        group = group_of(last) if last else None
        if last is None or group is None:
            return last
        members = [
            last,
            *takewhile(lambda each: group_of(each) == group, (r for r in self.before(last) if not r.damaged)),
        ]
        if len(members) >= promised(members[-1]):
            return last
        self.faults.append(Damage(members[-1].line.offset, f"{group[0]} that was cut short, left out"))
        return self.leaf(members[-1])

    def parent(self, record: Record) -> Record | None:
        """The record that one hangs on, further back in the file."""
        if record.parent is not None and (self._ids is None or record.parent in self._ids):
            for each in self.before(record):
                if each.id == record.parent:
                    return each
            self._ids = {each.id for each in self._read if each.id}
        if record.parent is not None:
            self.faults.append(Damage(record.line.offset, f"hangs on {record.parent}, which is not there: bridged"))
        elif not record.damaged:
            return None
        return next((r for r in self.before(record) if r.type != "session" and (r.id or r.damaged)), None)

    def _read_one(self) -> bool:
        record = next(self._records, None)
        if record is None:
            return False
        if record.damaged:
            self.faults.append(Damage(record.line.offset, "damaged line"))
        elif record.id is None and record.type != "session":
            self.faults.append(Damage(record.line.offset, "record without an id, passed over"))
        self._places[record.line.offset] = len(self._read)
        self._read.append(record)
        return True
