"""Open files by their descriptors, on systems that lack what POSIX has: read, locked and synced."""

from __future__ import annotations

import errno
import os
import stat
import sys

READ = os.O_RDONLY | getattr(os, "O_BINARY", 0)
"""How a file is opened for its bytes; Windows would translate the ends of its lines."""


def open_plain(path: str) -> int:
    """A plain file, opened to be read; raises `OSError` for a pipe or a device, of which nobody knows when it ends."""
    fd = os.open(path, READ | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "a folder, a pipe or a device", path)
    return fd


def _sought(fd: int, size: int, at: int, /) -> bytes:
    os.lseek(fd, at, os.SEEK_SET)
    return os.read(fd, size)


read_at = getattr(os, "pread", _sought)
"""The bytes of an open file from a place on, at most so many."""

# -- an advisory lock, which ends with the open file: by `fcntl`, and on Windows by `msvcrt` -------------------------

FAR = 1 << 62
"""Where the byte stands that is locked on Windows, where a lock keeps others from reading: far behind every file's end."""

if sys.platform == "win32":
    import msvcrt

    def lock(fd: int) -> None:
        """Waits until nobody else holds the lock, and takes it; raises `OSError` where that takes more than ten seconds."""
        os.lseek(fd, FAR, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_LOCK, 1)

    def lock_at_once(fd: int) -> bool:
        """Takes the lock, unless somebody else holds it."""
        os.lseek(fd, FAR, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

else:
    try:
        import fcntl
    except ImportError:  # WebAssembly, where nobody else is

        def lock(fd: int) -> None:
            """Nobody else could hold it."""

        def lock_at_once(fd: int) -> bool:
            """Nobody else could hold it."""
            return True

    else:

        def lock(fd: int) -> None:
            """Waits until nobody else holds the lock, and takes it."""
            fcntl.flock(fd, fcntl.LOCK_EX)

        def lock_at_once(fd: int) -> bool:
            """Takes the lock, unless somebody else holds it."""
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True


sync = getattr(os, "fdatasync", os.fsync)
"""Writes a file's bytes to disk; where a system knows no cheaper way, with all that it notes of the file."""
