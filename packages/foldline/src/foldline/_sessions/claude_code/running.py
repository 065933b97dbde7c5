"""Which of Claude Code's processes are at work on a session: it keeps a list of them beside its projects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from foldline._sessions.busy import PROCESSES


def sessions_of(path: str) -> Iterator[int]:
    """The processes that the list names for the session, as far as they still run."""
    real = Path(path)
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
