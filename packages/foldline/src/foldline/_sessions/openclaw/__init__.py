"""Sessions of OpenClaw: logs in pi's dialect, and the SQLite store that newer versions keep them in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from foldline._sessions import pi
from foldline._sessions.format import SessionFormat, StoreFolder, folder, later
from foldline._sessions.source import SQLITE

_tables = later("database", "tables")


def _stores(environment: Mapping[str, str]) -> Iterator[StoreFolder]:
    agents = folder(environment, "OPENCLAW_STATE_DIR", ".openclaw") / "agents"
    yield StoreFolder(agents, "*/sessions/*.jsonl")
    yield StoreFolder(agents, "*/agent/openclaw-agent.sqlite")


FORMAT = SessionFormat(
    "openclaw",
    lambda head, path: head.startswith(SQLITE) and "transcript_events" in _tables(path),
    read_all=later("openclaw.store", "read_all"),
    open=later("openclaw.store", "open_session"),
    stores=_stores,
    overhead=11_000,
    tail=pi.FORMAT.tail,
    program=("openclaw", "openclaw"),
)
