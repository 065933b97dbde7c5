"""OpenHands: the events of its SDK in any of the files that hold them, and the trajectories of its first version."""

from __future__ import annotations

import os
import re

from foldline._sessions.format import SessionFormat, later

_EVENT = re.compile(rb'[{,]\s*"kind"\s*:\s*"(?:\w+Event|Condensation|CondensationRequest)"')
_HISTORY = re.compile(rb'[{,]\s*"history"\s*:\s*\[\s*\{\s*"(?:kind|id)"\s*:')
_OUTPUT = re.compile(rb'\s*\{\s*"instance_id"\s*:')
_V0 = re.compile(
    rb'\s*(?:\{\s*"history"\s*:\s*)?\[?\s*\{(?=[^\n]*?"source"\s*:)[^\n]*?"(?:action|observation|message|timestamp)"\s*:'
)
_V0_SIGN = re.compile(rb'[{,]\s*"(?:tool_call_metadata|llm_metrics|cause|extras)"\s*:|"action"\s*:\s*"system"')
_V0_HEAD = 16 * 1024
"""Bytes within which the first event of a trajectory shows what it is."""


def _recognizes(head: bytes, path: str) -> bool:
    if not head and os.path.isdir(path):
        return os.path.isdir(os.path.join(path, "events"))
    if _EVENT.search(head) or _HISTORY.search(head):
        return True
    if _OUTPUT.match(head) and b'"metadata"' in head and b'"instruction"' in head:
        return True
    flat = head[:_V0_HEAD].replace(b"\n", b" ")
    return bool(_V0.match(flat)) and bool(_V0_SIGN.search(head))


FORMAT = SessionFormat("openhands", _recognizes, read_all=later("openhands.reading", "read_all"), overhead=9_000)
