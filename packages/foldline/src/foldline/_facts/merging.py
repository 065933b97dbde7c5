"""Facts of two runs of messages as one, and facts within bounds: so they last from fold to fold without a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from foldline._facts.attempts import closes
from foldline._facts.lasting import lasting
from foldline._facts.plan import Plan
from foldline._facts.repository import later
from foldline._facts.rules import rules_in
from foldline._facts.running import SOON, ends
from foldline._facts.shell import KILLING, ends_soon
from foldline._facts.speech import clean
from foldline._facts.trails import Trails
from foldline._facts.types import Command, Facts, FailedCall, File, Piece, Repository, Rule, Todo, UserRequest
from foldline._messages import Value, replace

F = TypeVar("F", bound=Value)

MOST = {
    "files": 600,
    "commands": 80,
    "faults": 40,
    "requests": 400,
    "rules": 200,
    "todos": 80,
    "passed": 80,
    "running": 24,
}
"""How many facts of each kind are kept: the newest of them, and of those first what matters most."""

MOST_PIECES = 2_400
MOST_OF_ONE = 400
"""Pieces of one message beyond which more are the first to go: a table that a user hands in is no thousand requests."""

MOST_PIECE_CHARACTERS = 200_000
MOST_REQUEST_CHARACTERS = 80_000

_KINDS: dict[str, type[Value]] = {
    "requests": UserRequest, "rules": Rule, "pieces": Piece, "files": File, "commands": Command, "faults": FailedCall, "todos": Todo,
}  # fmt: skip
_OLDER = {"constraints": "rules"}
"""What folds of up to 0.9 called facts."""

_SEEN = frozenset({"files", "commands", "faults"})
_KEPT = {
    "rule": 7, "said": 6, "answer": 6, "summary": 5, "report": 4, "change": 3, "failure": 3, "call": 2, "thought": 1, "result": 1, "excerpt": 0, "shown": 0, "given": -4, "written": -3,
}  # fmt: skip
"""What of the pieces stays longest, by kind."""


def merge(older: Facts, newer: Facts) -> Facts:
    """Both as one, `newer` having happened after `older`: its states win, and what succeeded in it closes older errors."""
    if older == Facts():
        return newer
    new = _shifted(newer, older.end)
    passed = {**older.passed, **new.passed}
    faults = {
        (f.key, f.text): replace(f, resolved=f.resolved or any(closes(key, f.key) for key in new.passed))
        for f in older.faults
    }
    for fault in new.faults:
        faults.pop((fault.key, fault.text), None)
        faults[fault.key, fault.text] = fault
    plan = Plan((t for t in older.todos if new.plan_at is None or t.status == "done"), older.todos)
    for todo in new.todos:
        plan.put(todo)
    trails = Trails(older.files, (*older.repositories, *new.repositories))
    for file in new.files:
        trails.follow(file)
    return bounded(
        Facts(
            requests=_requested(older.requests, new.requests),
            rules=_with(_lasting(older.rules, new.requests), new.rules),
            pieces=(*older.pieces, *new.pieces),
            files=tuple(trails.files.values()),
            commands=_newest(older.commands, new.commands),
            faults=tuple(faults.values()),
            todos=tuple(plan.todos),
            passed=passed,
            plan_at=older.plan_at if new.plan_at is None else new.plan_at,
            repositories=later(older.repositories, new.repositories),
            running=_running(older.running, newer),
            heard=older.heard | new.heard,
            untouched=(older.untouched or not older.end) and (newer.untouched or not newer.end),
            by_blocks=older.by_blocks or newer.by_blocks,
            acted=newer.acted if newer.end else older.acted,
            end=new.end,
        )
    )


def _running(older: dict[str, str], newer: Facts) -> dict[str, str]:
    """What runs behind newer messages: what ends by itself is over where there are many that do not name it."""
    over = {id for id, text in older.items() if id not in newer.running and newer.end > SOON and ends_soon(text)}
    kills = [id for id, text in newer.running.items() if not text and id.partition(" ")[0] in KILLING]
    over |= {id for id, text in older.items() if id not in newer.running and any(ends(kill, text) for kill in kills)}
    return {id: older.get(id) or text for id, text in (older | newer.running).items() if text and id not in over}


def _lasting(rules: tuple[Rule, ...], requests: Sequence[UserRequest]) -> tuple[Rule, ...]:
    """The rules that hold on behind what the user said since."""
    for request in requests if rules else ():
        rules = lasting(rules, request.text, rules_in(request.text), closed=True)
    return rules


def settled(facts: Facts, behind: Facts) -> Facts:
    """Facts as what happened behind them leaves them: errors that it closed, rules that it took back, the plan, checks that were
    run again, where the repositories stand, what ended.

    What happened behind is not counted: merged with it later, these are the facts of both.
    """
    both = merge(facts, behind)
    runs = {command.text: command.count for command in facts.commands}
    closed = [any(closes(key, fault.key) for key in behind.passed) for fault in facts.faults]
    return replace(
        facts,
        faults=tuple(replace(f, resolved=True) if over else f for f, over in zip(facts.faults, closed)),
        rules=tuple(rule for rule in facts.rules if rule in both.rules),
        todos=both.todos,
        commands=tuple(replace(command, count=runs.get(command.text, 0)) for command in both.commands),
        running={id: text for id, text in facts.running.items() if id in both.running},
        now=both,
    )


def bounded(facts: Facts) -> Facts:
    """The facts within their bounds."""
    fields: dict[str, Any] = {
        "files": _best(facts.files, MOST["files"], lambda f: (f.changed, f.seen, f.times)),
        "commands": _best(facts.commands, MOST["commands"], lambda c: (c.seen, c.count)),
        "faults": _best(facts.faults, MOST["faults"], lambda f: (not f.resolved, f.seen)),
        "rules": _best(facts.rules, MOST["rules"], lambda r: (r.by != "project", r.at)),
        "todos": _best(facts.todos, MOST["todos"], lambda t: (t.status in ("pending", "in_progress"), t.at)),
        "requests": _requests(facts.requests),
        "pieces": _pieces(facts.pieces),
        "running": dict([*facts.running.items()][-MOST["running"] :]),
        "heard": dict(sorted(facts.heard.items(), key=lambda item: item[1])[-MOST["running"] :]),
        "passed": dict(sorted(facts.passed.items(), key=lambda item: item[1])[-MOST["passed"] :]),
    }
    return replace(facts, **fields)


def from_data(data: Mapping[str, Any]) -> Facts:
    """The facts behind plain data; what cannot be read of it is left out."""
    plain = _plain(data)
    if not isinstance(plain, dict):
        return Facts()
    plain = {_OLDER.get(name, name): value for name, value in plain.items()}
    fields: dict[str, Any] = {name: tuple(_read(plain.get(name), kind)) for name, kind in _KINDS.items()}
    if not fields["pieces"]:
        said = (*_older(plain.get("requests"), "user", "said"), *_older(plain.get("notes"), "summary", "summary"))
        fields["pieces"] = tuple(_read(said, Piece))
    for name, type_ in (
        ("passed", dict[str, int]),
        ("plan_at", int),
        ("running", dict[str, str]),
        ("heard", dict[str, int]),
        ("repositories", tuple[Repository, ...]),
        ("untouched", bool),
        ("by_blocks", bool),
        ("acted", bool),
        ("end", int),
    ):
        if (value := _converted(plain.get(name), type_)) is not None:
            fields[name] = value
    return bounded(Facts(**fields))


def _read(items: Any, kind: type[F]) -> Iterator[F]:
    """What can be read of a list's items as facts of a kind."""
    if isinstance(items, list | tuple):
        yield from (item for raw in items if (item := _converted(raw, kind)) is not None)


def _older(items: Any, by: str, kind: str) -> Iterator[dict[str, Any]]:
    """What a fold of up to 0.9 kept of words, as pieces."""
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict) and isinstance(text := item.get("text"), str):
            yield {"text": text[:2_000], "at": item.get("at", 0), "by": by, "kind": kind}


def _shifted(facts: Facts, by: int) -> Facts:
    """The facts as they read after `by` earlier messages."""
    if not by:
        return facts
    fields: dict[str, Any] = {}
    for name in _KINDS:
        clock = "seen" if name in _SEEN else "at"
        fields[name] = tuple(replace(item, **{clock: getattr(item, clock) + by}) for item in getattr(facts, name))
    fields["requests"] = tuple(
        replace(r, again=r.again and r.again + by, between=tuple(at + by for at in r.between))
        for r in fields["requests"]
    )
    fields["todos"] = tuple(t if t.made < 0 else replace(t, made=t.made + by) for t in fields["todos"])
    fields["files"] = tuple(
        f if f.last < 0 else replace(f, last=f.last + by, kept=f.kept if f.kept < 0 else f.kept + by)
        for f in fields["files"]
    )
    plan_at = None if facts.plan_at is None else facts.plan_at + by
    passed = {key: at + by for key, at in facts.passed.items()}
    repositories = tuple(
        replace(
            r,
            taken={path: at + by for path, at in r.taken.items()},
            **{name: at + by for name in ("settled", "listed", "swept") if (at := getattr(r, name)) >= 0},
        )
        for r in facts.repositories
    )
    heard = {id: at + by for id, at in facts.heard.items()}
    return replace(
        facts, **fields, passed=passed, heard=heard, plan_at=plan_at, repositories=repositories, end=facts.end + by
    )


def _with(old: tuple[F, ...], new: tuple[F, ...]) -> tuple[F, ...]:
    """Both in order; what was said again stays where it was said first."""
    texts = {item.text for item in old}  # type: ignore[attr-defined]
    return (*old, *(item for item in new if item.text not in texts))  # type: ignore[attr-defined]


def _requested(old: tuple[UserRequest, ...], new: tuple[UserRequest, ...]) -> tuple[UserRequest, ...]:
    """Both in the order in which they were said last."""
    known = {request.text: request for request in old}
    again = {request.text for request in new}
    fresh = (_said_again(k, r) if (k := known.get(r.text)) else r for r in new)
    return (*(request for request in old if request.text not in again), *fresh)


def _said_again(old: UserRequest, new: UserRequest) -> UserRequest:
    """A request that was made before."""
    at, *between, again = (*old.places, *new.places)
    return replace(new, at=at, times=old.times + new.times, between=tuple(between), again=again)


def _newest(old: tuple[Command, ...], new: tuple[Command, ...]) -> tuple[Command, ...]:
    """Both in order, of those with the same text only the newer."""
    counts = {c.text: c.count for c in old}
    texts = {c.text for c in new}
    fresh = (replace(c, count=c.count + counts.get(c.text, 0)) for c in new)
    return (*(c for c in old if c.text not in texts), *fresh)


def _best(items: tuple[F, ...], cap: int, rank: Any) -> tuple[F, ...]:
    """The items within a cap, in their order, the lowest in rank dropped."""
    if len(items) <= cap:
        return items
    kept = set(sorted(range(len(items)), key=lambda i: rank(items[i]), reverse=True)[:cap])
    return tuple(item for i, item in enumerate(items) if i in kept)


def _requests(requests: tuple[UserRequest, ...]) -> tuple[UserRequest, ...]:
    """The requests within their bounds: the first and the newest stay."""
    if len(requests) <= MOST["requests"] and sum(len(r.text) for r in requests) <= MOST_REQUEST_CHARACTERS:
        return requests
    first, room = requests[0], MOST_REQUEST_CHARACTERS - len(requests[0].text)
    kept: list[UserRequest] = []
    for request in reversed(requests[1:][-MOST["requests"] :]):
        if (room := room - len(request.text)) >= 0:
            kept.append(request)
    return (first, *reversed(kept))


def _pieces(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """The pieces within their bounds: what the user said last to go, what calls brought and nobody used first."""
    if len(pieces) <= MOST_PIECES and sum(len(p.text) for p in pieces) <= MOST_PIECE_CHARACTERS:
        return pieces
    spoken: Counter[int] = Counter()
    ranks: list[tuple[bool, int, int]] = []
    for i, piece in enumerate(pieces):
        spoken[piece.at] += 1
        ranks.append((spoken[piece.at] <= MOST_OF_ONE, _KEPT[piece.kind] + min(piece.used, 3), i))
    order = [i for _, _, i in sorted(ranks, reverse=True)]
    room, kept = MOST_PIECE_CHARACTERS, set[int]()
    for i in order[:MOST_PIECES]:
        if (room := room - len(pieces[i].text)) < 0:
            break
        kept.add(i)
    return tuple(piece for i, piece in enumerate(pieces) if i in kept)


def _plain(data: Any, depth: int = 0) -> Any:
    """Data as it can be written again: no lone surrogates, nothing nested without end."""
    if isinstance(data, str):
        return clean(data)
    if isinstance(data, Mapping):
        return {clean(str(key)): _plain(value, depth + 1) for key, value in data.items()} if depth < 8 else {}
    if isinstance(data, Sequence) and not isinstance(data, bytes):
        return [_plain(value, depth + 1) for value in data] if depth < 8 else []
    return data


def _converted(raw: Any, kind: Any) -> Any:
    try:
        return None if raw is None else msgspec.convert(raw, kind)
    except (msgspec.ValidationError, ValueError, TypeError, RecursionError):
        return None
