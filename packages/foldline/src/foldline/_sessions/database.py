"""SQLite stores of sessions, opened without changing anything about them."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from urllib.parse import quote

from foldline._errors import SessionError
from foldline._sessions.lines import decode
from foldline._sessions.source import Source
from foldline._sessions.values import Json

AS_IT_IS = "mode=ro&immutable=1"
BESIDE_ITS_OWNER = "mode=ro"


def tables(path: str) -> frozenset[str]:
    """The names of the tables in a database; none where they cannot be read."""
    try:
        return frozenset(str(name) for (name,) in query(Source(path), "select name from sqlite_master"))
    except SessionError:
        return frozenset()


def query(source: Source, sql: str, *values: object) -> list[tuple[object, ...]]:
    """The rows that a query gives; raises `SessionError` where the database cannot answer it."""
    problem: Exception | None = None
    for opening in _openings(source.path):
        try:
            return _query(source.path, opening, sql, values)
        except (sqlite3.Error, OverflowError, ValueError) as error:
            problem = error
    raise source.refused(f"not a readable database: {problem}") from problem


def object_in(column: object) -> Json | None:
    """The JSON object in a column, or None where there is none."""
    data = column.encode("utf-8", "replace") if isinstance(column, str) else column
    try:
        value = decode(data) if isinstance(data, bytes) else None
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _openings(path: str) -> tuple[str, ...]:
    """How to open a store: SQLite puts files beside one that its owner may be writing to, so only where some are."""
    try:
        written = os.path.getsize(f"{path}-wal") > 0
    except (OSError, ValueError):
        written = False
    return (BESIDE_ITS_OWNER, AS_IT_IS) if written else (AS_IT_IS,)


def _query(path: str, opening: str, sql: str, values: tuple[object, ...]) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(f"file:{quote(path)}?{opening}", uri=True, timeout=5.0)) as connection:
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        return connection.execute(sql, values).fetchall()
