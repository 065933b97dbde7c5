"""The parts of a page beside its timeline: the task as it is now, the rules that stand, the state, the files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from foldline.facts.cues import leaves_open
from foldline.facts.shell import family, only_looks
from foldline.facts.types import Command, Facts, Fault, File, Request, Rule
from foldline.messages import replace
from foldline.tokens.estimate import estimate

TELLING = 40
"""Characters of a request that says by itself what is wanted; a shorter one leans on what was said before."""

CHAIN = 3
"""The most messages that are told together as what is wanted now."""

_WIDE = 3
"""How many characters of an alphabet one of Chinese, Japanese or Korean stands for."""

_PASSING = re.compile(r"^/tmp/|(?:/|\.log)$")
_PASSED = re.compile(r"^(?:ok|OK|PASS)\b")
_CHECK = re.compile(r"\b\d+ (?:passed|failed|passing|failing)\b|\bTests?:|^ok\b|\bOK\b|\bPASS|FAIL|exit ", re.MULTILINE)


class Task(NamedTuple):
    """What the user wants now: the newest request that says it and what was said since, and the proposal that it leans on."""

    words: list[str]
    proposed: str = ""


def task(facts: Facts, after: Sequence[str] = ()) -> Task:
    """What the user wants now, oldest first.

    `after` is what the user said behind the folded messages; where that says by itself what is wanted, nothing is to be told.
    """
    since = list(after)
    if any(telling(text) for text in since):
        return Task([])
    chain: list[Request] = []
    for request in reversed(facts.requests):
        if request.text.endswith(("?", "？")) and not telling(request.text):
            continue
        chain.insert(0, request)
        if telling(request.text) or len(chain) == CHAIN:
            break
    if not chain:
        return Task([])
    leans = len(chain) > 1 or bool(since)
    return Task(
        [r.text for r in chain], _proposed(facts, chain[-1].at if len(chain) > 1 else facts.end) if leans else ""
    )


def telling(text: str) -> bool:
    """Whether a request says by itself what is wanted."""
    wide = sum(1 for c in text if c >= "\u2e80")
    return len(text) + wide * (_WIDE - 1) >= TELLING


def _proposed(facts: Facts, before: int) -> str:
    """What the agent had said last before a go-ahead."""
    said = [p for p in facts.pieces if p.kind == "report" and p.at < before]
    if not said:
        return ""
    last = said[-1].at
    return "\n".join(p.text for p in said if p.at == last)


def rules(facts: Facts, after: Sequence[str] = ()) -> list[Rule]:
    """The rules that stand, oldest first; an order for one turn stands in that turn only."""
    newest = facts.end if after else max((request.at for request in facts.requests), default=-1)
    return [r for r in facts.rules if r.lifetime == "standing" or (r.by != "project" and r.at >= newest)]


def state(facts: Facts) -> Iterator[str]:
    """What is open: the steps of the plan, errors, how the newest checks ended, and where the repository stands."""
    for todo in facts.todos:
        if todo.status in ("pending", "in_progress"):
            yield f"[ ] {todo.text}" + (" (in progress)" if todo.status == "in_progress" else "")
    yield from _left_open(facts)
    recent = sorted([0, *(request.at for request in facts.requests)])[-2:][0]
    recent = max(recent, facts.end - max(NEWEST, int(facts.end * NEWEST_SHARE)))
    ran = [c for c in facts.commands if c.outcome == "ok"]
    for fault in facts.faults:
        if not fault.resolved and fault.seen >= recent and not any(_superseded(fault, c) for c in ran):
            yield f"open error: `{_cut(fault.source, 100)}` → {_cut(fault.text, 240)}"
    ran = [c for c in facts.commands if c.note and not only_looks(c.text)]
    checks = [c for c in ran if _CHECK.search(c.note) and (c.outcome == "ok" or not _PASSED.search(c.note))]
    for check in checks[-2:]:
        yield f"last run: `{_cut(check.text, 120)}` → {'; '.join(filter(None, (check.outcome, check.note)))}"
    if line := repository(facts):
        yield f"git: {line}"


def repository(facts: Facts) -> str:
    """Where the work stands in its repository, and what was changed since the newest commit; empty where nothing tells."""
    known = facts.repository
    commit = f"last commit {known.commit}{', pushed' if known.pushed else ''}" if known.commit else ""
    since = _changed_since(facts, known.settled) if known.settled >= 0 else []
    names = ", ".join(since[-SINCE:]) + (f" and {len(since) - SINCE} more" if len(since) > SINCE else "")
    return "; ".join(
        filter(
            None,
            (
                f"on branch {known.branch}" if known.branch else "",
                commit,
                "opened " + ", ".join(known.pulls) if known.pulls else "",
                f"changed since: {names}" if since else "nothing left to commit" if known.clean else "",
            ),
        )
    )


def _changed_since(facts: Facts, at: int) -> list[str]:
    """The files that were changed behind a message, as they are called in the folder that most of them share."""
    root = _root([f.path for f in facts.files])
    changed = [f.path.removeprefix(root) for f in facts.files if f.changed and f.seen > at]
    return [path for path in changed if not (_PASSING.search(path) or (root and path.startswith(("/", "~"))))]


SINCE = 6
"""The newest files that are named of those that were changed since the newest commit."""

NEWEST, NEWEST_SHARE = 24, 0.15
"""Messages, and the share of them, among the newest of which an error that nothing closed is taken to be open."""

SHARED = 3
"""Files of one folder from which its path is told apart."""

REPORTS = 3
"""The newest reports whose open points may be open still."""


def _superseded(fault: Fault, ran: Command) -> bool:
    """Whether a script that failed was followed by another of its kind that did not: it was a try."""
    tried, done = fault.key.split(), family(ran.text).split()
    if ran.seen <= fault.seen or len(tried) < 2 or len(done) < 2:
        return False
    return tried[0] == done[0] and bool(_SCRIPT.search(tried[1]) and _SCRIPT.search(done[1])) and tried[0] != "pytest"


_SCRIPT = re.compile(r"\.(?:py|[cm]?[jt]s|sh|rb|php|pl)$")


def _left_open(facts: Facts) -> Iterator[str]:
    """What the newest reports say is open, unless something later says the same: it was done then."""
    reports = [p for p in facts.pieces if p.kind == "report"]
    newest = sorted({p.at for p in reports})[-REPORTS:]
    for piece in reports if newest else ():
        said = leaves_open(piece.text) if piece.at == newest[-1] else leaves_open(piece.text, labelled=True)
        if piece.at in newest and said:
            later = (p.text for p in facts.pieces if p.at > piece.at and p.kind in ("report", "change", "said"))
            if not _taken_up(piece.text, later):
                yield piece.text


def _taken_up(text: str, later: Iterable[str]) -> bool:
    telling = set(_TELLING.findall(text.lower()))
    return any(2 * len(telling.intersection(_TELLING.findall(each.lower()))) >= len(telling) for each in later)


_TELLING = re.compile(r"[^\W_][\w./-]{3,}|[\u3040-\u30ff\u3400-\u9fff]{2}")


def files(facts: Facts, room: int) -> list[str]:
    """The files by what was done to them: those that were changed, then those only read where there is room."""
    root = _root([f.path for f in facts.files])
    known = [replace(f, path=f.path.removeprefix(root)) for f in facts.files]
    changed = [f for f in known if f.changed and not _PASSING.search(f.path)]
    read = [f for f in known if not f.changed]
    lines = [f"in {root}"] if root else []
    for verb in ("created", "modified", "renamed", "deleted"):
        some = [f for f in changed if f.state == verb]
        lines += _listed(verb if verb != "modified" else "changed", some, room - _size(lines))
    lines += _listed("read", sorted(read, key=lambda f: f.seen), min(room - _size(lines), room // 3))
    return lines


def _root(paths: Sequence[str]) -> str:
    """The folder that most absolute paths share, where naming it once is shorter."""
    absolute = [path for path in paths if path.startswith("/") and path.count("/") > 3]
    folders = Counter(
        "/".join(path.split("/")[:depth]) + "/" for path in absolute for depth in range(4, path.count("/") + 1)
    )
    best = max(folders.items(), key=lambda item: (item[1] - 1) * len(item[0]), default=("", 0))
    return best[0] if best[1] >= SHARED and 2 * best[1] >= len(absolute) else ""


def _listed(verb: str, some: Sequence[File], room: int) -> list[str]:
    """Files of a state by folder, the newest ones where not all have room."""
    lines: list[str] = []
    for count in range(len(some), 0, -1 if len(some) < 20 else -(len(some) // 12)):
        folders: dict[str, list[str]] = {}
        for f in some[-count:]:
            folder, slash, name = f.path.rstrip("/").rpartition("/")
            moved = f" → {f.to}" if f.to else ""
            folders.setdefault(folder + slash, []).append(name + "/" * f.path.endswith("/") + moved)
        told = "; ".join(
            f"{folder}{', '.join(names)}" if len(names) == 1 or not folder else f"{folder}{{{', '.join(names)}}}"
            for folder, names in folders.items()
        )
        left = len(some) - count
        line = f"{verb}: {told}" + (f" … and {left} more" if left else "")
        if estimate(line) <= room:
            return [line]
    return lines


def _size(lines: Iterable[str]) -> int:
    return sum(estimate(line) + 1 for line in lines)


def trail(file: File) -> str:
    """A file with its state and what led to it."""
    moved = f" → {file.to}" if file.to else ""
    before = [
        f"{verb}{f' {n}×' if n > 1 else ''}" for verb, n in file.actions.items() if verb not in ("read", file.state)
    ]
    times = file.actions.get(file.state, 1)
    again = f" {times}×" if times > 1 else ""
    return f"{file.state}{again}: {file.path}{moved}" + (f" (was {', '.join(before)})" if before else "")


def _cut(text: str, width: int) -> str:
    """A text of at most `width` characters, cut between words where it has any."""
    if len(text) <= width:
        return text
    head = text[: width - 1]
    space = head.rfind(" ")
    return (head[:space] if space > width * 2 // 3 else head).rstrip() + "…"


cut = _cut
