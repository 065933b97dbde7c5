"""Commands of PowerShell, as a POSIX shell has them: Codex and Claude Code write these on Windows."""

from __future__ import annotations

import re
from functools import lru_cache

from foldline._facts import cmd
from foldline._facts.patterns import rare
from foldline._patterns import pattern

_CMDLET = rare(
    r"(?:^|[\s;|&({])(?:Add-|Copy-|Get-|Move-|New-|Out-|Remove-|Rename-|Select-|Set-|Tee-|Test-)[A-Z][a-zA-Z]+"
)
_BODY = re.compile(r"@(['\"])\r?\n.*?\n\1@", re.DOTALL)
"""A here-string, which mostly becomes a file."""

_BLOCK = pattern(r"(?<!\S)[{}](?!\S)")
_SET = pattern(r"(\A|[;\n])\s*\$(\w+) *= *(?=[\"'])")
"""What sets a variable to a text."""

_RENAME = "rename-item"
"""Whose second argument is a name beside the first."""

_PROGRAMS = {
    "get-content": "cat", "set-content": "tee", "out-file": "tee", "tee-object": "tee", "add-content": "touched",
    "remove-item": "rm", "move-item": "mv", _RENAME: "mv", "copy-item": "cp", "new-item": "touch",
    "set-location": "cd", "push-location": "cd", "write-output": "echo", "write-host": "echo",
}  # fmt: skip
_ONE_PATH = ("set-content", "add-content", "out-file", "tee-object")
"""Whose second argument is what they write."""

_PATHS = ("-path", "-literalpath", "-filepath", "-destination", "-newname", "-name")
_SWITCHES = ("-force", "-recurse", "-raw", "-nonewline", "-append", "-passthru", "-verbose", "-whatif", "-confirm")


@lru_cache(maxsize=1_024)
def in_posix(command: str) -> str:
    """The command with the slashes of a POSIX shell and a heredoc's mark in place of what it writes; one of `cmd`'s as well."""
    if not _CMDLET.search(command):
        return cmd.in_posix(command)
    return _SET.sub(r"\1\2=", _BLOCK.sub(";", without_bodies(command).replace("\\", "/")))


def without_bodies(command: str) -> str:
    """The command without what it writes into files."""
    return _BODY.sub("<<…", command) if "@" in command else command


def as_program(name: str, args: list[str]) -> tuple[str, list[str]]:
    """A cmdlet with its arguments as the program that does the same."""
    cmdlet = name.lower()
    if cmdlet not in _PROGRAMS:
        return name, args
    paths: list[str] = []
    program = _PROGRAMS[cmdlet]
    words = iter(args)
    for word in words:
        flag = word.lower()
        if flag in _SWITCHES:
            continue
        if flag.startswith("-") and flag not in _PATHS:
            value = next(words, "")
            program = "mkdir" if flag == "-itemtype" and value.lower() == "directory" else program
            continue
        paths += (next(words, "") if flag in _PATHS else word).split(",")
    if cmdlet == _RENAME:
        paths[1:] = [f"{paths[0].rpartition('/')[0]}/{name}".lstrip("/") for name in paths[1:]]
    return program, paths[:1] if cmdlet in _ONE_PATH else paths
