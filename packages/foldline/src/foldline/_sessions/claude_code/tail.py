"""How full a session of Claude Code is, told by its last rows."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from foldline._sessions.claude_code.reading import SYNTHETIC
from foldline._sessions.format import Row, Tail
from foldline._wires import read_usage


class _Message(Struct):
    model: str = ""
    usage: dict[str, Any] | None = None
    content: Raw = Raw()


class _Row(Struct):
    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    parentUuid: str | None = None  # noqa: N815
    isSidechain: bool | None = None  # noqa: N815
    isCompactSummary: bool | None = None  # noqa: N815
    message: _Message | None = None
    foldline: Raw = Raw()


_decoded = msgspec.json.Decoder(_Row).decode
_NOTHING = _Message()


def _tell(line: bytes) -> Row | None:
    row = _decoded(line)
    if row.uuid is None or row.isSidechain or row.type == "progress":
        return None
    message = row.message or _NOTHING
    usage = read_usage(message.usage) if row.type == "assistant" and message.model != SYNTHETIC else None
    boundary = row.subtype in ("compact_boundary", "microcompact_boundary")
    anew = boundary or bool(row.isCompactSummary) or bool(row.foldline)
    return Row(row.uuid, row.parentUuid, usage, message.model if usage else "", memoryview(message.content), anew)


TAIL = Tail(_tell, (b'compact_boundary"', b'"isCompactSummary"'))
