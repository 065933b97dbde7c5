"""The SQLite store of OpenClaw: the events of its sessions are rows there, and pi's records."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from foldline._errors import SessionError
from foldline._messages import replace
from foldline._sessions.database import object_in, query
from foldline._sessions.file import SessionFile
from foldline._sessions.lines import decode
from foldline._sessions.openclaw import FORMAT
from foldline._sessions.pi.log import Session
from foldline._sessions.reading import Reading, Stored
from foldline._sessions.source import Source
from foldline._sessions.transcript import Transcript
from foldline._sessions.values import as_json, mapping, string
from foldline._sessions.writing import lent_file

try:
    import zstandard
except ImportError:  # it comes with the extra `cli`
    zstandard = None  # type: ignore[assignment]

LARGEST_EVENT = 64 * 1024 * 1024
"""Bytes of the largest event that is unpacked; OpenClaw itself stops at 4 MB."""

_SESSIONS = """
select session_id, max(created_at), (
    select event_json from transcript_events as header where header.session_id = event.session_id order by seq limit 1
) from transcript_events as event group by session_id order by 2, 1
"""


_NODES = """
select shown.session_id, coalesce(node.label, node.display_name), upper.current_session_id
from session_windows as shown join session_nodes as node on node.session_key = shown.session_key
left join session_nodes as upper on upper.session_key = coalesce(node.parent_session_key, node.spawned_by)
"""
"""What each session is called, and the one that it works for."""


def read_all(path: str, *, strict: bool = False) -> list[Stored]:
    """Every session of the store, the one that changed last at the end."""
    source = Source(path, strict=strict)
    found = query(source, _SESSIONS)
    if not found:
        raise source.refused("no session of OpenClaw")
    nodes = {str(id): (string(title), string(parent)) for id, title, parent in _nodes(source)}
    stored: list[Stored] = []
    for id, changed, header in found:
        suffix = f"#{id}" if len(found) > 1 else ""
        seconds = changed / 1000 if isinstance(changed, int | float) else 0.0
        cwd = string(mapping(object_in(header)).get("cwd"))
        read = partial(_reading, source, str(id), suffix)
        stored.append(Stored(str(id), read, cwd, seconds, *nodes.get(str(id), ("", ""))))
    return stored


def _nodes(source: Source) -> list[tuple[object, ...]]:
    """The rows of it; none in a store that has no such tables."""
    try:
        return query(source, _NODES)
    except SessionError:
        return []


def open_session(path: str, *, strict: bool = False) -> SessionFile:
    """A store's newest session is read, a log is opened as pi's."""
    if not Source(path).is_database():
        return Session(path, strict=strict)
    return Transcript(read_all(path, strict=strict)[-1].read(), overhead=FORMAT.overhead)


def _reading(source: Source, id: str, suffix: str) -> Reading:
    """The session as pi's own loader reads it, from a file that is made of its events and lives only as long."""
    source.faults.clear()
    with lent_file(line + b"\n" for line in _events(source, id)) as path:
        try:
            session = Session(path)
        except SessionError as error:
            raise source.refused(f"session {id}: {str(error).partition(': ')[2]}") from error
        live = {name for name, _ in session.context.entries}
        folded = [entry for entry in session.messages() if entry[0] not in live]
        folds = tuple(replace(fold, ours=False) for fold in session.folds())
    for fault in session.faults:
        source.fault(fault.line, fault.what)
    return Reading(
        "openclaw",
        id,
        source.path + suffix,
        tuple(session.context.entries),
        str(session.header.get("cwd") or ""),
        session.model,
        since=session.context.since,
        folds=folds,
        folded=tuple(folded),
        faults=tuple(source.faults),
        stale=session.context.stale,
    )


def _events(source: Source, id: str) -> Iterator[bytes]:
    """The events as lines of a log; the header says the version whose records these are."""
    sql = "select seq, event_json, event_zstd, event_utf8_bytes, navigation_json from transcript_events where session_id = ? order by seq"
    for seq, text, packed, size, outline in query(source, sql, id):
        line = seq + 1 if isinstance(seq, int) else 1
        data = text.encode("utf-8", "replace") if isinstance(text, str) else b""
        if not data and isinstance(packed, bytes):
            data = _unpacked(packed, size)
            if not data:
                why = "is damaged" if zstandard else "is compressed, and the package zstandard is not installed"
                source.fault(line, f"an event {why}: only its outline was read")
                told = mapping(object_in(outline)).get("model") or {}  # its place in the tree and its pair
                data = as_json(told).encode("utf-8", "replace")
        try:
            event = decode(data)
        except ValueError:
            source.fault(line, "an event that is not valid JSON")
            continue
        if not isinstance(event, dict):
            source.fault(line, "an event that is not an object")
            continue
        if event.get("type") == "session":
            event["version"] = 3
        yield as_json(event).encode("utf-8", "replace")


def _unpacked(packed: bytes, size: object) -> bytes:
    """An event that was compressed; nothing where it is damaged, or cannot be unpacked here."""
    if zstandard is None or not isinstance(size, int) or not 0 < size <= LARGEST_EVENT:
        return b""
    try:
        return zstandard.ZstdDecompressor().decompress(packed, max_output_size=size)
    except zstandard.ZstdError:
        return b""
