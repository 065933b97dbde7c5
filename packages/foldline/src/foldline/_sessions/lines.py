"""The lines of a session file, read from its end: the cost follows what is asked for, not the file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from foldline._errors import SessionError
from foldline._sessions.descriptors import open_plain, read_at
from foldline._sessions.values import Json

CHUNK = 256 * 1024
"""Bytes per read: 256 KB was fastest of 64 KB to 4 MB on a 2 GB file."""

_SALVAGE = re.compile(rb'"(id|parentId)"\s*:\s*(?:"([^"\\]{1,200})"|null)')


class Line(NamedTuple):
    """One line: the byte that it starts at, and its bytes without the newline."""

    offset: int
    data: bytes


class Head(Struct):
    """What the tree needs of a record; the rest is decoded when it is asked for."""

    type: str = ""
    id: str | None = None
    parentId: str | None = None  # noqa: N815
    version: int | None = None


class Record:
    """One record of a session file: its place, its kind, its id and its parent's; `data` is the whole of it."""

    __slots__ = ("_data", "damaged", "id", "line", "parent", "type", "version")

    def __init__(self, line: Line) -> None:
        self.line = line
        self.damaged = False
        self._data: Json | None = None
        head = _head(line.data)
        if head is None:
            head, self.damaged = _salvaged(line.data), True
        self.type, self.id, self.parent, self.version = head.type, head.id or None, head.parentId or None, head.version

    @property
    def data(self) -> Json:
        """The record as JSON data; empty where the line is damaged."""
        if self._data is None:
            try:
                value = None if self.damaged else decode(self.line.data)
            except ValueError:
                value, self.damaged = None, True
            self._data = value if isinstance(value, dict) else {}
        return self._data


_decode_head = msgspec.json.Decoder(Head).decode
_decode_any = msgspec.json.Decoder().decode


def decode(data: bytes) -> Any:
    """The JSON value in a line; what strict readers refuse (lone surrogates, NaN, bytes that are no UTF-8) is read too.

    Raises `ValueError` where there is none.
    """
    try:
        return _decode_any(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def encoded(record: object) -> bytes:
    """A record as one line, newline included; lone surrogates are escaped as JavaScript writes them."""
    try:
        return msgspec.json.encode(record) + b"\n"
    except (UnicodeEncodeError, OverflowError, TypeError):
        return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def _head(data: bytes) -> Head | None:
    try:
        return _decode_head(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        value = decode(data)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    text = {key: v for key in ("type", "id", "parentId") if isinstance(v := value.get(key), str)}
    version = value.get("version")
    return Head(**text, version=version if isinstance(version, int) else None)


def _salvaged(data: bytes) -> Head:
    """The id and the parent that a damaged line still shows near its start, so that its children are not cut off."""
    found = {key.decode(): value.decode("utf-8", "replace") for key, value in _SALVAGE.findall(data[:1_000])[:2]}
    return Head("", found.get("id") or None, found.get("parentId") or None)


@contextmanager
def opened(path: str) -> Iterator[int]:
    """The descriptor of a session file; raises `SessionError` where it cannot be read."""
    try:
        fd = open_plain(path)
    except OSError as error:
        raise SessionError(f"cannot be read: {error.strerror}", path=path) from error
    try:
        yield fd
    finally:
        os.close(fd)


def lines_from_end(fd: int, end: int, chunk_size: int = CHUNK, last: bytes = b"") -> Iterator[Line]:
    """The lines that end before the byte `end`, last first; blank lines are passed over.

    `last` are the bytes before `end` where they were read already.
    """
    behind: list[bytes] = []
    position = end
    while position > 0:
        size = min(chunk_size, position)
        chunk = last or read_at(fd, size, position - size)
        position -= len(last) or size
        last = b""
        cut = len(chunk)
        while (newline := chunk.rfind(b"\n", 0, cut)) >= 0:
            data = chunk[newline + 1 : cut]
            if behind:
                data = b"".join((data, *reversed(behind)))
                behind = []
            if data and not data.isspace():
                yield Line(position + newline + 1, data)
            cut = newline
        behind.append(chunk[:cut])
    data = b"".join(reversed(behind))
    if data and not data.isspace():
        yield Line(0, data)


def first_line(fd: int) -> Line | None:
    """The first line of the file that can be read, else the first that is not blank; at most 1 MB is searched, as pi does."""
    data = read_at(fd, 4096, 0)
    if b"\n" not in data.lstrip():
        data = read_at(fd, 1 << 20, 0)
    lines = (Line(match.start(), match.group()) for match in re.finditer(rb"[^\n]+", data) if match.group().strip())
    first = next(lines, None)
    if first is None or not Record(first).damaged:
        return first
    return next((line for line in lines if not Record(line).damaged), first)


def line_number(fd: int, offset: int) -> int:
    """Which line starts at the byte `offset`, counted from 1."""
    number, position = 1, 0
    while position < offset:
        chunk = read_at(fd, min(1 << 20, offset - position), position)
        if not chunk:
            break
        number += chunk.count(b"\n")
        position += len(chunk)
    return number
