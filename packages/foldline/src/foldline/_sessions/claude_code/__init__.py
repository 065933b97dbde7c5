"""Sessions of Claude Code: read, and folded in place in its own rows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from foldline._sessions.format import SessionFormat, StoreFolder, folder, later

_began = later("processes", "began")

_SIGN = re.compile(
    rb'[{,]\s*"(?:parentUuid|leafUuid|isSidechain|logicalParentUuid|snapshotMessageId)"\s*:'
    rb'|[{,]\s*"type"\s*:\s*"(?:file-history-snapshot|queue-operation|permission-mode|last-prompt)"'
)


def _recognizes(head: bytes, path: str) -> bool:
    return head.lstrip().startswith(b"{") and bool(_SIGN.search(head))


def _stores(environment: Mapping[str, str]) -> Iterator[StoreFolder]:
    yield StoreFolder(folder(environment, "CLAUDE_CONFIG_DIR", ".claude") / "projects", "*/*.jsonl")


def _busy(path: str) -> Iterator[int]:
    """The processes that still run of those that Claude Code lists for the session, beside its projects."""
    real = Path(path)
    if len(real.parents) < 3 or real.parents[1].name != "projects":
        return
    for entry in (real.parents[2] / "sessions").glob("*.json"):
        try:
            said = json.loads(entry.read_text())
        except (OSError, ValueError):
            continue
        if isinstance(said, dict) and said.get("sessionId") == real.stem and _runs(said.get("pid"), said):
            yield said["pid"]


def _runs(pid: object, said: Mapping[str, object]) -> bool:
    """Whether the process runs, and is the one that the list means: ids are used again, starting times are not."""
    if not isinstance(pid, int) or not (began := _began(pid)):
        return False
    said_to = said.get("procStart")
    return not isinstance(said_to, str) or not said_to.isdecimal() or began == said_to


FORMAT = SessionFormat(
    "claude-code",
    _recognizes,
    later("claude_code.reading", "read"),
    open=later("claude_code.writing", "open_session"),
    stores=_stores,
    overhead=40_000,
    tail=later("claude_code.rows", "tail"),
    busy=_busy,
)
