"""Which session is meant where none is named: that of the agent that asks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from foldline._errors import SessionError
from foldline._sessions.finding import find_session
from foldline._sessions.processes import above, runs
from foldline._sessions.registry import formats


def session_that_asks(places: Sequence[str], *, client: str = "", environment: Mapping[str, str] = os.environ) -> str:
    """The path of the session that the agent says is its own, or else of its newest one in one of the directories.

    The agent is the `client` that MCP names, or the one that started this process. Where there is none, or it has no
    session there, it is the newest of any agent. Raises `SessionError` where there is no session.
    """
    agent = _named(client) or _above()
    wanted = [(id, "", by) for by, id in _said(environment) if agent in ("", by)]
    wanted += [("", place, by) for place in places for by in dict.fromkeys((agent, ""))]
    failed = SessionError("no directory to look for sessions in", path=".")
    for session, place, by in wanted:
        try:
            return find_session(session, cwd=place, agent=by, environment=environment)
        except SessionError as error:
            failed = error
    raise failed


def _named(client: str) -> str:
    """The agent that a client's name begins with, as in `codex-mcp-client`; empty for one that is not known."""
    fitting = (known.name for known in formats() if f"{client}-".startswith(f"{known.name}-"))
    return max(fitting, key=len, default="")


def _above() -> str:
    """The nearest agent among the processes that started this one; empty where none is seen."""
    programs = [(known.name, *known.program) for known in formats() if known.program]
    for process in above():
        for name, command, package in programs:
            if runs(process, command, package):
                return name
    return ""


def _said(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The agents that say which session they are in to what they start, each with its id."""
    for known in formats():
        if known.says_session and (id := environment.get(known.says_session)):
            yield known.name, id
