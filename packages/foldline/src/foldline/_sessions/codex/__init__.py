"""Rollouts of Codex: read, and folded in place in its own rows."""

from __future__ import annotations

import os
import re
from functools import lru_cache

from foldline._errors import SessionError
from foldline._sessions.format import STRING, About, SessionFormat, StoreFolder, first_said, folder, last_said, later
from foldline._sessions.source import Source
from foldline._sessions.values import mapping, string

_SIGN = re.compile(
    rb'[{,]\s*"type"\s*:\s*"(?:session_meta|response_item|turn_context|event_msg|compacted|world_state)"'
    rb'|^\s*\{"id":"[^"]+","timestamp":"[^"]+","instructions":|"record_type"\s*:\s*"state"'
)
_PAYLOAD = re.compile(rb'[{,]\s*"(?:payload|instructions|record_type)"\s*:')

_OWN = re.compile(rb'"id' + STRING)
_SPAWNED = re.compile(rb'"parent_thread_id' + STRING)


def _about(path: str, ends: bytes, about: About) -> About:
    """A thread's own id and the one that spawned it, which name one session; and what the user or Codex called it."""
    end = ends.find(b"\n")
    head = ends[:end] if end >= 0 else ends
    id = first_said(_OWN, head) or about.id
    title = last_said(ends, b"thread_name") or _thread_names(path).get(id, "")
    return About(id, about.cwd, title, first_said(_SPAWNED, head))


def _thread_names(path: str) -> dict[str, str]:
    """The names of threads by their ids, the newest of each, from the list beside the sessions."""
    index = f"{path.rpartition('/sessions/')[0]}/session_index.jsonl"
    try:
        return _read_names(index, os.stat(index).st_mtime_ns)
    except (OSError, SessionError):
        return {}


@lru_cache(maxsize=4)
def _read_names(index: str, changed: int) -> dict[str, str]:
    rows = (mapping(row) for _, row in Source(index).rows())
    return {string(row.get("id")): string(row.get("thread_name")) for row in rows}


FORMAT = SessionFormat(
    "codex",
    lambda head, path: head.lstrip().startswith(b"{") and bool(_SIGN.search(head)) and bool(_PAYLOAD.search(head)),
    later("codex.rollout", "read"),
    open=later("codex.writing", "open_session"),
    stores=lambda environment: (
        StoreFolder(folder(environment, "CODEX_HOME", ".codex") / "sessions", "*/*/*/rollout-*.jsonl"),
    ),
    overhead=5_500,
    tail=later("codex.rollout", "tail"),
    about=_about,
    program=("codex", "codex"),
    says_session="CODEX_THREAD_ID",
    lingers="its daemon holds a session for a minute after that was closed: wait, or run `codex app-server daemon stop`",
)
