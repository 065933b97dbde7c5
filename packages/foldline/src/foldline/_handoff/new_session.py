"""A session written new: in the format of an agent, or as plain messages of a provider. The old one is never touched."""

from __future__ import annotations

import base64
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from msgspec import field

from foldline import _wires as wire
from foldline._errors import SessionError
from foldline._handoff.agents import AGENTS, Session, draft
from foldline._handoff.portable import portable
from foldline._messages import Message, Summary, Value
from foldline._sessions.lines import encoded
from foldline._sessions.pi import PI, folder_of
from foldline._sessions.pi.composing import details_of, new_entry_id, new_path, new_session_id
from foldline._sessions.pi.dialect import KNOWN_VERSION, reply, stored
from foldline._sessions.writing import make_folder, now, write_whole
from foldline._wires.arranging import beside_system

FORMATS = (PI, *AGENTS, *wire.OWN)
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
    note: Mapping[str, Any] | None = None,
) -> NewSession:
    """Writes messages as a new session file; refuses to take the place of one that is there.

    Without a path, a session of an agent goes where the agent keeps those of `cwd`. Thinking is bound to the model that thought it
    and is left out, and so are the system prompts of other agents in a session of pi, which has its own. `note` is
    foldline's own on the first record, where the format has records.
    """
    agent_of = AGENTS.get(format)
    said_in = agent_of.wire if agent_of else format
    request = wire.FORMATS[said_in].request if said_in in wire.FORMATS else None
    if format != PI and request is None:
        raise SessionError(f"not written in {format!r}; there are {', '.join(FORMATS)}", path=path or "")
    lost: Counter[str] = Counter()
    carried = list(portable(messages, said_in, lost))
    if agent_of and request:
        return _of_agent(format, carried, request, path, Session(str(uuid4()), cwd, model), lost)
    id, stamp = new_session_id() if format == PI else "", now()
    place = place_for(path, format, cwd=cwd, id=id, stamp=stamp)
    if request is None:
        lost["system"] += sum(1 for m in carried if m.role == "system")
        header = {"type": "session", "version": KNOWN_VERSION, "id": id, "timestamp": stamp, "cwd": cwd}
        if parent:
            header["parentSession"] = os.path.abspath(parent)
        records = _records([m for m in carried if m.role != "system"], model, agent, tokens_before, note)
        if agent == PI and records and records[0]["type"] == "compaction" and (said := beside_system(carried)[0]):
            records[0]["systemMessage"] = {"role": "system", "content": said, "timestamp": time.time_ns() // 1_000_000}
            lost["system"] = 0
        if records:
            header["draftUntil"] = records[-1]["id"]
        data, count = b"".join(encoded(record) for record in (header, *records)), len(records)
    else:
        document, count = request(carried)
        data = _json(document)
    write_whole(place, data)
    return NewSession(place, format, id, count, {kind: n for kind, n in lost.items() if n})


def _of_agent(
    name: str,
    messages: Sequence[Message],
    request: Callable[[Sequence[Message]], tuple[Any, int]],
    path: str | None,
    session: Session,
    lost: Counter[str],
) -> NewSession:
    """Writes a session of an agent that sends the rows of it as they stand, behind a system prompt of its own."""
    lost["system"] += sum(1 for m in messages if m.role == "system")
    items, _ = request([m for m in messages if m.role != "system"])
    rows = draft(list(AGENTS[name].rows(items, session)))
    place = path
    if place is None or os.path.isdir(place):
        place = AGENTS[name].place(name, session, place, os.environ)
        make_folder(os.path.dirname(place))
    write_whole(place, b"".join(map(encoded, rows)))
    return NewSession(place, name, session.id, len(items), {kind: n for kind, n in lost.items() if n})


def place_for(path: str | None, format: str, *, cwd: str, id: str, stamp: str) -> str:
    """The file to write: the one named, a new one in the folder named, or in pi's folder for `cwd`."""
    if path is not None and not os.path.isdir(path):
        return path
    if format != PI:
        raise SessionError(f"messages of {format} need a file to be named", path=path or cwd)
    folder = path or str(folder_of(cwd))
    make_folder(folder)
    return new_path(folder, id, stamp)


# -- pi -----------------------------------------------------------------------------------------------------------


def _records(
    messages: Sequence[Message], model: str, agent: str, tokens_before: int, note: Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    """The entries that say the messages; a summary at their head is a compaction that keeps nothing."""
    records: list[dict[str, Any]] = []
    rest = list(messages)
    if rest and (summary := rest[0].summary) is not None and len(rest[0].parts) == 1:
        rest.pop(0)
        records.append(_compaction(summary, tokens_before))
    for message in rest:
        for said in stored(message, time.time_ns() // 1_000_000):
            bare = {
                key: value for key, value in said.items() if key != "usage"
            }  # made for a context that this one is not
            told = reply(bare, model, agent) if said["role"] == "assistant" else said
            records.append({"type": "message", "message": told})
    parent: str | None = None
    chained: list[dict[str, Any]] = []
    for record in records:
        id = new_entry_id()
        chained.append({"type": record["type"], "id": id, "parentId": parent, "timestamp": now(), **record})
        parent = id
    head = chained[0] if chained else {}
    if head.get("type") == "compaction":
        head |= {"firstKeptEntryId": head["id"], "foldline": {"trigger": "handoff"}}
    if chained and note:
        head["foldline"] = {**head.get("foldline", {}), **note}
    return chained


def _compaction(summary: Summary, tokens_before: int) -> dict[str, Any]:
    return {
        "type": "compaction",
        "summary": summary.text,
        "firstKeptEntryId": "",
        "tokensBefore": tokens_before,
        "details": details_of(summary),
    }


# -- plain messages -----------------------------------------------------------------------------------------------


def _json(document: Any) -> bytes:
    try:
        return json.dumps(document, ensure_ascii=False, indent=2, default=_base64).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(document, indent=2, default=_base64).encode() + b"\n"


def _base64(value: bytes) -> str:
    """Bytes, as the libraries of Amazon and Google have them, in the way that JSON holds them."""
    return base64.b64encode(value).decode()
