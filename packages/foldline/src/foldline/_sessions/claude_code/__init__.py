"""Sessions of Claude Code: read, and folded in place in its own rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from foldline._sessions.format import SessionFormat, StoreFolder, Tail, folder

if TYPE_CHECKING:
    from foldline._sessions.reading import Reading
    from foldline._sessions.writable import WritableTranscript

_SIGN = re.compile(
    rb'[{,]\s*"(?:parentUuid|leafUuid|isSidechain|logicalParentUuid|snapshotMessageId)"\s*:'
    rb'|[{,]\s*"type"\s*:\s*"(?:file-history-snapshot|queue-operation|permission-mode|last-prompt)"'
)


def _recognizes(head: bytes, path: str) -> bool:
    return head.lstrip().startswith(b"{") and bool(_SIGN.search(head))


def _read(path: str, *, strict: bool = False) -> Reading:
    from foldline._sessions.claude_code.reading import read

    return read(path, strict=strict)


def _open(path: str, *, strict: bool = False) -> WritableTranscript:
    from foldline._sessions.claude_code import writing
    from foldline._sessions.writable import WritableTranscript

    return WritableTranscript(writing, path, strict=strict, overhead=FORMAT.overhead)


def _tail() -> Tail:
    from foldline._sessions.claude_code.tail import TAIL

    return TAIL


def _busy(path: str) -> Iterator[int]:
    from foldline._sessions.claude_code.running import sessions_of

    return sessions_of(path)


def _stores(environment: Mapping[str, str]) -> Iterator[StoreFolder]:
    yield StoreFolder(folder(environment, "CLAUDE_CONFIG_DIR", ".claude") / "projects", "*/*.jsonl")


FORMAT = SessionFormat(
    "claude-code", _recognizes, _read, open=_open, stores=_stores, overhead=40_000, tail=_tail, busy=_busy
)
