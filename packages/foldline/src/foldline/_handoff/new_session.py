"""A session written new: in the format of an agent, or as plain messages of a provider. The old one is never touched."""

from __future__ import annotations

import base64
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import field

from foldline import _wires as wire
from foldline._errors import SessionError
from foldline._handoff.agents import AGENTS, SessionHead, draft
from foldline._handoff.portable import portable
from foldline._messages import Message, Value
from foldline._sessions.lines import encoded
from foldline._sessions.pi.composing import new_session_id
from foldline._sessions.writing import make_folder, now, write_whole
from foldline._wires.arranging import beside_system

FORMATS = (*AGENTS, *wire.OWN)
"""The formats that a session can be written in."""


class NewSession(Value, frozen=True, omit_defaults=False):
    """A session that was written: its id where the format has one, its messages, and what could not be carried."""

    path: str
    format: str
    id: str
    messages: int
    left_out: dict[str, int] = field(default_factory=dict)


def write_new(
    messages: Iterable[Message],
    format: str,
    path: str | None = None,
    *,
    cwd: str = "",
    model: str = "",
    agent: str = "",
    parent: str = "",
    tokens_before: int = 0,
    note: Mapping[str, object] | None = None,
) -> NewSession:
    """Writes messages as a new session file; refuses to take the place of one that is there.

    Without a path, a session of an agent goes where the agent keeps those of `cwd`. Thinking is bound to the model that
    thought it and is left out, and so are system prompts in a session of an agent, which has its own. `note` is foldline's
    own on the first record, where the format has records.
    """
    lost: Counter[str] = Counter()
    if format not in AGENTS:
        return _of_messages(messages, format, path or "", lost)
    writes = AGENTS[format]
    carried = list(portable(messages, writes.told_in, lost))
    system, said = beside_system(carried)
    own = system if agent == format else ""
    session = SessionHead(new_session_id(), now(), cwd, model, agent, own, parent, tokens_before, note)
    rows = draft([*writes.rows(said, session)])
    if not any("systemMessage" in row for row in rows):
        lost["system"] += len(carried) - len(said)
    if path is None or os.path.isdir(path):
        path = writes.place(format, session, path, os.environ)
        make_folder(os.path.dirname(path))
    write_whole(path, b"".join(map(encoded, rows)))
    count = sum(1 for row in rows if row["type"] not in HEADERS)
    return NewSession(path, format, session.id, count, {kind: n for kind, n in lost.items() if n})


HEADERS = ("session", "session_meta")
"""The types of rows that say no message."""


def _of_messages(messages: Iterable[Message], format: str, path: str, lost: Counter[str]) -> NewSession:
    """Writes the messages of a provider as one document."""
    request = wire.FORMATS[format].request if format in wire.FORMATS else None
    if request is None:
        raise SessionError(f"not written in {format!r}; there are {', '.join(FORMATS)}", path=path)
    if not path or os.path.isdir(path):
        raise SessionError(f"messages of {format} need a file to be named", path=path)
    document, count = request(list(portable(messages, format, lost)))
    write_whole(path, _json(document))
    return NewSession(path, format, "", count, {kind: n for kind, n in lost.items() if n})


def _json(document: object) -> bytes:
    try:
        return json.dumps(document, ensure_ascii=False, indent=2, default=_base64).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(document, indent=2, default=_base64).encode() + b"\n"


def _base64(value: bytes) -> str:
    """Bytes, as the libraries of Amazon and Google have them, in the way that JSON holds them."""
    return base64.b64encode(value).decode()
