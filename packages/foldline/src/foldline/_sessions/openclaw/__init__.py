"""Sessions of OpenClaw: logs in pi's dialect, and the SQLite store that newer versions keep them in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from foldline._sessions import pi
from foldline._sessions.format import SessionFormat, StoreFolder, folder
from foldline._sessions.source import SQLITE

if TYPE_CHECKING:
    from foldline._sessions.file import SessionFile
    from foldline._sessions.reading import Stored


def _recognizes(head: bytes, path: str) -> bool:
    if not head.startswith(SQLITE):
        return False
    from foldline._sessions.database import tables

    return "transcript_events" in tables(head, path)


def _read_all(path: str, *, strict: bool = False) -> Sequence[Stored]:
    from foldline._sessions.openclaw.store import read_all

    return read_all(path, strict=strict)


def _open(path: str, *, strict: bool = False) -> SessionFile:
    """A store is read, a log is opened as pi's."""
    from foldline._sessions.database import is_database
    from foldline._sessions.source import Source
    from foldline._sessions.transcript import Transcript

    if not is_database(Source(path)):
        return pi.open_log(path, strict=strict)
    return Transcript(_read_all(path, strict=strict)[-1].read(), overhead=FORMAT.overhead)


def _stores(environment: Mapping[str, str]) -> Iterator[StoreFolder]:
    agents = folder(environment, "OPENCLAW_STATE_DIR", ".openclaw") / "agents"
    yield StoreFolder(agents, "*/sessions/*.jsonl")
    yield StoreFolder(agents, "*/agent/openclaw-agent.sqlite")


FORMAT = SessionFormat("openclaw", _recognizes, read_all=_read_all, open=_open, stores=_stores, tail=pi.tail_of_log)
