"""The processes that run: which of them is an agent's, where it works, and what it has open."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

if sys.platform == "linux":
    from foldline._sessions import processes_linux as system
else:
    from foldline._sessions import processes_elsewhere as system

RUNTIMES = ("node", "bun", "deno")
"""What runs the scripts of agents."""


def writing_to(real: str) -> Iterator[int]:
    """The processes that hold a file open for writing; none where the system does not tell."""
    return (process for process in system.running() if system.writes(process, real))


def at_work_in(directory: str, command: str, package: str) -> Iterator[int]:
    """The processes of a program that work in a directory."""
    real = os.path.realpath(directory)
    for process in system.running():
        if system.directory(process) == real and runs(process, command, package):
            yield process


def above() -> Iterator[int]:
    """The processes that started this one, the nearest first; none where the system does not tell."""
    return system.above(os.getppid())


def directory_above() -> str:
    """The directory of the process that started this one; empty where the system does not tell."""
    return system.directory(os.getppid())


still_runs = system.still_runs
"""Whether a process runs, and began when it is said to: ids are used again, starting times are not."""


def runs(id: int, command: str, package: str) -> bool:
    """Whether a process is of a program: by its command's name, or where node runs its package."""
    name, words = system.called(id)
    program = os.path.basename(words[0]) if words else ""
    if command in (name, program):
        return True
    if program not in RUNTIMES:
        return False
    script = next((Path(word) for word in words[1:] if not word.startswith("-")), Path())
    return script.name == command or package in script.parts
