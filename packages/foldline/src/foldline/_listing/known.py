"""What earlier lists found out, in a file that may be deleted, damaged or written by two at once."""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress

import msgspec
from msgspec import Struct

from foldline import __version__
from foldline._errors import SessionError
from foldline._sessions.finding import StoreFile, printable

VERSION = f"3 of {__version__}"
"""Of the rows, and of what windows models are known to have; a file of another one is read as an empty one."""


class Known(Struct, array_like=True, gc=False):
    """What is known of a session file as long as its size, its time and its inode are these.

    `overhead` and `ratio` are what its bills taught of sessions of `agent` in
    tokens of `family`, which are empty where there were none.
    `tokens`, `compactions` and `messages` are None until they are known; `whole` says that there is no more to be found out.
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
    agent: str = ""
    family: str = ""
    overhead: int = 0
    ratio: float = 0.0


class _Kept(Struct, array_like=True):
    version: str
    rows: dict[str, Known]


class Memory:
    """What is known of session files by their paths; of two that write at once, the later one's knowledge stays."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._rows: dict[str, Known] = {}
        self._changed = False
        with suppress(OSError, ValueError, msgspec.DecodeError):
            with open(path, "rb") as file:
                kept = msgspec.msgpack.decode(file.read(), type=_Kept)
            if kept.version == VERSION:
                self._rows = kept.rows

    def of(self, file: StoreFile) -> Known | None:
        """What is known of a file as it stands, or None."""
        known = self._rows.get(file.path)
        fits = known and known.changed == file.changed and known.size == file.size and known.inode == file.inode
        return known if fits else None

    def keep(self, file: StoreFile, known: Known) -> None:
        """Notes what is known of a file."""
        self._rows[file.path] = known
        self._changed = True

    def forget_all_but(self, paths: Collection[str]) -> None:
        """Drops the files that are gone."""
        if len(paths) == len(self._rows):
            return
        gone = self._rows.keys() - set(paths)
        for path in gone:
            del self._rows[path]
        self._changed |= bool(gone)

    @property
    def changed(self) -> bool:
        """Whether there is something to be saved."""
        return self._changed

    def save(self) -> None:
        """Writes what is new; where that cannot be, the next list finds it out once more.

        Paths that are no text cannot be written down.
        """
        if not self._changed:
            return
        from foldline._sessions.writing import replace_file

        rows = {path: known for path, known in self._rows.items() if printable(path) == path}
        with suppress(OSError, SessionError):
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            replace_file(self.path, msgspec.msgpack.encode(_Kept(VERSION, rows)))
            self._changed = False
