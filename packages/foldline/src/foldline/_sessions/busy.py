"""Who has a session open right now: a fold written under a running agent would be lost, or would mislead it."""

from __future__ import annotations

import os

from foldline._errors import SessionError
from foldline._sessions.finding import directory_of
from foldline._sessions.processes import at_work_in, writing_to
from foldline._sessions.registry import format_of, formats

WAY_OUT = "close it there first, or use --force"
"""What is to be done about a session that its agent has open."""


def opened_elsewhere(path: str | os.PathLike[str]) -> list[int]:
    """The processes other than this one that are at work on a session; empty where the system does not tell.

    Codex and others hold the file open for writing, which Linux shows. Of those that open it for each row only, some list
    their sessions, which is known by where the file stands, and some are known by the directory that they work in.
    """
    real = os.path.realpath(path)
    found = {*writing_to(real), *(process for known in formats() for process in known.busy(real))}
    known = format_of(real)
    if known and known.program and not known.holds_open and (directory := directory_of(real, known)):
        found.update(at_work_in(directory, *known.program))
    return sorted(found - {os.getpid()})


def refuse_busy(path: str | os.PathLike[str], way_out: str = WAY_OUT) -> None:
    """Raises `SessionError` for a session that its agent has open: it would write behind a fold without having read it."""
    if pids := opened_elsewhere(path):
        known = format_of(os.path.realpath(path))
        lingers = f"; {known.lingers}" if known and known.lingers else ""
        who = ", ".join(str(pid) for pid in pids)
        raise SessionError(f"its agent has it open (process {who}): {way_out}{lingers}", path=os.fspath(path))
