"""Programs of somebody else: one that is asked before a fold, and one that is told of it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence

import msgspec

from foldline._compactor.events import Event, FoldDue, Folded, Verdict
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
        done, said = _ended(command, given, timeout)
        if done.returncode == VETO:
            return Verdict(veto=said or f"{command[0]} vetoed it")
        _check(command, done.returncode, said)
        return msgspec.json.decode(done.stdout, type=Verdict) if done.stdout.strip() else None

    return before_fold


def command_listener(command: Sequence[str], *, timeout: float = SECONDS) -> Callable[[Event], None]:
    """What `on_event` tells: a program, which reads of each fold once it is what the model sees.

    From its standard input it reads `{"source": "compact", "fold": ID, "trigger": …, "layer": …, "receipt": {…}}`. One that fails,
    or takes more than `timeout` seconds, stands in the compactor's state, and the agent goes on.
    """

    def on_event(event: Event) -> None:
        if isinstance(event, Folded):
            fold = event.fold
            told = {"fold": fold.id, "trigger": fold.trigger, "layer": fold.layer, "receipt": fold.receipt}
            done, said = _ended(command, msgspec.json.encode({"source": "compact", **told}), timeout)
            _check(command, done.returncode, said)

    return on_event


def _ended(command: Sequence[str], given: bytes, timeout: float) -> tuple[subprocess.CompletedProcess[bytes], str]:
    """A program that was run to its end, and the beginning of what it said of itself."""
    done = subprocess.run(command, input=given, capture_output=True, timeout=timeout, check=False)
    return done, done.stderr.decode("utf-8", "replace").strip()[:500]


def _check(command: Sequence[str], code: int, said: str) -> None:
    if code:
        raise ProviderError(f"{command[0]} ended with {code}: {said}")
