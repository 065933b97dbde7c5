"""How full a session of Codex is, told by the last rows of its rollout."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from foldline._sessions.codex.rollout import usage_of
from foldline._sessions.format import Row, Tail
from foldline._sessions.parts import count


class _Payload(Struct):
    type: str = ""
    model: str = ""
    content: Raw = Raw()
    output: Raw = Raw()
    arguments: Raw = Raw()
    info: dict[str, Any] | None = None


class _Row(Struct):
    type: str = ""
    payload: _Payload | None = None


_decoded = msgspec.json.Decoder(_Row).decode


def _tell(line: bytes) -> Row | None:
    row = _decoded(line)
    payload = row.payload or _Payload()
    match row.type, payload.type:
        case "event_msg", "token_count":
            info = payload.info or {}
            billed = info.get("last_token_usage")
            usage = usage_of(billed) if isinstance(billed, dict) else None
            return Row(usage=usage, window=count(info.get("model_context_window")))
        case "turn_context", _:
            return Row(model=payload.model)
        case "response_item", _:
            return Row(content=b"".join(map(bytes, (payload.content, payload.output, payload.arguments))))
        case ("compacted", _) | ("event_msg", "thread_rolled_back"):
            return Row(anew=True)
    return None


TAIL = Tail(_tell, (b'"compacted"',))
