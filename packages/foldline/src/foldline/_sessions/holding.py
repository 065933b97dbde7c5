"""One agent at a time on a session: a lock beside its file, which ends with the process however that ends."""

from __future__ import annotations

import os
from contextlib import suppress
from weakref import WeakValueDictionary, finalize

from foldline._errors import SessionError
from foldline._sessions.descriptors import lock_at_once


class Hold:
    """A session that no agent of another process works on while this value is kept; what only reads it is not kept out."""

    def __init__(self, lock_file: str, session: str) -> None:
        finalize(self, _let_go, _locked(lock_file, session), lock_file)


_held: WeakValueDictionary[str, Hold] = WeakValueDictionary()


def hold(session: str) -> Hold:
    """The hold of this process on a session's file; raises `SessionError` where another process has it."""
    lock_file = f"{os.path.realpath(session)}.lock"
    held = _held.get(lock_file)
    if held is None:
        held = _held[lock_file] = Hold(lock_file, session)
    return held


def _locked(lock_file: str, session: str) -> int:
    """The lock file, locked; one that whoever let go took away meanwhile is made anew."""
    while True:
        try:
            fd = os.open(lock_file, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise SessionError(f"cannot be made: {error.strerror}", path=lock_file) from error
        try:
            free = lock_at_once(fd)
            if free and os.path.samestat(os.fstat(fd), os.stat(lock_file)):
                return fd
        except FileNotFoundError:
            pass
        except OSError as error:
            os.close(fd)
            raise SessionError(f"cannot be locked: {error.strerror}", path=session) from error
        os.close(fd)
        if not free:
            why = "another agent works on it: end that one first, or work on another session"
            raise SessionError(why, path=session)


def _let_go(fd: int, lock_file: str) -> None:
    """Takes the file away while it is locked, so that nobody else's is taken."""
    with suppress(OSError):
        os.unlink(lock_file)
    os.close(fd)
