"""The ledger: what code can know of a conversation, code keeps.

A ledger is read from messages, merged across folds and written as plain data. It never passes through a model, so
it does not decay; and it is bounded, so it does not grow: of each kind the oldest and least used go first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import msgspec

from foldline.facts.foreign import facts_of_prose
from foldline.facts.later import Later, said_later
from foldline.facts.literals import alone, need
from foldline.facts.reading import Reading, drop_inside, known_as, settle, with_todo
from foldline.facts.speech import clean, is_summary
from foldline.facts.types import (
    Command,
    Constraint,
    Fault,
    File,
    Identifier,
    Labelled,
    Note,
    Request,
    Retired,
    Speaker,
    Todo,
)
from foldline.messages import Message, Summary, Text, Value, replace

F = TypeVar("F", bound=Value)

CAPS = {
    "files": 600, "commands": 80, "faults": 40, "requests": 400, "constraints": 200, "todos": 80, "identifiers": 1_200,
    "notes": 600, "labelled": 120, "retired": 80, "passed": 80,
}  # fmt: skip
_REQUEST_CHARS = 80_000
_TOLD = 240
_TOLD_LINES = 80
_TOLD_NOTES = 140
"""The facts that are written down hold fewer identifiers and notes than a ledger in memory: a log grows with each fold."""


class Ledger(Value, frozen=True, omit_defaults=True, dict=True):
    """The facts of a run of messages; `end` is how many messages they were gathered from."""

    files: tuple[File, ...] = ()
    commands: tuple[Command, ...] = ()
    faults: tuple[Fault, ...] = ()
    requests: tuple[Request, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    todos: tuple[Todo, ...] = ()
    identifiers: tuple[Identifier, ...] = ()
    notes: tuple[Note, ...] = ()
    labelled: tuple[Labelled, ...] = ()
    retired: tuple[Retired, ...] = ()
    passed: dict[str, int] = msgspec.field(default_factory=dict)
    """When each kind of command last succeeded, which resolves the errors of its kind."""
    plan_at: int | None = None
    """When a plan was last written whole: what an older plan held is no longer planned."""
    end: int = 0

    @classmethod
    def of(cls, messages: Iterable[Message]) -> Ledger:
        """The facts of messages; a summary among them contributes the facts behind it, or what its prose says."""
        ledger = cls()
        batch: list[Message] = []
        for message in messages:
            earlier = [f for p in message.parts if (f := _behind(message, p)) is not None]
            if not earlier:
                batch.append(message)
                continue
            ledger = ledger.merge(_read(batch))
            for facts in earlier:
                ledger = ledger.merge(facts)
            batch = [replace(message, parts=tuple(p for p in message.parts if _behind(message, p) is None))]
        return ledger.merge(_read(batch))

    def merge(self, newer: Ledger) -> Ledger:
        """Both ledgers as one, `newer` having happened after this one: its values win, and what it corrects is retired."""
        if self == Ledger():
            return newer
        new = _shift(newer, self.end)
        files = {f.path: f for f in self.files}
        for f in new.files:
            path = known_as(f.path, files)
            files[path] = _later(files.pop(path, None), replace(f, path=path))
            if f.state == "deleted":
                drop_inside(path, files, f.seen)
        labelled, retired = list(self.labelled), list(self.retired)
        for value in new.labelled:
            labelled, gone = settle(labelled, value)
            retired += gone
        todos = [t for t in self.todos if new.plan_at is None or t.status == "done"]
        for todo in new.todos:
            todos = with_todo(todos, todo)
        passed = {**self.passed, **new.passed}
        faults = {(f.key, f.text): replace(f, resolved=f.resolved or f.key in new.passed) for f in self.faults}
        for fault in new.faults:
            faults.pop((fault.key, fault.text), None)
            faults[fault.key, fault.text] = fault
        return _bounded(
            Ledger(
                files=tuple(files.values()),
                commands=_newest(self.commands, new.commands),
                faults=tuple(faults.values()),
                requests=_newest(
                    self.requests,
                    tuple(replace(r, first=False) for r in new.requests) if self.requests else new.requests,
                ),
                constraints=_newest(self.constraints, new.constraints),
                todos=tuple(todos),
                identifiers=_recounted(self.identifiers, new.identifiers),
                notes=_newest(self.notes, new.notes),
                labelled=tuple(labelled),
                retired=(*retired, *new.retired),
                passed=passed,
                plan_at=self.plan_at if new.plan_at is None else new.plan_at,
                end=new.end,
            )
        )

    def facts(self) -> dict[str, Any]:
        """The ledger as plain JSON data."""
        told = _best(self.identifiers, _TOLD, lambda i: _need(i, self.end))
        lines = {i.value for i in _best(told, _TOLD_LINES, lambda i: _need(i, self.end))}
        told = tuple(i if i.value in lines or not i.line else replace(i, line="") for i in told)
        notes = _best(self.notes, _TOLD_NOTES, _note_rank)
        data: dict[str, Any] = msgspec.to_builtins(replace(self, identifiers=told, notes=notes))
        return data

    @classmethod
    def from_facts(cls, facts: dict[str, Any]) -> Ledger:
        """The ledger behind plain data; what cannot be read of it is left out."""
        facts = _plain(facts)
        if not isinstance(facts, dict):
            return cls()
        fields: dict[str, Any] = {}
        for name, kind in _KINDS.items():
            items = facts.get(name)
            if isinstance(items, list | tuple):
                fields[name] = tuple(item for raw in items if (item := _converted(raw, kind)) is not None)
        for name, type_ in (("passed", dict[str, int]), ("plan_at", int), ("end", int)):
            if (value := _converted(facts.get(name), type_)) is not None:
                fields[name] = value
        return _bounded(cls(**fields))

    def holds(self, text: str, at: int, by: Speaker = "assistant") -> bool:
        """Whether what someone said at a time still stands: no value in it was retired later."""
        pattern, times = self._stale
        if pattern is None or pattern.search(text) is None:
            return True
        stale = (retired for found in pattern.finditer(text) for retired in times[found[0].lower()])
        return all(r.at <= at or (by == "user" != r.by) or (r.now != "" and r.now in text) for r in stale)

    def later(self, text: str, at: int) -> str:
        """What the user said after a time that may replace a value in a text, as a remark to be put behind it."""
        fitting = (later for later in self._said_later if later.at > at and later.bears_on(text))
        likeliest = max(fitting, key=lambda later: (later.claim, later.at), default=None)
        return likeliest.remark if likeliest else ""

    @cached_property
    def _said_later(self) -> tuple[Later, ...]:
        return tuple(said_later(self.requests))

    @cached_property
    def _stale(self) -> tuple[re.Pattern[str] | None, dict[str, list[Retired]]]:
        times: dict[str, list[Retired]] = {}
        for retired in self.retired:
            times.setdefault(retired.value.lower(), []).append(retired)
        joined = "|".join(map(re.escape, sorted(times, key=len, reverse=True)))
        return (re.compile(alone(joined), re.IGNORECASE) if times else None), times


_KINDS: dict[str, type[Value]] = {
    "files": File, "commands": Command, "faults": Fault, "requests": Request, "constraints": Constraint, "todos": Todo,
    "identifiers": Identifier, "notes": Note, "labelled": Labelled, "retired": Retired,
}  # fmt: skip


def _behind(message: Message, part: Any) -> Ledger | None:
    """The ledger behind a summary, ours or another compactor's; None for a part that is no summary."""
    if type(part) is Summary:
        ledger = Ledger.from_facts(part.facts) if part.facts else Ledger()
        return ledger if ledger != Ledger() else Ledger(**facts_of_prose(part.text))
    if type(part) is Text and message.role == "user" and is_summary(part.text):
        return Ledger(**facts_of_prose(part.text))
    return None


def _read(messages: Sequence[Message]) -> Ledger:
    reading = Reading(messages)
    return _bounded(
        Ledger(
            files=tuple(reading.files.values()),
            commands=tuple(reading.commands.values()),
            faults=tuple(reading.faults.values()),
            requests=tuple(reading.requests.values()),
            constraints=tuple(reading.constraints.values()),
            todos=tuple(reading.todos),
            identifiers=tuple(reading.identifiers(CAPS["identifiers"])),
            notes=tuple(reading.notes.values()),
            labelled=tuple(reading.labelled),
            retired=tuple(reading.retired),
            passed=reading.passed,
            plan_at=reading.plan_at,
            end=reading.end,
        )
    )


def _shift(ledger: Ledger, by: int) -> Ledger:
    """The ledger as it reads after `by` earlier messages."""
    if not by:
        return ledger
    fields: dict[str, Any] = {}
    for name in _KINDS:
        clock = "seen" if name in ("files", "commands", "faults", "identifiers") else "at"
        fields[name] = tuple(replace(item, **{clock: getattr(item, clock) + by}) for item in getattr(ledger, name))
    plan_at = None if ledger.plan_at is None else ledger.plan_at + by
    passed = {key: at + by for key, at in ledger.passed.items()}
    return replace(ledger, **fields, passed=passed, plan_at=plan_at, end=ledger.end + by)


def _later(old: File | None, new: File) -> File:
    """A file's trail continued: reading does not undo a change, and writing again does not create."""
    if old is None:
        return new
    actions = {verb: old.actions.get(verb, 0) + new.actions.get(verb, 0) for verb in {**old.actions, **new.actions}}
    state = new.state
    if state == "read" and old.state != "deleted":
        state = old.state
    elif state == "created" and old.state not in ("deleted", "renamed"):
        state = "modified"
    return File(new.path, state, actions, new.seen, new.to or (old.to if state == "renamed" else ""))


def _newest(old: tuple[F, ...], new: tuple[F, ...]) -> tuple[F, ...]:
    """Both in order, of those with the same text only the newer."""
    texts = {item.text for item in new}  # type: ignore[attr-defined]
    firsts = {item.text for item in old if isinstance(item, Request) and item.first}
    if firsts & texts:
        new = tuple(replace(i, first=True) if i.text in firsts else i for i in new)  # type: ignore[attr-defined]
    return (*(item for item in old if item.text not in texts), *new)  # type: ignore[attr-defined]


def _recounted(old: tuple[Identifier, ...], new: tuple[Identifier, ...]) -> tuple[Identifier, ...]:
    known = {i.value: i for i in old}
    for i in new:
        before = known.pop(i.value, None)
        if before is not None:
            i = replace(i, count=i.count + before.count, weight=i.weight + before.weight, line=i.line or before.line)
        known[i.value] = i
    return tuple(known.values())


def _bounded(ledger: Ledger) -> Ledger:
    """The ledger within its caps."""
    current = {r.now.lower(): r.at for r in ledger.retired}
    fields: dict[str, Any] = {
        "files": _best(ledger.files, CAPS["files"], lambda f: (f.changed, f.seen, f.times)),
        "commands": _best(ledger.commands, CAPS["commands"], lambda c: (c.seen, c.count)),
        "faults": _best(ledger.faults, CAPS["faults"], lambda f: (not f.resolved, f.seen)),
        "constraints": _best(ledger.constraints, CAPS["constraints"], lambda c: (c.by != "project", c.at)),
        "todos": _best(ledger.todos, CAPS["todos"], lambda t: (t.status in ("pending", "in_progress"), t.at)),
        "identifiers": _best(ledger.identifiers, CAPS["identifiers"], lambda i: _need(i, ledger.end)),
        "notes": _best(ledger.notes, CAPS["notes"], _note_rank),
        "labelled": ledger.labelled[-CAPS["labelled"] :],
        "retired": tuple(r for r in ledger.retired if current.get(r.value.lower(), -1) <= r.at)[-CAPS["retired"] :],
        "requests": _room(ledger.requests),
        "passed": dict(sorted(ledger.passed.items(), key=lambda item: item[1])[-CAPS["passed"] :]),
    }
    return replace(ledger, **fields)


def _note_rank(note: Note) -> tuple[bool, float]:
    """Goals first, then by age; what an earlier summary thought worth telling, and decisions, count as younger."""
    return note.kind == "goal", note.at + (20.0 if note.kind in ("decision", "context") else 0.0)


def _need(i: Identifier, end: int) -> float:
    return need(i.value, i.count, i.weight, max(end - i.seen, 0))


def _best(items: tuple[F, ...], cap: int, rank: Any) -> tuple[F, ...]:
    """The items within a cap, in their order, the lowest in rank dropped."""
    if len(items) <= cap:
        return items
    kept = set(sorted(range(len(items)), key=lambda i: rank(items[i]), reverse=True)[:cap])
    return tuple(item for i, item in enumerate(items) if i in kept)


def _room(requests: tuple[Request, ...]) -> tuple[Request, ...]:
    """The requests within their cap: the first and the newest stay."""
    if len(requests) <= CAPS["requests"] and sum(len(r.text) for r in requests) <= _REQUEST_CHARS:
        return requests
    first = tuple(r for r in requests if r.first)[:1]
    room = _REQUEST_CHARS - sum(len(r.text) for r in first)
    kept: list[Request] = []
    for request in reversed([r for r in requests if not r.first][-CAPS["requests"] :]):
        if (room := room - len(request.text)) >= 0:
            kept.append(request)
    return (*first, *reversed(kept))


def _plain(data: Any, depth: int = 0) -> Any:
    """Data as it can be written again: no lone surrogates, nothing nested without end."""
    if isinstance(data, str):
        return clean(data)
    if isinstance(data, dict):
        return {clean(str(key)): _plain(value, depth + 1) for key, value in data.items()} if depth < 8 else {}
    if isinstance(data, list | tuple):
        return [_plain(value, depth + 1) for value in data] if depth < 8 else []
    return data


def _converted(raw: Any, kind: Any) -> Any:
    try:
        return None if raw is None else msgspec.convert(raw, kind)
    except (msgspec.ValidationError, ValueError, TypeError, RecursionError):
        return None
