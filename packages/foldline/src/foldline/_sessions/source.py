"""The file behind a transcript: its rows, its document, and what was wrong with them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from foldline._errors import SessionError
from foldline._sessions.descriptors import open_plain
from foldline._sessions.lines import decode
from foldline._sessions.reading import Fault, Reading, Stored
from foldline._sessions.values import Json

BOM = b"\xef\xbb\xbf"

SQLITE = b"SQLite format 3\0"
"""How every SQLite database starts."""

LARGEST = 1 << 30
"""Bytes of the largest document that is read whole; rows have no such limit."""


Told = tuple[str, Callable[[str, str], Reading]]


class Source:
    """One session file while it is read; `faults` lists what was read around, and `strict` refuses the first."""

    def __init__(self, path: str | os.PathLike[str], *, strict: bool = False) -> None:
        self.path = os.fspath(path)
        self.strict = strict
        self.faults: list[Fault] = []

    @property
    def stem(self) -> str:
        """The file's name without its ending."""
        return os.path.basename(self.path).split(".")[0]

    def refused(self, what: str, line: int | None = None) -> SessionError:
        """The error that says why the file is not read."""
        return SessionError(what, path=self.path, line=line)

    def fault(self, line: int, what: str) -> None:
        """Notes something wrong in a line, or raises it where nothing may be wrong."""
        if self.strict:
            raise self.refused(what, line)
        self.faults.append(Fault(line, what))

    def lines(self, *, blank: bool = False) -> Iterator[tuple[int, bytes]]:
        """The lines with their numbers, the blank ones too where they count."""
        try:
            with open(open_plain(self.path), "rb") as file:
                for number, line in enumerate(file, 1):
                    data = line.removeprefix(BOM) if number == 1 else line
                    if blank or data.strip():
                        yield number, data
        except (OSError, ValueError) as error:
            raise self.refused(f"cannot be read: {reason(error)}") from error

    def rows(self) -> Iterator[tuple[int, Json]]:
        """The objects of a file that holds one in each line; what is none is a fault."""
        for number, line in self.lines():
            try:
                row = decode(line)
            except ValueError:
                self.fault(number, "not valid JSON")
                continue
            if isinstance(row, dict):
                yield number, row
            else:
                self.fault(number, "not an object")

    def is_lined(self) -> bool:
        """Whether the file holds an object in each line, as its first one shows."""
        first = next((line for _, line in self.lines()), b"").strip()
        return len(first) > 2 and first.startswith(b"{") and first.endswith(b"}")

    def is_database(self) -> bool:
        """Whether the file is a database of SQLite."""
        return self._start(len(SQLITE)) == SQLITE

    def data(self) -> bytes:
        """The whole file."""
        data = self._start(LARGEST + 1)
        if len(data) > LARGEST:
            raise self.refused("too large to be read whole")
        return data.removeprefix(BOM)

    def document(self) -> object:
        """The JSON value that the whole file is."""
        try:
            return decode(self.data())
        except ValueError as error:
            raise self.refused("not valid JSON", getattr(error, "lineno", None)) from error

    def contents(self) -> object:
        """What the file holds: its objects, where it has one in each line, else the JSON value that it is."""
        return [row for _, row in self.rows()] if self.is_lined() else self.document()

    def optional(self) -> object:
        """The JSON value that the file is, or None where there is none."""
        try:
            return self.document()
        except SessionError:
            return None

    def sessions(self, found: Sequence[Told], none: str) -> list[Stored]:
        """The sessions told in the file: each with its id, which may be empty, and what reads it by its id and its path.

        Of several each has its number behind a `#`. Without any the file is refused, as the one that `none` says it is.
        """
        if not found:
            raise self.refused(none)
        stored: list[Stored] = []
        for number, (id, read) in enumerate(found, 1):
            suffix = f"#{number}" if len(found) > 1 else ""
            name = id or self.stem + suffix
            stored.append(Stored(name, partial(read, name, self.path + suffix)))
        return stored

    def _start(self, size: int) -> bytes:
        """The first bytes of the file, at most so many."""
        try:
            with open(open_plain(self.path), "rb") as file:
                return file.read(size)
        except (OSError, ValueError) as error:
            raise self.refused(f"cannot be read: {reason(error)}") from error


def parted(path: str | os.PathLike[str]) -> tuple[str, str]:
    """A path, and the number or the id of a session in it where one is named behind a `#`."""
    whole = os.fspath(path)
    base, mark, which = whole.rpartition("#")
    named = bool(mark and which) and not os.path.exists(whole)
    return (base, which) if named and ((which.isdecimal() and len(which) < 10) or os.path.isfile(base)) else (whole, "")


def reason(error: Exception) -> str:
    """Why a file could not be read, in the system's words."""
    return getattr(error, "strerror", None) or str(error)
