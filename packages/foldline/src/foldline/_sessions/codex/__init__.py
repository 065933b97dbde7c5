"""Rollouts of Codex: read, and folded in place in its own rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from foldline._sessions.format import SessionFormat, StoreFolder, Tail, folder

if TYPE_CHECKING:
    from foldline._sessions.reading import Reading
    from foldline._sessions.writable import WritableTranscript

_SIGN = re.compile(
    rb'[{,]\s*"type"\s*:\s*"(?:session_meta|response_item|turn_context|event_msg|compacted|world_state)"'
    rb'|^\s*\{"id":"[^"]+","timestamp":"[^"]+","instructions":|"record_type"\s*:\s*"state"'
)
_PAYLOAD = re.compile(rb'[{,]\s*"(?:payload|instructions|record_type)"\s*:')


def _recognizes(head: bytes, path: str) -> bool:
    return head.lstrip().startswith(b"{") and bool(_SIGN.search(head)) and bool(_PAYLOAD.search(head))


def _read(path: str, *, strict: bool = False) -> Reading:
    from foldline._sessions.codex.rollout import read

    return read(path, strict=strict)


def _open(path: str, *, strict: bool = False) -> WritableTranscript:
    from foldline._sessions.codex import writing
    from foldline._sessions.writable import WritableTranscript

    return WritableTranscript(writing, path, strict=strict, overhead=FORMAT.overhead)


def _tail() -> Tail:
    from foldline._sessions.codex.tail import TAIL

    return TAIL


def _stores(environment: Mapping[str, str]) -> Iterator[StoreFolder]:
    yield StoreFolder(folder(environment, "CODEX_HOME", ".codex") / "sessions", "*/*/*/rollout-*.jsonl")


FORMAT = SessionFormat("codex", _recognizes, _read, open=_open, stores=_stores, overhead=5_500, tail=_tail)
