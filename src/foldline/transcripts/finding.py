"""The sessions that agents left on this machine."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from foldline.errors import SessionError
from foldline.transcripts.stores import stores

HEAD = 64 * 1024
"""Bytes at the start of a session file in which its id and its working directory are looked for."""

_STRING = rb'"\s*:\s*("(?:[^"\\]|\\.){1,2000}")'
_CWD = re.compile(rb'"cwd' + _STRING)
_ID = re.compile(rb'"(?:sessionId|session_id|id)' + _STRING)


class Found(NamedTuple):
    """A session file: the agent that wrote it, its path, its id, its working directory and when it last changed."""

    agent: str
    path: str
    id: str
    cwd: str
    changed: float


def found_sessions(environment: Mapping[str, str] = os.environ) -> list[Found]:
    """Every session file in the agents' stores, newest first."""
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
            with open(path, "rb") as file:
                head = file.read(HEAD)
                changed = os.fstat(file.fileno()).st_mtime
        except OSError:
            continue
        if head:
            yield Found(agent, str(path), _said(_ID, head) or path.stem, _said(_CWD, head), changed)


def _said(pattern: re.Pattern[bytes], head: bytes) -> str:
    match = pattern.search(head)
    try:
        return str(json.loads(match[1])) if match else ""
    except ValueError:
        return ""
