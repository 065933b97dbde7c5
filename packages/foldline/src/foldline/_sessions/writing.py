"""Writes that lose nothing: one write per fold under a lock, and whole files by sync and rename."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from foldline._errors import SessionError
from foldline._fold import Fold
from foldline._sessions.descriptors import lock, read_at, sync
from foldline._sessions.values import Json

if TYPE_CHECKING:
    from foldline._sessions.context import Context
    from foldline._tokens.meter import Meter
    from foldline._view import View


def fold_note(fold: Fold, before: View, context: Context, meter: Meter, path: str) -> Json:
    """What foldline notes of a fold that it writes.

    Raises `SessionError` where it is not of the context as it stands, and for a provider's own compaction: no agent would
    send it back as it came, signed or sealed.
    """
    if [entry.id for entry in before.entries] != [id for id, _ in context.entries]:
        raise SessionError("the fold is not of the context as it stands; nothing was written", path=path)
    if fold.receipt.native:
        way_out = "write messages of that provider, or fold with another summarizer"
        raise SessionError(
            f"it has no place for a provider's own compaction; nothing was written: {way_out}", path=path
        )
    guessed = {} if meter.guessed is None else {"guessed": meter.guessed}
    return {
        "fold": fold.id,
        "trigger": fold.trigger,
        "layer": fold.layer,
        "receipt": msgspec.to_builtins(fold.receipt),
        "meter": {"overhead": meter.overhead, "ratio": round(meter.ratio, 4), **guessed},
    }


def now() -> str:
    """The time as agents write it: ISO 8601 in UTC with milliseconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def append(path: str, lines: Sequence[bytes], *, expected_size: int) -> int:
    """Appends lines whole or not at all, synced to disk; answers the file's new size in bytes.

    Raises `SessionError` where the file is not `expected_size` bytes any more (another process wrote to it), cannot
    be written, or the disk is full; then it is as it was. A last line without its newline gets one first.
    """
    with _locked(path) as fd:
        size = os.fstat(fd).st_size
        if size != expected_size:
            raise SessionError("another process wrote to it in the meantime; nothing was written, run again", path=path)
        torn = size > 0 and read_at(fd, 1, size - 1) != b"\n"
        data = (b"\n" if torn else b"") + b"".join(lines)
        try:
            _write_all(fd, data)
            sync(fd)
        except OSError as error:
            os.ftruncate(fd, size)
            raise SessionError(f"not written, it is as it was: {error.strerror}", path=path) from error
        return size + len(data)


def write_whole(path: str, data: bytes) -> None:
    """Writes a new file whole; refuses to take the place of one that is there."""
    if os.path.lexists(path):
        raise SessionError("there is a file already; nothing was written", path=path)
    replace_file(path, data)


def make_folder(folder: str | os.PathLike[str]) -> None:
    """Makes a folder for sessions where there is none; raises `SessionError`."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise SessionError(f"cannot be made: {error.strerror}", path=os.fspath(folder)) from error


@contextlib.contextmanager
def lent_file(lines: Iterable[bytes]) -> Iterator[str]:
    """The path of a file of these lines, which is there for as long as it is read; Windows opens none that is open still."""
    from tempfile import mkstemp

    fd, path = mkstemp(suffix=".jsonl")
    try:
        with os.fdopen(fd, "wb") as file:
            file.writelines(lines)
        yield path
    finally:
        os.unlink(path)


def replace_file(path: str, data: bytes) -> None:
    """Writes a whole file beside its place, syncs it and renames it there: readers see the old one or the new one."""
    folder = os.path.dirname(os.path.abspath(path))
    try:
        fd, temporary = _new_file_in(folder)
    except OSError as error:
        raise SessionError(f"cannot be written: {error.strerror}", path=path) from error
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        _sync_folder(folder)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise SessionError(f"cannot be written: {error.strerror}", path=path) from error


def _new_file_in(folder: str) -> tuple[int, str]:
    """A new file that nobody else may read, open to be written, and its path; `tempfile` would load every compression there is."""
    path = os.path.join(folder, f".foldline-{os.urandom(8).hex()}")
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600), path


@contextlib.contextmanager
def _locked(path: str) -> Iterator[int]:
    """The file opened for append under an advisory lock that ends with it."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise SessionError(f"cannot be written: {error.strerror}", path=path) from error
    try:
        lock(fd)
        yield fd
    finally:
        os.close(fd)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _sync_folder(folder: str) -> None:
    if os.name == "nt":  # where a folder cannot be opened, and a rename is on disk by itself
        return
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
