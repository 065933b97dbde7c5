"""The sessions that agents left on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from foldline.errors import SessionError
from foldline.session.lines import Record, first_line


class Found(NamedTuple):
    """A session file: the agent that wrote it, its path, its id, its working directory and when it last changed."""

    agent: str
    path: str
    id: str
    cwd: str
    changed: float


def stores(environment: Mapping[str, str] = os.environ) -> list[tuple[str, Path, str]]:
    """Where agents keep their sessions: the agent's name, a folder, and the pattern of the files below it."""
    home = Path(environment.get("HOME") or Path.home())
    pi = Path(environment.get("PI_CODING_AGENT_DIR") or home / ".pi" / "agent")
    openclaw = Path(environment.get("OPENCLAW_STATE_DIR") or home / ".openclaw")
    return [("pi", pi / "sessions", "*/*.jsonl"), ("openclaw", openclaw / "agents", "*/sessions/*.jsonl")]


def found_sessions(environment: Mapping[str, str] = os.environ) -> list[Found]:
    """Every session file with a readable header, newest first."""
    found = [f for agent, folder, pattern in stores(environment) for f in _in_store(agent, folder, pattern)]
    return sorted(found, key=lambda f: -f.changed)


def find(session: str | None, *, cwd: str, environment: Mapping[str, str] = os.environ) -> str:
    """The path of the session meant: a path, an id or the start of one; without it, the newest one of `cwd`."""
    if session and (os.path.exists(session) or os.sep in session):
        return session
    everything = found_sessions(environment)
    if session:
        fitting = [f for f in everything if f.id == session] or [f for f in everything if f.id.startswith(session)]
        if len({f.id for f in fitting}) > 1:
            raise SessionError(f"{len(fitting)} sessions start with it; give more of the id", path=session)
    else:
        fitting = [f for f in everything if f.cwd and os.path.realpath(f.cwd) == os.path.realpath(cwd)]
    if not fitting:
        where = ", ".join(str(folder) for _, folder, _ in stores(environment))
        what = "no session of that path or id" if session else "no session of this directory: name one with --session"
        raise SessionError(f"{what} (searched {where})", path=session or cwd)
    return fitting[0].path


def _in_store(agent: str, folder: Path, pattern: str) -> Iterator[Found]:
    for path in folder.glob(pattern):
        try:
            fd = os.open(path, os.O_RDONLY)
        except OSError:
            continue
        try:
            line = first_line(fd)
            changed = os.fstat(fd).st_mtime
        finally:
            os.close(fd)
        header = Record(line) if line else None
        if header is not None and header.type == "session":
            yield Found(agent, str(path), str(header.data.get("id") or path.stem), str(header.data.get("cwd") or ""), changed)
