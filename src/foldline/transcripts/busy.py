"""Who has a session open right now: a fold written under a running agent would be lost, or would mislead it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from foldline.errors import SessionError

PROCESSES = Path("/proc")


def opened_elsewhere(path: str | os.PathLike[str]) -> list[int]:
    """The processes other than this one that are at work on a session; empty where the system does not tell.

    Codex and others hold the file open for writing, which Linux shows. Claude Code opens it for each row only, but
    keeps a list of its own running sessions beside its projects.
    """
    real = os.path.realpath(path)
    found = {*_writers(real), *_claude_sessions(Path(real))}
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


def _claude_sessions(real: Path) -> Iterator[int]:
    """The processes that Claude Code's own list names for the session, as far as they still run."""
    if len(real.parents) < 3 or real.parents[1].name != "projects":
        return
    for entry in (real.parents[2] / "sessions").glob("*.json"):
        try:
            said = json.loads(entry.read_text())
        except (OSError, ValueError):
            continue
        if (
            isinstance(said, dict)
            and said.get("sessionId") == real.stem
            and _runs(said.get("pid"), said.get("procStart"))
        ):
            yield said["pid"]


def _runs(pid: object, started: object) -> bool:
    """Whether the process runs, and is the one that the list means: ids are used again, starting times are not."""
    if not isinstance(pid, int):
        return False
    try:
        fields = (PROCESSES / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return not isinstance(started, str) or not started.isdecimal() or fields[19] == started
