"""An advisory lock on an open file, which ends with it: by `fcntl`, and on Windows by `msvcrt`."""

from __future__ import annotations

import os
import sys

FAR = 1 << 62
"""Where the byte stands that is locked on Windows, where a lock keeps others from reading: far behind every file's end."""

if sys.platform == "win32":
    import msvcrt

    def lock(fd: int) -> None:
        """Waits until nobody else holds the lock, and takes it; raises `OSError` where that takes more than ten seconds."""
        os.lseek(fd, FAR, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_LOCK, 1)

else:
    try:
        import fcntl
    except ImportError:  # WebAssembly, where nobody else is

        def lock(fd: int) -> None:
            """Nobody else could hold it."""

    else:

        def lock(fd: int) -> None:
            """Waits until nobody else holds the lock, and takes it."""
            fcntl.flock(fd, fcntl.LOCK_EX)


sync = getattr(os, "fdatasync", os.fsync)
"""Writes a file's bytes to disk; where a system knows no cheaper way, with all that it notes of the file."""
