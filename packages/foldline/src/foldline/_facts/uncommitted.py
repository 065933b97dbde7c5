"""What git lists as changed and not committed, and which of it is staged."""

from __future__ import annotations

import re
from collections.abc import Sequence

from foldline._facts.folders import unquoted
from foldline._facts.patterns import rare
from foldline._facts.shell import may_write
from foldline._facts.tool_calls import DELEGATING, words_of
from foldline._facts.types import Facts, Piece, Repository
from foldline._messages import replace
from foldline._patterns import pattern

COMMITTED = rare(
    r"^\[(?P<branch>[^\]\n]{1,200}?)(?: \(root-commit\))? (?P<hash>[0-9a-f]{7,40})\] (?P<subject>.+)$", re.MULTILINE
)
"""How git says that it made a commit."""

UNTRACKED = "??"

_LISTED = rare(
    r"^(?:(?P<mark> [MADRCU]|[MADRCU?]{1,2}|[MADRCU] ) |\t(?:[a-z ]{4,16}: +)?)(?:\S+ -> )?(?P<path>\S+)$"
    r"|^(?P<section>Changes to be|Changes not|Untracked files)\b.*:$",
    re.MULTILINE,
)
"""A file that is not committed, as `git status` lists it, short or long, and what stands over a part of the long list."""

_SECTIONS = {"Changes to be": "M ", "Changes not": " M", "Untracked files": UNTRACKED}
"""How the short list marks what stands in each part of the long one."""

_COUNTED = rare(r"^ (?!\.\.\./)(\S+) +\| +(?:\d+|Bin)\b", re.MULTILINE)
"""A file that is not committed, as `git diff --stat` counts what was changed in it."""

_STAGED = frozenset({"--cached", "--staged"})
_STAGING = ("add", "reset", "restore", "rm", "mv")
_STAGES = pattern(rf"\bgit (?:{'|'.join(_STAGING)})\b")
"""Calls behind which others of the files may be staged."""

_PUTTING_AWAY = ("stash", "reset", "restore", "checkout", "clean")
"""Calls behind which what was changed may be no longer there."""


def with_left(known: Repository, calls: Sequence[list[str]], answer: str, at: int, *, whole: bool) -> Repository:
    """A repository with what git lists as changed and not committed; where the answer is the `whole` list nothing else is."""
    calls = _unsettled(calls)
    listing = answer.partition("\ndiff --git ")[0]
    listed = _listed(listing) if any(map(_lists_all, calls)) else {}
    counts = [args for args in calls if "--stat" in args]
    counted = _COUNTED.findall(listing) if counts and all(map(_compares_tree, counts)) else []
    marks = dict.fromkeys(counted, _mark_of(counts)) | listed
    if not marks:
        return known
    whole = whole and bool(listed)
    left = tuple(dict.fromkeys((*(() if whole else known.left), *marks)))
    marks = marks if whole else known.marks | marks
    staged = calls and calls[-1][0] in _STAGING  # behind the list
    known = replace(known, clean=False, left=left, marks={} if staged else marks, listed=at)
    return replace(known, settled=at, taken={}, swept=at) if whole else known


def apart(facts: Facts, known: Repository) -> dict[str, list[str]]:
    """What git listed by whether it is staged, where some of it is and some is not, git said so of each file, and nothing may have
    been staged since."""
    if any(piece.at > known.listed and piece.by == "tool" and _STAGES.search(piece.text) for piece in facts.pieces):
        return {}
    marks = {path: known.marks.get(path, "") for path in known.left}
    staged = [path for path, mark in marks.items() if mark[:1] not in ("", " ", "?")]
    changed = [path for path, mark in marks.items() if mark[1:] not in ("", " ", "?")]
    untracked = [path for path, mark in marks.items() if mark == UNTRACKED]
    told = {"staged": staged, "changed, not staged": changed, "untracked": untracked}
    return told if all(marks.values()) and staged and (changed or untracked) else {}


def all_is_seen(facts: Facts) -> bool:
    """Whether the agent wrote files with its edits alone, as far as its commands say: none of them ran what may write others, nor another
    agent."""
    calls = [p for p in facts.pieces if p.by == "tool" and p.kind in ("call", "change", "failure")]
    return not any(map(_may_write, calls))


def _may_write(call: Piece) -> bool:
    if not call.text.startswith("`"):
        return bool(words_of(call.text.partition(" ")[0]) & DELEGATING)
    return may_write(call.text.partition("` → ")[0].strip("`"))


def _listed(listing: str) -> dict[str, str]:
    """How git marks the files of a list; of a mark that stands alone the blank before it was lost, and the long list has what was
    changed behind what is staged."""
    part, marks = "", dict[str, str]()
    for found in _LISTED.finditer(listing):
        part = found["section"] or part
        if path := unquoted(found["path"] or ""):
            mark = found["mark"].rjust(2) if found["mark"] else _SECTIONS.get(part, "")
            marks[path] = marks[path][:1] + mark[1:] if path in marks and mark[:1] == " " else mark
    return marks


def _mark_of(counts: Sequence[list[str]]) -> str:
    """How the short list marks what all of some calls counted; empty where that is not the same."""
    staged = [not _STAGED.isdisjoint(args) for args in counts]
    return "M " if all(staged) else "" if any(staged) or any("HEAD" in args for args in counts) else " M"


def _compares_tree(args: list[str]) -> bool:
    """Whether git is asked for all that is not committed, and not for what other commits changed."""
    return args[0] == "diff" and all(arg.startswith("-") or arg == "HEAD" for arg in args[1:])


def _lists_all(args: list[str]) -> bool:
    """Whether git is asked for all files that are not committed, whatever else it says."""
    return args[0] == "status" and all(arg.startswith("-") for arg in args[1:])


def _unsettled(calls: Sequence[list[str]]) -> Sequence[list[str]]:
    """The calls behind the newest one that takes in what was changed, or puts it away: what was listed before may be gone."""
    settling = (i for i, args in enumerate(calls, 1) if commits(args) or args[0] in _PUTTING_AWAY)
    return calls[max(settling, default=0) :]


def commits(args: list[str]) -> bool:
    """Whether git is asked to make a commit."""
    return args[0] == "commit" and "--dry-run" not in args


def remaining(left: Sequence[str], args: list[str]) -> tuple[str, ...]:
    """What is left of changed files behind a call that may put them away."""
    if (args[0] == "stash" and args[1:2] not in (["list"], ["show"])) or (args[0] == "reset" and "--hard" in args):
        return ()
    if args[0] not in ("restore", "checkout", "rm") or "--staged" in args:
        return tuple(left)
    return () if "." in args else tuple(path for path in left if path not in args)
