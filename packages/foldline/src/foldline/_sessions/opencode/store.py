"""Where opencode keeps sessions: its database, its older folder of files, and the document that it exports."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from foldline._sessions.database import object_in, query
from foldline._sessions.opencode import storage
from foldline._sessions.source import Source, documents
from foldline._sessions.values import Json, mapping, mappings, string

Held = tuple[Json, Callable[[], list[Json]]]
"""What a session says about itself, and its messages when they are asked for, each with its `info` and its `parts`."""


def sessions(source: Source) -> list[Held]:
    """The sessions in a file or a folder, the one that changed last at the end."""
    if os.path.isdir(source.path):
        return _from_folder(source)
    if source.is_database():
        return _from_database(source)
    document = mapping(source.document())
    if "messages" in document:
        return [(mapping(document.get("info")), lambda: list(mappings(document["messages"])))]
    if id := string(document.get("id")):
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(source.path))))
        return [(document, partial(_messages_of, root, id, source))]
    raise source.refused("no session of opencode")


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


def _from_folder(source: Source) -> list[Held]:
    root = storage(source.path)
    found: list[tuple[float, Held]] = []
    for folder, _, _ in sorted(os.walk(os.path.join(root, "session"))):
        for about in _files(folder, source):
            if id := string(about.get("id")):
                updated = mapping(about.get("time")).get("updated")
                changed = updated if isinstance(updated, int | float) else 0
                found.append((changed, (about, partial(_messages_of, root, id, source))))
    return [session for _, session in sorted(found, key=lambda each: each[0])]


def _messages_of(root: str, session: str, source: Source) -> list[Json]:
    messages: list[Json] = []
    for info in _files(os.path.join(root, "message", os.path.basename(session)), source):
        parts = list(_files(os.path.join(root, "part", os.path.basename(string(info.get("id"), "?"))), source))
        messages.append({"info": info, "parts": parts})
    return messages


def _files(folder: str, source: Source) -> Iterator[Json]:
    """The documents in a folder by their names, which are ids in order of time; none where there is no folder."""
    with suppress(OSError, ValueError):
        for name, document in documents(folder):
            if not isinstance(document, dict):
                source.fault(1, f"{name} cannot be read")
            elif document:
                yield document
