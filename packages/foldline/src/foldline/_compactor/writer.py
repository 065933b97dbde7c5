"""Who writes the summaries, and for how long one that keeps failing is left alone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from foldline._fold import Receipt
from foldline._messages import Value
from foldline._writers.extraction import extract

if TYPE_CHECKING:
    from foldline._compactor.account import Account
    from foldline._compactor.history import History
    from foldline._writers.draft import Summarizer

FAILURES = 3
"""Failures in a row after which a summarizer is left alone."""

COOL_DOWN = 300.0
"""Seconds until it is tried again; another failure then leaves it alone for as long once more."""


class Breaker(Value, frozen=True):
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


class Writer:
    """Who writes the summaries of a conversation, each within so many `seconds`, and how that went.

    `ask` sends messages as the agent does: where it is given, a summary may be asked for on top of the conversation.
    """

    def __init__(
        self,
        summarizer: Summarizer,
        ask: Callable[[list[Any]], Any] | None,
        seconds: float | None,
        clock: Callable[[], float],
    ) -> None:
        self.summarizer = summarizer
        self.seconds = seconds
        self.breaker = Breaker()
        self._ask = ask
        self._clock = clock

    @property
    def extracts(self) -> bool:
        """Whether code writes the next summary: nobody else is there, or the breaker is open."""
        return self.breaker.open(self._clock()) or (self._ask is None and self.summarizer is extract)

    def next(self, history: History, account: Account) -> Summarizer:
        """Who writes the next summary."""
        if self.extracts:
            return extract
        if self._ask is None:
            return self.summarizer
        from foldline._writers.shared import Conversation, SharedPrefix

        size = history.count.tokens
        messages, held = tuple(history.view().messages), account.cached() or 0
        said = Conversation(tuple(history.items), messages, account.model, size, held, account.budget.limit)
        return SharedPrefix(self._ask, self.summarizer, said)

    def fared(self, receipt: Receipt, *, extracted: bool) -> None:
        """Takes down how the one who was asked fared; extraction says nothing of anybody else."""
        if receipt.failures:
            self.breaker = self.breaker.failed("; ".join(receipt.failures), self._clock())
        elif receipt.asked and not extracted:
            self.breaker = Breaker()
