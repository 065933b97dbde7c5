"""How full a history is: whether it asks for a fold, and whether enough has come since the last one."""

from __future__ import annotations

from math import inf

from foldline._compactor.history import History
from foldline._messages import replace
from foldline._policy import Budget, Policy
from foldline._steps import CAP_SHARE, Step, caps, layers, steps_ahead
from foldline._tokens.meter import ESTIMATE_ERROR, Meter
from foldline._tokens.payload import bytes_of

REGROWTH = 0.02
"""The share of the window that a history must grow by after a fold before a soft layer folds again."""


Marks = tuple[tuple[int, int] | None, tuple[int, int] | None]


class Fill:
    """The sizes of a history beside a policy and a budget, and what the last folds left of it."""

    def __init__(self, history: History, meter: Meter) -> None:
        self._history = history
        self._meter = meter
        self._folded_at: tuple[int, int] | None = None
        """The tokens that the last fold left, made or not, and the messages that there were for it."""
        self._summed_at: tuple[int, int] | None = None
        """The same of the last fold that a summary was asked for."""

    @property
    def marks(self) -> Marks:
        """What the last folds left, to be kept."""
        return self._folded_at, self._summed_at

    @marks.setter
    def marks(self, marks: Marks) -> None:
        self._folded_at, self._summed_at = marks

    def folded(self, tokens: int, *, asked: bool) -> None:
        """Takes down that a fold left so many tokens, and whether a summary was asked for."""
        self._folded_at = tokens, len(self._history.messages)
        if asked:
            self._summed_at = self._folded_at

    def rewound(self, stands: int) -> None:
        """Forgets the folds of what is gone, where only so many messages still stand."""
        self._folded_at, self._summed_at = (
            None if at is None or stands < at[1] else at for at in (self._folded_at, self._summed_at)
        )

    def full(self, policy: Policy, budget: Budget) -> bool:
        """Whether the fill asks for a fold: what the provider would refuse does, and all of a mark once it has regrown."""
        lowest = self._lowest(policy, budget.less(ESTIMATE_ERROR))
        if self._history.at_most * max(1.0, self._meter.ratio) <= lowest:
            return self._capped(budget)
        tokens, error = self._tokens(), self._meter.total(self._history.weight).error
        if tokens > budget.limit - self._meter.overhead:
            return True
        marked = tokens > self._lowest(policy, budget.less(error)) and _regrown(tokens, self._folded_at, budget)
        return marked or self._capped(budget)

    def must(self, policy: Policy, budget: Budget) -> bool:
        """Whether nothing may be waited for any longer: the history is over its limit, or over a mark that is hard."""
        steps = layers(policy, budget, self._meter.overhead)
        hard = (step.mark for step in steps if step.layer.hard)
        return self._tokens() > min([budget.limit - self._meter.overhead, *hard]) or self._capped(budget)

    def _lowest(self, policy: Policy, budget: Budget) -> int:
        """The lowest mark of a policy, in tokens without the overhead."""
        marks = (step.mark for step in layers(policy, budget, self._meter.overhead))
        return min(budget.limit - self._meter.overhead, *marks)

    def coming(self, policy: Policy, budget: Budget, ahead: float) -> list[Step]:
        """The layer whose summary should be written now, since its mark is less than `ahead` of the window away."""
        tokens = self._tokens()
        steps = steps_ahead(policy, budget, self._meter.overhead, tokens, ahead)
        return steps if _regrown(tokens, self._summed_at, budget) else []

    def fewer_bytes(self, budget: Budget, share: float) -> Budget | None:
        """The budget under which media make way down to a share of the request's bytes, where there are enough of them."""
        size = sum(map(bytes_of, self._history.view().messages))
        cap = round(size * share)
        enough = size - self._history.media_bytes <= cap * CAP_SHARE
        return replace(budget, bytes=cap) if enough else None

    def _tokens(self) -> int:
        """The size of the history without the overhead of a request."""
        return self._meter.total(self._history.weight).tokens - self._meter.overhead

    def _capped(self, budget: Budget) -> bool:
        """Whether the provider's caps on pictures and bytes ask for a fold."""
        history = self._history
        near = history.media_bytes + history.text_bytes > (budget.bytes or inf)
        if not near and history.images <= (budget.images or inf):
            return False
        return any(step.measure(history.view()) > step.mark for step in caps(budget))


def _regrown(tokens: int, folded_at: tuple[int, int] | None, budget: Budget) -> bool:
    """Whether enough has come since a fold for another one to be worth it."""
    return folded_at is None or tokens - folded_at[0] >= REGROWTH * budget.window
