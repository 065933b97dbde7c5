"""Open files by their descriptors, on systems that lack what POSIX has."""

from __future__ import annotations

import os

READ = os.O_RDONLY | getattr(os, "O_BINARY", 0)
"""How a file is opened for its bytes; Windows would translate the ends of its lines."""


def _sought(fd: int, size: int, at: int, /) -> bytes:
    os.lseek(fd, at, os.SEEK_SET)
    return os.read(fd, size)


read_at = getattr(os, "pread", _sought)
"""The bytes of an open file from a place on, at most so many."""
