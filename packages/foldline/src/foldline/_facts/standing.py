"""What of the facts stands at their end: the errors that are open, and the files that the work left changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set

from foldline._facts.again import said_again, shared_words, telling_words
from foldline._facts.chitchat import accepts
from foldline._facts.cues import (
    announces,
    approves,
    asks,
    changes_in,
    labels_open,
    labels_soon,
    leaves_to_user,
    offers,
    resumes,
    says_foreign,
    says_open,
    says_when_done,
    wonders,
)
from foldline._facts.folders import folders_of, is_absolute, root_of
from foldline._facts.literals import literals
from foldline._facts.outcomes import alarming, finds
from foldline._facts.patterns import rare
from foldline._facts.repository import passes
from foldline._facts.shell import checks, family, only_looks
from foldline._facts.splitting import split
from foldline._facts.types import LEFT, SOURCE, Facts, FailedCall, File, Piece, Todo, UserRequest
from foldline._patterns import pattern

NEWEST, NEWEST_SHARE = 24, 0.15
"""Messages, and the share of them, among the newest of which an error that nothing closed is taken to be open."""

REPORTS = 3
"""The newest reports whose open points may be open still."""

AFTER = 2
"""Messages behind an error in which the agent says what it makes of it."""

COMMANDS = 4
"""Commands that all failed alike from which nothing can be run."""

FOREIGN = 8
"""Messages behind a failure in which the agent says that it is none of its work: some looks, and a run without what it changed."""

NAMED = 3
"""Words that tell something from which an error is known where half of them are said again."""

SPOKEN_OF = 2
"""Words that the user's words share with a question that they answer, and that what was done or taken up shares with an open point."""

_NAMED = re.compile(r"`<?(?:[\w.-]+/)*([\w-]+\.[a-z]{1,5}|[A-Za-z]+[a-z][A-Z]\w+|\w+_\w+)(?:\(\))?>?`")
"""A file, or a name of code, that is marked as one."""

_GOING_ON = (resumes, accepts, approves)
"""What says only that the work is to go on."""

_SEVERAL = 60
"""Characters of the shortest sentence that says several steps."""

_STEPS = pattern(
    r"(?:,|;|\bthen\b|\bafter that\b|[，、；]).{4,}?(?:,|;|\b(?:then|and|und|y|dan|et)\b|[，、；]|然后|그리고)",
    re.IGNORECASE,
)
"""How one goes on that says several."""

_PASSING = pattern(r"^(?:/private)?/(?:tmp|var/tmp|var/folders)/|(?:/|\.log)$")
_OF_FOLDER = pattern(r"__init__\.pyi?|mod\.rs|index\.[cm]?[jt]sx?")
"""A file whose name says nothing without its folder's."""

_MISSING = rare(
    r"command not found|: not found$|No rule to make target|not recognized as|[Nn]o such command"
    r"|(?:unrecognized|unexpected|unknown|invalid) (?:option|argument|flag|subcommand)"
)
"""How a shell says that there is no such program, or a program that there is no such option: what was tried was a guess."""

_NOTHING = rare(
    r"no tests ran\b|(?<!, )\b\d+ deselected in\b|ERROR: (?:file or directory )?not found: |no matches found|No such file or directory|did not match any file"
)
"""How a command says that what it was to work on is not there: no error of the work unless a check says so."""

_MOVED_ON = 4
"""Requests since a list was written behind which what is open in it is so no more, unless somebody speaks of it."""

_FORGOTTEN = 6
"""Requests since that each say something else to do, behind which the agent has forgotten the plan that it wrote with a tool, unless
it says that a step is open still."""

_SOON_DONE = 10
"""Messages with calls behind which what the agent said it would do is done, or given up."""

_TEST = pattern(r"(?:FAILED|ERROR) \S*::(\w+)|--- FAIL: (?:\w+/)*(\w+)")
"""The name of a test that failed, as pytest and Go tell it."""

_WHOLE = pattern(r"(?!\(?\w{1,2}[.)]\s|[-*+•|(])[^\n]{1,240}[.!?)…。！？]")
"""A sentence from its beginning to its end: no item of a list, no part that was cut."""

_PROBE = pattern(r"(?:cd \S+ (?:&&|;) )?(?:python[\d.]*|node|deno|bun|ruby|perl|php) (?:-\w*[cer]\b|-\s|<<)")
"""A few lines of code that were tried out, and are kept nowhere."""

_INQUIRES = pattern(
    r"(?!\W*(?:if|when|whenever)\b)(?=.*\b(?:ask\w* .*questions?|clarif\w+|interrogate|interview)\b).*\b(?:first|before|start (?:by|with)|begin (?:by|with))\b",
    re.IGNORECASE,
)
"""How an order says that it is to be found out what is wanted before that is done."""

_NUMBER = pattern(r"(?<!\w)#(\d{1,9})\b")
"""How an issue or the like is numbered."""

_SCRIPT = pattern(r"\.(?:py|[cm]?[jt]s|sh|rb|php|pl)$")


def open_faults(facts: Facts) -> Iterator[FailedCall]:
    """The errors of the newest turns that nothing closed or took the place of, oldest first, those alike once; what failed
    behind the messages is told there. One of a check is as new as the work that it checked.

    One behind which the agent worked on and closed the turn is open where that report, or a later one, says so; one of the turn
    that runs still until the work went on. What a tool refused is over once the user asked for two things more, behind the messages too.
    """
    asked = sorted([0, *(request.at for request in facts.requests)])[-2:][0]
    recent = max(asked, facts.end - max(NEWEST, int(facts.end * NEWEST_SHARE)))
    end, facts = facts.end, facts.latest
    changed = max((p.at for p in facts.pieces if p.kind == "change"), default=0)
    still = [
        f
        for f in facts.faults
        if not f.resolved and (f.seen >= recent or (checks(f.key) and f.seen > max(asked, changed)))
    ]
    tried = {c.tried[:SOURCE] for c in facts.commands}
    lately = sorted([0, *(request.newest for request in facts.requests)])[-2:][0]
    still = [fault for fault in still if fault.source in tried or fault.seen >= lately]
    alike = {_likeness(fault): fault for fault in still}
    for fault in sorted(alike.values(), key=lambda fault: fault.seen):
        if fault.seen >= end or (_PROBE.match(fault.source) and not checks(fault.key)):
            continue
        since = _Since(facts, fault.seen)
        if _passed(fault, since) or _is_foreign(fault, since):
            continue
        left = any(_leaves(p, fault, tried) or (not since.worked and _says(p, fault)) for p in since.reports)
        runs = not since.reports or (not since.worked and (checks(fault.key) or finds(fault.text)))
        if left or (runs and _stands(fault, since, tried)):
            yield fault


def never_ran(facts: Facts) -> str:
    """What all commands failed with, of which there were several and none did what it should: nothing can be run here; else empty."""
    now = facts.latest
    said = {
        fault.text for fault in now.faults if fault.text and any(c.tried[:SOURCE] == fault.source for c in now.commands)
    }
    failed = all(command.outcome not in ("", "ok") for command in now.commands)
    return said.pop() if len(now.commands) >= COMMANDS and failed and len(said) == 1 else ""


class _Since:
    """What happened behind an error: what the agent said, and what it did with success."""

    def __init__(self, facts: Facts, seen: int) -> None:
        self.said = [p for p in facts.pieces if p.by == "agent" and p.at > seen and not announces(p.text)]
        self.reports = [p for p in self.said if p.kind == "report"]
        self.done = [c for c in facts.commands if c.outcome == "ok" and c.seen > seen and not only_looks(c.text)]
        self.failed = [f.key for f in facts.faults if f.seen > seen]
        changed = (p.at for p in facts.pieces if p.kind == "change" and p.at > seen)
        self.went_on = min([*changed, *(c.seen for c in self.done)], default=None)
        self.worked = bool(self.reports) and self.went_on is not None and self.went_on < self.reports[-1].at
        """Whether it did something before it reported last."""


def _passed(fault: FailedCall, since: _Since) -> bool:
    """Whether a test that failed was run by its name since, and passed."""
    named = _TEST.search(fault.text) if checks(fault.key) else None
    return named is not None and any((named[1] or named[2]) in c.text and checks(family(c.tried)) for c in since.done)


def _is_foreign(fault: FailedCall, since: _Since) -> bool:
    """Whether the agent says soon of a check that it failed before, or comes of something else."""
    soon = (p for p in since.said if p.at <= fault.seen + FOREIGN or _says(p, fault))
    return checks(fault.key) and any(says_foreign(sentence) for p in soon for sentence in split(p.text))


def _says(piece: Piece, fault: FailedCall) -> bool:
    """Whether the agent says again what an error says, and not as something that it mended."""
    known = fault.text in piece.text or len(telling_words(fault.text)) >= NAMED
    return known and said_again(fault.text, piece.text) and (piece.open or not changes_in(piece.text))


def _leaves(piece: Piece, fault: FailedCall, tried: Set[str]) -> bool:
    """Whether a report leaves an error open: one of a command by its words or a name that it has, one of another tool by anything."""
    named = not {*literals(fault.text)}.isdisjoint(literals(piece.text))
    return piece.open and (fault.source not in tried or named or _says(piece, fault))


def _stands(fault: FailedCall, since: _Since, tried: Set[str]) -> bool:
    """Whether an error of the turn that runs still is open: what a check found, one that could not be run until another one
    passed or was committed, a script until another one was tried, another command until the agent went on with something else and
    did not come back to it."""
    passed = [family(c.tried) for c in since.done]
    if _MISSING.search(fault.text):
        return False
    if checks(fault.key):
        return finds(fault.text) or not any(checks(each) or each == "git commit" for each in passed)
    if script := _script(fault.key):
        return script not in map(_script, (*since.failed, *passed))
    if fault.source not in tried:
        return True
    back = since.went_on is None or any(_says(p, fault) for p in since.said if p.at > since.went_on)
    return back and not _NOTHING.search(fault.text)


def _likeness(fault: FailedCall) -> tuple[str, str]:
    """What faults that are the same have in common: the program that says it, and of a check what was checked, unless the words name it."""
    program = fault.key.partition(" ")[0]
    return (fault.key if checks(fault.key) and not literals(fault.text) else program, fault.text)


def was_a_guess(text: str) -> bool:
    """Whether an error says that what was called, or what it was to work on, is not there."""
    return _MISSING.search(text) is not None or _NOTHING.search(text) is not None


def open_steps(facts: Facts) -> Iterator[Todo]:
    """The steps of the plan that are left, without those that the agent forgot: it worked on and closed a turn without them, or only wrote
    them into its words, and the user asked for several things since.

    A plan that was written whole behind the messages stands there.
    """
    end, facts = facts.end, facts.latest
    if facts.plan_at is not None and facts.plan_at >= end:
        return
    touched = max((todo.at for todo in facts.todos), default=0)
    worked = [p.at for p in facts.pieces if p.at > touched and p.kind in ("call", "change", "failure")]
    closing = [p for p in facts.pieces if p.kind == "report" and worked and p.at > worked[0]]
    asked = any(touched < r.at < worked[-1] and not interjects(facts, r) for r in facts.requests if worked)
    if sum(r.at > touched for r in facts.requests) >= _MOVED_ON and (closing or facts.plan_at is None):
        since = [p for p in facts.pieces if p.kind == "report" and p.at > touched]
        newest = [p for p in since if p.at == since[-1].at]
        closing, asked = since if facts.plan_at is None else newest, True
    if facts.plan_at is not None and _turned_away(facts, touched):
        closing, asked = [p for p in closing if p.open], True
    for todo in facts.todos[_reached(facts) :]:
        forgotten = (asked or bool(closing)) and not any(said_again(todo.text, p.text) for p in closing)
        if todo.text and todo.status in ("pending", "in_progress") and not forgotten:
            yield todo


def _turned_away(facts: Facts, since: int) -> bool:
    """Whether the user asked for so much else since that a plan is forgotten."""
    others = (r.text for r in facts.requests if r.at > since and not r.amid)
    return sum(not any(goes_on(text) for goes_on in _GOING_ON) for text in others) >= _FORGOTTEN


def _reached(facts: Facts) -> int:
    """The place of the furthest step of a plan that the agent wrote into its words once, and that it spoke of since: those before it
    are past, whoever ticks them. Where a tool has the plan, that says so."""
    if facts.plan_at is not None:
        return 0
    said = [(p.at, p.text) for p in facts.pieces if p.by == "agent" and p.kind in ("thought", "report")]
    for place, todo in reversed([*enumerate(facts.todos)]):
        since = [text for at, text in said if at > todo.at]
        if (
            any(said_again(todo.text, text) for text in since)
            or max(shared_words(todo.text, since), default=0) >= SPOKEN_OF
        ):
            return place
    return 0


def left_open(facts: Facts) -> Iterator[str]:
    """What the newest reports say is open, unless something later speaks of it: it was done then, or told anew. What the user
    said since the last report is not done yet.

    Of reports before the newest it is what they say under a label, since most of it was done on the way, unless a later one
    lists some of it anew, or names one more of what is numbered there. What was to come next came, once
    something was reported behind it. A question that
    the user spoke after is answered, unless it is listed as open and the user spoke of something else; and what was the
    user's to do is done.
    """
    now = facts.latest
    reports = [p for p in facts.pieces if p.kind == "report"]
    newest = sorted({p.at for p in reports})[-REPORTS:]
    last = max((p.at for p in now.pieces if p.kind == "report"), default=-1)
    asked, led = _asked(now), ""
    for piece in reports:
        fresh = piece.at >= asked
        if not piece.columns and _is_open(piece, newest, last, fresh=fresh):
            left = _open_in(piece, fresh=fresh, asking=fresh or _waits(piece, now))
            item = left.removeprefix(f"{piece.under}: ")
            since = [p for p in now.pieces if p.at > piece.at]
            did = [p.text for p in since if p.kind == "change" or (p.kind == "said" and p.at < last)]
            over = (*did, *(p.text for p in since if p.kind == "report"))
            done = any(said_again(item, text) for text in over) or max(shared_words(item, did), default=0) >= SPOKEN_OF
            done = done or (piece.at < last and _written_since(item, since))
            listed = [p.text for p in reports if p.at == piece.at and p.open]
            if left and not done and not _overtaken(piece, listed, [p for p in since if p.kind == "report"]):
                whole = left if not _labelled(piece) or not piece.under else f"{piece.under}: {item}"
                yield item if piece.under == led else whole
                led = piece.under


def _is_open(piece: Piece, newest: Sequence[int], last: int, *, fresh: bool) -> bool:
    """Whether a piece of a report says that something is open: of the last one in any words that the user has not answered yet,
    of those before it under a label."""
    if piece.at == last:
        return piece.open or (fresh and piece.tells in LEFT)
    return piece.open and piece.at in newest and _lasts(piece)


def _lasts(piece: Piece) -> bool:
    """Whether a point is labelled as open, and not by itself as what comes next."""
    return _labelled(piece) and (piece.item or not labels_soon(piece.text))


def _written_since(item: str, since: Iterable[Piece]) -> bool:
    """Whether what an open point names in code was written since."""
    named = [re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])") for name in _NAMED.findall(item)]
    return any(p.kind == "change" and any(name.search(p.text) for name in named) for p in since)


def _overtaken(piece: Piece, listed: Iterable[str], since: Iterable[Piece]) -> bool:
    """Whether reports since make a new list of some of what is `listed` with a piece, or name a newer number than those in it."""
    numbers = {*map(int, _NUMBER.findall(piece.text))}
    newest = max(numbers) if len(numbers) > 1 else None
    return any(
        (p.open and _labelled(p) and max(shared_words(p.text, listed), default=0) >= SPOKEN_OF)
        or (newest is not None and any(int(n) > newest for n in _NUMBER.findall(p.text)))
        for p in since
    )


def _labelled(piece: Piece) -> bool:
    """Whether what is said is listed as open, or stands behind a word that says so."""
    return labels_open(piece.text) or labels_open(f"{piece.under}:")


def _waits(piece: Piece, facts: Facts) -> bool:
    """Whether something is listed as open that the user did not speak of since."""
    since = (p.text for p in facts.pieces if p.by == "user" and p.at > piece.at)
    return _labelled(piece) and max(shared_words(piece.text, since), default=0) < SPOKEN_OF


def _open_in(piece: Piece, *, fresh: bool, asking: bool) -> str:
    """Of what is open the sentences that say so, and those that ask; all of it where none does, as under a label."""
    text, labelled = piece.text, _labelled(piece)
    if text.endswith((":", "：")) and not labelled:
        return ""
    sentences = list(split(text))
    said = [each for each in sentences if fresh or not (offers(each) or (leaves_to_user(each) and not labelled))]
    left = [each for each in said if (asking if asks(each) else says_open(each))]
    whole = labelled or (not left and said == sentences)
    return text if said and whole and (asking or not asks(text)) else " ".join(left)


def answered(facts: Facts, asked: int | None = None) -> bool:
    """Whether the agent closed a turn with a report since it was asked, then or in the newest request."""
    since = _asked(facts) if asked is None else asked
    return max((p.at for p in facts.pieces if p.kind == "report"), default=-1) > since


def carried_out(facts: Facts, at: int) -> bool:
    """Whether what a command began then is over: a report that asks nothing closed a turn since, and the user spoke of something else,
    in other words than an answer to what the agent asked, and did not give the command again.

    What the agent took up by itself for a request of many words is over with that, unless several of these are said again.
    """
    asking = _asking(facts)
    closed = any(p.kind == "report" and p.at > at and p.at not in asking for p in facts.pieces)
    said = sorted((r.newest, r.text) for r in facts.requests if not (r.amid or any(goes(r.text) for goes in _GOING_ON)))
    called = called_by(facts, at)
    spoken = bool(said) and said[-1][0] > at and said[-1][1] != called
    least = 1 if called.startswith("/") else SPOKEN_OF
    return closed and spoken and shared_words(called, [said[-1][1]])[0] < least


def finished(facts: Facts) -> bool:
    """Whether a report that asks nothing closed the newest turn."""
    last = max((p.at for p in facts.pieces if p.kind == "report"), default=-1)
    return answered(facts) and last not in _asking(facts)


def _asking(facts: Facts) -> set[int]:
    """The messages whose reports ask something, or leave it open."""
    return {p.at for p in facts.pieces if p.kind == "report" and (p.open or asks(p.text))}


def called_by(facts: Facts, at: int) -> str:
    """The request that called a command whose words came then; empty where none is known."""
    said = (r for r in facts.requests if r.at <= at)
    return max(said, key=lambda r: r.newest if r.newest <= at else r.at, default=UserRequest("")).text


def comes_last(order: Piece) -> bool:
    """Whether an order says what is to be done once all else is; a template's has a title only where it does."""
    return (order.by == "command" and bool(order.under)) or says_when_done(order.text)


def inquires_first(order: Piece) -> bool:
    """Whether an order says that what is wanted is to be asked for before anything is written; not what is to be asked before each deed."""
    return _INQUIRES.match(order.text) is not None


def inquired(facts: Facts, at: int) -> bool:
    """Whether the user answered what the agent asked since then, or the agent wrote something: it is past asking what is wanted."""
    questions = [p.at for p in facts.pieces if p.by == "agent" and p.at > at and asks(p.text)]
    answered_them = any(questions[0] < p.at for p in facts.pieces if p.by == "user") if questions else False
    return answered_them or any(p.kind == "change" and p.at > at for p in facts.pieces)


def interjects(facts: Facts, request: UserRequest) -> bool:
    """Whether a request came amid the work for the one before, which no report had closed."""
    before = max((r.newest for r in facts.requests if r.newest < request.newest), default=request.newest)
    between = {p.kind for p in facts.pieces if before < p.at < request.newest}
    return bool(between & {"call", "change", "failure"}) and "report" not in between


def clarifies(facts: Facts, request: UserRequest) -> bool:
    """Whether a request answers what the agent asked before it did anything for the one before: it is no task by itself."""
    before = max((r.newest for r in facts.requests if r.newest < request.newest), default=-1)
    between = [p for p in facts.pieces if before < p.at < request.newest and p.by in ("agent", "tool")]
    return bool(between) and all(p.by == "agent" for p in between) and any(asks(p.text) for p in between)


def newest_finding(facts: Facts) -> str:
    """What the agent said in its newest words since the newest request, but for what it would do next and what it only
    supposed, where it is a whole sentence.

    Empty where a change or a failed call came behind it, which may have overtaken it.
    """
    said = newest_words(facts)
    worked = max((p.at for p in facts.latest.pieces if p.kind in ("change", "failure")), default=-1)
    if not said or worked > said[-1].at:
        return ""
    newest = (p.text for p in reversed(said) if not (announces(p.text) or wonders(p.text)))
    return next((text for text in newest if is_whole(text)), "")


def is_whole(text: str) -> bool:
    """Whether a text is a sentence from its beginning to its end."""
    return _WHOLE.fullmatch(text) is not None


def intention(facts: Facts) -> str:
    """What the agent said in its newest words since the newest request that it would do, where that takes several steps;
    empty where it keeps a plan of its own, said no such thing, or did much since."""
    words = newest_words(facts)
    since = {p.at for p in facts.latest.pieces if words and p.at > words[-1].at and p.by == "tool"}
    said = (p.text for p in reversed(words if len(since) <= _SOON_DONE else ()) if len(p.text) >= _SEVERAL)
    several = (text for text in said if announces(text) and _STEPS.search(text))
    return "" if any(open_steps(facts)) else next(several, "")


def newest_words(facts: Facts) -> list[Piece]:
    """What the agent said last amid its work for the newest request, unless it said more behind the messages."""
    asked = _asked(facts)
    said = [p for p in facts.latest.pieces if p.at > asked and p.kind in ("thought", "report")]
    return [p for p in facts.pieces if said and p.at == said[-1].at and p.kind == "thought"]


def done_since(facts: Facts) -> list[str]:
    """What the agent changed since the newest request, each thing where it was done last; nothing of files that came and went, or
    that nobody keeps."""
    asked = _asked(facts)
    done = (p.text for p in facts.pieces if p.at > asked and p.kind == "change")
    gone = [f"/{file.path}" for file in facts.latest.files if file.passed]
    kept = [each for each in done if not _is_over(_object_of(each), gone)]
    newest = {each.partition(" → ")[0]: each for each in reversed(kept)}
    return [*reversed(newest.values())]


def _object_of(done: str) -> str:
    """What a command or an edit was done to first, as the line that tells it has it."""
    return next((word for word in done.strip("`").split()[1:] if not word.startswith("-")), "")


def _is_over(path: str, gone: Iterable[str]) -> bool:
    """Whether a file is one of those that are gone, or lies where nobody keeps it."""
    return passes(path) or (bool(path) and any(each.endswith(f"/{path}") for each in gone))


def changed_since(facts: Facts) -> bool:
    """Whether the agent changed anything since the newest request was first said: clients say it again where they fold."""
    asked = max(facts.requests, key=lambda request: request.newest, default=UserRequest("")).at
    return any(p.kind == "change" and p.at > asked for p in facts.pieces)


def cause_of(facts: Facts, fault: FailedCall) -> str:
    """What the agent said of an error right after it, from where it says what is wrong; empty where it said only what it does next."""
    said = [p for p in facts.pieces if p.by == "agent" and fault.seen < p.at <= fault.seen + AFTER]
    words = [p.text for p in said if p.at == said[0].at and not announces(p.text)]
    for text in words:
        sentences = list(split(text))
        for i, each in enumerate(sentences):
            if alarming(each) or said_again(fault.text, each):
                return " ".join(sentences[i:])
    return next(iter(words), "")


def _asked(facts: Facts) -> int:
    """When the user spoke last."""
    spoken = [*(p.at for p in facts.pieces if p.by == "user"), *(r.newest for r in facts.requests)]
    return max(spoken, default=facts.end)


def is_passing(path: str) -> bool:
    """Whether what lies at a path is kept by nobody: it is temporary, a log or a folder."""
    return _PASSING.search(path) is not None


def base_of(facts: Facts) -> str:
    """The folder that most of the changed files share, else most of all; empty where none is, or where a changed one is told from another place.

    Of a file that is named only by its folder (`fields/__init__.py`) that folder is none, but where it is a repository's.
    """
    changed = [file.path for file in facts.files if file.changed and not _PASSING.search(file.path)]
    root = root_of(changed)
    if not root and all(map(is_absolute, changed)):
        root = root_of([file.path for file in facts.files if not (changed and _PASSING.search(file.path))])
    nameless = any(path.startswith(root) and _OF_FOLDER.fullmatch(path, len(root)) for path in changed)
    whole = any(each.folder == root[:-1] for each in facts.repositories)
    return f"{root[:-1].rpartition('/')[0]}/" if root and nameless and not whole else root


def changed_files(facts: Facts) -> list[File]:
    """The files that were created, changed, renamed or deleted, without those that came and went again, folders that are there
    again and what lies outside of the work that nobody keeps."""
    root = base_of(facts)
    written = _written_in(facts.files) if any(file.state == "deleted" for file in facts.files) else {}
    return [
        file
        for file in facts.files
        if file.changed
        and not file.passed
        and file.path != root
        and "/.git/" not in f"/{file.path}"
        and not _PASSING.search(file.path.removeprefix(root))
        and not (file.state == "deleted" and written.get(f"{file.path.rstrip('/')}/", -1) > file.last)
    ]


def _written_in(files: Iterable[File]) -> dict[str, int]:
    """When something was written last in each folder."""
    written: dict[str, int] = {}
    for file in files:
        for folder in folders_of(file.path) if file.state not in ("deleted", "renamed") else ():
            written[folder] = max(file.last, written.get(folder, -1))
    return written


def _script(key: str) -> str:
    """The program of a script that was tried: another script that it ran later took the place of a try; empty for others."""
    program, *words = key.split() or [""]
    return program if words and program != "pytest" and _SCRIPT.search(words[0]) else ""


def kept_nowhere(facts: Facts) -> list[File]:
    """The files that were made where nobody keeps them, and are there still."""
    made = (file for file in facts.files if file.changed and file.state != "deleted" and not file.passed)
    return [file for file in made if _PASSING.search(file.path) and not file.path.endswith(("/", ".log"))]
