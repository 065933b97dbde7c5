"""Which changes the commits took in, where git was told each file by its name: what no one named is not committed still."""

from __future__ import annotations

import re
from collections.abc import Sequence

from foldline._facts.types import File, Repository
from foldline._facts.uncommitted import COMMITTED, commits
from foldline._messages import replace
from foldline._patterns import pattern

_EVERYTHING = "*"
_MOST = 200
"""The files and folders that are known of the commits of a repository, the newest."""

_SWEEPS = frozenset({"-A", "--all", "-u", "--update", "-p", "--patch", "-i", "."})
_OF_ALL = pattern(r"-[a-zA-Z]*[aoip][a-zA-Z]*|--(?:all|only|include|patch|interactive)")
"""An option by which a commit takes in what was not staged."""

_UNSURE = re.compile(r"[*?\[\]$`(){}:]|\A\.{1,2}/?\Z")
"""What a path holds that does not name one file or folder by itself."""

_COUNTED = re.compile(r"(?m)^ (\d{1,6}) files? changed\b")
_NAMING = ("add", "stage", "rm", "mv")


def with_taken(known: Repository, asked: Sequence[list[str]], answer: str, at: int) -> Repository:
    """A repository behind calls of git that succeeded, with what a commit among them took in in message `at`; a script that commits
    may take in everything."""
    by_script = COMMITTED.search(answer) and not any(map(commits, asked))
    for args in (*asked, *([["commit", "--all"]] if by_script else [])):
        if args[0] in _NAMING:
            known = replace(known, staged=(*known.staged, *_named(args[1:])))
        elif args[0] in ("reset", "restore", "stash"):
            known = replace(known, staged=())
        elif commits(args):
            known = _with_commit(known, args, answer, at)
    return known


def _with_commit(known: Repository, args: list[str], answer: str, at: int) -> Repository:
    counted = _COUNTED.search(answer)
    more = counted is not None and int(counted[1]) > len(known.staged)
    folders = any("." not in path.rpartition("/")[2] for path in known.staged)
    whole = not known.staged or _EVERYTHING in known.staged or any(map(_OF_ALL.fullmatch, args[1:]))
    if whole or (more and not folders):
        return replace(known, staged=(), taken={}, swept=at)
    taken = {**known.taken, **dict.fromkeys(known.staged, at)}
    return replace(known, staged=(), taken=dict([*taken.items()][-_MOST:]))


def left_out(known: Repository, file: File) -> bool:
    """Whether a file was changed before the newest commit and none took it in since."""
    if not (known.taken and known.swept < file.changed_at <= known.settled):
        return False
    path = f"/{file.path}/"
    return not any(at >= file.changed_at and f"/{named}/" in path for named, at in known.taken.items())


def _named(args: Sequence[str]) -> list[str]:
    """The files and folders that arguments name; everything, where some of them may name more than what they say."""
    paths = [arg.removeprefix("./").rstrip("/") for arg in args if not arg.startswith("-")]
    if not paths or not _SWEEPS.isdisjoint(args) or any(map(_UNSURE.search, paths)):
        return [_EVERYTHING]
    return [path.split("../")[-1] for path in paths]
