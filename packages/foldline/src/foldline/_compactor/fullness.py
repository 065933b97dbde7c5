"""How full a history is: whether it asks for a fold, and whether enough has come since the last one."""

from __future__ import annotations

from math import ceil, inf

from foldline._compactor.account import Account
from foldline._compactor.history import History
from foldline._economics import Reset
from foldline._engine.steps import CAP_SHARE, Step, caps, layers, steps_ahead
from foldline._messages import replace
from foldline._policy import Budget, Policy
from foldline._tokens.meter import ESTIMATE_ERROR
from foldline._tokens.payload import bytes_of

REGROWTH = 0.02
"""The share of the window that a history must grow by after a fold before a soft layer folds again."""

SELDOM = 20
"""The most calls that pass before a fold that has not paid yet is looked at again."""

Marks = tuple[tuple[int, int] | None, tuple[int, int] | None]


class Fill:
    """The size of a history beside its budget and a policy's marks, and what the last folds left of it; sizes are tokens."""

    def __init__(self, history: History, account: Account, policy: Policy) -> None:
        self.history = history
        self.account = account
        self.policy = policy
        self.marks: Marks = (None, None)
        """What the last fold left, made or not, and what the last one left that a summary was asked for: the tokens, and
        the messages that there were for it."""
        self.look = 0
        """The call since the last fold from which on layers that wait are looked at."""

    @property
    def limit(self) -> int:
        """The most that the history may take, without the overhead of a request."""
        return self.account.budget.limit - self.account.meter.overhead

    @property
    def tokens(self) -> int:
        """The size of the history, without the overhead of a request."""
        return self.history.count.tokens - self.account.meter.overhead

    def folded(self, tokens: int, messages: int, *, asked: bool) -> None:
        """Takes down that a fold of so many messages left so many tokens, and whether a summary was asked for."""
        now = tokens, messages
        self.marks = now, now if asked else self.marks[1]
        self.look = 0

    def rewound(self, stands: int) -> None:
        """Forgets the folds of what is gone, where only so many messages still stand."""
        folded, summed = (None if at is None or stands < at[1] else at for at in self.marks)
        self.marks = folded, summed

    def full(self) -> bool:
        """Whether the fill asks for a fold: what the provider would refuse does, and all of a mark once it has regrown."""
        budget, meter = self.account.budget, self.account.meter
        pays = self.account.knows_costs and self.account.billed.calls >= self.look
        if self.history.seen.at_most * max(1.0, meter.ratio) <= self._lowest(budget.less(ESTIMATE_ERROR), pays=pays):
            return self._capped()
        tokens, error = self.tokens, self.history.count.error
        if tokens > self.limit:
            return True
        marked = tokens > self._lowest(budget.less(error), pays=pays) and self._regrown(tokens, self.marks[0])
        return marked or self._capped()

    def waits(self) -> bool:
        """Whether no mark is passed but those of layers that wait until they have paid."""
        budget = self.account.budget.less(self.history.count.error)
        return self.tokens <= self._lowest(budget, pays=False) and not self._capped()

    def has_paid(self, reset: Reset) -> bool:
        """Whether the calls since the last fold would have saved what a fold costs once; if not, when it is looked at again.

        What can be freed has grown evenly since: half of what a call saves now is what one would have saved.
        """
        carried = reset.saved / 2 * self.account.billed.calls
        if carried >= reset.once:
            return True
        left = (reset.once - carried) / reset.saved if reset.saved > 0 else inf
        self.look = self.account.billed.calls + ceil(min(left / 2, SELDOM))
        return False

    def must(self) -> bool:
        """Whether nothing may be waited for any longer: the history is over its limit, or over a mark that is hard."""
        steps = layers(self.policy, self.account.budget, self.account.meter.overhead)
        hard = (step.mark for step in steps if step.layer.hard)
        return self.tokens > min([self.limit, *hard]) or self._capped()

    def coming(self, ahead: float) -> list[Step]:
        """The layer whose summary should be written now, since its mark is less than `ahead` of the window away."""
        tokens = self.tokens
        steps = steps_ahead(self.policy, self.account.budget, self.account.meter.overhead, tokens, ahead)
        return steps if self._regrown(tokens, self.marks[1]) else []

    def fewer_bytes(self, share: float) -> Budget | None:
        """The budget under which media make way down to a share of the request's bytes, where there are enough of them."""
        size = sum(map(bytes_of, self.history.view().messages))
        cap = round(size * share)
        enough = size - self.history.seen.media_bytes <= cap * CAP_SHARE
        return replace(self.account.budget, bytes=cap) if enough else None

    def _lowest(self, budget: Budget, *, pays: bool) -> int:
        """The lowest mark of the policy, those of layers that wait until they have paid among them or not."""
        overhead = self.account.meter.overhead
        steps = (step for step in layers(self.policy, budget, overhead) if pays or not step.layer.pays)
        return min([budget.limit - overhead, *(step.mark for step in steps)])

    def near_caps(self, budget: Budget) -> Budget:
        """A budget without those caps on pictures and bytes that are too far away for anything to be counted."""
        seen = self.history.seen
        images = budget.images if seen.images > (budget.images or inf) else 0
        bytes = budget.bytes if seen.media_bytes + seen.text_bytes > (budget.bytes or inf) else 0
        same = (images, bytes) == (budget.images, budget.bytes)
        return budget if same else replace(budget, images=images, bytes=bytes)

    def _capped(self) -> bool:
        """Whether the provider's caps on pictures and bytes ask for a fold."""
        near = self.near_caps(self.account.budget)
        asked = caps(near) if near.images or near.bytes else []
        return any(step.measure(self.history.view()) > step.mark for step in asked)

    def _regrown(self, tokens: int, folded_at: tuple[int, int] | None) -> bool:
        """Whether enough has come since a fold for another one to be worth it."""
        return folded_at is None or tokens - folded_at[0] >= REGROWTH * self.account.budget.window
