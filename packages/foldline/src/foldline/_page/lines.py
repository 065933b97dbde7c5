"""The parts of a page beside its timeline: the task as it is now, the rules that stand, the state, the files."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from foldline._clipping import cut
from foldline._facts.again import shared_words
from foldline._facts.asked_for import not_seen
from foldline._facts.attempts import closes
from foldline._facts.chitchat import accepts, agrees
from foldline._facts.cues import asks
from foldline._facts.folders import grouped, seen_from
from foldline._facts.repository import NAMELESS, passes
from foldline._facts.rules import shouts
from foldline._facts.shell import checks, family, only_looks
from foldline._facts.standing import (
    answered,
    base_of,
    cause_of,
    changed_files,
    clarifies,
    done_since,
    intention,
    left_open,
    newest_finding,
    open_faults,
    open_steps,
)
from foldline._facts.told import BELOW, CAUSE, INTENDED, NOT_SEEN, STILL_RUNS
from foldline._facts.types import Command, Facts, File, Piece, Repository, Request, Rule
from foldline._messages import replace
from foldline._page.quoting import LEAST_CUT
from foldline._tokens.estimate import estimate

TELLING = 40
"""Characters of a request that says by itself what is wanted; a shorter one leans on what was said before."""

CHAIN = 3
"""The most messages that are told together as what is wanted now."""

ASKED = "asked the user: "

ASKED_BELOW = 48
"""Characters that are told of a request that stands behind the page."""

LATELY_ASKED = 6
"""The newest requests among which one is looked for that says more than the newest."""

DONE_BEFORE = 200
"""Characters that are told of a report of what was done before the newest words, where these do not take it up."""

LATELY = 12
"""Messages for which a tree that was clean is taken to be so still."""

SINCE = 6
"""The files that are named of those that were changed since the newest commit, those changed most first."""

RUNNING = 3
"""The programs that are told of those that run, the newest."""

INSTRUCTED = 4
"""The most sentences that are told of a project's own instructions."""

TEMPLATE = 12
"""The most of what the words around a task order: nobody else says how it is to be handed in."""

DONE, _DONE = 6, 110
"""The newest steps that are told of what was done for the last request, and the characters of each."""

STEP, STEPS, _DETAIL = "[ ] ", 6, 240
"""How an open step of the plan is told, how many are told before others are left out, and the characters of what one says
beside its title."""

_WIDE = 3
"""How many characters of an alphabet one of Chinese, Japanese or Korean stands for."""

_STEP = re.compile(r"(?: &&|;) ")
_PASSED = re.compile(r"^(?:ok|OK|PASS)\b")
_CHECK = re.compile(r"\b\d+ (?:passed|failed|passing|failing)\b|\bTests?:|^ok\b|\bOK\b|\bPASS|FAIL|exit ", re.MULTILINE)


class Task(NamedTuple):
    """What the user wants now: the newest request that says it and what was said since, and what the agent had said before that."""

    words: list[str]
    said: str = ""
    proposes: bool = False
    """Whether the newest words take up what was said; else it is only what they came behind."""


def task(facts: Facts, after: Sequence[str] = ()) -> Task:
    """What the user wants now, oldest first.

    `after` is what the user said behind the folded messages; where that says by itself what is wanted, nothing is to be told.
    A short question says it where the newest words agree to what the agent answered. Where nothing does, the longest of what
    was said lately stands before the newest words.
    """
    since = list(after)
    if any(telling(text) for text in since):
        return Task([])
    chain: list[Request] = []
    for request in reversed(facts.requests):
        says = telling(request.text) and not request.amid and not clarifies(facts, request)
        over = asks(request.text) and answered(facts, request.newest)
        taken_up = over and len(chain) + len(since) == 1 and accepts((since or [chain[0].text])[0])
        if says or taken_up or (len(chain) < CHAIN - 1 and not over):
            chain.insert(0, request)
        if says or taken_up:
            break
    else:
        known = {request.at for request in chain}
        lately = [request for request in facts.requests[-LATELY_ASKED:] if request.at not in known and not request.amid]
        chain = [*sorted(lately, key=lambda request: len(request.text))[-1:], *chain]
    if not chain:
        return Task([])
    words = [request.text for request in chain]
    if not ((len(chain) > 1 or since) and not (chain[-1].amid or (telling(words[-1]) and len(chain) > 1))):
        return Task(words)
    return _leaning(facts, words, (since or words)[-1], chain[-1].newest if len(chain) > 1 else facts.end)


def below(facts: Facts, after: Sequence[str]) -> Iterator[str]:
    """A line for the newest request where it stands behind the folded messages, with whether the one before it is answered."""
    over = "; the one before it is answered" if facts.requests and answered(facts) else ""
    for text in [text for text in after if telling(text) or not accepts(text)][-1:]:
        yield f"{BELOW}“{cut(' '.join(text.split()), ASKED_BELOW)}”{over}"


def missing(facts: Facts, words: Sequence[str]) -> Iterator[str]:
    """A line for what the `words` of the task ask for by name and nothing shows yet."""
    if names := not_seen(facts, words):
        yield f"{NOT_SEEN}{', '.join(names)})"


def telling(text: str) -> bool:
    """Whether a request says by itself what is wanted; a command does."""
    if text.startswith("/"):
        return True
    wide = sum(1 for c in text if c >= "\u2e80")
    return len(text) + wide * (_WIDE - 1) >= TELLING


def _leaning(facts: Facts, words: list[str], newest: str, before: int) -> Task:
    """What is wanted with what the agent had said last, of a menu the option that was chosen; of a report of work that is done
    and asks nothing only the beginning."""
    if chosen := [p.text for p in facts.pieces if p.kind == "answer" and p.by == "agent" and p.at == before]:
        return Task(words, "\n".join(chosen), True)
    reports = [p for p in facts.pieces if p.kind == "report" and p.at < before]
    closed = reports[-1].at if reports else -1
    said = [p for p in reports if p.at == closed]
    begun = max((p.at for p in reports if p.at < closed), default=-1)
    proposes = agrees(newest) or any(p.open or asks(p.text) for p in said)
    worked = any(p.kind in ("change", "failure") and begun < p.at < closed for p in facts.pieces)
    if worked and not proposes:
        return Task(words, cut(" ".join(p.text for p in said), DONE_BEFORE))
    return Task(words, "\n".join(p.text for p in said), proposes)


def rules(facts: Facts, after: Sequence[str] = ()) -> list[Rule]:
    """The rules that stand, oldest first; an order for one turn stands in that turn only."""
    newest = facts.end if after else max((request.at for request in facts.requests), default=-1)
    return [r for r in facts.rules if r.lifetime == "standing" or (r.by != "project" and r.at >= newest)]


def instructed(facts: Facts, words: str) -> list[Piece]:
    """What the project's own instructions and the newest command order of what is pending: the task's `words` and the open
    steps of the plan; of a command that came with the task also what it orders first."""
    orders = [p for p in facts.pieces if p.kind == "rule"]
    newest = max((p.at for p in orders if p.by == "command"), default=-1)
    asked = max((r.newest for r in facts.requests if telling(r.text)), default=-1)
    pending = " ".join((words, *(todo.text for todo in open_steps(facts))))
    shared = shared_words(pending, [p.text for p in orders]) if orders else []
    touching = sorted(
        (-n, not shouts(orders[i].text), i) for i, n in enumerate(shared) if n or orders[i].at == newest >= asked
    )
    project = [i for *_, i in touching if orders[i].by == "harness"]
    command = [i for *_, i in touching if orders[i].by == "command" and orders[i].at == newest]
    most = TEMPLATE if any(request.at == newest for request in facts.requests) else INSTRUCTED
    return [orders[i] for i in sorted((*project[:INSTRUCTED], *command[:most]))]


def state(facts: Facts, after: Sequence[str] = ()) -> Iterator[str]:
    """How the newest checks ended and where the repository stands, then what is open; with what the user said `after` it no
    question is."""
    changed = max((file.changed_at for file in changed_files(facts)), default=-1)
    for check in _newest_checks([c for c in facts.commands if c.note and c.seen >= changed and _checks(c)])[-2:]:
        yield f"last run: `{cut(_tried(check), 120)}` → {'; '.join(filter(None, (check.outcome, check.note)))}"
    for id, text in [(id, text) for id, text in facts.running.items() if text][-RUNNING:]:
        yield f"{STILL_RUNS}`{cut(text, 120)}` ({id})"
    worked_in = [each for each in facts.repositories if not passes(each.folder) or _holds(facts, each.folder)]
    several = len(worked_in) > 1
    for each in worked_in:
        if line := repository(facts, each):
            yield f"git in {each.folder or NAMELESS}: {line}" if several else f"git: {line}"
    yield from (line for line in _left(facts) if not (after and line.startswith(ASKED)))


def ending(facts: Facts) -> Iterator[str]:
    """Whether the newest request is answered; of one that is under way what was done for it and what the agent found last."""
    if not facts.requests:
        return
    if answered(facts):
        if not any(_left(facts)):
            yield "the last request is answered; the report names no next step"
        return
    done = _by_file(done_since(facts))
    told = "; ".join(cut(each, _DONE) for each in done[-DONE:])
    more = f"{len(done) - DONE} steps, then " if len(done) > DONE else ""
    yield "the last request is under way" + (f"; done for it so far: {more}{told}" if done else "")
    if intended := intention(facts):
        yield f"{INTENDED}{cut(intended, 240)}"
    newest = newest_finding(facts)
    if newest and newest not in (cause_of(facts, fault) for fault in open_faults(facts)):
        yield f"the agent said last: {cut(newest, 240)}"


def _by_file(done: Iterable[str]) -> list[str]:
    """Edits of the same file as one, with all names that they touched."""
    found: dict[str, dict[str, None]] = {}
    for each in done:
        head, mark, names = each.removesuffix(")").partition(" (")
        if not (mark and each.endswith(")")):
            head, names = each, ""
        found[head] = found.pop(head, {}) | dict.fromkeys(filter(None, names.split(", ")))
    return [f"{head} ({', '.join(names)})" if names else head for head, names in found.items()]


def _left(facts: Facts) -> Iterator[str]:
    """What is open: errors, the steps of the plan, what the agent said last is left."""
    for fault in open_faults(facts):
        why = cause_of(facts, fault)
        yield f"open error: `{cut(fault.source, 100)}` → {cut(fault.text, 240)}" + (
            f"{CAUSE}{cut(why, 240)}" if why else ""
        )
    for todo in open_steps(facts):
        detail = f": {cut(todo.detail, _DETAIL)}" if todo.detail else ""
        yield f"{STEP}{todo.text}{detail}" + (" (in progress)" if todo.status == "in_progress" else "")
    yield from (f"{ASKED}{left}" if asks(left) else left for left in left_open(facts))


def first_steps(lines: Sequence[str], room: int) -> list[str]:
    """Lines of a state, of the steps of the plan as many from the first one on as fit with all else into a room, and some at least."""
    steps = [line for line in lines if line.startswith(STEP)]
    left = room - _size(line for line in lines if not line.startswith(STEP)) - LEAST_CUT
    count = next((n for n in range(len(steps), STEPS, -1) if _size(steps[:n]) <= left), STEPS)
    gone = steps[count:] if _size(lines) > room else []
    more = f"… and {len(gone)} more steps of the plan"
    return [more if gone and line == gone[0] else line for line in lines if line not in gone[1:]]


def repository(facts: Facts, known: Repository) -> str:
    """Where the work stands in a repository, and what was changed since the newest commit; empty where nothing tells."""
    commit = f"last commit {known.commit}{', pushed' if known.pushed else ''}" if known.commit else ""
    since = _changed_since(facts, known)
    names = ", ".join(since[:SINCE]) + (f" and {len(since) - SINCE} more" if len(since) > SINCE else "")
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


def _holds(facts: Facts, folder: str) -> bool:
    """Whether most files of the work are in a folder."""
    inside = [file.path.startswith(f"{folder}/") for file in facts.files if not file.path.endswith("/")]
    return 2 * sum(inside) > len(inside)


def _changed_since(facts: Facts, known: Repository) -> list[str]:
    """The files that were changed in a repository since its newest commit, as they are called in the folder that most share."""
    root = base_of(facts)
    since = [file.path for file in by_change(changed_files(facts)) if file.changed_at > known.settled]
    if len(facts.repositories) > 1:
        since = [p for p in since if known.folder and p.startswith(f"{known.folder}/")]
        return [path.removeprefix(f"{known.folder}/") for path in since]
    paths = [path.removeprefix(root).removeprefix(f"{known.folder}/") for path in since]
    return [path for path in paths if not (root and path.startswith(("/", "~")))]


def _newest_checks(checks: Sequence[Command]) -> list[Command]:
    """The checks that none behind them closed: one that failed is over once the same one passed, or a wider one."""
    tried = [family(check.text) for check in checks]
    passed = [check.outcome == "ok" for check in checks]
    closed = [
        any(passed[j] and closes(tried[j], tried[i]) for j in range(i + 1, len(checks))) for i in range(len(checks))
    ]
    return [check for check, ok, over in zip(checks, passed, closed) if ok or not over]


def _tried(check: Command) -> str:
    """The command line of a check, from the last of its steps on that checks something."""
    steps = _STEP.split(check.text)
    at = max((i for i, step in enumerate(steps) if checks(family(step))), default=0)
    return " && ".join(steps[at:])


def _checks(command: Command) -> bool:
    """Whether a command tried something, and its output says how that ended as its outcome does."""
    told = _CHECK.search(command.note) and (command.outcome == "ok" or not _PASSED.search(command.note))
    return bool(told) and not only_looks(command.text)


def files(facts: Facts, room: int, *, spare: int = 0) -> list[str]:
    """The files by what was done to them: those that were changed, then in a third of the room those only read.

    What is `spare` of a page goes to the latter.
    """
    root, home = base_of(facts), _home(facts)
    changed, read = (
        [replace(f, path=_shown(f.path, root, home), to=_shown(f.to, root, home)) for f in some]
        for some in (changed_files(facts), (f for f in facts.files if not f.changed))
    )
    lines = [f"in {root}"] if root else []
    for by in ("", "peer"):
        for verb in ("created", "modified", "renamed", "deleted"):
            some = [f for f in changed if ("created" if f.made else f.state) == verb and f.by == by]
            told = (verb if verb != "modified" else "changed") + (" by another agent" if by else "")
            lines += _listed(told, some, room - _size(lines))
    lines += _listed("read", sorted(read, key=lambda f: f.seen), min(room - _size(lines), room // 3) + spare)
    return lines


def _home(facts: Facts) -> str:
    """The folder of the repository that paths from the working folder are taken to start in; empty where there are none."""
    folders = [r.folder for r in facts.repositories if r.folder.startswith("/") and not passes(r.folder)]
    from_there = any(not file.path.startswith(("/", "~")) for file in facts.files)
    return f"{folders[-1]}/" if folders and from_there else ""


def _shown(path: str, root: str, home: str) -> str:
    return seen_from(root, path) if root else path.removeprefix(home)


def by_change(some: Iterable[File]) -> list[File]:
    """Files by how often they were changed, then by how lately."""
    return sorted(some, key=lambda f: (f.times - f.actions.get("read", 0), f.seen), reverse=True)


def _listed(verb: str, some: Sequence[File], room: int) -> list[str]:
    """Files of a state by folder, in the order of time; where not all have room, those that were changed or read most."""
    ranked = by_change(some)

    def line(count: int) -> str:
        most = {f.path for f in ranked[:count]}
        told = grouped(f"{f.path} → {f.to}" if f.to else f.path for f in some if f.path in most)
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
