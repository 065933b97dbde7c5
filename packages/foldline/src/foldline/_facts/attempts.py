"""What was tried, how it ended, and which errors a later success closes."""

from __future__ import annotations

from functools import lru_cache

from foldline._facts.types import Command, FailedCall
from foldline._messages import replace

MOST_OPEN = 80
"""The newest errors that a success may close."""


class Attempts:
    """Commands, errors and successes while they are followed, each in the order in which it came."""

    def __init__(self) -> None:
        self.commands: dict[str, Command] = {}
        self.faults: dict[tuple[str, str], FailedCall] = {}
        self.passed: dict[str, int] = {}
        self._open: dict[str, FailedCall] = {}
        """The error that is open of each key."""

    def ran(self, command: str, outcome: str, note: str, at: int, attempt: str) -> None:
        """Books a run of a command."""
        old = self.commands.pop(command, None)
        self.commands[command] = Command(command, outcome, note, 1 + (old.count if old else 0), at, attempt)

    def failed(self, fault: FailedCall) -> None:
        """Books an error, which takes the place of the open one of its key."""
        old = self._open.pop(fault.key, None)
        if old is not None:
            del self.faults[old.key, old.text]
        self.faults[fault.key, fault.text] = self._open[fault.key] = fault
        if len(self._open) > MOST_OPEN:
            del self._open[next(iter(self._open))]

    def succeeded(self, key: str, at: int) -> None:
        """Books a success, which closes the errors of its kind."""
        self.passed[key] = at
        program = _words(key)[0]
        for failed in [failed for failed in self._open if failed.startswith(program) and closes(key, failed)]:
            fault = self._open.pop(failed)
            self.faults[failed, fault.text] = replace(fault, resolved=True)


def closes(passed: str, failed: str) -> bool:
    """Whether the success of one attempt closes the failure of another: the same one, or one with a wider target."""
    (program, *targets), (tried, *aims) = _words(passed), _words(failed)
    return program == tried and all(any(_within(aim, target) for aim in aims) for target in targets)


@lru_cache(maxsize=4_096)
def _words(key: str) -> tuple[str, ...]:
    return (*key.split(),) or ("",)


def _within(aim: str, target: str) -> bool:
    if target.endswith("..."):
        return aim.startswith(target.removesuffix("..."))
    return aim == target or aim.startswith((f"{target.rstrip('/')}/", f"{target}::"))
