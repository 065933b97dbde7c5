"""New sessions of Claude Code and Codex: the rows that their clients resume, and the place where these look for them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from foldline._sessions.registry import format_named
from foldline._sessions.writing import now

Row = dict[str, Any]

_NO_BILL = {"input_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 0}


class Session(NamedTuple):
    """What the rows of a new session repeat of it."""

    id: str
    cwd: str
    model: str


class Agent(NamedTuple):
    """How an agent's session is written: the wire that its items are of, its rows, and its file below the agent's store."""

    wire: str
    rows: Callable[[Sequence[Row], Session], Iterator[Row]]
    file: Callable[[Session], str]

    def place(self, name: str, session: Session, folder: str | None, environment: Mapping[str, str]) -> str:
        """The file of a new session: in the folder named, or where the agent looks for those of the directory."""
        if folder is not None:
            return os.path.join(folder, Path(self.file(session)).name)
        return str(next(iter(format_named(name).stores(environment))).folder / self.file(session))


def _claude_rows(items: Sequence[Row], session: Session) -> Iterator[Row]:
    """A row for each message, chained; the client joins what belongs to one response by its id."""
    parent: str | None = None
    for item in items:
        message = dict(item)
        if item["role"] == "assistant":
            said = item["content"]
            content = [{"type": "text", "text": said}] if isinstance(said, str) else said
            head = {"id": f"msg_{uuid4().hex[:24]}", "type": "message", "role": "assistant", "model": session.model}
            calls = any(block["type"] == "tool_use" for block in content)
            end = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None, "usage": _NO_BILL}
            message = {**head, "content": content, **end}
        uuid = str(uuid4())
        row = {"parentUuid": parent, "isSidechain": False, "type": item["role"], "message": message}
        yield {
            **row,
            "uuid": uuid,
            "timestamp": now(),
            "userType": "external",
            "cwd": session.cwd,
            "sessionId": session.id,
        }
        parent = uuid


def draft(rows: Sequence[Row]) -> list[Row]:
    """The rows, the first of which says how the session ends that nobody has gone on with yet."""
    if not rows:
        return []
    last = rows[-1]
    return [{"draftUntil": last.get("uuid", last["timestamp"]), **rows[0]}, *rows[1:]]


def _claude_file(session: Session) -> str:
    return f"{re.sub(r'[^a-zA-Z0-9]', '-', session.cwd)}/{session.id}.jsonl"


def _codex_rows(items: Sequence[Row], session: Session) -> Iterator[Row]:
    """A header and a row for each item; what a client says of its surroundings it says anew."""
    known = {"id": session.id, "timestamp": now(), "cwd": session.cwd}
    yield {
        "timestamp": now(),
        "type": "session_meta",
        "payload": {**known, "originator": "foldline", "cli_version": ""},
    }
    for item in items:
        whole = item if "type" in item else {"type": "message", **item}
        if isinstance(said := whole.get("content"), str):
            kind = "output_text" if whole["role"] == "assistant" else "input_text"
            whole = {**whole, "content": [{"type": kind, "text": said}]}
        yield {"timestamp": now(), "type": "response_item", "payload": whole}


def _codex_file(session: Session) -> str:
    return f"{datetime.now(UTC):%Y/%m/%d/rollout-%Y-%m-%dT%H-%M-%S}-{session.id}.jsonl"


AGENTS = {
    "claude-code": Agent("anthropic", _claude_rows, _claude_file),
    "codex": Agent("openai-responses", _codex_rows, _codex_file),
}
"""The agents, beside pi, of which a new session can be written."""
