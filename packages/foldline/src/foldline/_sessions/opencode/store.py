"""Where opencode keeps sessions: its database, and the document that it exports."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from foldline._sessions.database import object_in, query
from foldline._sessions.source import Source
from foldline._sessions.values import Json, mapping, mappings

Held = tuple[Json, Callable[[], list[Json]]]
"""What a session says about itself, and its messages when they are asked for, each with its `info` and its `parts`."""


def sessions(source: Source) -> list[Held]:
    """The sessions in a file, the one that changed last at the end."""
    if source.is_database():
        return _from_database(source)
    document = mapping(source.document())
    if "messages" not in document:
        raise source.refused("no session of opencode")
    return [(mapping(document.get("info")), lambda: list(mappings(document["messages"])))]


def _from_database(source: Source) -> list[Held]:
    known = {str(name) for (name,) in query(source, "select name from pragma_table_info('session')")}
    columns = [name for name in ("id", "parent_id", "directory", "title", "revert", "time_updated") if name in known]
    order = "order by time_updated, id" if "time_updated" in columns else "order by id"
    found: list[Held] = []
    for row in query(source, f"select {', '.join(columns)} from session {order}"):
        about: Json = dict(zip(columns, row))
        if about.get("revert"):
            about["revert"] = _decoded(about["revert"], source)
        found.append((about, partial(_rows_of, str(about.get("id")), source)))
    return found


def _rows_of(session: str, source: Source) -> list[Json]:
    parts: dict[str, list[Json]] = {}
    for id, message, data in query(
        source, "select id, message_id, data from part where session_id = ? order by id", session
    ):
        parts.setdefault(str(message), []).append({**_decoded(data, source), "id": str(id)})
    rows = query(source, "select id, data from message where session_id = ? order by time_created, id", session)
    return [{"info": {**_decoded(data, source), "id": str(id)}, "parts": parts.get(str(id), [])} for id, data in rows]


def _decoded(column: object, source: Source) -> Json:
    found = object_in(column)
    if found is None:
        source.fault(1, "a row whose data is not valid JSON")
    return found or {}
