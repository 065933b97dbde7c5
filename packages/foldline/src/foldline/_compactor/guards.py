"""Guards against a summarizer that keeps failing, an agent that goes in circles, and several users of one compactor."""

from __future__ import annotations

import os
import threading
from collections import Counter, deque
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from foldline._messages import Message, Value, text_of
from foldline._pairs import answers

FAILURES = 3
"""Failures in a row after which a summarizer is left alone."""

COOL_DOWN = 300.0
"""Seconds until it is tried again; another failure then leaves it alone for as long once more."""

REPEATS = 3
"""How often a call must bring the same result before the agent is said to go in circles."""

LOOKED_AT = 60
"""Messages, counted from the newest, in which repeated calls are looked for."""


class Breaker(Value, frozen=True, omit_defaults=True):
    """How a summarizer has fared: its failures in a row, when they began and when the newest came, and why it did."""

    failures: int = 0
    since: float = 0.0
    at: float = 0.0
    reason: str = ""

    def failed(self, reason: str, now: float) -> Breaker:
        """After one more failure; times are seconds since 1970."""
        return Breaker(self.failures + 1, self.since if self.failures else now, now, reason)

    def open(self, now: float) -> bool:
        """Whether the summarizer is left alone for now."""
        return self.failures >= FAILURES and now - self.at < COOL_DOWN

    @property
    def state(self) -> str:
        """The failure in words, with its begin in UTC; empty where nothing fails."""
        if not self.failures:
            return ""
        began = datetime.fromtimestamp(self.since, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        return f"compaction failing: {self.reason}, since {began}"


class Looping(Value, frozen=True, omit_defaults=True):
    """Since the last fold the agent makes the same call again and again, and gets the same result."""

    tool: str
    arguments: str
    times: int


def looping_in(messages: Sequence[Message]) -> Looping | None:
    """The call that the newest message answers, where the same call brought the same result several times before."""
    if not messages or not any(True for _ in messages[-1].results):
        return None
    recent = messages[-LOOKED_AT:]
    made = [(a.at, (a.call.name, a.call.arguments, text_of(a.result))) for a in answers(recent) if a.call is not None]
    times = Counter(said for _, said in made)
    for at, said in made:
        if at == len(recent) - 1 and times[said] >= REPEATS:
            return Looping(*said[:2], times[said])
    return None


REMEMBERED = 8
"""Places at which a conversation was left for another one that are remembered."""

RETURNS = 2
"""How often a conversation that was left must be taken up again before several are said to take turns; once may be an edit taken back."""


class Left:
    """Where one conversation was left for another, so that a return to it is seen."""

    def __init__(self) -> None:
        self._left: deque[tuple[int, Any]] = deque(maxlen=REMEMBERED)
        self._returns = 0

    def returned(self, before: Sequence[Any], items: Sequence[Any], stands: int) -> bool:
        """Whether a history that was rewritten behind what stands is, by now, one of several that take turns; told once."""
        new, old = (said[stands] if stands < len(said) else None for said in (items, before))
        back = new is not None and (stands, new) in self._left
        self._returns += back
        self._left.append((stands, old))
        return back and self._returns == RETURNS


class Turns:
    """One thread at a time, which may come again; a process that was forked off has turns of its own."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._process = os.getpid()

    def __enter__(self) -> None:
        if self._process != os.getpid():
            self._lock, self._process = threading.RLock(), os.getpid()
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
