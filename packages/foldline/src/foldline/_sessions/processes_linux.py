"""What Linux tells of the processes that run, below `/proc`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

PROCESSES = Path("/proc")

_PARENT, _BEGAN = 1, 19
"""The places of a process's parent and of when it began behind its name in `stat`, as proc(5) has them."""


def running() -> Iterator[int]:
    """The ids of all processes."""
    return (int(each.name) for each in PROCESSES.glob("[0-9]*"))


def above(id: int) -> Iterator[int]:
    """A process, and those that started it."""
    while id:
        yield id
        id = int(_stat(id, _PARENT) or 0)


def directory(id: int) -> str:
    """Where a process works; empty where that is not told."""
    try:
        return os.readlink(PROCESSES / str(id) / "cwd")
    except OSError:
        return ""


def writes(id: int, real: str) -> bool:
    """Whether a process holds a file open for writing."""
    process = PROCESSES / str(id)
    try:
        descriptors = os.listdir(process / "fd")
    except OSError:
        return False
    return any(_writes(process, descriptor, real) for descriptor in descriptors)


def still_runs(id: int, began: object) -> bool:
    """Whether a process runs, and began at that tick of the system's clock where one is named."""
    tick = _stat(id, _BEGAN)
    return bool(tick) and (not isinstance(began, str) or not began.isdecimal() or began == tick)


def called(id: int) -> tuple[str, Sequence[str]]:
    """A process's name and the words that it was started with; empty once it is gone."""
    process = PROCESSES / str(id)
    try:
        name = (process / "comm").read_text().rstrip("\n")
        return name, [os.fsdecode(word) for word in (process / "cmdline").read_bytes().split(b"\0")]
    except OSError:
        return "", ()


def _stat(id: int, place: int) -> str:
    try:
        return (PROCESSES / str(id) / "stat").read_text().rpartition(")")[2].split()[place]
    except (OSError, IndexError):
        return ""


def _writes(process: Path, descriptor: str, real: str) -> bool:
    try:
        if os.readlink(process / "fd" / descriptor) != real:
            return False
        lines = (process / "fdinfo" / descriptor).read_text().splitlines()
    except OSError:
        return False
    flags = next((line.split()[1] for line in lines if line.startswith("flags:")), "0")
    return bool(int(flags, 8) & (os.O_WRONLY | os.O_RDWR))
