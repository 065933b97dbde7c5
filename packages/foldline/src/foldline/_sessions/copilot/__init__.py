"""GitHub Copilot CLI: the log of events that each of its sessions is, and VS Code's transcripts, which are the same."""

from __future__ import annotations

import os
import re
from pathlib import Path

from foldline._sessions.format import STRING, About, SessionFormat, StoreFolder, first_said, folder, later

_EVENT = re.compile(
    rb'"type"\s*:\s*"(?:session\.(?:start|resume|model_change|info|error)|user\.message|system\.message'
    rb'|assistant\.(?:message|turn_start|turn_end)|tool\.execution_(?:start|complete))"'
)
_DATA = re.compile(rb'"data"\s*:\s*\{')
_SESSION = re.compile(rb'"sessionId' + STRING)
_NOTED = r"(?m)^%s: *([^\s|>\"'][^\n]*)$"
"""A plain value in the file beside the log that says what the session is, which is YAML."""

LOG = "events.jsonl"


def session_id(path: str) -> str:
    """The id that the place of a log says: its folder's name, of an older one its own."""
    name, ends = os.path.splitext(os.path.basename(path))
    return os.path.basename(os.path.dirname(os.path.abspath(path))) if name + ends == LOG else name


def noted(path: str, key: str) -> str:
    """What the file beside a log says of its session under a key; empty where there is none."""
    try:
        beside = (Path(path).parent / "workspace.yaml").read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return ""
    found = re.search(_NOTED % key, beside)
    return found[1].strip() if found else ""


def _about(path: str, ends: bytes, about: About) -> About:
    id = first_said(_SESSION, ends) or session_id(path)
    return About(id, about.cwd or noted(path, "cwd"), noted(path, "name"))


def _recognizes(head: bytes, path: str) -> bool:
    """Whether an event stands in a line of its own; one that a text of another format quotes has its quotes escaped."""
    if not head and os.path.isdir(path):
        return os.path.isfile(os.path.join(path, LOG))
    found = _EVENT.search(head)
    line = head[head.rfind(b"\n", 0, found.start()) + 1 : found.start()] if found else b""
    return line.lstrip().startswith(b"{") and bool(_DATA.search(head))


FORMAT = SessionFormat(
    "copilot-cli",
    _recognizes,
    later("copilot.reading", "read"),
    stores=lambda environment: (
        StoreFolder(folder(environment, "COPILOT_HOME", ".copilot") / "session-state", pattern)
        for pattern in (f"*/{LOG}", "*.jsonl")
    ),
    overhead=25_000,
    about=_about,
    program=("copilot", "@github/copilot"),
    holds_open=False,
)
