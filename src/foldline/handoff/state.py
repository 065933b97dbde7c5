"""The exported document: what a session came to know, in a form that any agent and any model can take up."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal, TypeVar

import msgspec

from foldline.errors import FormatError
from foldline.facts.ledger import Ledger
from foldline.facts.types import (
    Command,
    Constraint,
    Fault,
    File,
    FileState,
    Identifier,
    Labelled,
    Note,
    Request,
    Retired,
    Speaker,
    Todo,
)
from foldline.messages import Value

NAME: Literal["foldline/state"] = "foldline/state"
VERSION: Literal[1] = 1

LARGEST = 100 * 1000 * 1000
"""Bytes of the largest document that is written or read."""

SCHEMA_ID = "urn:foldline:state:1"


class Fact(Value, frozen=True, kw_only=True, omit_defaults=False, forbid_unknown_fields=True):
    """Something known, and where from: `at` counts messages since the work began, `id` is the entry in the session."""

    at: int = 0
    id: str = ""


class Asked(Fact, frozen=True, kw_only=True, omit_defaults=False, forbid_unknown_fields=True):
    """A user's message, verbatim; of a very long one its head and tail, `size` being its characters then."""

    text: str
    size: int = 0
    first: bool = False


class Rule(Fact, frozen=True, kw_only=True, omit_defaults=False, forbid_unknown_fields=True):
    """A sentence that binds the agent, verbatim; `by` is who said it."""

    text: str
    by: Literal["user", "project", "summary"] = "user"


class Statement(Fact, frozen=True, kw_only=True, omit_defaults=False, forbid_unknown_fields=True):
    """A sentence of the assistant, verbatim, or a step of a plan."""

    text: str


class Finding(Fact, frozen=True, kw_only=True, omit_defaults=False, forbid_unknown_fields=True):
    """What was found, done or stated; of a `value` the `label` is what it is the value of."""

    kind: Literal["goal", "done", "state", "context", "value"]
    text: str
    label: str = ""
    by: Speaker = "assistant"
    corrects: bool = False


class Correction(Fact, frozen=True, kw_only=True, omit_defaults=False, forbid_unknown_fields=True):
    """A value that does not hold any more, and what replaced it."""

    value: str
    now: str = ""
    by: Speaker = "user"


class Entity(Fact, frozen=True, kw_only=True, omit_defaults=False, forbid_unknown_fields=True):
    """An identifier, path, number or name that was used, with the line it stood in."""

    value: str
    count: int = 1
    weight: float = 1.0
    line: str = ""


class Operation(Fact, frozen=True, kw_only=True, omit_defaults=False, forbid_unknown_fields=True):
    """A command that a tool ran, how its newest run ended and the line of output that tells most."""

    command: str
    outcome: str = ""
    note: str = ""
    count: int = 1


class Failure(Fact, frozen=True, kw_only=True, omit_defaults=False, forbid_unknown_fields=True):
    """An error line that a tool answered with, and what was tried."""

    text: str
    source: str = ""
    key: str = ""
    resolved: bool = False


class Touched(Fact, frozen=True, kw_only=True, omit_defaults=False, forbid_unknown_fields=True):
    """A file that the agent touched, in its last state."""

    path: str
    state: FileState = "read"
    actions: dict[str, int] = msgspec.field(default_factory=dict)
    to: str = ""


class Step(Fact, frozen=True, kw_only=True, omit_defaults=False, forbid_unknown_fields=True):
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


class Source(Value, frozen=True, omit_defaults=False, forbid_unknown_fields=True):
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
    source: Source
    earlier: tuple[Source, ...] = ()
    tokens: Tokens = Tokens()
    summary: str = ""
    requests: tuple[Asked, ...] = ()
    constraints: tuple[Rule, ...] = ()
    decisions: tuple[Statement, ...] = ()
    findings: tuple[Finding, ...] = ()
    corrections: tuple[Correction, ...] = ()
    entities: tuple[Entity, ...] = ()
    operations: tuple[Operation, ...] = ()
    errors: tuple[Failure, ...] = ()
    files: tuple[Touched, ...] = ()
    open_work: tuple[Step, ...] = ()
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


# -- from a ledger, and back --------------------------------------------------------------------------------------


def fields_of(ledger: Ledger, id_at: Callable[[int], str]) -> dict[str, Any]:
    """The facts of a ledger as fields of a state; `id_at` names the entry of a message by its number."""

    def place(at: int) -> dict[str, Any]:
        return {"at": at, "id": id_at(at)}

    def notes(kind: str) -> list[Note]:
        return [note for note in ledger.notes if note.kind == kind]

    findings = [Finding(kind=n.kind, text=n.text, **place(n.at)) for n in ledger.notes if n.kind not in _APART]  # type: ignore[arg-type]
    findings += [Finding(kind="done", text=t.text, **place(t.at)) for t in ledger.todos if t.status == "done"]
    findings += [
        Finding(kind="value", text=v.value, label=v.label, by=v.by, corrects=v.corrects, **place(v.at))
        for v in ledger.labelled
    ]
    announced = notes("next")
    since = ledger.requests[-2].at if len(ledger.requests) > 1 else -1
    return {
        "requests": tuple(Asked(text=r.text, size=r.size, first=r.first, **place(r.at)) for r in ledger.requests),
        "constraints": tuple(Rule(text=c.text, by=c.by, **place(c.at)) for c in ledger.constraints),
        "decisions": tuple(Statement(text=n.text, **place(n.at)) for n in notes("decision")),
        "findings": tuple(findings),
        "corrections": tuple(Correction(value=r.value, now=r.now, by=r.by, **place(r.at)) for r in ledger.retired),
        "entities": tuple(
            Entity(value=i.value, count=i.count, weight=round(i.weight, 1), line=i.line, **place(i.seen))
            for i in ledger.identifiers
        ),
        "operations": tuple(
            Operation(command=c.text, outcome=c.outcome, note=c.note, count=c.count, **place(c.seen))
            for c in ledger.commands
        ),
        "errors": tuple(
            Failure(text=f.text, source=f.source, key=f.key, resolved=f.resolved, **place(f.seen))
            for f in ledger.faults
        ),
        "files": tuple(
            Touched(path=f.path, state=f.state, actions=f.actions, to=f.to, **place(f.seen)) for f in ledger.files
        ),
        "open_work": tuple(
            Step(text=t.text, status=t.status, number=t.id, **place(t.at))
            for t in ledger.todos
            if t.status in ("pending", "in_progress")
        ),
        "next_steps": tuple(Statement(text=n.text, **place(n.at)) for n in announced if n.at >= since),
    }


_APART = ("decision", "next")


def ledger_of(state: State) -> Ledger:
    """The ledger that the facts of a state make."""
    notes = [Note(f.text, f.kind, f.at) for f in state.findings if f.kind != "value"]
    notes += [Note(d.text, "decision", d.at) for d in state.decisions]
    notes += [Note(n.text, "next", n.at) for n in state.next_steps]
    return Ledger(
        files=tuple(File(f.path, f.state, f.actions, f.at, f.to) for f in state.files),
        commands=tuple(Command(o.command, o.outcome, o.note, o.count, o.at) for o in state.operations),
        faults=tuple(Fault(e.text, e.source, e.key, e.resolved, e.at) for e in state.errors),
        requests=tuple(Request(r.text, r.at, r.size, r.first) for r in state.requests),
        constraints=tuple(Constraint(c.text, c.at, c.by) for c in state.constraints),
        todos=tuple(Todo(s.text, s.status, s.number, s.at) for s in state.open_work),
        identifiers=tuple(Identifier(e.value, e.count, e.at, e.weight, e.line) for e in state.entities),
        notes=tuple(sorted(notes, key=lambda note: note.at)),
        labelled=tuple(Labelled(f.label, f.text, f.at, f.corrects, f.by) for f in state.findings if f.kind == "value"),
        retired=tuple(Retired(c.value, c.now, c.at, c.by) for c in state.corrections),
        end=state.source.messages,
    )
