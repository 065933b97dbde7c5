"""How full the window is: anchored on what the provider billed, estimated for the rest, calibrated between the two."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import hypot

from foldline._messages import Message, Value
from foldline._tokens.sent import Sent, weighed
from foldline._tokens.weigh import weigh, weigh_all

RATIO_RANGE = (0.5, 2.5)
"""Billed tokens per estimated token; beyond it a figure is taken for a fault of its source, not for calibration."""

PRIOR = 1_000
"""Estimated tokens that the ratio 1 is worth before anything was billed."""

SLACK = 1_000
"""Billed tokens that a step may grow by beyond the range of ratios: hidden reasoning, a reminder. More is a jump."""

MEMORY = 0.95
"""How much of what was learned of the ratio lasts from one bill to the next."""

TEXT_ERROR = 0.03
"""The expected relative error of the estimate for a whole history of texts, where those of its messages level out: the
tables are off by 2.0 to 2.7 % of a message in the mean (`scripts/train_estimator.py`), 44 folds by 1.2 % at most."""

ESTIMATE_ERROR = 0.10
NEW_ERROR, REMINDER = 0.18, 250
GUESS_ERROR = 0.5
UNTAUGHT_ERROR = 0.13
BILLED_ERROR = 0.002
"""Relative errors of what is estimated, of that behind a bill, where a client may have said so many tokens besides, of an
overhead or a part of it that is only reckoned, of the estimate beside one that no bill ever corrected, and of what was
billed: so chosen that nine of ten intervals hold, on one half of 350 sessions, and looked at on the other."""


class Count(Value, frozen=True, omit_defaults=True):
    """A number of tokens, the relative error that nine of ten such numbers stay within, and what it rests on."""

    tokens: int
    error: float = ESTIMATE_ERROR
    basis: str = "estimate"

    def __str__(self) -> str:
        return f"{self.tokens:,} ± {self.error:.1%} ({self.basis})"


class Learned(Value, frozen=True, omit_defaults=True):
    """What bills taught a meter; the fields are those of `Meter`."""

    ratio: float = 1.0
    unseen: int = 0
    grown: tuple[float, float] = (0.0, 0.0)
    billed: tuple[int, int] | None = None
    opening: int = 0
    jumped: int = 0


class Meter:
    """Counts the tokens of a request as `overhead` plus each message's weight times `ratio`.

    `learn` takes what a provider billed for a request, and sets the overhead so that the sum is exact for that
    request; what comes after it is estimated. The ratio follows what was billed for what was added from one bill to
    the next, so that a jump that no message explains (another system prompt, a search that the provider ran) counts as
    overhead and not as a ratio. The overhead is what every request carries whatever is folded:
    system prompt and tool schemas.
    """

    def __init__(self, family: str = "o200k", *, overhead: int = 0) -> None:
        self.family = family
        self.ratio = 1.0
        self.apart = 0
        """The weight of what every request carries and the caller has told: a system text that is no message."""
        self.unseen = overhead
        """What every request carries besides, in tokens: tool schemas, and a system text that nobody has told."""
        self.guessed: int | None = None
        """What of it is only what such an agent usually sends, where no bill has taught anything; else None."""
        self.restored = 0
        """What of it is only reckoned: what a client put beside its own summary, until a bill tells."""
        self.opening = overhead
        """The overhead by the first bill for this history, when its messages were few and so was their error."""
        self.billed: tuple[int, int] | None = None
        """The last bill: tokens of the request, and the weight that was sent for them."""
        self._jumped = 0
        """What was billed in steps that no message explains, in tokens: it comes and goes with the messages."""
        self._grown = (0.0, 0.0)
        """What was billed for what was added from one bill to the next, and its weight; the newest count most."""

    @property
    def overhead(self) -> int:
        """Tokens that every request carries whatever is folded."""
        return self.unseen + round(self.apart * self.ratio)

    @overhead.setter
    def overhead(self, tokens: int) -> None:
        self.unseen = tokens - round(self.apart * self.ratio)

    @property
    def learned(self) -> Learned:
        """What the bills taught, to be kept."""
        return Learned(self.ratio, self.unseen, self._grown, self.billed, self.opening, self._jumped)

    @learned.setter
    def learned(self, learned: Learned) -> None:
        self.ratio, self.unseen, self._grown, self.billed = (
            learned.ratio,
            learned.unseen,
            learned.grown,
            learned.billed,
        )
        self.opening, self._jumped = learned.opening, learned.jumped

    def go_on_from(self, other: Meter) -> None:
        """Takes what bills for the same messages taught another meter, which was not told apart what every request carries."""
        apart = round(self.apart * other.ratio)
        self.ratio, self._grown, self._jumped = other.ratio, other._grown, other._jumped
        self.opening = max(0, other.opening - apart)
        self.unseen = max(0, other.unseen - apart)
        self.billed = other.billed and (other.billed[0], other.billed[1] + self.apart)

    def weigh(self, message: Message) -> int:
        """The uncalibrated estimate for one message, in tokens."""
        return weigh(message, self.family)

    def weigh_all(self, messages: Iterable[Message]) -> list[int]:
        """What `weigh` says of each message; many at once take a fraction of the time."""
        return weigh_all(messages, self.family)

    def count(self, message: Message) -> int:
        """The calibrated estimate for one message, in tokens."""
        return round(weigh(message, self.family) * self.ratio)

    def learn(self, prompt: int, weight: int) -> bool:
        """Takes a bill of `prompt` tokens for messages of the estimated `weight`; False where it cannot be one for them."""
        low, high = RATIO_RANGE
        weight += self.apart
        if prompt < low * weight - SLACK:
            return False
        if self.billed is not None:
            billed, weighed = prompt - self.billed[0], weight - self.billed[1]
            if weighed <= 0 or not 0 < billed <= high * weighed + SLACK:
                self._jumped += round(billed - self.ratio * weighed)
            else:
                self._grown = self._grown[0] * MEMORY + billed, self._grown[1] * MEMORY + weighed
                self.ratio = min(high, max(low, (self._grown[0] + PRIOR) / (self._grown[1] + PRIOR)))
        # what a whole history is off by goes with its messages, and is no smaller overhead
        if self.billed is not None and prompt < self.opening + self.ratio * weight < prompt * (1 + TEXT_ERROR):
            self.ratio = max(low, (prompt - self.opening) / weight)
        if prompt < self.ratio * weight:
            self.ratio = max(low, prompt / weight)
        self.unseen, self.guessed, self.restored = max(0, round(prompt - self.ratio * weight)), None, 0
        if self.billed is None:
            self.opening = self.unseen
        self.billed = (prompt, weight)
        return True

    def forget(self) -> None:
        """Voids the anchor, after a fold or on another branch.

        What was learned stays; what the estimate was off by since the first bill goes with its messages, as their ratio.
        """
        if self.billed is not None and self.billed[1] >= PRIOR:
            low, high = RATIO_RANGE
            self.unseen = min(self.opening, self.billed[0])
            explained = self.billed[0] - self._jumped - self.unseen
            self.ratio = min(high, max(low, explained / self.billed[1]))
        self.billed, self._jumped = None, 0

    def unanchored(self) -> Meter:
        """What it knows for another history."""
        other = Meter(self.family)
        other.learned, other.apart = self.learned, self.apart
        other.forget()
        return other

    def total(self, weight: int) -> Count:
        """How many tokens a request of messages of the estimated `weight` takes."""
        weight += self.apart
        tokens = self.unseen + round(weight * self.ratio)
        if self.billed is None:
            if self.guessed is None:
                error = hypot(tokens * ESTIMATE_ERROR, self.restored * GUESS_ERROR)
            else:
                error = self.guessed * GUESS_ERROR + (tokens - self.guessed) * UNTAUGHT_ERROR
            return Count(tokens, error / max(1, tokens))
        new = abs(weight - self.billed[1]) * self.ratio
        error = new * NEW_ERROR + min(new, REMINDER) + self.billed[0] * BILLED_ERROR
        return Count(tokens, min(ESTIMATE_ERROR, error / max(1, tokens)), "billed + estimate" if new >= 1 else "billed")


def calibrated(
    messages: Sequence[Message],
    *,
    family: str = "o200k",
    since: int = 0,
    kept: bool = False,
    elsewhere: Mapping[int, int] | None = None,
) -> tuple[Meter, Sent]:
    """A meter that learned from the usage in a history, and what was sent of each message.

    Only replies from the index `since` on are bills for the history as it stands now; a reply with no usage or an
    aborted one teaches nothing.
    """
    meter = Meter(family)
    sent = weighed(messages, family, since, kept, elsewhere)
    for message, weight in zip(messages[since:], sent.before[since:]):
        if message.usage is not None and message.usage.prompt > 0:
            meter.learn(message.usage.prompt, weight)
    return meter, sent


def newest_size(messages: Sequence[Message], *, family: str = "o200k", since: int = 0) -> Count | None:
    """What the next request takes, from the newest bill and what came after; None where nothing was billed.

    Only the messages behind that bill are weighed, however long the history is.
    """
    for i in range(len(messages) - 1, since - 1, -1):
        usage = messages[i].usage
        if usage is not None and usage.prompt > 0:
            meter = Meter(family)
            meter.learn(usage.prompt, 0)
            return meter.total(sum(meter.weigh_all(messages[i:])))
    return None
