"""How things stand: the newest checks, what runs, the repositories, what is open."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from posixpath import commonpath

from foldline._clipping import cut
from foldline._facts.attempts import closes
from foldline._facts.cues import asks
from foldline._facts.edits import PROSE
from foldline._facts.folders import grouped, is_absolute
from foldline._facts.repository import NAMELESS, passes
from foldline._facts.shell import asks_after, checks, ends_soon, family, is_silent, only_looks
from foldline._facts.standing import (
    answered,
    base_of,
    cause_of,
    changed_files,
    done_since,
    intention,
    left_open,
    never_ran,
    newest_finding,
    open_faults,
    open_steps,
)
from foldline._facts.taken import left_out
from foldline._facts.told import CAUSE, DRAFT, INTENDED, STILL_RUNS
from foldline._facts.tool_calls import DELEGATING, words_of
from foldline._facts.trails import STAGED
from foldline._facts.types import SOURCE, Command, Facts, File, Repository
from foldline._facts.uncommitted import UNTRACKED, all_is_seen, apart
from foldline._messages import replace
from foldline._page.files import by_change, by_file
from foldline._page.quoting import LEAST_CUT, size
from foldline._patterns import pattern

ASKED = "asked the user: "

OTHERS = "not committed, not by the agent"
"""What stands before files that git listed beside those that the agent changed, where that is all that it wrote: somebody else's."""

LEFT_OUT = "changed and in none of the commits"
"""What stands before files that were changed before commits for which others were staged by their names."""

LATELY = 12
"""Messages for which a tree that was clean is taken to be so still."""

SINCE = 6
"""The files that are named in any case of those that were changed since the newest commit, those changed most first."""

LISTED = 480
"""Characters in which more of them are named."""

RUNNING = 3
"""The programs that are told of those that run, the newest."""

_SOURCE = pattern(
    r"\.(?:py|[cm]?[jt]sx?|vue|svelte|go|rs|java|kts?|scala|clj|rb|php|c|cc|cpp|cxx|h|hpp|m|mm|cs|fs|swift|dart|zig|exs?|erl|hs|ml"
    r"|lua|jl|r|pl|sql|gd)$",
    re.IGNORECASE,
)
"""A file of which a check tells whether it does what it should."""

_WITHOUT = pattern(r"\bgit stash\b.*\bgit stash (?:pop|apply)\b", re.DOTALL)
"""How a check is run on the work as it was before: what it says is not how that stands."""

_MOVED_ON = 2
"""Requests behind which what nobody asked after is no longer waited for."""

DONE, _DONE = 3, 80
"""The newest steps that are told of what was done for the last request, and the characters of each."""

STEP, STEPS, _DETAIL = "[ ] ", 6, 240
"""How an open step of the plan is told, how many are told before others are left out, and the characters of what one says
beside its title."""

_SETTING = pattern(r"(?:~|/home/[^/]+|/Users/[^/]+|/root)/\.[\w-]+/")
"""Where programs keep what is set in them, in no repository of the work."""

_PASSED = pattern(r"^(?:ok|OK|PASS|Ran \d+)\b")

_CHECK = re.compile(
    r"^Ran \d+ tests?\b|\b\d+ (?:passed|failed|passing|failing|issues)\b|\bTests?:|^ok\b|\bOK\b|\bPASS|FAIL|exit ",
    re.MULTILINE,
)


def state(facts: Facts, after: Sequence[str] = ()) -> Iterator[str]:
    """How the newest checks ended and where the repository stands, then what is open; with what the user said `after` it no
    question is."""
    now = facts.latest
    changed = max((file.changed_at for file in changed_files(now) if not file.path.endswith(PROSE)), default=-1)
    errors = {fault.source for fault in open_faults(facts)}
    tried = [c for c in now.commands if c.note and c.seen >= changed and _checks(c) and not _is_behind(now, c)]
    for check in _newest_checks(tried)[-2:]:
        if check.seen < facts.end and check.tried[:SOURCE] not in errors:
            note = check.note if check.note.lower() != check.outcome else ""
            yield f"last run: `{cut(check.tried, 120)}` → {'; '.join(filter(None, (check.outcome, note)))}"
    running = [(id, text) for id, text in facts.running.items() if text and not _forgotten(now, id, text)]
    for id, text in running[-RUNNING:]:
        yield f"{STILL_RUNS}{program(id, text)}"
    known = [each for each in now.repositories if each.tells]
    worked_in = [each for each in known if not passes(each.folder) or _holds(now, each.folder)]
    several = len(worked_in) > 1 or any(_is_elsewhere(now, each) for each in worked_in)
    for each in worked_in:
        if line := repository(now, each):
            where = f" in {each.folder or NAMELESS}" if several else ""
            yield f"git{where}: {line}"
    yield from (line for line in _left(facts) if not (after and line.startswith(ASKED)))


def ending(facts: Facts) -> Iterator[str]:
    """Whether the newest request is answered; of one that is under way what was done for it, unless messages stay that go on with
    it, and what the agent found last."""
    if not facts.requests:
        return
    if answered(facts.latest):
        if answered(facts) and not any(_left(facts)) and not any(_left(facts.latest)):
            yield "the last request is answered; the report names no next step"
        return
    if not facts.goes_on:
        done = by_file(done_since(facts))
        told = "; ".join(cut(each, _DONE) for each in done[-DONE:])
        yield "the last request is under way" + (f"; done for it last: {told}" if done else "")
    if intended := intention(facts):
        yield f"{INTENDED}{cut(intended, 240)}"
    newest = newest_finding(facts)
    if newest and newest not in (cause_of(facts, fault) for fault in open_faults(facts)):
        yield f"the agent said last: {cut(newest, 240)}"


def unchecked(facts: Facts) -> Iterator[str]:
    """What was changed since the newest check passed; what only a commit names was changed before that."""
    facts = facts.latest
    tried = [each for each in facts.commands if checks(family(each.tried)) and not only_looks(each.text)]
    newest = max(tried, key=lambda each: each.seen, default=None)
    if newest is None or newest.outcome != "ok" or _WITHOUT.search(newest.text):
        return
    root = base_of(facts)
    commits = {known.settled for known in facts.repositories}
    edited = (
        f for f in by_change(changed_files(facts)) if {*f.actions} - {"read", STAGED} and f.changed_at not in commits
    )
    own = (file for file in edited if not file.by and file.state != "deleted")
    since = [f.path.removeprefix(root) for f in own if f.changed_at > newest.seen and _SOURCE.search(f.path)]
    if since:
        yield f"changed since the last run of `{cut(newest.tried, 120)}`: {few(since)}"


def _left(facts: Facts) -> Iterator[str]:
    """What is open: errors, the steps of the plan, what the agent said last is left."""
    if blocked := never_ran(facts):
        yield f"open error: all {len(facts.latest.commands)} commands failed → {cut(blocked, 240)}"
    for fault in open_faults(facts) if not blocked else ():
        why = cause_of(facts, fault)
        yield f"open error: `{cut(fault.source, 100)}` → {cut(fault.text, 240)}" + (
            f"{CAUSE}{cut(why, 240)}" if why else ""
        )
    for todo in open_steps(facts):
        detail = f": {cut(todo.detail, _DETAIL)}" if todo.detail else ""
        yield f"{STEP}{todo.text}{detail}" + (" (in progress)" if todo.status == "in_progress" else "")
    yield from (f"{ASKED}{left}" if asks(left) else left for left in left_open(facts))


def _forgotten(facts: Facts, id: str, text: str) -> bool:
    """Whether nothing was heard of another agent, or of a program that ends by itself, while the user went on to something else: a
    server that nobody asks after runs on."""
    return _went_on(facts, facts.heard.get(id, facts.end)) and (
        ends_soon(text) or bool(words_of(text.partition(" ")[0]) & DELEGATING)
    )


def _went_on(facts: Facts, at: int) -> bool:
    """Whether the user asked for several things since a message."""
    return sum(request.newest > at for request in facts.requests) >= _MOVED_ON


def _is_behind(facts: Facts, command: Command) -> bool:
    """Whether a command that checks nothing by its name, but said that all went well, was run for what the user went on from."""
    return _went_on(facts, command.seen) and not checks(family(command.tried))


def program(id: str, text: str) -> str:
    """A program with the name that its client gave it."""
    return f"`{cut(text, 120)}`" + (f" ({id})" if id != text else "")


def first_steps(lines: Sequence[str], room: int) -> list[str]:
    """Lines of a state, of the steps of the plan as many from the first one on as fit with all else into a room, and some at least."""
    steps = [line for line in lines if line.startswith(STEP)]
    left = room - size(line for line in lines if not line.startswith(STEP)) - LEAST_CUT
    count = next((n for n in range(len(steps), STEPS, -1) if size(steps[:n]) <= left), STEPS)
    gone = steps[count:] if size(lines) > room else []
    more = f"… and {len(gone)} more steps of the plan"
    return [more if gone and line == gone[0] else line for line in lines if line not in gone[1:]]


def repository(facts: Facts, known: Repository) -> str:
    """Where the work stands in a repository, and what was changed since the newest commit; empty where nothing tells."""
    told = known.committed and known.commit
    pushed = ", pushed" if known.pushed else ", not pushed" if known.ahead else ""
    commit = f"last commit {known.commit}{pushed}" if told else ""
    listed = apart(facts, known) if _is_new(facts, known) else {}
    then = replace(known, settled=known.listed, left=()) if listed else known
    since = [] if known.named_only else changed_since(facts, then)
    out = (
        []
        if known.named_only or listed
        else _named_here(facts, known, [f for f in _changed_in(facts, known) if left_out(known, f)])
    )
    others = [] if listed else _left_by_others(facts, known)
    gone = [path for path in others if "D" in known.marks.get(path, "")]
    there = [path for path in others if path not in gone]
    own = any(file.changed for file in facts.files)
    left = OTHERS if own and all_is_seen(facts) else f"{'also ' if since else ''}not committed"
    clean = "nothing left to commit" if known.clean and known.settled >= facts.end - LATELY else ""
    return "; ".join(
        filter(
            None,
            (
                f"on branch {known.branch}" if known.branch else "",
                known.under_way or "",
                commit,
                "opened " + ", ".join(_pulls(known)) if known.pulls else "",
                f"{'changed since' if told or listed else 'not committed'}: {few(since)}" if since else clean,
                f"{LEFT_OUT}: {few(out)}" if out else "",
                f"{left}: {by_folder(there)}" if there else "",
                f"{left}, deleted: {by_folder(gone)}" if gone else "",
                *(f"{mark}: {by_folder(paths)}" for mark, paths in listed.items() if paths),
            ),
        )
    )


def few(paths: Sequence[str]) -> str:
    """The first of some files that are listed below with what was done to them, and how many more there are."""
    return ", ".join(paths[:SINCE]) + (f" and {len(paths) - SINCE} more" if len(paths) > SINCE else "")


def by_folder(paths: Sequence[str]) -> str:
    """Files that stand nowhere else, of more than a few as many as fit by folder, and how many more there are."""
    if len(paths) <= SINCE:
        return ", ".join(paths)
    told = {count: grouped(paths[:count]).replace("; ", ", ") for count in range(len(paths), SINCE, -1)}
    count = next((count for count, text in told.items() if len(text) <= LISTED), SINCE)
    left = len(paths) - count
    return told[count] + (f" and {left} more" if left else "") if count in told else few(paths)


def _is_new(facts: Facts, known: Repository) -> bool:
    """Whether git listed what is not committed in the newest turn or lately: what it listed before may be gone by now."""
    asked = max((request.newest for request in facts.requests), default=-1)
    return known.listed >= min(asked, facts.end - LATELY)


def _left_by_others(facts: Facts, known: Repository) -> list[str]:
    """What git listed as not committed that the agent did not change, of many the new files first."""
    if not _is_new(facts, known):
        return []
    own = [f"/{file.path}" for file in facts.files if file.changed]
    others = [left for left in known.left if not (_is_beside(known, left) or any(_is_in(path, left) for path in own))]
    return sorted(others, key=lambda left: len(others) > SINCE and known.marks.get(left) != UNTRACKED)


def _is_beside(known: Repository, left: str) -> bool:
    """Whether a path that git never followed lies outside the folder of the work, in a repository that nothing was committed to: as
    where somebody began one for a whole disk."""
    return left.startswith("../") and not known.commit and known.marks.get(left) == UNTRACKED


def _is_in(path: str, left: str) -> bool:
    """Whether a file is one that git listed, or in a folder that it did."""
    return f"/{left}" in path if left.endswith("/") else path.endswith(f"/{left}")


def _pulls(known: Repository) -> list[str]:
    """The pull requests that are open, else the newest one, with how it ended."""
    still = [_pull(known, each) for each in known.pulls if not known.ended.get(each)]
    return still or [f"{known.pulls[-1]} ({known.ended[known.pulls[-1]]})"]


def _pull(known: Repository, address: str) -> str:
    """A pull request with the branch that it was opened from, where that is not the one that is checked out."""
    head = known.heads.get(address, "")
    of = (DRAFT if address in known.drafts else "", f"from {head}" if head not in ("", known.branch) else "")
    return f"{address} ({' '.join(filter(None, of))})" if any(of) else address


def _holds(facts: Facts, folder: str) -> bool:
    """Whether most files of the work are in a folder."""
    inside = [file.path.startswith(f"{folder}/") for file in facts.files if not file.path.endswith("/")]
    return 2 * sum(inside) > len(inside)


def changed_since(facts: Facts, known: Repository) -> list[str]:
    """The files that were changed in a repository since its newest commit, as they are called in the folder that most share."""
    changed = _changed_in(facts, known)
    left = {f.path for f in changed for each in known.left if _is_in(f"/{f.path}", each)}
    return _named_here(facts, known, [f for f in changed if f.changed_at > known.settled or f.path in left])


def _changed_in(facts: Facts, known: Repository) -> list[File]:
    """The files that were changed, those changed most first, as far as what git says of the repository allows it."""
    changed = [file for file in by_change(changed_files(facts)) if not _is_gone(file, known)]
    return [file for file in changed if file.last >= 0] if known.commit and known.settled < 0 else changed


def _named_here(facts: Facts, known: Repository, files: Sequence[File]) -> list[str]:
    """The files that are in a repository, as they are called in the folder that most share."""
    root, since = base_of(facts), [file.path for file in files]
    if len(facts.repositories) > 1 or _is_elsewhere(facts, known):
        inside = [p for p in since if (known.folder and p.startswith(f"{known.folder}/")) or p in known.left]
        return [*dict.fromkeys(path.removeprefix(f"{known.folder}/") for path in inside)]
    paths = [path.removeprefix(root) for path in since]
    paths = [*dict.fromkeys(path.removeprefix(f"{known.folder}/") if known.folder else path for path in paths)]
    paths = [path for path in paths if not (_SETTING.match(path) or path.startswith("../"))]
    return [path for path in paths if not (root and is_absolute(path)) or _beside(root, path)]


def _is_gone(file: File, known: Repository) -> bool:
    """Whether a file was deleted that git only listed as one that it does not follow."""
    marks = (mark for left, mark in known.marks.items() if _is_in(f"/{file.path}", left))
    return file.state == "deleted" and UNTRACKED in marks


def _is_elsewhere(facts: Facts, known: Repository) -> bool:
    """Whether a repository is another one than that of the work: all that was changed lies outside its folder."""
    changed = [file.path for file in changed_files(facts)]
    inside = any(not is_absolute(path) or path.startswith(f"{known.folder}/") for path in changed)
    return is_absolute(known.folder) and bool(changed) and not inside


def _beside(root: str, path: str) -> bool:
    """Whether a path shares most of a folder's path, so that both are taken to be in one repository."""
    return path.startswith("/") == root.startswith("/") and 2 * commonpath([root, path]).count("/") > root.count("/")


def _newest_checks(checks: Sequence[Command]) -> list[Command]:
    """The checks that none behind them tells more of: the same one, whatever is around it, or a wider one that passed."""
    tried = [family(check.tried) for check in checks]
    return [
        check
        for i, check in enumerate(checks)
        if tried[i] not in tried[i + 1 :]
        and not any(checks[j].outcome == "ok" and closes(tried[j], tried[i]) for j in range(i + 1, len(checks)))
    ]


def _checks(command: Command) -> bool:
    """Whether a command tried something, and its output says how that ended as its outcome does."""
    told = _CHECK.search(command.note) and (command.outcome == "ok" or not _PASSED.search(command.note))
    looks = only_looks(command.text) or asks_after(command.tried) or is_silent(command.tried)
    return bool(told) and not (looks or _WITHOUT.search(command.text))
