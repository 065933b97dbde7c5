"""What the provider has told of sizes: what it billed and accepted, and where it refused."""

from __future__ import annotations

from collections.abc import Callable

from foldline._economics import cached
from foldline._errors import ContextOverflow
from foldline._messages import Usage, Value
from foldline._models import Model
from foldline._policy import LEAST_WINDOW, Budget, below, narrowed
from foldline._tokens.meter import RATIO_RANGE, Meter

MOST_UNSEEN = 50_000
"""Tokens of tool schemas and a system text apart that a request may hold; a stated size beyond is no size of it."""


class Billed(Value, frozen=True):
    """The newest bill for what the model sees, when it came, and how many came for it since a fold."""

    usage: Usage | None = None
    at: float = 0.0
    calls: int = 0


class Account:
    """The sizes of a conversation's requests as far as its provider told them, and the budget that follows."""

    def __init__(self, model: Model, budget: Budget, meter: Meter, clock: Callable[[], float]) -> None:
        self.model = model
        self.budget = budget
        self.meter = meter
        self.accepted = 0
        """Tokens of the largest request that was billed."""
        self.recovered = 0
        """The weight of what was seen when a refusal was last folded for."""
        self.billed: Billed = Billed()
        self._clock = clock

    def bill(self, usage: Usage, weight: int) -> None:
        """Takes a bill for messages of that weight, where it can be one for them."""
        if self.meter.learn(usage.prompt, weight):
            self.billed = Billed(usage, self._clock(), self.billed.calls + 1)
            self.accepted = max(self.accepted, usage.prompt)

    def void(self) -> None:
        """Forgets the bills, since the model sees something else."""
        self.meter.forget()
        self.billed = Billed()

    def cached(self) -> int | None:
        """Tokens that the provider's cache holds of what was billed last; None where nothing was billed for what is seen."""
        if self.billed.usage is None:
            return None
        return cached(self.model, self.billed.usage, self._clock() - self.billed.at)

    @property
    def knows_costs(self) -> bool:
        """Whether anything is known of what an edit of what the model sees would cost: its model, and what was billed."""
        return self.model.known and self.billed.usage is not None

    def believes(self, refusal: ContextOverflow) -> bool:
        """Whether what a refusal states can be true of this model: nothing, or a limit that was not passed before."""
        return not refusal.limit or refusal.limit >= max(LEAST_WINDOW, self.accepted)

    def is_earlier(self, refusal: ContextOverflow, weight: int, *, seen: bool | None) -> bool:
        """Whether a refusal is of a request that was sent before another's was folded for, and not of that `weight`.

        `seen` is whether what was sent is what the model sees; where nobody says, the size that the refusal states does.
        """
        if not self.recovered or seen is not None:
            return bool(self.recovered) and not seen
        before, now = self.meter.total(self.recovered).tokens, self.meter.total(weight).tokens
        return bool(refusal.tokens) and (refusal.tokens or 0) ** 2 > before * now and before > now

    def hear(self, refusal: ContextOverflow, weight: int | None) -> None:
        """Learns what a refusal states: the limit, and the size of what was sent where that weighs `weight`."""
        believed = self.believes(refusal)
        if believed and refusal.limit:
            self.budget = narrowed(self.budget, refusal.limit)
        if not believed or not refusal.tokens or weight is None:
            return
        if refusal.tokens <= RATIO_RANGE[1] * self.meter.total(weight).tokens + MOST_UNSEEN:
            self.meter.learn(refusal.tokens, weight)

    def refused(self, refusal: ContextOverflow, tokens: int) -> None:
        """Learns that the limit is below so many tokens, where a refusal told none that says so."""
        told = self.believes(refusal) and refusal.limit and (refusal.tokens or refusal.limit < tokens)
        if refusal.unit == "tokens" and not told:
            self.budget = below(self.budget, tokens, self.accepted)
