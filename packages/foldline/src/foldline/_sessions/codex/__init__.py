"""Rollouts of Codex: read, and folded in place in its own rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from foldline._sessions.format import SessionFormat, StoreFolder, folder, later

_SIGN = re.compile(
    rb'[{,]\s*"type"\s*:\s*"(?:session_meta|response_item|turn_context|event_msg|compacted|world_state)"'
    rb'|^\s*\{"id":"[^"]+","timestamp":"[^"]+","instructions":|"record_type"\s*:\s*"state"'
)
_PAYLOAD = re.compile(rb'[{,]\s*"(?:payload|instructions|record_type)"\s*:')


def _recognizes(head: bytes, path: str) -> bool:
    return head.lstrip().startswith(b"{") and bool(_SIGN.search(head)) and bool(_PAYLOAD.search(head))


def _stores(environment: Mapping[str, str]) -> Iterator[StoreFolder]:
    yield StoreFolder(folder(environment, "CODEX_HOME", ".codex") / "sessions", "*/*/*/rollout-*.jsonl")


FORMAT = SessionFormat(
    "codex",
    _recognizes,
    later("codex.rollout", "read"),
    open=later("codex.writing", "open_session"),
    stores=_stores,
    overhead=5_500,
    tail=later("codex.rollout", "tail"),
    lingers="its daemon holds a session for a minute after that was closed: wait, or run `codex app-server daemon stop`",
)
