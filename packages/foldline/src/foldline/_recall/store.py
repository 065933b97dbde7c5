"""The index's file: made where it is missing, made anew where it is damaged or of another version."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from foldline._cache import cache_file
from foldline._errors import FoldlineError

T = TypeVar("T")

VERSION = 4
"""Of the tables below; a file of another one is thrown away and made anew."""

PATIENCE = 60.0
"""Seconds that a writer waits for another one."""

MEMORY = ":memory:"

DEAD = 10_000
"""Messages that may stand in the word index and no longer in their session, before all is made anew."""

DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT)
CLOSED = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_IOERR)

TABLES = """
create table file (path text primary key, stamp text, read integer, tail blob, fault text);
create table session (
  number integer primary key, path text, id text, agent text, cwd text, changed real, unique (path, id)
);
create table message (
  row integer primary key, id text, role text, length integer, media integer, time text, digest blob, own integer, live integer
);
create index message_id on message (id);
create table said (row integer primary key, text);
create table dead (messages integer);
insert into dead values (0);
create virtual table word using fts5 (text, content='', tokenize="unicode61 tokenchars '_'");
"""
"""A message's row is its session's number times 2^32 and a count, so that a session is one range of rows.

`word` holds no text, only where each word stands; `said` holds the text for the snippets.
Tokens are counted when a message is found; `media` are those of its images, which are not in the text.
"""

HASH = 16 * 1024 * 1024
"""Bytes of words that are gathered before they are written; with SQLite's own 1 MB, building takes half as long again."""


def default_path() -> str:
    """Where the index of this machine's sessions is."""
    return cache_file("recall.sqlite", os.environ)


class Store:
    """The database of an index; in memory where its file cannot be made."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.database = self._opened()

    def kept(self, work: Callable[[], T]) -> T:
        """The work's answer; where the file turns out to be damaged, it is made anew and the work is done once more."""
        try:
            try:
                return work()
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    raise
                self.renew()
                return work()
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                self.database.rollback()
            raise FoldlineError(f"the recall index {self.path}: {error}") from error

    def renew(self) -> None:
        """Throws everything away; what is asked for next is read again."""
        self.close()
        if self.path != MEMORY:
            _remove(self.path)
        self.database = self._opened()

    def close(self) -> None:
        """Lets go of the file."""
        with suppress(sqlite3.Error):
            self.database.close()

    def _opened(self) -> sqlite3.Connection:
        try:
            return _connected(self.path)
        except (sqlite3.DatabaseError, OSError) as error:
            if isinstance(error, OSError) or _code(error) in CLOSED:
                self.path = MEMORY
            elif _is_damage(error):
                _remove(self.path)
            else:
                raise FoldlineError(f"the recall index {self.path}: {error}") from error
            return _connected(self.path)


def _connected(path: str) -> sqlite3.Connection:
    if path != MEMORY:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    database = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
    try:
        database.execute("pragma journal_mode = wal")
        database.execute("pragma synchronous = normal")
        if not _is_ours(database):
            _lay_out(database)
        return database
    except BaseException:
        database.close()
        raise


def _is_ours(database: sqlite3.Connection) -> bool:
    """Whether the tables are there; an older version, or one with too much in it that is gone, counts as damaged."""
    (version,) = database.execute("pragma user_version").fetchone()
    if version not in (0, VERSION):
        raise _damaged("of another version")
    if version == 0:
        return False
    (dead,) = database.execute("select messages from dead").fetchone()
    if dead > DEAD and dead > database.execute("select count(*) from message").fetchone()[0]:
        raise _damaged("mostly of messages that are gone")
    return True


def _lay_out(database: sqlite3.Connection) -> None:
    """Makes the tables, unless another process has just made them."""
    database.execute("begin immediate")
    if database.execute("pragma user_version").fetchone() == (0,):
        for statement in TABLES.split(";\n"):
            database.execute(statement)
        database.execute("insert into word (word, rank) values ('hashsize', ?)", (HASH,))
        database.execute(f"pragma user_version = {VERSION}")
    database.execute("commit")


def _damaged(why: str) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(why)
    error.sqlite_errorcode = sqlite3.SQLITE_FORMAT
    return error


def _is_damage(error: sqlite3.Error) -> bool:
    return _code(error) in DAMAGE or "no such table" in str(error) or "vtable constructor failed" in str(error)


def _code(error: BaseException) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _remove(path: str) -> None:
    for name in (path, f"{path}-wal", f"{path}-shm"):
        with suppress(FileNotFoundError):
            os.unlink(name)
