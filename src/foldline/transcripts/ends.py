"""What the last lines of a session file tell of it: the newest bill and what came behind it, at the cost of a few lines."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from foldline.messages import Usage
from foldline.session import dialect
from foldline.session.lines import decode, lines_from_end
from foldline.session.log import NO_MODELS
from foldline.transcripts import claude_code, codex
from foldline.transcripts.claude_tree import LEAVES, Row
from foldline.transcripts.parts import mapping, string
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
    content: object = None
    anew: bool = False


Telling = Callable[[dict[str, Any]], Said | None]


def ends(fd: int, size: int, agent: str) -> Ends | None:
    """The ends of an open file of `size` bytes; None where they do not tell, so that the whole has to be read.

    They do not where a fold stands behind the newest bill, where the path leads further back, and for agents whose
    files are no rows.
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
            row = decode(line.data)
        except ValueError:
            continue
        said = tell(row) if isinstance(row, dict) else None
        if said is None or (place and said.id != place.parent):
            continue
        if said.anew:
            return None
        model = model or said.model
        if tokens is None:
            tokens = said.usage.context + behind if said.usage else None
            behind += _weight(said.content)
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


def _weight(content: object) -> int:
    return len(msgspec.json.encode(content)) // BYTES_PER_TOKEN if content else 0


# -- rows, agent by agent ------------------------------------------------------------------------------------------


def _pi(row: dict[str, Any]) -> Said | None:
    if row.get("type") == "session":
        return None
    message = mapping(row.get("message"))
    usage = dialect.usage_of(message.get("usage")) if message.get("role") == "assistant" else None
    billed = usage if usage and usage.prompt else None
    marked = "foldline" in row or "foldline" in mapping(row.get("details"))
    anew = marked or row.get("type") in ("compaction", "context_edit", "branch_summary")
    model = string(row.get("modelId"), message.get("model") if billed else "")
    named = "" if model in NO_MODELS else model
    return Said(row.get("id"), row.get("parentId"), billed, named, message.get("content"), anew)


def _claude_code(row: dict[str, Any]) -> Said | None:
    if row.get("type") not in (*LEAVES, "progress") or row.get("isSidechain") is True:
        return None
    about = Row(0, row, "")
    usage = claude_code.usage_of(about) if about.kind == "assistant" else None
    anew = about.is_boundary or about.is_summary or "foldline" in row or about.data.get("subtype") == CLEARING
    return Said(about.uuid, about.parent, usage, string(about.message.get("model")), about.message.get("content"), anew)


def _codex(row: dict[str, Any]) -> Said | None:
    payload = mapping(row.get("payload"))
    match row.get("type"), payload.get("type"):
        case "event_msg", "token_count":
            return Said(usage=codex.usage_of(mapping(mapping(payload.get("info")).get("last_token_usage"))))
        case "event_msg", "thread_rolled_back":
            return Said(anew=True)
        case "turn_context", _:
            return Said(model=string(payload.get("model")))
        case "response_item", _:
            return Said(content=payload)
        case "compacted", _:
            return Said(anew=True)
    return None


def _qwen(row: dict[str, Any]) -> Said | None:
    usage = read_usage(mapping(row.get("usageMetadata")))
    billed = usage if usage and usage.prompt else None
    anew = row.get("subtype") == "chat_compression"
    content = mapping(row.get("message")).get("parts")
    return Said(row.get("uuid"), row.get("parentUuid"), billed, string(row.get("model")), content, anew)


CLEARING = "microcompact_boundary"

TELLING: dict[str, Telling] = {
    "pi": _pi, "openclaw": _pi, "claude-code": _claude_code, "codex": _codex, "qwen-code": _qwen,
}  # fmt: skip

SIGNS = {
    "pi": (b'"compaction"', b'"foldline'),
    "openclaw": (b'"compaction"', b'"foldline'),
    "claude-code": (b'compact_boundary"', b'"isCompactSummary"'),
    "codex": (b'"compacted"',),
    "qwen-code": (b'"chat_compression"',),
}
"""What a row that folds holds; a file without any has not been folded."""
