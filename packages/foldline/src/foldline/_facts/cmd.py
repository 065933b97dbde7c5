"""Command lines of Windows' `cmd`, as a POSIX shell has them: Cline, Roo Code and others write these there."""

from __future__ import annotations

import re

from foldline._facts.patterns import rare
from foldline._patterns import pattern

_SIGNS = rare(
    r"(?:^|[&|(]\s*)(?:del|erase|ren|rename|rd|rmdir|md|mkdir|move|copy|type|taskkill|xcopy)\s+(?:/\w|[^\s&|]*\\\w)"
    r"|>\s*nul\b|(?:^|[&|]\s*)cd\s+(?:/d\s+)?\"?[a-z]:\\",
    re.IGNORECASE,
)
"""What no other shell would be told."""

_SEPARATOR = pattern(r"(?<![&>])&(?![&>\d])")
_STARTED = re.compile(
    r"(?:^|(?<=[;&|]))\s*start\s+(?=\S)(?:\"[^\"]*\"\s+)?(?:/\w+\s+)*([^;&|\s](?:[^;&|]*[^;&|\s])?)\s*(?:;|&&|$)",
    re.IGNORECASE,
)
"""A program in a window of its own."""

_SWITCH = re.compile(r"(?<=\s)/[a-zA-Z]{1,4}(?::\w+)?(?=\s)")
_NOWHERE = re.compile(r"(\d?>)\s*nul\b", re.IGNORECASE)
_PROGRAMS = pattern(
    r"(?:^|(?<=[;&|(\s]))(?:(del|erase)|(ren|rename)|(rd|rmdir)|(md)|(move)|(copy|xcopy)|(type)|(taskkill)(?=[^;&|]{0,120}/PID)|(taskkill))(?=\s)",
    re.IGNORECASE,
)
_NAMES = ("rm", "rename-item", "rm", "mkdir", "mv", "cp", "cat", "kill", "pkill")


def in_posix(command: str) -> str:
    """The command with the slashes, signs and programs of a POSIX shell; as it is where it is none of `cmd`'s."""
    if "\n" in command.strip() or not _SIGNS.search(command):
        return command
    text = _NOWHERE.sub(r"\1/dev/null", _SEPARATOR.sub(";", command.replace("\\", "/")))
    text = _SWITCH.sub("", _PROGRAMS.sub(lambda found: _NAMES[(found.lastindex or 1) - 1], text))
    return _STARTED.sub(r"\1 & ", text)
