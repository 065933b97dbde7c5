"""What the last lines of a session file tell of it: the newest bill and what came behind it, at the cost of a few lines."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw, Struct

from foldline.messages import Usage
from foldline.session import dialect
from foldline.session.lines import lines_from_end
from foldline.session.log import NO_MODELS
from foldline.transcripts.claude_code import SYNTHETIC
from foldline.transcripts.codex import usage_of as codex_usage
from foldline.wire import read_usage

CHUNK = 16 * 1024
"""Bytes per read from the end; a reply with its bill is seldom longer."""

REACH = 1024 * 1024
"""Bytes from the end in which the newest bill is looked for."""

BYTES_PER_TOKEN = 4
"""Bytes of JSON for a token, where the rows behind the newest bill are counted."""


class Ends(NamedTuple):
    """The model of a session, and its context in tokens."""

    model: str
    tokens: int


class Said(NamedTuple):
    """What one row adds: its place in the tree, its bill or its content, and whether the context begins anew with it."""

    id: str | None = None
    parent: str | None = None
    usage: Usage | None = None
    model: str = ""
    content: bytes | memoryview = b""
    anew: bool = False


def ends(fd: int, size: int, agent: str) -> Ends | None:
    """The ends of an open file of `size` bytes; None where they do not tell, so that the whole has to be read.

    They do not where a fold stands behind the newest bill, where the path leads further back, where a row is of no
    known shape, and for agents whose files are no rows.
    """
    tell = TELLING.get(agent)
    if tell is None:
        return None
    place: Said | None = None
    behind, tokens, model = 0, None, ""
    for line in lines_from_end(fd, size, CHUNK):
        if size - line.offset > REACH:
            break
        try:
            said = tell(_row(line.data))
        except (ValueError, RecursionError):
            break
        if said is None or (place and said.id != place.parent):
            continue
        if said.anew:
            break
        model = model or said.model
        if tokens is None:
            tokens = said.usage.context + behind if said.usage and said.usage.prompt else None
            behind += len(said.content) // BYTES_PER_TOKEN
        if tokens is not None and model:
            return Ends(model, tokens)
        place = said
    return None


def may_hold_folds(fd: int, size: int, agent: str) -> bool:
    """Whether the signs of a fold stand anywhere in an open file; quoted inside a text they are escaped, and no sign."""
    signs = SIGNS[agent]
    rest = b""
    for at in range(0, size, REACH):
        data = rest + os.pread(fd, REACH, at)
        if any(sign in data for sign in signs):
            return True
        rest = data[-32:]
    return False


# -- rows, agent by agent ------------------------------------------------------------------------------------------


class _Message(Struct):
    role: str = ""
    model: str = ""
    usage: dict[str, Any] | None = None
    content: Raw = Raw()
    parts: Raw = Raw()


class _Payload(Struct):
    type: str = ""
    model: str = ""
    content: Raw = Raw()
    output: Raw = Raw()
    arguments: Raw = Raw()
    info: dict[str, Any] | None = None


class _Row(Struct):
    """What the rows of all these agents have in common with none, in one shape; the rest of a row is passed over."""

    type: str = ""
    subtype: str | None = None
    id: str | None = None
    parentId: str | None = None  # noqa: N815
    uuid: str | None = None
    parentUuid: str | None = None  # noqa: N815
    isSidechain: bool | None = None  # noqa: N815
    isCompactSummary: bool | None = None  # noqa: N815
    model: str | None = None
    modelId: str | None = None  # noqa: N815
    message: _Message | None = None
    payload: _Payload | None = None
    usageMetadata: dict[str, Any] | None = None  # noqa: N815
    foldline: Raw = Raw()
    details: Raw = Raw()


_row = msgspec.json.Decoder(_Row).decode
_NOTHING = _Message()


def _pi(row: _Row) -> Said | None:
    if row.type == "session":
        return None
    message = row.message or _NOTHING
    usage = dialect.usage_of(message.usage) if message.role == "assistant" else None
    model = row.modelId or (message.model if usage and message.model not in NO_MODELS else "")
    folds = row.type in ("compaction", "context_edit", "branch_summary")
    anew = folds or bool(row.foldline) or b'"foldline"' in bytes(row.details)
    return Said(row.id, row.parentId, usage, model, memoryview(message.content), anew)


def _claude_code(row: _Row) -> Said | None:
    if row.uuid is None or row.isSidechain or row.type == "progress":
        return None
    message = row.message or _NOTHING
    usage = read_usage(message.usage) if row.type == "assistant" and message.model != SYNTHETIC else None
    boundary = row.subtype in ("compact_boundary", "microcompact_boundary")
    anew = boundary or bool(row.isCompactSummary) or bool(row.foldline)
    return Said(row.uuid, row.parentUuid, usage, message.model if usage else "", memoryview(message.content), anew)


def _codex(row: _Row) -> Said | None:
    payload = row.payload or _Payload()
    match row.type, payload.type:
        case "event_msg", "token_count":
            billed = (payload.info or {}).get("last_token_usage")
            return Said(usage=codex_usage(billed) if isinstance(billed, dict) else None)
        case "turn_context", _:
            return Said(model=payload.model)
        case "response_item", _:
            return Said(content=b"".join(map(bytes, (payload.content, payload.output, payload.arguments))))
        case ("compacted", _) | ("event_msg", "thread_rolled_back"):
            return Said(anew=True)
    return None


def _qwen_code(row: _Row) -> Said | None:
    anew = row.subtype == "chat_compression"
    content = memoryview(row.message.parts) if row.message else b""
    return Said(row.uuid, row.parentUuid, read_usage(row.usageMetadata), row.model or "", content, anew)


TELLING: dict[str, Callable[[_Row], Said | None]] = {
    "pi": _pi,
    "openclaw": _pi,
    "claude-code": _claude_code,
    "codex": _codex,
    "qwen-code": _qwen_code,
}

_PI_SIGNS = (b'"compaction"', b'"foldline')
SIGNS = {
    "pi": _PI_SIGNS,
    "openclaw": _PI_SIGNS,
    "claude-code": (b'compact_boundary"', b'"isCompactSummary"'),
    "codex": (b'"compacted"',),
    "qwen-code": (b'"chat_compression"',),
}
"""What a row that folds holds; a file without any has not been folded."""
