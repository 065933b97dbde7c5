"""Where the work stands in its git repositories, read from the commands that were run and what git answered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain, pairwise
from typing import Any, Literal

from foldline._facts.folders import unquoted
from foldline._facts.merged import ends
from foldline._facts.patterns import rare
from foldline._facts.shell import only_looks, programs
from foldline._facts.taken import with_taken
from foldline._facts.types import Facts, Repository
from foldline._facts.uncommitted import COMMITTED, commits, remaining, with_left
from foldline._facts.unmerged import stops, under_way
from foldline._messages import replace
from foldline._patterns import pattern

PULLS, MOST = 3, 4
"""The newest pull requests of a repository that are told, and the newest repositories that are known."""

_FILES = 100
"""The files of diffs that are known of a repository."""

_ENDED = 12
"""The newest pull requests of which is known how they ended: one that was opened before may be among them."""

NAMELESS = "the working folder"
"""What a repository is called beside others where nothing names its folder."""

_PASSING = re.compile(r"(?:/private)?(?:/tmp|/var/tmp|/var/folders)/")
"""Where a folder begins that nobody keeps."""

_COMMITTED_LINE = re.compile(r"(?m)(?<=\n)(?=^\[[^\]\n]{1,200} [0-9a-f]{7,40}\] )")
_NO_COMMIT = rare(r"nothing to commit|no changes added|nothing added to commit")
_LOGGED = pattern(r"^(?:commit )?([0-9a-f]{7,40})(?: \([^)\n]*\))?(?: (.+))?$", re.MULTILINE)
_SUBJECT = pattern(r"^ {4}(\S.*)$", re.MULTILINE)
_HASH = 9
_ON = rare(
    r"^(?:Switched to (?:a new )?branch '|Already on '|On branch |.{0,4}Deleted .{1,200} and switched to branch )([^\s']+)'?$",
    re.MULTILINE,
)
_ON_NEW = rare(r"^Switched to a new branch '([^\s']+)'", re.MULTILINE)
"""What git says where a script made a branch."""

_CLEAN = rare(r"^(?:nothing to commit, working (?:tree|directory) clean)", re.MULTILINE)
_CHANGED = re.compile(r"^(?!##)[ ?MADRCU!]{1,2} \S", re.MULTILINE)
"""A file that is not committed, as git lists it."""

_COMPARED = rare(
    r"^(?:diff --git a/\S+ b/(\S+)| (?!\.\.\./)(\S+) +\| +(?:\d+|Bin)\b.*|[MADRCT]\d*\t(?:\S+\t)?(\S+)|\d+\t\d+\t(\S+))$",
    re.MULTILINE,
)
"""How a diff names a file: before its changes, or in a list of all."""

_MODE = rare(r"^ (create|delete) mode \d{6} (\S.*?)[ \t]*$", re.MULTILINE)
_MOST_MODES = 20
"""The new and deleted files of one commit that are known by it: one of more brings another's work."""

_AHEAD = rare(r"^(?:Your branch is ahead of '|(?:\W{1,4} )?\S+?\.\.\.\S+ \[ahead )", re.MULTILINE)
"""How git says that commits are not pushed, also where a wrapper puts another mark before it."""

_TRACKS = pattern(r"\A(?:\W{1,4} )?([^\s.]+(?:\.[^\s.]+)*)\.{3}\S+/\1(?: \[.+\])?$", re.MULTILINE)
"""How a list of what is not committed begins with the branch, and the one of the same name that it follows."""

SHORTENED = pattern(r"\Aok(?: \W)? ([0-9a-f]{7,40})$", re.MULTILINE)
"""What a wrapper leaves of how git says that it made a commit."""

_REBASED = rare(r"Successfully rebased")
_PUSHED = rare(
    r"^\s.{0,40}?\S+ -> \S+(?: \(forced update\))?$|^Everything up-to-date$|^branch '[^'\n]+' set up to track ",
    re.MULTILINE,
)
_TIP = re.compile(
    r"(?m)^[ \t]*[+*]?[ \t]*(?:[0-9a-f]{7,40}\.{2,3}(?P<hash>[0-9a-f]{7,40})|\[new \w+\])\s+(?P<branch>\S+) -> \S+"
)
"""How git says what it pushed, and from where."""

_HEAD_ON = pattern(r"\(HEAD -> ([^\s,)]+)")
_MOVING = ("rebase", "reset", "pull", "merge", "am")
"""Calls behind which another commit is the newest one, unless git says that all was there."""

_UNMOVED = pattern(r"(?i)\bup[ -]to[ -]date\b")
_ELSEWHERE = re.compile(
    r"--(?:all|branches|remotes|tags|reverse|grep|author|since|until|after|before|left-right)|-[SGL]"
)
"""How `git log` is asked for other commits than the newest ones of where it is."""

_PULL = rare(r"https?://[^\s\"'<>]+/(?:pull|merge_requests)/\d+")
_OPENS = rare(r"(?:^|[_.])create_?(?:pull|merge)_?request$", re.IGNORECASE)
_OPENS_IN_CODE = rare(r"\btools\.\w*create_(?:pull|merge)_request\(")
_OPENING = (["pr", "create"], ["mr", "create"])
_HEADS, _HEAD_KEYS = ("--head", "-H", "--source-branch"), ("head", "source_branch")
"""How a command, and how the arguments of a tool, name the branch that a pull request is opened from."""

_FAILED = rare(r"^(?:error|fatal): ", re.MULTILINE)
"""How git says that it did not do something."""

_DRAFT = frozenset({"--draft", "-d"})
_MAKING = ("-b", "-B", "-c", "-C", "--create")
_BRANCH = pattern(r"(?![0-9a-f]{7,40}$)[A-Za-z][\w-]*")
"""A name that is a branch's more likely than a file's or a commit's."""

_MESSAGE = pattern(r"-\w{0,6}m|--message")
_RENAMING = ("-m", "-M", "--move")
_DETACHED = "detached HEAD"


def noted(
    known: Sequence[Repository], command: str, where: str, answer: str, at: int, title: str = ""
) -> tuple[Repository, ...]:
    """The repositories after a command that succeeded `where` it was run, by what it answered in message `at`; a commit that it
    made has a `title`, which may stand in lines that the command is without."""
    asked: dict[str, list[list[str]]] = {}
    unsure = goes_on(command, answer)
    called = [*programs(command, where)]
    for name, args, folder in called:
        if name in ("git", "gh", "glab") and args and not (unsure and commits(args)):
            asked.setdefault(folder, []).append(args)
    if not asked and called and not only_looks(command):
        made = _ON_NEW.search(answer)
        steps = ([["switch", "-c", made[1]]] if made else []) + ([["commit"]] if COMMITTED.search(answer) else [])
        asked |= {called[-1][2]: steps} if steps else {}
    answers = _COMMITTED_LINE.split(answer) if len(asked) > 1 else [answer]
    apart = answers if len(answers) == len(asked) else [""] * (len(asked) - 1) + [answer]
    for (folder, calls), said in zip(asked.items(), apart):
        shown = {found["branch"] for found in COMMITTED.finditer(said)}
        begun = bool(folder) and any(args[0] == "init" for args in calls)
        here = _place(known, folder, set() if any(map(_switches, calls)) else shown, begun=begun)
        now = known[here] if here < len(known) else Repository(folder, begun=begun)
        now = _asked(now, calls, said, at, title)
        now = now if _NO_COMMIT.search(said) else with_taken(now, calls, said, at)
        now = with_left(now, calls, said, at, whole="|" not in command)
        known = (*known[:here], *known[here + 1 :], replace(now, folder=_home(now, folder), named_only=False))
    told = [each for each in known if replace(each, folder="", begun=False) != Repository()][-MOST:]
    return _ended(told, ends([args for calls in asked.values() for args in calls], answer))


def before_push(command: str, answer: str) -> str:
    """What was done of a command that failed with its push, behind a commit that the answer shows; empty where there is none."""
    made, push, _ = command.rpartition("git push")
    return made.rstrip("&; \n") if push and COMMITTED.search(answer) else ""


def stopped(known: Sequence[Repository], command: str, where: str, answer: str) -> tuple[Repository, ...]:
    """The repositories after a command that failed, which may have stopped at a conflict."""
    calls = [(args, folder) for name, args, folder in programs(command, where) if name == "git" and args]
    asked = [args for args, _ in calls]
    if not stops(asked, answer):
        return (*known,)
    folder = calls[-1][1]
    here = _place(known, folder, set())
    each = known[here] if here < len(known) else Repository(folder)
    return (*known[:here], *known[here + 1 :], replace(each, under_way=under_way(each.under_way, asked, answer)))


def on_branch(facts: Facts, branch: str) -> Facts:
    """The facts, where the agent's own file names the branch of git: that is told of a repository of which no command said where it stands."""
    now = replace(facts.now, repositories=_named(facts.now.repositories, branch)) if facts.now else None
    return replace(facts, repositories=_named(facts.repositories, branch), now=now)


def _named(known: tuple[Repository, ...], branch: str) -> tuple[Repository, ...]:
    """The repositories, the only one on the branch where its commands name none."""
    only = known[0] if known else Repository()
    if branch in ("", "HEAD") or len(known) > 1 or (only.branch and not only.named_only):
        return known
    named_only = replace(only, compared=()) == Repository() or only.named_only
    return (replace(only, branch=branch, named_only=named_only),)


def in_commit(answer: str) -> Iterator[tuple[Literal["created", "deleted"], str]]:
    """The files that are new in a commit or gone with it, as git says behind it."""
    found = _MODE.findall(answer)
    for verb, path in found if len(found) <= _MOST_MODES else ():
        yield ("created" if verb == "create" else "deleted"), unquoted(path)


def opens_pull(name: str, code: str = "") -> bool:
    """Whether a tool opens a pull request, by its name, or the code that calls tools does."""
    return _OPENS.search(name) is not None or _OPENS_IN_CODE.search(code) is not None


def opened(known: Sequence[Repository], arguments: Mapping[str, Any] | str, answer: str) -> tuple[Repository, ...]:
    """The repositories after a tool opened a pull request in the one that was worked in last, which stands first in its answer."""
    pulls = _PULL.findall(answer)[:1]
    *others, newest = known or [Repository()]
    given = arguments if isinstance(arguments, Mapping) else {}
    head = next((v for key in _HEAD_KEYS if isinstance(v := given.get(key), str)), newest.branch)
    return (*others, _opened(newest, pulls, head, draft=given.get("draft") is True)) if pulls else (*known,)


def _opened(known: Repository, pulls: Sequence[str], head: str, *, draft: bool) -> Repository:
    heads = dict.fromkeys(pulls, head.rpartition(":")[2]) if head else {}
    drafts = _newest(known.drafts, pulls if draft else ())
    return replace(known, pulls=_newest(known.pulls, pulls), heads=known.heads | heads, drafts=drafts)


def _opened_from(args: list[str]) -> str:
    """The branch from which a call opens a pull request; empty where it does not say so."""
    given = (value for option, value in pairwise(args) if option in _HEADS)
    joined = (arg.partition("=")[2] for arg in args if arg.startswith("--") and arg.partition("=")[0] in _HEADS)
    return next(chain(given, joined), "")


def goes_on(command: str, answer: str) -> bool:
    """Whether a command went on where its commit failed, and its answer shows none."""
    return "||" in command.partition("commit")[2] and COMMITTED.search(answer) is None


def _place(known: Sequence[Repository], folder: str, branches: Set[str], *, begun: bool = False) -> int:
    """Which of the repositories a folder is in: the innermost one that holds it, one that lies in it and was not begun there, else
    the newest where either has no name.

    One that is on none of the `branches` on which was committed is another one, and so is one that is `begun` in a folder.
    """
    around = [
        i for i, each in enumerate(known) if each.folder == folder or (not begun and _within(each.folder, folder))
    ]
    if around:
        return max(around, key=lambda i: len(known[i].folder))
    if begun:
        return len(known)
    for i, each in enumerate(known):
        if _within(folder, each.folder) and not each.begun:
            return i
    if passes(folder):
        return len(known)
    kept = [i for i, each in enumerate(known) if not passes(each.folder)]
    nameless = kept and (not folder or (len(kept) == 1 and not known[kept[0]].folder))
    same = nameless and (not branches or known[kept[-1]].branch in {*branches, ""})
    return kept[-1] if same else len(known)


def passes(folder: str) -> bool:
    """Whether a folder is one for passing use, where a repository is tried out."""
    return _PASSING.match(f"{folder}/") is not None


def _switches(args: Sequence[str]) -> bool:
    return args[0] in ("checkout", "switch", "worktree", "branch", "rebase")


def _within(folder: str, path: str) -> bool:
    if not folder:
        return bool(path) and path[0] not in "/~"
    return path == folder or path.startswith(f"{folder}/")


def _home(known: Repository, folder: str) -> str:
    """Where a repository is in which something was asked from a folder."""
    return known.folder if known.begun else _shorter(known.folder, folder)


def _shorter(one: str, other: str) -> str:
    return min(filter(None, (one, other)), key=len, default="")


def _asked(known: Repository, asked: Sequence[list[str]], answer: str, at: int, title: str) -> Repository:
    """What is known of a repository after calls of git in it."""
    before = known.branch
    known = replace(known, under_way=under_way(known.under_way, asked, answer))
    if any(args[0] in _MOVING for args in asked) and not _UNMOVED.search(answer) and not stops(asked, answer):
        known = replace(known, commit="", pushed=False, committed=True)
    made = [*filter(None, map(_made, asked))]
    quiet = [] if _FAILED.search(answer) else [*filter(None, map(_switched, asked))]
    moves = [name for args in asked if (name := _made(args) or _switched(args)) in (*made, *quiet)]
    listed = any(map(_lists, asked))
    head = (listed or any(args[0] == "show" for args in asked)) and _is_head(answer)
    for branch in (*moves, *_ON.findall(answer), *(_HEAD_ON.findall(answer) if head else ())):
        known = _moved(known, branch, new=branch in made)
    seen = head or (listed and known.committed and not known.commit)
    if seen and (newest := _shown(answer)) and not _same(known.commit, newest):
        there = bool(known.branch) and any(name.endswith(f"/{known.branch}") for name in _names(answer))
        known = replace(known, commit=newest, pushed=there or (known.pushed and not known.commit))
    shown = [] if _REBASED.search(answer) else list(COMMITTED.finditer(answer))
    for found in shown:
        branch = "" if found["branch"] == _DETACHED else found["branch"]
        known = _committed(known, f"{found['hash']} “{found['subject'].strip()}”", at)
        known = replace(known, branch=branch)
    if not shown and any(map(commits, asked)) and not _NO_COMMIT.search(answer):
        said = next(filter(None, map(_message, reversed(asked))), f"“{title}”" if title else "")
        made_as = f"{short[1]} {said}".strip() if (short := SHORTENED.search(answer)) else said
        known = _committed(known, _shown(answer) or made_as, at)
    if _CLEAN.search(answer) or (any(map(_lists_changes, asked)) and not _CHANGED.search(answer)):
        known = replace(known, settled=at, clean=True, left=(), staged=(), taken={}, swept=at)
    if compared := _compared(asked, answer):
        known = replace(known, compared=tuple(dict.fromkeys((*known.compared, *compared)))[:_FILES])
    for args in asked if known.left else ():
        known = replace(known, left=remaining(known.left, args))
    if any(args[0] == "status" for args in asked) and (on := _TRACKS.search(answer)):
        known = _moved(known, on[1], new=False)
    if _AHEAD.search(answer):
        known = replace(known, ahead=True, pushed=False)
    if any(args[0] == "push" for args in asked) and _PUSHED.search(answer):
        known = _pushed(known, answer)
    if ["pr", "ready"] in (args[:2] for args in asked):
        known = replace(known, drafts=())
    opening = next((i for i, args in enumerate(asked) if args[:2] in _OPENING), None)
    if opening is not None and (pulls := _PULL.findall(answer)):
        then = before if any(map(_switches, asked[opening:])) else known.branch
        call = asked[opening]
        known = _opened(known, pulls, _opened_from(call) or then, draft=not _DRAFT.isdisjoint(call))
    return known


def _compared(asked: Sequence[list[str]], answer: str) -> list[str]:
    """The files that a diff names which was asked for, unless history was as well."""
    diffs = [args for args in asked if "diff" in (args[0], *args[1:2])]
    history = any(args[0] in ("show", "log") for args in asked)
    return [next(filter(None, found)) for found in _COMPARED.findall(answer)] if diffs and not history else []


def _ended(known: Sequence[Repository], told: Iterable[tuple[str, str]]) -> tuple[Repository, ...]:
    """The repositories behind what was told of pull requests; of one that nobody saw opened the newest repository keeps it."""
    for end, how in told:
        *others, newest = known or [Repository()]
        mine = {i: own[-1] for i, each in enumerate(known) if (own := _pulls_of(each, end))}
        here = max(mine, default=len(others))
        each = newest if here == len(others) else known[here]
        if how or here in mine or end in each.ended:
            ended = {**each.ended, mine.get(here, end): how}
            known = (*known[:here], replace(each, ended=dict([*ended.items()][-_ENDED:])), *known[here + 1 :])
    return tuple(known)


def _pulls_of(known: Repository, end: str) -> list[str]:
    """The pull requests of a repository whose addresses end so; by nothing those of the branch that is checked out."""
    return [p for p in known.pulls if p.endswith(end) and (end or known.heads.get(p, "") == known.branch)]


def _moved(known: Repository, branch: str, *, new: bool) -> Repository:
    """A repository on another branch: a new one begins with the same commit, what another one ends with is not known."""
    if not known.branch or branch == known.branch:
        return replace(known, branch=branch)
    return replace(known, branch=branch, pushed=False, ahead=False, commit=known.commit if new else "")


def _committed(known: Repository, commit: str, at: int) -> Repository:
    return replace(known, committed=True, commit=commit, pushed=False, settled=at, clean=False, left=())


def _pushed(known: Repository, answer: str) -> Repository:
    """A repository behind a push: what git says it pushed of the branch is the newest commit; another branch is not this one."""
    tips = [*_TIP.finditer(answer)]
    own = [tip for tip in tips if tip["branch"] in (known.branch, "HEAD") or not known.branch]
    if tips and not own:
        return known
    for tip in own[-1:]:
        subject = f" {known.commit}" if known.commit.startswith("“") else ""
        if tip["hash"] and not _same(known.commit, tip["hash"]):
            known = replace(known, commit=f"{tip['hash'][:_HASH]}{subject}", committed=True)
        known = replace(known, branch=known.branch or tip["branch"].removeprefix("HEAD"))
    return replace(known, pushed=True, ahead=False)


def _lists(args: list[str]) -> bool:
    """Whether git is asked for the newest commits of where it is."""
    return args[0] == "log" and all(arg.startswith("-") and not _ELSEWHERE.match(arg) for arg in args[1:])


def _is_head(answer: str) -> bool:
    """Whether the commit that an answer shows first is the one that is checked out, as it says itself."""
    return (found := _LOGGED.search(answer)) is not None and "(HEAD" in found[0]


def _names(answer: str) -> list[str]:
    """The names of branches and tags that the commit has which an answer shows first."""
    found = _LOGGED.search(answer)
    return found[0].partition("(")[2].partition(")")[0].split(", ") if found else []


def _same(known: str, shown: str) -> bool:
    """Whether two commits may be one: by as much of their hashes as both have, or by their subjects."""
    one, other = known.partition(" ")[0], shown.partition(" ")[0]
    alike = one.startswith(other) or other.startswith(one)
    return bool(known) and (alike or known in shown)


def _lists_changes(args: list[str]) -> bool:
    """Whether git is asked for nothing but the files that are not committed."""
    return args[0] == "status" and any(arg in ("--short", "-s", "--porcelain", "-sb") for arg in args[1:])


def _message(args: list[str]) -> str:
    """The first line of the message that a commit is given; empty where it is not given there."""
    given = next((i for i, arg in enumerate(args[:-1]) if commits(args) and _MESSAGE.fullmatch(arg)), None)
    line = args[given + 1].strip().partition("\n")[0] if given is not None else ""
    return f"“{line}”" if line and "$(" not in line else ""


def _made(args: list[str]) -> str:
    """The branch that git is asked to make and switch to, or to call the one it is on; empty where it is not."""
    if args[0] == "branch" and len(args) > 2 and args[1] in _RENAMING:
        return args[-1]
    making = args[0] in ("checkout", "switch") and next((i for i, arg in enumerate(args) if arg in _MAKING), None)
    return args[making + 1] if making and making + 1 < len(args) else ""


def _switched(args: list[str]) -> str:
    """The branch that git is asked to switch to without a word; empty where that may be a file or a commit."""
    named = [arg for arg in args[1:] if not arg.startswith("-")]
    quiet = not {"-q", "--quiet"}.isdisjoint(args) and "--" not in args and not {*_MAKING} & {*args}
    plain = quiet and args[0] in ("checkout", "switch") and len(named) == 1 and _BRANCH.fullmatch(named[0])
    return named[0] if plain else ""


def _shown(answer: str) -> str:
    """The commit that an answer shows first, as `git log` does; empty where it shows none."""
    if (found := _LOGGED.search(answer)) is None:
        return ""
    subject = found[2] or (below[1] if (below := _SUBJECT.search(answer, found.end())) else "")
    return f"{found[1][:_HASH]} “{subject.strip()}”"


def later(older: Sequence[Repository], new: Sequence[Repository]) -> tuple[Repository, ...]:
    """What is known of repositories when one run of messages followed another."""
    known = _ended(older, (end for each in new for end in each.ended.items()))
    for each in new:
        here = _place(known, each.folder, {each.branch} - {""}, begun=each.begun)
        both = _later(known[here], each) if here < len(known) else each
        known = (*known[:here], *known[here + 1 :], both)
    return known[-MOST:]


def _later(older: Repository, new: Repository) -> Repository:
    elsewhere = bool(older.branch) and new.branch not in ("", older.branch)
    moved = new.committed or elsewhere or (bool(new.commit) and not _same(older.commit, new.commit))
    return Repository(
        folder=_home(older, new.folder),
        begun=older.begun,
        branch=new.branch or older.branch,
        committed=new.committed or older.committed,
        commit=new.commit if moved else older.commit,
        pushed=new.pushed or (older.pushed and not moved),
        pulls=_newest(older.pulls, new.pulls),
        heads=older.heads | (dict.fromkeys(new.pulls, older.branch) if older.branch else {}) | new.heads,
        drafts=_newest(older.drafts, new.drafts),
        ended=new.ended | older.ended,
        compared=tuple(dict.fromkeys((*older.compared, *new.compared)))[:_FILES],
        under_way=older.under_way if new.under_way is None else new.under_way,
        settled=max(older.settled, new.settled),
        swept=max(older.swept, new.swept),
        staged=new.staged if new.committed else (*older.staged, *new.staged),
        taken=new.taken if new.swept >= 0 else older.taken | new.taken,
        clean=new.clean if new.settled >= 0 else older.clean,
        listed=max(older.listed, new.listed),
        left=new.left if new.settled >= 0 else tuple(dict.fromkeys((*older.left, *new.left))),
        marks=new.marks if new.settled >= 0 else older.marks | new.marks,
        ahead=new.ahead or (older.ahead and not new.pushed and new.branch in ("", older.branch)),
    )


def _newest(older: Iterable[str], new: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*older, *new)))[-PULLS:]
