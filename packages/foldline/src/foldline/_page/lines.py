"""The parts of a page beside its timeline: the task as it is now, the rules that stand, the state, the files."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from foldline._clipping import cut
from foldline._facts.again import said_again
from foldline._facts.cues import leaves_open
from foldline._facts.folders import grouped
from foldline._facts.shell import only_looks
from foldline._facts.standing import base_of, changed_files, open_faults
from foldline._facts.types import Command, Facts, File, Repository, Request, Rule
from foldline._messages import replace
from foldline._tokens.estimate import estimate

TELLING = 40
"""Characters of a request that says by itself what is wanted; a shorter one leans on what was said before."""

CHAIN = 3
"""The most messages that are told together as what is wanted now."""

LATELY = 12
"""Messages for which a tree that was clean is taken to be so still."""

SINCE = 6
"""The newest files that are named of those that were changed since the newest commit."""

REPORTS = 3
"""The newest reports whose open points may be open still."""

_WIDE = 3
"""How many characters of an alphabet one of Chinese, Japanese or Korean stands for."""

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
    """Whether a request says by itself what is wanted; a command does."""
    if text.startswith("/"):
        return True
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
    for fault in open_faults(facts):
        yield f"open error: `{cut(fault.source, 100)}` → {cut(fault.text, 240)}"
    changed = max((file.seen for file in changed_files(facts)), default=-1)
    for check in [c for c in facts.commands if c.note and c.seen >= changed and _checks(c)][-2:]:
        yield f"last run: `{cut(check.text, 120)}` → {'; '.join(filter(None, (check.outcome, check.note)))}"
    if line := repository(facts):
        yield f"git: {line}"


def repository(facts: Facts) -> str:
    """Where the work stands in its repository, and what was changed since the newest commit; empty where nothing tells."""
    known = facts.repository
    if known == Repository():
        return ""
    commit = f"last commit {known.commit}{', pushed' if known.pushed else ''}" if known.commit else ""
    since = _changed_since(facts, known.settled)
    names = ", ".join(since[-SINCE:]) + (f" and {len(since) - SINCE} more" if len(since) > SINCE else "")
    clean = "nothing left to commit" if known.clean and known.settled >= facts.end - LATELY else ""
    return "; ".join(
        filter(
            None,
            (
                f"on branch {known.branch}" if known.branch else "",
                commit,
                "opened " + ", ".join(known.pulls) if known.pulls else "",
                f"{'changed since' if known.settled >= 0 else 'not committed'}: {names}" if since else clean,
            ),
        )
    )


def _changed_since(facts: Facts, at: int) -> list[str]:
    """The files that were changed behind a message, as they are called in the folder that most of them share."""
    root = base_of(facts)
    changed = [file.path.removeprefix(root) for file in changed_files(facts) if file.seen > at]
    return [path for path in changed if not (root and path.startswith(("/", "~")))]


def _checks(command: Command) -> bool:
    """Whether a command tried something, and its output says how that ended as its outcome does."""
    told = _CHECK.search(command.note) and (command.outcome == "ok" or not _PASSED.search(command.note))
    return bool(told) and not only_looks(command.text)


def _left_open(facts: Facts) -> Iterator[str]:
    """What the newest reports say is open, unless something later says the same: it was done then."""
    reports = [p for p in facts.pieces if p.kind == "report"]
    newest = sorted({p.at for p in reports})[-REPORTS:]
    for piece in reports if newest else ():
        said = leaves_open(piece.text) if piece.at == newest[-1] else leaves_open(piece.text, labelled=True)
        if piece.at in newest and said:
            later = (p.text for p in facts.pieces if p.at > piece.at and p.kind in ("report", "change", "said"))
            if not any(said_again(piece.text, each) for each in later):
                yield piece.text


def files(facts: Facts, room: int, *, spare: int = 0) -> list[str]:
    """The files by what was done to them: those that were changed, then in a third of the room those only read.

    What is `spare` of a page goes to the latter.
    """
    root = base_of(facts)
    changed, read = (
        [replace(f, path=f.path.removeprefix(root)) for f in some]
        for some in (changed_files(facts), (f for f in facts.files if not f.changed))
    )
    lines = [f"in {root}"] if root else []
    for verb in ("created", "modified", "renamed", "deleted"):
        some = [f for f in changed if f.state == verb]
        lines += _listed(verb if verb != "modified" else "changed", some, room - _size(lines))
    lines += _listed("read", sorted(read, key=lambda f: f.seen), min(room - _size(lines), room // 3) + spare)
    return lines


def _listed(verb: str, some: Sequence[File], room: int) -> list[str]:
    """Files of a state by folder, the newest ones where not all have room."""

    def line(count: int) -> str:
        told = grouped(f"{f.path} → {f.to}" if f.to else f.path for f in some[-count:])
        left = len(some) - count
        return f"{verb}: {told}" + (f" … and {left} more" if left else "")

    counts = range(len(some), 0, -1)
    fits = bisect_left(counts, True, key=lambda count: estimate(line(count)) <= room)
    return [line(counts[fits])] if fits < len(counts) else []


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
