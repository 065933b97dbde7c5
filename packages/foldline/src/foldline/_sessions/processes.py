"""What Linux tells of the processes that run: the files they hold, the directories they work in, when they began."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

PROCESSES = Path("/proc")

RUNTIMES = ("node", "bun", "deno")
"""What runs the scripts of agents."""


def began(pid: int) -> str:
    """When a process began, as the system counts; empty where none runs by that id."""
    try:
        return (PROCESSES / str(pid) / "stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def writing_to(real: str) -> Iterator[int]:
    """The processes that hold a file open for writing; none where the system does not tell."""
    for process in PROCESSES.glob("[0-9]*"):
        try:
            descriptors = os.listdir(process / "fd")
        except OSError:
            continue
        if any(_writes(process, descriptor, real) for descriptor in descriptors):
            yield int(process.name)


def at_work_in(directory: str, command: str, package: str) -> Iterator[int]:
    """The processes of a program that work in a directory."""
    real = os.path.realpath(directory)
    for process in PROCESSES.glob("[0-9]*"):
        try:
            if os.readlink(process / "cwd") == real and runs(process, command, package):
                yield int(process.name)
        except OSError:
            continue


def above() -> Iterator[Path]:
    """The processes that started this one, the nearest first; none where the system does not tell."""
    process = PROCESSES / str(os.getppid())
    while process.name != "0":
        yield process
        try:
            parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
        except (OSError, IndexError):
            return
        process = PROCESSES / parent


def runs(process: Path, command: str, package: str) -> bool:
    """Whether a process is of a program: by its command's name, or where node runs its package."""
    try:
        called = [os.fsdecode(word) for word in (process / "cmdline").read_bytes().split(b"\0")]
        if command in ((process / "comm").read_text().rstrip("\n"), os.path.basename(called[0])):
            return True
    except OSError:
        return False
    if os.path.basename(called[0]) not in RUNTIMES:
        return False
    script = next((Path(word) for word in called[1:] if not word.startswith("-")), Path())
    return script.name == command or package in script.parts


def _writes(process: Path, descriptor: str, real: str) -> bool:
    try:
        if os.readlink(process / "fd" / descriptor) != real:
            return False
        lines = (process / "fdinfo" / descriptor).read_text().splitlines()
    except OSError:
        return False
    flags = next((line.split()[1] for line in lines if line.startswith("flags:")), "0")
    return bool(int(flags, 8) & (os.O_WRONLY | os.O_RDWR))
