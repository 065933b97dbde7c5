"""Who has a session open right now: a fold written under a running agent would be lost, or would mislead it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from foldline._errors import SessionError
from foldline._sessions.registry import formats

PROCESSES = Path("/proc")


def opened_elsewhere(path: str | os.PathLike[str]) -> list[int]:
    """The processes other than this one that are at work on a session; empty where the system does not tell.

    Codex and others hold the file open for writing, which Linux shows. Those that open it for each row only have a way
    of their own, which their format knows by where the file stands: a session of few bytes shows no format yet.
    """
    real = os.path.realpath(path)
    found = {*_writers(real), *(process for known in formats() for process in known.busy(real))}
    return sorted(found - {os.getpid()})


def refuse_busy(path: str | os.PathLike[str], way_out: str = "close it there first, or use --force") -> None:
    """Raises `SessionError` for a session that its agent has open: it would write behind a fold without having read it."""
    if pids := opened_elsewhere(path):
        who = ", ".join(str(pid) for pid in pids)
        raise SessionError(f"its agent has it open (process {who}): {way_out}", path=os.fspath(path))


def _writers(real: str) -> Iterator[int]:
    for process in PROCESSES.glob("[0-9]*"):
        try:
            descriptors = os.listdir(process / "fd")
        except OSError:
            continue
        if any(_writes(process, descriptor, real) for descriptor in descriptors):
            yield int(process.name)


def _writes(process: Path, descriptor: str, real: str) -> bool:
    try:
        if os.readlink(process / "fd" / descriptor) != real:
            return False
        lines = (process / "fdinfo" / descriptor).read_text().splitlines()
    except OSError:
        return False
    flags = next((line.split()[1] for line in lines if line.startswith("flags:")), "0")
    return bool(int(flags, 8) & (os.O_WRONLY | os.O_RDWR))
