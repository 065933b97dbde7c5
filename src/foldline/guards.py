"""Guards against a summarizer that keeps failing, and against an agent that goes in circles after a fold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from foldline.messages import Message, Value, text_of
from foldline.pairs import answers

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
