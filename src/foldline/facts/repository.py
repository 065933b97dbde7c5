"""Where the work stands in its git repository, read from the commands that were run and what git answered."""

from __future__ import annotations

import re

from foldline.facts.types import Repository
from foldline.messages import replace

PULLS = 3
"""The newest pull requests that are told."""

_GIT = re.compile(r"\b(?:git|gh|glab|jj)\b")
_COMMITTED = re.compile(
    r"^\[(?P<branch>[^\]\n]{1,200}?)(?: \(root-commit\))? (?P<hash>[0-9a-f]{7,40})\] (?P<subject>.+)$", re.MULTILINE
)
_COMMITTING = re.compile(r"\bgit\b[^;&|\n]{0,80}? commit\b")
_NO_COMMIT = re.compile(r"nothing to commit|no changes added|nothing added to commit|--dry-run")
_LOGGED = re.compile(r"^(?:commit )?([0-9a-f]{7,40})(?: \([^)\n]*\))?(?: (.+))?$", re.MULTILINE)
_SUBJECT = re.compile(r"^ {4}(\S.*)$", re.MULTILINE)
_HASH = 9
_ON = re.compile(r"^(?:Switched to (?:a new )?branch '|Already on '|On branch )([^\s']+)'?$", re.MULTILINE)
_MADE = re.compile(r"\bgit\b[^;&|\n]*? (?:checkout -[bB]|switch (?:-[cC]|--create)) ([\w./-]+)")
_CLEAN = re.compile(r"^(?:nothing to commit, working (?:tree|directory) clean)", re.MULTILINE)
_PUSHING = re.compile(r"\bgit\b[^;&|\n]{0,80}? push\b")
_PUSHED = re.compile(r"(?m)^\s.{0,40}?\S+ -> \S+$|^Everything up-to-date$")
_PULL = re.compile(r"https?://[^\s\"'<>]+/(?:pull|merge_requests)/\d+")
_OPENING = re.compile(r"\b(?:gh pr|glab mr) create\b")
_DETACHED = "detached HEAD"


def noted(known: Repository, command: str, answer: str, at: int) -> Repository:
    """What is known of the repository after a command that succeeded, by what it answered in message `at`."""
    if not _GIT.search(command):
        return known
    if found := _MADE.search(command):
        known = replace(known, branch=found[1])
    for found in _ON.finditer(answer):
        known = replace(known, branch=found[1])
    for found in _COMMITTED.finditer(answer):
        branch = "" if found["branch"] == _DETACHED else found["branch"]
        commit = f"{found['hash']} “{found['subject'].strip()}”"
        known = replace(known, branch=branch, commit=commit, pushed=False, settled=at, clean=False)
    if not _COMMITTED.search(answer) and _COMMITTING.search(command) and not _NO_COMMIT.search(command + answer):
        known = replace(known, commit=_shown(answer), pushed=False, settled=at, clean=False)
    if _CLEAN.search(answer):
        known = replace(known, settled=at, clean=True)
    if _PUSHING.search(command) and _PUSHED.search(answer):
        known = replace(known, pushed=True)
    if _OPENING.search(command) and (pulls := _PULL.findall(answer)):
        known = replace(known, pulls=tuple(dict.fromkeys((*known.pulls, *pulls)))[-PULLS:])
    return known


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
        commit=new.commit or older.commit,
        pushed=new.pushed or (older.pushed and not new.commit),
        pulls=tuple(dict.fromkeys((*older.pulls, *new.pulls)))[-PULLS:],
        settled=max(older.settled, new.settled),
        clean=new.clean if new.settled >= 0 else older.clean,
    )
