"""What of the facts stands at their end: the errors that are open, and the files that the work left changed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from foldline._facts.again import said_again
from foldline._facts.cues import asks, labels_open, says_open
from foldline._facts.folders import root_of
from foldline._facts.shell import family
from foldline._facts.splitting import split
from foldline._facts.types import Facts, Fault, File, Todo

NEWEST, NEWEST_SHARE = 24, 0.15
"""Messages, and the share of them, among the newest of which an error that nothing closed is taken to be open."""

REPORTS = 3
"""The newest reports whose open points may be open still."""

_PASSING = re.compile(r"^/tmp/|(?:/|\.log)$")
_SCRIPT = re.compile(r"\.(?:py|[cm]?[jt]s|sh|rb|php|pl)$")


def open_faults(facts: Facts) -> Iterator[Fault]:
    """The errors of the newest turns that nothing closed or took the place of, oldest first."""
    asked = sorted([0, *(request.at for request in facts.requests)])[-2:][0]
    recent = max(asked, facts.end - max(NEWEST, int(facts.end * NEWEST_SHARE)))
    faults = [fault for fault in facts.faults if not fault.resolved and fault.seen >= recent]
    scripts = [(c.seen, _script(family(c.text))) for c in facts.commands if c.outcome == "ok"] if faults else []
    for fault in faults:
        tried = _script(fault.key)
        if not tried or all(seen <= fault.seen or done != tried for seen, done in scripts):
            yield fault


def open_steps(facts: Facts) -> Iterator[Todo]:
    """The steps of the plan that are left, without those that the agent forgot: it worked on and closed a turn without them."""
    touched = max((todo.at for todo in facts.todos), default=0)
    worked = [p.at for p in facts.pieces if p.at > touched and p.kind in ("call", "change", "failure")]
    closing = [p for p in facts.pieces if p.kind == "report" and worked and p.at > worked[0]]
    asked = max((r.at for r in facts.requests if worked and touched < r.at < worked[-1]), default=0)
    for todo in facts.todos:
        forgotten = bool(closing or asked) and not any(said_again(todo.text, p.text) for p in closing)
        if todo.status in ("pending", "in_progress") and not forgotten:
            yield todo


def left_open(facts: Facts) -> Iterator[str]:
    """What the newest reports say is open, unless something later says the same: it was done then.

    Of reports before the newest it is what they say under a label, since most of it was done on the way. A question that
    the user spoke after is answered.
    """
    reports = [p for p in facts.pieces if p.kind == "report"]
    newest = sorted({p.at for p in reports})[-REPORTS:]
    for piece in reports:
        if piece.open and piece.at in newest and (piece.at == newest[-1] or labels_open(piece.text)):
            left = _open_in(piece.text, asking=piece.at >= _asked(facts))
            later = (p.text for p in facts.pieces if p.at > piece.at and p.kind in ("report", "change", "said"))
            if left and not any(said_again(left, each) for each in later):
                yield left


def _open_in(text: str, *, asking: bool) -> str:
    """Of what is open the sentences that say so, and those that ask; all of it where none does, as under a label."""
    left = [each for each in split(text) if says_open(each) or (asking and asks(each))]
    if labels_open(text) or not (left or asks(text)):
        return text
    return " ".join(left)


def answered(facts: Facts, asked: int | None = None) -> bool:
    """Whether the agent closed a turn with a report since it was asked, then or in the newest request."""
    since = _asked(facts) if asked is None else asked
    return max((p.at for p in facts.pieces if p.kind == "report"), default=-1) > since


def newest_words(facts: Facts) -> str:
    """What the agent said or changed last since the newest request; empty where it did neither."""
    asked = _asked(facts)
    since = [p for p in facts.pieces if p.at > asked and p.kind in ("thought", "change")]
    words = [p for p in since if p.at == since[-1].at and p.kind == "thought"]
    return (words or since)[-1].text if since else ""


def _asked(facts: Facts) -> int:
    """When the user spoke last."""
    spoken = [*(p.at for p in facts.pieces if p.by == "user"), *(r.newest for r in facts.requests)]
    return max(spoken, default=facts.end)


def base_of(facts: Facts) -> str:
    """The folder that most of the changed files share, else most of all; empty where none is."""
    changed = [file.path for file in facts.files if file.changed and not _PASSING.search(file.path)]
    return root_of(changed) or root_of([file.path for file in facts.files])


def changed_files(facts: Facts) -> list[File]:
    """The files that were created, changed, renamed or deleted, without those outside of the work that nobody keeps."""
    root = base_of(facts)
    return [file for file in facts.files if file.changed and not _PASSING.search(file.path.removeprefix(root))]


def _script(key: str) -> str:
    """The program of a script that was tried: another script that it ran later took the place of a try; empty for others."""
    program, *words = key.split() or [""]
    return program if words and program != "pytest" and _SCRIPT.search(words[0]) else ""
