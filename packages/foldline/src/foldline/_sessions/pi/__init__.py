"""The append-only log: sessions in the dialect that pi and OpenClaw write, and foldline as its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from foldline._sessions.format import SessionFormat, StoreFolder, Tail, folder

if TYPE_CHECKING:
    from foldline._sessions.following import Mark
    from foldline._sessions.pi.following import LogReader
    from foldline._sessions.pi.log import Session

PI = "pi"

_START = re.compile(rb'\s*\{(?=[^\n]*"type"\s*:\s*"session")(?=[^\n]*"(?:id|timestamp|cwd)"\s*:)')


def _recognizes(head: bytes, path: str) -> bool:
    return bool(_START.match(head))


def open_log(path: str, *, strict: bool = False) -> Session:
    """The session in a log."""
    from foldline._sessions.pi.log import Session

    return Session(path, strict=strict)


def tail_of_log() -> Tail:
    """How the last records of a log tell how full it is."""
    from foldline._sessions.pi.tail import TAIL

    return TAIL


def _follow(path: str, mark: Mark) -> LogReader | None:
    from foldline._sessions.pi.following import follow

    return follow(path, mark)


def _stores(environment: Mapping[str, str]) -> Iterator[StoreFolder]:
    yield StoreFolder(folder(environment, "PI_CODING_AGENT_DIR", ".pi/agent") / "sessions", "*/*.jsonl")


FORMAT = SessionFormat(PI, _recognizes, open=open_log, stores=_stores, overhead=4_000, tail=tail_of_log, follow=_follow)
