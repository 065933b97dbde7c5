"""How full a log is, told by its last records."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from foldline._sessions.format import Row, Tail
from foldline._sessions.pi import dialect


class _Message(Struct):
    role: str = ""
    model: str = ""
    usage: dict[str, Any] | None = None
    content: Raw = Raw()


class _Record(Struct):
    type: str = ""
    id: str | None = None
    parentId: str | None = None  # noqa: N815
    modelId: str | None = None  # noqa: N815
    message: _Message | None = None
    foldline: Raw = Raw()
    details: Raw = Raw()


_decoded = msgspec.json.Decoder(_Record).decode


def _tell(line: bytes) -> Row | None:
    record = _decoded(line)
    if record.type == "session":
        return None
    message = record.message or _Message()
    usage = dialect.usage_of(message.usage) if message.role == "assistant" else None
    model = record.modelId or (message.model if usage and message.model not in dialect.ECHOES else "")
    folds = record.type in ("compaction", "context_edit", "branch_summary")
    anew = folds or bool(record.foldline) or b'"foldline"' in bytes(record.details)
    return Row(record.id, record.parentId, usage, model, memoryview(message.content), anew)


def tail() -> Tail:
    """How full a log is, as its last records tell it."""
    return Tail(_tell, (b'"compaction"', b'"foldline'))
