"""A program of somebody else that is asked before a fold."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence

import msgspec

from foldline._compactor.events import FoldDue, Verdict
from foldline._errors import ProviderError

VETO = 2
"""The exit code that vetoes, as with the hooks of Claude Code."""

SECONDS = 60.0
"""How long the program may take unless told otherwise."""


def command_hook(command: Sequence[str], *, timeout: float = SECONDS) -> Callable[[FoldDue], Verdict | None]:
    """What `before_fold` asks: a program, which reads `{"tokens": …, "window": …}` from its standard input.

    Its exit code 2 is a veto, with its standard error as the reason. Else it may write a JSON object of `veto`, `instructions` and
    `summary`, each a text, or nothing. One that fails in any other way, or takes more than `timeout` seconds, is told of
    (`Skipped`), and the fold is made. The program is no shell's: `command` is its path and its arguments.
    """

    def before_fold(due: FoldDue) -> Verdict | None:
        given = msgspec.json.encode({"tokens": due.tokens, "window": due.window})
        done = subprocess.run(command, input=given, capture_output=True, timeout=timeout, check=False)
        said = done.stderr.decode("utf-8", "replace").strip()[:500]
        if done.returncode == VETO:
            return Verdict(veto=said or f"{command[0]} vetoed it")
        if done.returncode:
            raise ProviderError(f"{command[0]} ended with {done.returncode}: {said}")
        return msgspec.json.decode(done.stdout, type=Verdict) if done.stdout.strip() else None

    return before_fold
