"""A fold, and the undoing of one, as records that pi loads."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from foldline._errors import CompactionError
from foldline._facts.merging import from_data
from foldline._messages import Message, Summary
from foldline._sessions.lines import Record
from foldline._sessions.pi import dialect
from foldline._sessions.pi.marks import FOLD, PIN, UNDO, notes_stages
from foldline._sessions.pi.tree import Path
from foldline._sessions.values import Json, mapping, string
from foldline._sessions.writing import now
from foldline._view import Entry, View

REASSERTED = "(The fold was undone: nothing is folded, the whole history follows.)"
"""The summary of the record that undoes the first fold of a version 1 session, which has no branches."""


class Place(NamedTuple):
    """Where a fold is written: the path as it stands, its records by entry id, and what its readers understand."""

    path: Path
    sources: Mapping[str, Record]
    knows_edits: bool
    linear: bool


def fold_records(place: Place, before: View, after: View, note: Mapping[str, object]) -> list[Json]:
    """The records that make `after` of `before`, the first one carrying the note.

    A prefix that gave way to a summary is a `compaction`, and a single message that changed a `context_edit`. What
    those two cannot say, or an older pi cannot read, is written as messages on a branch of their own.
    """
    leaf = place.path.leaf
    mark = {"fold": note["fold"], "leaf": leaf, **note}
    old = [entry for entry in before.entries if entry.message.role != "system"]
    new = [entry for entry in after.entries if entry.message.role != "system"]
    records = _annotations(place, old, new, mark)
    if records is None:
        if place.linear:
            raise CompactionError("a version 1 session has no branches: only its oldest part can be folded away")
        records = _branch(place, old, new, mark)
    parent = records[0].pop("parentId", leaf)
    return _marked(records, parent if isinstance(parent, str) else None, mark)


def _annotations(place: Place, old: Sequence[Entry], new: Sequence[Entry], mark: Json) -> list[Json] | None:
    """The fold as a compaction and edits of what it kept, or None where they cannot say it."""
    known = {entry.id: entry for entry in old}
    lead = new[0] if new and new[0].id not in known and new[0].message.summary else None
    rest = new[1:] if lead else new
    if any(entry.id not in known for entry in rest):
        return None
    changed = [entry for entry in rest if entry.message is not known[entry.id].message]
    kept = {entry.id for entry in rest}
    first = next((i for i, entry in enumerate(old) if entry.id in kept), len(old)) if lead else 0
    gone = [entry for entry in old[first:] if entry.id not in kept]
    editable = all(_is_editable(place.sources[entry.id]) for entry in changed)
    if (changed or gone) and not (place.knows_edits and editable):
        return None
    edits = [_edit(entry.id, {"content": dialect.content_of(entry.message)}) for entry in changed]
    edits += [_edit(entry.id, None) for entry in gone]
    if lead is None:
        return [{"type": "custom", "customType": FOLD, "data": {}}, *edits]
    start = old[first].id if first < len(old) else None
    return [_compaction(place, lead.message, start, mark), *_early(place.path, start), *edits]


def _early(path: Path, start: str | None) -> list[Json]:
    """The edits that stand before what a compaction keeps, though they are of what it keeps; no client writes one there."""
    at = next((i for i, record in enumerate(path.records) if record.id == start), len(path.records))
    kept = {record.id for record in path.records[at:]}
    early = (r for r in path.records[:at] if r.type == "context_edit" and r.data.get("targetId") in kept)
    return [_stripped(record.data) for record in early]


def _branch(place: Place, old: Sequence[Entry], new: Sequence[Entry], mark: Json) -> list[Json]:
    """The fold as copies of all that it kept, behind a compaction that keeps nothing, or beside what it changed."""
    if new and new[0].message.summary:
        return [_compaction(place, new[0].message, None, mark), *(_copy(place, entry) for entry in new[1:])]
    start: Json = {"type": "custom", "customType": FOLD, "data": {}}
    if place.path.compaction:
        system = dialect.system_at(place.path.records)
        prompt: list[Json] = [{"type": "message", "message": system}] if system else []
        settings = [_stripped(r.data) for r in place.path.records if r.type in dialect.SETTINGS or notes_stages(r)]
        return [{**start, "parentId": None}, *settings, *prompt, *(_copy(place, entry) for entry in new)]
    same = next((i for i, (a, b) in enumerate(zip(old, new)) if a.message is not b.message), min(len(old), len(new)))
    parent = old[same - 1].id if same else _root(place.path)
    at = next((i for i, record in enumerate(place.path.records, 1) if record.id == parent), 0)
    shared = {record.id for record in place.path.records[:at]}
    still = [_stripped(r.data) for r in place.path.records[at:] if _still_holds(r, shared)]
    return [{**start, "parentId": parent}, *still, *(_copy(place, entry) for entry in new[same:])]


def _still_holds(record: Record, shared: Collection[str | None]) -> bool:
    """Whether a branch that shares the beginning of a path has to repeat a record of the rest that is no turn."""
    edits = record.type == "context_edit" and record.data.get("targetId") in shared
    return edits or record.type in dialect.SETTINGS or notes_stages(record) or dialect.role_of(record) == "system"


def _root(path: Path) -> str | None:
    """The last record before anything that the model sees."""
    first = next((i for i, r in enumerate(path.records) if r.type in dialect.CONTRIBUTES), 0)
    return path.records[first - 1].id if first else None


def _is_editable(source: Record) -> bool:
    return dialect.role_of(source) in dialect.EDITABLE


def _edit(id: str, replacement: Json | None) -> Json:
    return {"type": "context_edit", "targetId": id, "replacement": replacement}


def _compaction(place: Place, message: Message, kept: str | None, mark: Mapping[str, object]) -> Json:
    summary = message.summary
    assert summary is not None
    record: Json = {"type": "compaction", "summary": summary.text}
    if place.linear:
        leaf = place.path.records[-1].id or ""
        record["firstKeptEntryIndex"] = int(kept.removeprefix("e")) if kept else int(leaf.removeprefix("e")) + 1
    else:
        record["firstKeptEntryId"] = kept
    record["tokensBefore"] = mapping(mark["receipt"])["tokens_before"]
    record["details"] = details_of(summary)
    if system := dialect.system_at(place.path.records):
        record["systemMessage"] = system
    return record


def details_of(summary: Summary) -> Json:
    """What stands beside a summary: the two lists of files that pi keeps there, and foldline's own note of the rest."""
    files = from_data({"files": summary.facts.get("files")}).files
    return {
        "readFiles": sorted(f.path for f in files if not f.changed),
        "modifiedFiles": sorted(f.path for f in files if f.changed),
        "foldline": _noted(summary),
    }


def _noted(summary: Summary) -> Json:
    """What a summary holds beside its text."""
    return {"facts": summary.facts, **({"frame": summary.frame} if summary.frame else {})}


def _copy(place: Place, entry: Entry) -> Json:
    """A record of the entry as it stands in the view: its own one where there is one, else a message of ours."""
    source, content = place.sources.get(entry.id), dialect.content_of(entry.message)
    as_it_stands = source is not None and entry.message == dialect.message_of(source)
    if source is None or source.type == "compaction" or not (as_it_stands or _is_editable(source)):
        details = {"details": {"foldline": _noted(summary)}} if (summary := entry.message.summary) else {}
        return {"type": "custom_message", "customType": FOLD, "content": content, "display": True, **details}
    pinned = {"pinned": True} if entry.pinned and entry.message.role != "system" else {}
    data = {**_stripped(source.data), "foldline": {"of": entry.id, **pinned}}
    if source.type == "message" and not as_it_stands:
        data["message"] = mapping(data["message"]) | {"content": content}
    elif not as_it_stands:
        data["content"] = content
    return data


def _stripped(data: Mapping[str, object]) -> Json:
    return {key: value for key, value in data.items() if key not in ("id", "parentId", "foldline")}


def undo_records(place: Place, group: Sequence[Record], leaf: str | None, note: Mapping[str, object]) -> list[Json]:
    """The records that bring back the context from before a fold, with what came after it behind.

    They start a branch at the entry that was the newest one when the fold was made. Version 1 has no branches: there
    the boundary from before the fold is written once more.
    """
    later = place.path.records[place.path.records.index(group[-1]) + 1 :]
    renamed: dict[str, str] = {}
    records: list[Json] = [{"type": "custom", "customType": UNDO, "data": {"fold": note["undo"]}}]
    for record in later:
        pins = record.data.get("customType") == PIN
        if record.type not in (*dialect.CONTRIBUTES, *dialect.SETTINGS, "context_edit") and not pins:
            continue
        data = _stripped(record.data)
        if record.type == "context_edit":
            data["targetId"] = renamed.get(str(data.get("targetId")), data.get("targetId"))
        if pins and isinstance(said := data.get("data"), dict):
            data["data"] = {**said, "target": renamed.get(str(said.get("target")), said.get("target"))}
        new = new_entry_id()
        if record.id:
            renamed[record.id] = new
        records.append({"id": new, **data, "foldline": {"of": record.id}})
    return _marked(records, leaf, note)


def reasserted(earlier: Record | None, note: Mapping[str, object]) -> Json:
    """The record that undoes a fold of a version 1 session: the earlier boundary again, or one that folds nothing."""
    data = dict(earlier.data) if earlier else {"summary": REASSERTED, "firstKeptEntryIndex": 1, "tokensBefore": 0}
    details = data.get("details")
    facts = {"facts": dialect.facts_of(data)} if dialect.facts_of(data) else {}
    own = {**(details if isinstance(details, dict) else {}), "foldline": {**facts, **note, "nothing": earlier is None}}
    return {**data, "type": "compaction", "timestamp": now(), "details": own}


def chained(records: Iterable[Mapping[str, object]], parent: str | None) -> list[Json]:
    """The records with ids and times, each hanging on the one before and the first one on `parent`."""
    made: list[Json] = []
    for record in records:
        id = string(record.get("id")) or new_entry_id()
        base = {"type": record["type"], "id": id, "parentId": parent, "timestamp": record.get("timestamp") or now()}
        made.append(base | {key: value for key, value in record.items() if key not in base})
        parent = id
    return made


def _marked(records: Sequence[Json], parent: str | None, mark: Mapping[str, object]) -> list[Json]:
    """The records of a fold or an undo in a chain, the first one marked in full and the others by the fold's id."""
    made = chained(records, parent)
    short = {key: mark[key] for key in ("fold", "undo") if key in mark}
    for n, record in enumerate(made):
        folds = record["type"] == "compaction"
        if folds and record.get("firstKeptEntryId", "") is None:
            record["firstKeptEntryId"] = record["id"]
        note = short if n else {**mark, "records": len(made)}
        if folds and n == 0:
            mapping(mapping(record["details"])["foldline"]).update(note)
        else:
            record["foldline"] = {**mapping(record.get("foldline")), **note}
    return made


def new_entry_id() -> str:
    """An id as pi makes them: eight hexadecimal digits."""
    return os.urandom(4).hex()


def new_session_id() -> str:
    """An id for a new session, a UUID."""
    h = os.urandom(16).hex()
    return f"{h[:8]}-{h[8:12]}-7{h[13:16]}-8{h[17:20]}-{h[20:]}"


def new_path(folder: str, id: str, stamp: str) -> str:
    """Where pi would put a new session: its time and its id are the file's name."""
    return os.path.join(folder, f"{stamp.replace(':', '-').replace('.', '-')}_{id}.jsonl")
