"""What earlier lists found out, in a file that may be deleted, damaged or written by two at once."""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress

import msgspec
from msgspec import Struct

from foldline import __version__
from foldline._errors import SessionError
from foldline._sessions.descriptors import open_plain
from foldline._sessions.finding import StoreFile

VERSION = f"3 of {__version__}"
"""Of the rows, and of what windows models are known to have; a file of another one is read as an empty one."""


class Known(Struct, array_like=True, gc=False):
    """What is known of a session as long as its file's size, time and inode are these.

    `place` is what stands behind the path of a file that holds several, `when` the session's own time in seconds since
    1970, 0 where it is the file's, and `parent` the id of the session that it works for. `tokens`, `compactions` and
    `messages` are None until they are known; `whole` says that there is no more to be found out. `overhead` and `ratio` are
    what its bills taught of sessions of `agent` in tokens of `family`, which are empty where there were none.
    """

    size: int
    changed: int
    inode: int
    id: str = ""
    cwd: str = ""
    model: str = ""
    tokens: int | None = None
    window: int = 0
    compactions: int | None = None
    messages: int | None = None
    prompt: str = ""
    error: str = ""
    whole: bool = False
    place: str = ""
    when: float = 0.0
    title: str = ""
    parent: str = ""
    agent: str = ""
    family: str = ""
    overhead: int = 0
    ratio: float = 0.0


class _Kept(Struct, array_like=True):
    version: str
    rows: dict[str, list[Known]]


class Memory:
    """What is known of session files by their paths; of two that write at once, the later one's knowledge stays."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._rows: dict[str, list[Known]] = {}
        self.changed = False
        """Whether there is something to be saved."""
        with suppress(OSError, ValueError, msgspec.DecodeError):
            with open(open_plain(path), "rb") as file:
                kept = msgspec.msgpack.decode(file.read(), type=_Kept)
            if kept.version == VERSION:
                self._rows = kept.rows

    def of(self, file: StoreFile) -> list[Known]:
        """What is known of the sessions in a file as it stands; none where nothing is."""
        known = self._rows.get(file.path, [])
        if not known:
            return known
        one = known[0]
        same = one.changed == file.changed and one.size == file.size and one.inode == file.inode
        return known if same else []

    def keep(self, file: StoreFile, known: list[Known]) -> None:
        """Notes what is known of the sessions in a file."""
        self._rows[file.path] = known
        self.changed = True

    def forget_all_but(self, paths: Collection[str]) -> None:
        """Drops the files that are gone."""
        if len(paths) == len(self._rows):
            return
        gone = self._rows.keys() - set(paths)
        for path in gone:
            del self._rows[path]
        self.changed |= bool(gone)

    def save(self) -> None:
        """Writes what is new; where that cannot be, the next list finds it out once more."""
        if not self.changed:
            return
        from foldline._sessions.writing import replace_file

        with suppress(OSError, SessionError):
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            replace_file(self.path, _encoded(self._rows))
            self.changed = False


def _encoded(rows: dict[str, list[Known]]) -> bytes:
    """What is known, without the files whose paths or words are no text, which cannot be written down."""
    try:
        return msgspec.msgpack.encode(_Kept(VERSION, rows))
    except UnicodeEncodeError:
        return msgspec.msgpack.encode(
            _Kept(VERSION, {path: known for path, known in rows.items() if _is_text(path, known)})
        )


def _is_text(path: str, known: list[Known]) -> bool:
    try:
        msgspec.msgpack.encode((path, known))
    except UnicodeEncodeError:
        return False
    return True
