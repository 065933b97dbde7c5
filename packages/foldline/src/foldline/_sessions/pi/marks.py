"""What foldline notes on the records of a log, and the folds that a log records."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from foldline._sessions.lines import Record
from foldline._sessions.reading import PastFold, receipt_in
from foldline._sessions.values import Json, mapping

FOLD = "foldline:fold"
UNDO = "foldline:undo"
PIN = "foldline:pin"
"""The kinds of `custom` record that foldline writes: where a fold has no compaction to carry its receipt, an undo, a pin."""

STAGES = "foldline:stages"
"""The kind of `custom` record that says which stages a conversation has; the newest one holds."""

DRAFT = "foldline:draft"
"""The kind of `custom` record that holds a draft which was paid for; it is of use until the next fold stands, or is undone."""

_FOLD_LINE = re.compile(rb'"type":\s?"compaction"|"foldline:(?:fold|undo)"|"foldline":\s?\{')


def mark_of(record: Record) -> Json:
    """What foldline noted on a record that belongs to a fold of its own: `fold`, and on the first one `leaf`, `records`, `receipt`.

    On a copy `of` names the record that it repeats.
    """
    data = record.data
    return mapping(data.get("foldline")) or mapping(mapping(data.get("details")).get("foldline"))


def group_of(record: Record) -> tuple[str, str] | None:
    """The fold or the undo that a record was written for, of several records perhaps: its kind and the fold's id."""
    mark = mark_of(record)
    return next(((key, id) for key in ("fold", "undo") if isinstance(id := mark.get(key), str)), None)


def notes_stages(record: Record) -> bool:
    """Whether a record says which stages a conversation has."""
    return record.type == "custom" and record.data.get("customType") == STAGES


def promised(record: Record) -> int:
    """How many records the fold or the undo that starts here was written as; 0 where it does not say."""
    n = mark_of(record).get("records")
    return n if isinstance(n, int) else 0


def starts_fold(record: Record) -> bool:
    """Whether a record is the first one of a fold."""
    mark = mark_of(record)
    return "undo" not in mark and ((record.type == "compaction" and "fold" not in mark) or "receipt" in mark)


def may_be_marked(line: bytes) -> bool:
    """Whether a fold, an undo or a record of one may stand in a line: its kind at the start, foldline's note at the end."""
    ends = (end for end in (line[:4096], line[-256:]) if b'"compaction"' in end or b'"foldline' in end)
    return any(_FOLD_LINE.search(end) for end in ends)


def undoes(record: Record) -> str | None:
    """The fold that a record undoes, or None."""
    fold = mark_of(record).get("undo")
    return fold if isinstance(fold, str) else None


def undone_ids(records: Sequence[Record], *, linear: bool) -> set[str]:
    """The ids on a path that stand for a fold that was undone: no bill of theirs is for the context as it stands.

    They are the undo's own record and its copies of what came after the fold; in version 1, which has no branches, all
    from the fold to its undo.
    """
    if not linear:
        copies = (r for r in records if undoes(r) and r.type not in ("compaction", "context_edit"))
        return {r.id for r in copies if r.id}
    folds = {fold_id(r): i for i, r in enumerate(records) if r.type == "compaction" and undoes(r) is None}
    spans = (records[folds[fold] : i + 1] for i, r in enumerate(records) if (fold := undoes(r)) in folds)
    return {r.id for span in spans for r in span if r.id}


def fold_id(record: Record) -> str:
    """The id of the fold that a record belongs to, or its own."""
    return str(mark_of(record).get("fold") or record.id or record.line.offset)


def past_fold(record: Record, undone: Collection[str | None]) -> PastFold:
    """What the first record of a fold tells of it; `undone` are the ids of folds that were taken back."""
    data, mark = record.data, mark_of(record)
    id = fold_id(record)
    before = data.get("tokensBefore")
    return PastFold(
        id,
        str(data.get("timestamp") or ""),
        str(mark.get("trigger") or ""),
        str(mark.get("layer") or "summarize"),
        receipt_in(mark.get("receipt"), before if isinstance(before, int) else 0),
        str(data.get("summary") or ""),
        id in undone,
        "fold" in mark,
    )


def stages(records: Sequence[Record]) -> Json:
    """What was noted last of the stages of a conversation; empty where nothing was."""
    noted = next((record for record in reversed(records) if notes_stages(record)), None)
    return mapping(noted.data.get("data")) if noted else {}


def drafts(records: Sequence[Record]) -> dict[str, Json]:
    """The drafts that were noted behind the newest fold or undo on a path, by what was asked for."""
    found: dict[str, Json] = {}
    for record in reversed(records):
        if record.type == "compaction" or group_of(record):
            break
        if record.type == "custom" and record.data.get("customType") == DRAFT:
            data = mapping(record.data.get("data"))
            found.setdefault(str(data.get("ask")), mapping(data.get("answer")))
    return found


def pins(records: Iterable[Record]) -> set[str]:
    """The ids of the entries on a path that are pinned: copies say so themselves, and what was pinned or unpinned last holds."""
    pinned: set[str] = set()
    for record in records:
        if record.id and mark_of(record).get("pinned") is True:
            pinned.add(record.id)
        data = mapping(record.data.get("data")) if record.data.get("customType") == PIN else {}
        if isinstance(target := data.get("target"), str):
            pinned = pinned | {target} if data.get("pinned") is True else pinned - {target}
    return pinned
