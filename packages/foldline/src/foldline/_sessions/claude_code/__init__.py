"""Sessions of Claude Code: read, and folded in place in its own rows."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from foldline._sessions.format import About, SessionFormat, StoreFolder, folder, last_said, later
from foldline._sessions.lines import decode
from foldline._sessions.source import Source
from foldline._sessions.values import mapping, string

_still_runs = later("processes", "still_runs")

_SIGN = re.compile(
    rb'[{,]\s*"(?:parentUuid|leafUuid|isSidechain|logicalParentUuid|snapshotMessageId)"\s*:'
    rb'|[{,]\s*"type"\s*:\s*"(?:file-history-snapshot|queue-operation|permission-mode|last-prompt)"'
)


_SUMMARY = re.compile(rb'(?m)^\{"type":"summary",.*\}$')


def _stores(environment: Mapping[str, str]) -> Iterator[StoreFolder]:
    projects = folder(environment, "CLAUDE_CONFIG_DIR", ".claude") / "projects"
    yield StoreFolder(projects, "*/*.jsonl")
    yield StoreFolder(projects, "*/*/subagents/*.jsonl")


def subagent(path: str) -> str:
    """The id of a sub-agent by its file's name, since its rows name the session that it works for; else empty."""
    name = os.path.basename(path)
    return name.removesuffix(".jsonl") if name.startswith("agent-") else ""


def _about(path: str, ends: bytes, about: About) -> About:
    """The title that the user gave, or else the newest that was made; and for whom a sub-agent works."""
    title = (last_said(ends, b"customTitle") or last_said(ends, b"aiTitle")) if b"Title" in ends else _summary(ends)
    worker = subagent(path)
    return About(worker or about.id, about.cwd, title, about.id if worker else "")


def _summary(ends: bytes) -> str:
    """The newest summary of a conversation that stands here: the rows name those of other files, too."""
    for data in reversed(_SUMMARY.findall(ends) if b'"summary"' in ends else []):
        try:
            row = mapping(decode(data))
        except ValueError:  # it was cut off
            continue
        if ends.count(string(row.get("leafUuid")).encode()) > 1:
            return string(row.get("summary"))
    return ""


def _busy(path: str) -> Iterator[int]:
    """The processes that still run of those that Claude Code lists for the session, beside its projects."""
    real = Path(path)
    if len(real.parents) < 3 or real.parents[1].name != "projects":
        return
    for entry in (real.parents[2] / "sessions").glob("*.json"):
        said = mapping(Source(entry).optional())
        if said.get("sessionId") != real.stem:
            continue
        if isinstance(id := said.get("pid"), int) and _still_runs(id, said.get("procStart")):
            yield id


FORMAT = SessionFormat(
    "claude-code",
    lambda head, path: head.lstrip().startswith(b"{") and bool(_SIGN.search(head)),
    later("claude_code.reading", "read"),
    open=later("claude_code.writing", "open_session"),
    stores=_stores,
    overhead=40_000,
    tail=later("claude_code.rows", "tail"),
    busy=_busy,
    about=_about,
    program=("claude", "claude-code"),
    says_session="CLAUDE_CODE_SESSION_ID",
)
