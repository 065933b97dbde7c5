"""New sessions of pi, Claude Code and Codex: the rows that their clients resume, and the place where these look for them."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from foldline import _wires as wire
from foldline._messages import Message
from foldline._sessions.pi import PI, folder_of
from foldline._sessions.pi.composing import chained, details_of, new_path
from foldline._sessions.pi.dialect import KNOWN_VERSION, reply, stored
from foldline._sessions.registry import format_named
from foldline._sessions.values import items, mapping
from foldline._sessions.writing import now

Row = dict[str, Any]

_NO_BILL = {"input_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 0}


class SessionHead(NamedTuple):
    """What a new session's rows tell of it beside its messages; `agent`, `model` and `system` are those that the old one had.

    `note` is foldline's own on the first record, `tokens_before` the size of what a summary at its head stands for.
    """

    id: str
    stamp: str
    cwd: str
    model: str = ""
    agent: str = ""
    system: str = ""
    parent: str = ""
    tokens_before: int = 0
    note: Mapping[str, Any] | None = None


class SessionWriter(NamedTuple):
    """How an agent's session is written: the format that its messages are told in, its rows, and its file below the store.

    `resume` is the command with which the agent goes on, for an `{id}` or a `{path}`.
    """

    told_in: str
    rows: Callable[[Sequence[Message], SessionHead], Iterator[Row]]
    file: Callable[[SessionHead], str]
    resume: str

    def place(self, name: str, session: SessionHead, folder: str | None, environment: Mapping[str, str]) -> str:
        """The file of a new session: in the folder named, or where the agent looks for those of the directory."""
        if folder is not None:
            return os.path.join(folder, Path(self.file(session)).name)
        return str(next(iter(format_named(name).stores(environment))).folder / self.file(session))


def draft(rows: Sequence[Row]) -> list[Row]:
    """The rows, the first of which says how the session ends that nobody has gone on with yet."""
    if not rows:
        return []
    first, last = rows[0], rows[-1]
    return [{"draftUntil": last.get("uuid") or last.get("id") or last["timestamp"], **first}, *rows[1:]]


def _items(messages: Sequence[Message], format: str) -> list[Row]:
    request = wire.FORMATS[format].request
    assert request is not None
    items: list[Row] = request(messages)[0]
    return items


# -- pi ----------------------------------------------------------------------------------------------------------


def _pi_rows(messages: Sequence[Message], session: SessionHead) -> Iterator[Row]:
    """A header and a record for each message; a summary at their head is a compaction that keeps nothing."""
    header = {"type": "session", "version": KNOWN_VERSION, "id": session.id, "timestamp": session.stamp}
    parent = {"parentSession": os.path.abspath(session.parent)} if session.parent else {}
    yield {**header, "cwd": session.cwd, **parent}
    records = [each for n, message in enumerate(messages) for each in _pi_records(message, session, leads=n == 0)]
    rows = chained(records, None)
    if rows and rows[0]["type"] == "compaction":
        rows[0] |= {"firstKeptEntryId": rows[0]["id"], "foldline": {"trigger": "handoff"}}
    if rows and session.note:
        rows[0]["foldline"] = {**mapping(rows[0].get("foldline")), **session.note}
    yield from rows


def _pi_records(message: Message, session: SessionHead, *, leads: bool) -> Iterator[Row]:
    milliseconds = time.time_ns() // 1_000_000
    if leads and (summary := message.summary) and len(message.parts) == 1:
        told = {"summary": summary.text, "firstKeptEntryId": "", "tokensBefore": session.tokens_before}
        system = {"role": "system", "content": session.system, "timestamp": milliseconds}
        more = {"systemMessage": system} if session.system else {}
        yield {"type": "compaction", **told, "details": details_of(summary), **more}
        return
    for said in stored(message, milliseconds):
        said.pop("usage", None)  # it was made for a context that this one is not
        told = reply(said, session.model, session.agent) if said["role"] == "assistant" else said
        yield {"type": "message", "message": told}


def _pi_file(session: SessionHead) -> str:
    return new_path(folder_of(session.cwd).name, session.id, session.stamp)


# -- Claude Code -------------------------------------------------------------------------------------------------


def _claude_rows(messages: Sequence[Message], session: SessionHead) -> Iterator[Row]:
    """A row for each message, chained; the client joins what belongs to one response by its id."""
    parent: str | None = None
    for item in _items(messages, "anthropic"):
        message = dict(item)
        if item["role"] == "assistant":
            said = item["content"]
            content = [{"type": "text", "text": said}] if isinstance(said, str) else items(said)
            head = {"id": f"msg_{uuid4().hex[:24]}", "type": "message", "role": "assistant", "model": session.model}
            calls = any(mapping(block).get("type") == "tool_use" for block in content)
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


def _claude_file(session: SessionHead) -> str:
    return f"{re.sub(r'[^a-zA-Z0-9]', '-', session.cwd)}/{session.id}.jsonl"


# -- Codex -------------------------------------------------------------------------------------------------------


def _codex_rows(messages: Sequence[Message], session: SessionHead) -> Iterator[Row]:
    """A header and a row for each item; what a client says of its surroundings it says anew."""
    known = {"id": session.id, "timestamp": now(), "cwd": session.cwd}
    yield {
        "timestamp": now(),
        "type": "session_meta",
        "payload": {**known, "originator": "foldline", "cli_version": ""},
    }
    for item in _items(messages, "openai-responses"):
        whole = item if "type" in item else {"type": "message", **item}
        if isinstance(said := whole.get("content"), str):
            kind = "output_text" if whole["role"] == "assistant" else "input_text"
            whole = {**whole, "content": [{"type": kind, "text": said}]}
        yield {"timestamp": now(), "type": "response_item", "payload": whole}


def _codex_file(session: SessionHead) -> str:
    return f"{datetime.now(UTC):%Y/%m/%d/rollout-%Y-%m-%dT%H-%M-%S}-{session.id}.jsonl"


AGENTS = {
    PI: SessionWriter(PI, _pi_rows, _pi_file, "pi --session {path}"),
    "claude-code": SessionWriter("anthropic", _claude_rows, _claude_file, "claude --resume {id}"),
    "codex": SessionWriter("openai-responses", _codex_rows, _codex_file, "codex resume {id}"),
}
"""The agents of which a new session can be written."""
