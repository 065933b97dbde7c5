"""The exported document: what a session came to know, in a form that any agent and any model can take up."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import msgspec

from foldline._errors import FormatError
from foldline._facts.literals import literals
from foldline._facts.texts import said_in
from foldline._facts.types import (
    FILLING,
    Command,
    Facts,
    FailedCall,
    File,
    FileState,
    Kind,
    Lifetime,
    Piece,
    Rule,
    Todo,
    UserRequest,
)
from foldline._messages import Value

NAME: Literal["foldline/state"] = "foldline/state"
VERSION: Literal[1] = 1

LARGEST = 100 * 1000 * 1000
"""Bytes of the largest document that is written or read."""

SCHEMA_ID = "urn:foldline:state:1"


class Fact(Value, frozen=True, kw_only=True, omit_defaults=False, forbid_unknown_fields=True):
    """Something known, and where from: `at` counts messages since the work began, `id` is the entry in the session."""

    at: int = 0
    id: str = ""


class Asked(Fact, frozen=True, kw_only=True):
    """A user's message, verbatim; of a very long one its head and tail, `size` being its characters then."""

    text: str
    size: int = 0
    times: int = 1


class Binding(Fact, frozen=True, kw_only=True):
    """A sentence that binds the agent, verbatim; `by` is who said it."""

    text: str
    by: Literal["user", "project", "summary"] = "user"
    lifetime: Lifetime = "standing"


class Statement(Fact, frozen=True, kw_only=True):
    """A sentence of what the agent reported at the end of a turn, verbatim; `edge` where a report begins or ends with it."""

    text: str
    part: int = 0
    edge: bool = False


class Finding(Fact, frozen=True, kw_only=True):
    """What else was said, done or brought to light, and by whom; those with one `at` and `part` belong together."""

    kind: Kind
    text: str
    by: Literal["user", "agent", "tool", "peer", "harness", "summary"] = "agent"
    part: int = 0
    used: int = 0


class Entity(Fact, frozen=True, kw_only=True):
    """An identifier, path, number or name that was used, how often, and the line it stood in last."""

    value: str
    count: int = 1
    line: str = ""


class Operation(Fact, frozen=True, kw_only=True):
    """A command that a tool ran, how its newest run ended and the line of output that tells most."""

    command: str
    outcome: str = ""
    note: str = ""
    count: int = 1


class Failure(Fact, frozen=True, kw_only=True):
    """An error line that a tool answered with, and what was tried."""

    text: str
    source: str = ""
    key: str = ""
    resolved: bool = False


class Touched(Fact, frozen=True, kw_only=True):
    """A file that the agent touched, in its last state."""

    path: str
    state: FileState = "read"
    actions: dict[str, int] = msgspec.field(default_factory=dict)
    to: str = ""


class OpenStep(Fact, frozen=True, kw_only=True):
    """An item of a plan that is not done."""

    text: str
    status: Literal["pending", "in_progress"] = "pending"
    number: str = ""


class Tokens(Value, frozen=True, omit_defaults=False, forbid_unknown_fields=True):
    """Sizes in tokens: of the live context, of the model's window, and of the summary; `error` is relative."""

    context: int = 0
    window: int = 0
    summary: int = 0
    error: float = 0.0


class Origin(Value, frozen=True, omit_defaults=False, forbid_unknown_fields=True):
    """The session that the facts come from: `messages` were read, of which `carried` stand in earlier sessions."""

    agent: str
    session: str
    file: str = ""
    model: str = ""
    cwd: str = ""
    folds: int = 0
    messages: int = 0
    carried: int = 0
    first: str = ""
    last: str = ""


class State(Value, frozen=True, kw_only=True, omit_defaults=False, forbid_unknown_fields=True):
    """What a session came to know. Facts whose `at` is below `source.carried` have their ids in an earlier session."""

    format: Literal["foldline/state"] = NAME
    version: Literal[1] = VERSION
    exported: str
    source: Origin
    earlier: tuple[Origin, ...] = ()
    tokens: Tokens = Tokens()
    summary: str = ""
    requests: tuple[Asked, ...] = ()
    constraints: tuple[Binding, ...] = ()
    decisions: tuple[Statement, ...] = ()
    findings: tuple[Finding, ...] = ()
    entities: tuple[Entity, ...] = ()
    operations: tuple[Operation, ...] = ()
    errors: tuple[Failure, ...] = ()
    files: tuple[Touched, ...] = ()
    open_work: tuple[OpenStep, ...] = ()
    next_steps: tuple[Statement, ...] = ()


class _Head(msgspec.Struct):
    format: str = ""
    version: int = 0


def schema() -> dict[str, Any]:
    """The JSON Schema of the document (draft 2020-12)."""
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(msgspec.json.schema(State)))
    top = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA_ID, "title": "foldline state"}
    return {**top, **found}


def encode(state: State) -> bytes:
    """The document as JSON; raises `FormatError` where it is larger than a document may be."""
    data = msgspec.json.format(msgspec.json.encode(state), indent=2) + b"\n"
    if len(data) > LARGEST:
        raise FormatError(f"{len(data):,} bytes; at most {LARGEST:,} are exported", where="state")
    return data


def decode(data: bytes, where: str = "state") -> State:
    """The document in `data`; raises `FormatError`, naming the key, where anything in it is not as the schema says."""
    if len(data) > LARGEST:
        raise FormatError(f"{len(data):,} bytes; at most {LARGEST:,} are imported", where=where)
    head = _decoded(data, _Head, where)
    if head.format != NAME:
        raise FormatError(f"not an exported state: {head.format[:40]!r} instead of {NAME!r}", where=f"{where}: format")
    if head.version != VERSION:
        raise FormatError(f"version {head.version} is unknown; this is version {VERSION}", where=f"{where}: version")
    return _decoded(data, State, where)


T = TypeVar("T")
_AT = re.compile(r" - at `\$\.?(.*)`$", re.DOTALL)
_FIELD = re.compile(r"(?:unknown|required) field `([^`]*)`")


def _decoded(data: bytes, kind: type[T], where: str) -> T:
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        said = str(error)
        at = _AT.search(said)
        field = _FIELD.search(said)
        key = ".".join(filter(None, (at[1] if at else "", field[1] if field else "")))
        message = _AT.sub("", said)
        raise FormatError(message, where=f"{where}: {key}" if key else where) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"not valid JSON: {error}", where=where) from error


# -- from facts, and back ----------------------------------------------------------------------------------------

ENTITIES = 200
"""Entities of a document: those that were used most."""


def _speaker(piece: Piece) -> Literal["user", "agent", "tool", "peer", "harness", "summary"]:
    """Who said a piece, as a document says it: a command is the harness's."""
    return "harness" if piece.by == "command" else piece.by


def fields_of(facts: Facts, id_at: Callable[[int], str]) -> dict[str, Any]:
    """Facts as fields of a state; `id_at` names the entry of a message by its number."""

    def place(at: int) -> dict[str, Any]:
        return {"at": at, "id": id_at(at)}

    reports = [p for p in facts.pieces if p.kind == "report"]
    pieces = [p for p in facts.pieces if p.kind not in FILLING]
    others = [p for p in pieces if p.kind not in ("report", "said") or p.by == "peer"]
    pending = [(t.text, t.at) for t in facts.todos if t.status == "pending"]
    closing = [(p.text, p.at) for p in reports[-1:]]
    return {
        "requests": tuple(Asked(text=r.text, size=r.size, times=r.times, **place(r.at)) for r in facts.requests),
        "constraints": tuple(Binding(text=r.text, by=r.by, lifetime=r.lifetime, **place(r.at)) for r in facts.rules),
        "decisions": tuple(Statement(text=p.text, part=p.part, edge=p.edge, **place(p.at)) for p in reports),
        "findings": tuple(
            Finding(kind=p.kind, text=p.text, by=_speaker(p), part=p.part, used=p.used, **place(p.at)) for p in others
        ),
        "entities": tuple(
            Entity(value=value, count=count, line=piece.text, **place(piece.at))
            for value, count, piece in entities(pieces)
        ),
        "operations": tuple(
            Operation(command=c.text, outcome=c.outcome, note=c.note, count=c.count, **place(c.seen))
            for c in facts.commands
        ),
        "errors": tuple(
            Failure(text=f.text, source=f.source, key=f.key, resolved=f.resolved, **place(f.seen)) for f in facts.faults
        ),
        "files": tuple(
            Touched(path=f.path, state=f.state, actions=f.actions, to=f.to, **place(f.seen)) for f in facts.files
        ),
        "open_work": tuple(
            OpenStep(text=t.text, status=t.status, number=t.id, **place(t.at))
            for t in facts.todos
            if t.status in ("pending", "in_progress")
        ),
        "next_steps": tuple(Statement(text=text, **place(at)) for text, at in pending or closing),
    }


def entities(pieces: Sequence[Piece]) -> list[tuple[str, int, Piece]]:
    """The literals of pieces that stand in most of them, each with their number and the newest one."""
    found: dict[str, tuple[int, Piece]] = {}
    for piece in pieces:
        for value in literals(piece.text):
            found[value] = (found[value][0] + 1 if value in found else 1, piece)
    most = sorted(found.items(), key=lambda item: -item[1][0])[:ENTITIES]
    return [(value, count, piece) for value, (count, piece) in most]


def facts_in(state: State) -> Facts:
    """The facts that a state holds."""
    pieces = [
        Piece(text, r.at, 0, "user", "said", times=r.times) for r in state.requests for text, *_ in said_in(r.text)
    ]
    pieces += [Piece(d.text, d.at, d.part, "agent", "report", 0, d.edge) for d in state.decisions]
    pieces += [Piece(f.text, f.at, f.part, f.by, f.kind, f.used) for f in state.findings]
    return Facts(
        files=tuple(File(f.path, f.state, f.actions, f.at, f.to) for f in state.files),
        commands=tuple(Command(o.command, o.outcome, o.note, o.count, o.at) for o in state.operations),
        faults=tuple(FailedCall(e.text, e.source, e.key, e.resolved, e.at) for e in state.errors),
        requests=tuple(UserRequest(r.text, r.at, r.size, r.times) for r in state.requests),
        rules=tuple(Rule(c.text, c.at, c.by, c.lifetime) for c in state.constraints),
        todos=tuple(Todo(s.text, s.status, s.number, s.at) for s in state.open_work),
        pieces=tuple(sorted(pieces, key=lambda piece: (piece.at, piece.part))),
        end=state.source.messages,
    )
