"""Where the work stands in its git repository, read from the commands that were run and what git answered."""

from __future__ import annotations

import re
from collections.abc import Iterable

from foldline._facts.shell import programs
from foldline._facts.types import Repository
from foldline._messages import replace

PULLS = 3
"""The newest pull requests that are told."""

_COMMITTED = re.compile(
    r"^\[(?P<branch>[^\]\n]{1,200}?)(?: \(root-commit\))? (?P<hash>[0-9a-f]{7,40})\] (?P<subject>.+)$", re.MULTILINE
)
_NO_COMMIT = re.compile(r"nothing to commit|no changes added|nothing added to commit")
_LOGGED = re.compile(r"^(?:commit )?([0-9a-f]{7,40})(?: \([^)\n]*\))?(?: (.+))?$", re.MULTILINE)
_SUBJECT = re.compile(r"^ {4}(\S.*)$", re.MULTILINE)
_HASH = 9
_ON = re.compile(r"^(?:Switched to (?:a new )?branch '|Already on '|On branch )([^\s']+)'?$", re.MULTILINE)
_CLEAN = re.compile(r"^(?:nothing to commit, working (?:tree|directory) clean)", re.MULTILINE)
_PUSHED = re.compile(r"(?m)^\s.{0,40}?\S+ -> \S+$|^Everything up-to-date$")
_PULL = re.compile(r"https?://[^\s\"'<>]+/(?:pull|merge_requests)/\d+")
_OPENING = (["pr", "create"], ["mr", "create"])
_MAKING = ("-b", "-B", "-c", "-C", "--create")
_DETACHED = "detached HEAD"


def noted(known: Repository, command: str, answer: str, at: int) -> Repository:
    """What is known of the repository after a command that succeeded, by what it answered in message `at`."""
    asked = [args for name, args in programs(command) if name in ("git", "gh", "glab") and args]
    if not asked:
        return known
    for branch in (*filter(None, map(_made, asked)), *_ON.findall(answer)):
        known = replace(known, branch=branch)
    shown = list(_COMMITTED.finditer(answer))
    for found in shown:
        branch = "" if found["branch"] == _DETACHED else found["branch"]
        known = _committed(known, f"{found['hash']} “{found['subject'].strip()}”", at)
        known = replace(known, branch=branch)
    if not shown and any(map(_commits, asked)) and not _NO_COMMIT.search(answer):
        known = _committed(known, _shown(answer), at)
    if _CLEAN.search(answer):
        known = replace(known, settled=at, clean=True)
    if any(args[0] == "push" for args in asked) and _PUSHED.search(answer):
        known = replace(known, pushed=True)
    if any(args[:2] in _OPENING for args in asked) and (pulls := _PULL.findall(answer)):
        known = replace(known, pulls=_newest(known.pulls, pulls))
    return known


def _committed(known: Repository, commit: str, at: int) -> Repository:
    return replace(known, committed=True, commit=commit, pushed=False, settled=at, clean=False)


def _commits(args: list[str]) -> bool:
    return args[0] == "commit" and "--dry-run" not in args


def _made(args: list[str]) -> str:
    """The branch that git is asked to make and switch to; empty where it is not."""
    making = args[0] in ("checkout", "switch") and next((i for i, arg in enumerate(args) if arg in _MAKING), None)
    return args[making + 1] if making and making + 1 < len(args) else ""


def _shown(answer: str) -> str:
    """The commit that an answer shows first, as `git log` does; empty where it shows none."""
    if (found := _LOGGED.search(answer)) is None:
        return ""
    subject = found[2] or (below[1] if (below := _SUBJECT.search(answer, found.end())) else "")
    return f"{found[1][:_HASH]} “{subject.strip()}”"


def later(older: Repository, new: Repository) -> Repository:
    """What is known of the repository when one run of messages followed another."""
    return Repository(
        branch=new.branch or older.branch,
        committed=new.committed or older.committed,
        commit=new.commit if new.committed else older.commit,
        pushed=new.pushed or (older.pushed and not new.committed),
        pulls=_newest(older.pulls, new.pulls),
        settled=max(older.settled, new.settled),
        clean=new.clean if new.settled >= 0 else older.clean,
    )


def _newest(older: Iterable[str], new: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*older, *new)))[-PULLS:]
