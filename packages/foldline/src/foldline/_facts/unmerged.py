"""Merges, rebases and cherry-picks that stopped at a conflict, until they are finished or given up."""

from __future__ import annotations

import re
from collections.abc import Sequence

from foldline._facts.patterns import rare
from foldline._patterns import pattern

STOPPED = " under way, which stopped at conflicts in "
"""What stands between what stopped and the files in which it did."""

_NAMED = 6
"""The files with conflicts that are named."""

_COMBINING = ("merge", "rebase", "cherry-pick", "revert", "pull", "am")
_GIVING_UP = frozenset({"--abort", "--quit"})
_CONFLICT = rare(r"^CONFLICT \([^)\n]{1,40}\): (?:Merge conflict in )?(\S+)", re.MULTILINE)
_ELSEWHERE = rare(r"^Switched to ", re.MULTILINE)
_CLEAN = rare(r"^nothing to commit, working (?:tree|directory) clean", re.MULTILINE)
_GOES_ON = pattern(r"in progress|still merging|unmerged paths")


def stops(asked: Sequence[list[str]], answer: str) -> bool:
    """Whether calls of git leave a conflict behind: those that gave up leave none."""
    combining = _combining(asked)
    return bool(combining) and _GIVING_UP.isdisjoint(combining[-1]) and _CONFLICT.search(answer) is not None


def under_way(known: str | None, asked: Sequence[list[str]], answer: str) -> str | None:
    """What is under way behind calls of git; empty where it is over, None where nothing tells."""
    if stops(asked, answer):
        what = _what(_combining(asked)[-1]) or (known or "").partition(STOPPED)[0] or _combining(asked)[-1][0]
        files = [*dict.fromkeys(_CONFLICT.findall(answer))]
        more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
        return f"{what}{STOPPED}{', '.join(files[:_NAMED])}{more}"
    commits = any(args[0] == "commit" for args in asked) and not (known or "").startswith("rebase")
    given_up = any(args[0] == "reset" and {"--hard", "--merge"} & {*args} for args in asked)
    status = any(args[0] == "status" for args in asked) and _CLEAN.search(answer) and not _GOES_ON.search(answer)
    over = commits or given_up or status or _combining(asked) or _ELSEWHERE.search(answer)
    return "" if over else known


def _combining(asked: Sequence[list[str]]) -> list[list[str]]:
    return [args for args in asked if args[0] in _COMBINING]


def _what(args: list[str]) -> str:
    """What a call asks git to combine; empty where it only goes on."""
    named = [arg for arg in args[1:] if not arg.startswith("-")]
    if args[0] == "pull":
        return f"{'rebase onto' if '--rebase' in args else 'merge of'} {'/'.join(named) or 'what was pulled'}"
    return f"{args[0]} {'onto' if args[0] == 'rebase' else 'of'} {named[-1]}" if named else ""
