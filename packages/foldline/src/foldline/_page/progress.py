"""How far the work is: what of the plan is done beside what is open, and whether anything was changed, or committed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from foldline._clipping import cut
from foldline._facts.patterns import rare
from foldline._facts.standing import open_steps
from foldline._facts.told import DONE, UNCHANGED, UNCOMMITTED
from foldline._facts.types import Facts, Piece, Repository
from foldline._page.quoting import size
from foldline._page.state import STEP, changed_since, few
from foldline._patterns import pattern

_COMMITTED = rare(r"(?<!not )\b(?:committed|pushed)\b", re.IGNORECASE)
_COMMITTING = pattern(r"^\S*commit|\bgit\b.{0,80}?\bcommit\b")
"""How somebody says that something was committed, and how a call is told that may do it."""

_SPEAKS_OF_GIT = pattern(
    r"(?i)\b(?:git|(?<!\.)commit(?! to (?!main\b|master\b|the (?:repo|branch)))|pull request)\b|\b(?:an?|new|this|that|on|off|from|to|my|same|current) (?:\w+ )?branch\b(?! point)"
)
_ASKS_GIT = pattern(r"`(?:[^`]*[;&|] ?)?git \w")

_NO_REPOSITORY = "fatal: not a git repository"

_STEP, _STEPS = 100, 200
"""Characters of a step that is done, and of all of them."""


def with_progress(lines: Sequence[str], facts: Facts, room: int) -> list[str]:
    """The lines of a state with what was changed before all else, and what is done of the plan before what is open of it, where all of
    them fit into a room."""
    at = next((i for i, line in enumerate(lines) if line.startswith(STEP)), len(lines))
    changed = _changed(facts.latest) if facts.goes_on else ()
    more = [*changed, *lines[:at], *_done(facts), *lines[at:]]
    return more if size(more) <= room else [*lines]


def _changed(facts: Facts) -> Iterator[str]:
    """That work which goes on changed nothing, or what it changed in a repository of which no commit was seen, where nothing else
    tells of either."""
    if facts.untouched and facts.requests and any(piece.kind == "call" for piece in facts.pieces):
        yield UNCHANGED
    known = any(each.tells and not each.named_only for each in facts.repositories)
    if known or not _in_repository(facts) or any(map(_tells_of_commits, facts.pieces)):
        return
    if changed := few(changed_since(facts, Repository())):
        yield f"{UNCOMMITTED}{changed}"


def _in_repository(facts: Facts) -> bool:
    """Whether the work is done in a repository, as far as calls of git and what the user says show."""
    if facts.repositories or any(p.by == "tool" and _NO_REPOSITORY in p.text for p in facts.pieces):
        return bool(facts.repositories)
    asked = any(_SPEAKS_OF_GIT.search(request.text) for request in facts.requests)
    return asked or any(p.by == "tool" and _ASKS_GIT.search(p.text) for p in facts.pieces)


def _tells_of_commits(piece: Piece) -> bool:
    """Whether somebody says that something was committed, or a tool that commits was called."""
    if piece.by == "tool":
        return piece.kind in ("call", "change", "failure") and _COMMITTING.search(piece.text) is not None
    return piece.by != "user" and _COMMITTED.search(piece.text) is not None


def _done(facts: Facts) -> Iterator[str]:
    """The steps that are done of a plan of which some are open, the newest where not all have room."""
    done = [cut(text, _STEP) for text in _steps_done(facts)]
    room, count = _STEPS, 0
    for text in reversed(done):
        if (room := room - len(text) - 2) < 0 and count:
            break
        count += 1
    if count:
        yield f"{DONE}{'… ' if count < len(done) else ''}{'; '.join(done[-count:])}"


def _steps_done(facts: Facts) -> list[str]:
    """What is done of the plan: of one that is written whole as it was written last, of steps by number those of the same turn."""
    now = facts.latest
    begun = min((todo.made for todo in open_steps(facts)), default=now.end)
    if begun == now.end:
        return []
    done = [todo for todo in now.todos if todo.status == "done"]
    if now.plan_at is not None:
        return [todo.text for todo in done if todo.at >= now.plan_at]
    turn = max((request.newest for request in now.requests if request.newest <= begun), default=0)
    return [todo.text for todo in done if todo.made >= turn]
