"""When a history is folded, and what is tried in which order: data over the strategies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf
from typing import Literal

from foldline._errors import ConfigError
from foldline._messages import Message, Value, replace
from foldline._models import Model
from foldline._strategies import Strategy, may_summarize
from foldline._wording import Wording


class Budget(Value, frozen=True, omit_defaults=True):
    """How much a request may hold, in tokens: the model's `window`, less the `reserve` that is held back for the reply.

    `max_input` is a cap on the request alone, `bytes` and `images` are caps on what it carries, `output` is the most that a
    reply may take; 0 where there is none, or none is known.
    """

    window: int
    reserve: int = 0
    max_input: int = 0
    bytes: int = 0
    images: int = 0
    output: int = 0

    @property
    def limit(self) -> int:
        """The most that a request may take."""
        return min(self.max_input or self.window, self.window - self.reserve)

    def less(self, error: float) -> Budget:
        """The budget by a count that may be too small by that relative error, where the reserve does not cover it."""
        return replace(self, max_input=int((self.max_input or self.window) / (1 + error)))


USUAL_RESERVE = 16_384
"""Tokens held back for the reply unless told otherwise: pi's."""


def whole_tokens(given: object, path: str, key: str) -> int:
    """A number of tokens as it was given; raises `ConfigError` for anything else."""
    if not isinstance(given, int) or isinstance(given, bool):
        raise ConfigError(f"a whole number of tokens, not {given!r}", path=path, key=key)
    return given


def budget(window: int, reserve: int | None = None, max_input: int = 0) -> Budget:
    """A budget for a window; a reserve that is not given is pi's 16,384 tokens, at most a fifth of the window."""
    for key, given in (("window", window), ("reserve", 0 if reserve is None else reserve)):
        whole_tokens(given, "budget", key)
    reserve = min(USUAL_RESERVE, window // 5) if reserve is None else reserve
    if window <= 0:
        raise ConfigError(f"a window of {window:,} tokens holds nothing", path="budget", key="window")
    if not 0 <= reserve < window:
        raise ConfigError(f"a reserve of {reserve:,} leaves nothing of {window:,} tokens", path="budget", key="reserve")
    return Budget(window, reserve, max_input)


def budget_for(model: Model, window: int | None = None, reserve: int | None = None) -> Budget:
    """A model's budget; a `window` that is given takes the place of the model's own."""
    found = budget(model.window, reserve, model.max_input) if window is None else budget(window, reserve)
    return replace(found, bytes=model.max_bytes, images=model.max_images, output=model.max_output)


def reserving(budget: Budget, policy: Policy) -> Budget:
    """A budget with what a policy holds back for the reply, where it says so."""
    return budget if policy.reserve is None else replace(budget, reserve=min(policy.reserve, budget.window // 5))


class Room(Value, frozen=True, omit_defaults=True):
    """How a request stands in its window, in tokens: the system prompt with the tools, the messages, and the reply's share."""

    window: int
    system: int
    messages: int
    output: int

    @property
    def available(self) -> int:
        """What is left beside all three; negative where they are too much."""
        return self.window - self.system - self.messages - self.output

    @property
    def utilization(self) -> float:
        """The share that the messages fill of what the other two leave; infinite where these leave nothing."""
        room = self.window - self.system - self.output
        return self.messages / room if room > 0 else inf


LEAST_WINDOW = 512
"""Tokens below which no model's window is; who states less quotes somebody."""

REFUSED_SHARE = 0.7
"""The share of a refused request that is taken for the most there may be, where none of a size near it was accepted."""


def narrowed(budget: Budget, window: int) -> Budget:
    """A budget for a window that turned out to be no larger than that."""
    window = min(budget.window, window)
    reserve = min(budget.reserve, window // 5)
    return replace(budget, window=window, reserve=reserve, max_input=min(budget.max_input, window))


def below(budget: Budget, refused: int, accepted: int) -> Budget:
    """A budget below a request that was refused without a number: what was accepted before is the most there may be."""
    least = round(refused * REFUSED_SHARE)
    most = accepted if least < accepted < refused else least
    return replace(budget, max_input=min(budget.max_input or budget.window, most))


LEAST_MARK = 0.1
"""The share of the window below which no mark lies that takes a number of tokens off: smaller windows have to hold something."""


class Mark(Value, frozen=True, omit_defaults=True):
    """A fill of the window, by a system's own arithmetic; sizes are tokens.

    It is a `share` of the window, `less` a number or the model's output limit first, and at most `tokens` where that is
    stated. Where `output` is stated it is a share of what the messages alone may fill: the window without the system
    prompt and the tools (`system` where that is stated, else what they take), without `output` for the reply, and without
    a `buffer`.
    """

    share: float = 1.0
    tokens: int | None = None
    less: int | Literal["output"] = 0
    output: int | None = None
    buffer: int = 0
    system: int | None = None

    def of(self, budget: Budget, overhead: int) -> int:
        """The tokens that the messages of a request have at that fill, beside its `overhead`."""
        if self.output is not None:
            system = overhead if self.system is None else self.system
            room = max(budget.window - system - self.output - self.buffer, int(LEAST_MARK * budget.window))
            return int(self.share * room)
        less = (budget.output or budget.reserve) if self.less == "output" else self.less
        room = max(budget.window - less, int(LEAST_MARK * budget.window)) if less else budget.window
        filled = round(self.share * room)
        return (filled if self.tokens is None else min(filled, self.tokens)) - overhead

    def __str__(self) -> str:
        if self.output is not None:
            system = "the system prompt" if self.system is None else f"{self.system:,}"
            buffer = f" and a buffer of {self.buffer:,}" if self.buffer else ""
            return f"{100 * self.share:g} % of the window less {system}, {self.output:,} for the reply{buffer}"
        less = "the output limit" if self.less == "output" else f"{self.less:,}" if self.less else ""
        share = f"{100 * self.share:g} % of the window" if self.share != 1 or not less else "the window"
        filled = share + (f" less {less}" if less else "")
        if self.tokens is None:
            return filled
        return f"{self.tokens:,} tokens" + (f" or {filled}" if self != Mark(tokens=self.tokens) else "")


Fill = float | Mark
"""A fill of the window: a share of it, or a mark."""


def mark_of(fill: Fill) -> Mark:
    """A fill as a mark."""
    return fill if isinstance(fill, Mark) else Mark(fill)


MIN_PROGRESS = 0.02
"""The share of a view that a fold must free to be worth the cache that it breaks, unless its layer says another."""


class Layer(Value, frozen=True, omit_defaults=True):
    """One step of a policy: from the fill `at` down to the fill `to`, shares of the window or marks.

    `outputs_over` is a second condition, tokens of tool output in the view. A `hard` layer may not be skipped, and asks
    no model. What it frees is worth a fold from the share `least` of the view on. `summary` says how its summaries are
    asked for and worded. One that `pays` waits beyond its mark until the calls since the last fold would have been cheaper
    by as much as the fold costs once: then it costs at most twice what the best moment would have. Nothing hangs on its name.
    """

    name: str
    at: Fill
    to: Fill
    strategies: tuple[Strategy, ...]
    hard: bool = False
    outputs_over: int = 0
    least: float = MIN_PROGRESS
    pays: bool = False
    summary: Wording = Wording()

    @property
    def kind(self) -> Literal["hard", "summarize", "prune"]:
        """What it does, as its strategies say: a hard one never fails, and of the others one that prunes asks no model."""
        if self.hard:
            return "hard"
        return "summarize" if any(map(may_summarize, self.strategies)) else "prune"


class Automatic(Value, frozen=True, omit_defaults=True):
    """What a compactor does without being asked: whether it folds by itself, how often, and what it tells.

    `most` is how many summaries it may write so: after them no soft layer summarizes, and a window that fills all the
    same is left to the hard layers. Each summary notes how many there were before it, so that a log carries the number
    on. From the compaction `warn_at` on, a fresh start is advised. Both are 0 where there is no such number. `notify` is
    whether a fold is told of before it is made.
    """

    enabled: bool = True
    most: int = 0
    warn_at: int = 3
    notify: bool = True

    def spent(self, made: int) -> str:
        """That so many automatic compactions are all that there may be, and what to do; empty where they are not."""
        if not self.enabled or not self.most or made < self.most:
            return ""
        reached = f"limit of {self.most} automatic compactions reached, only a full window is folded now"
        return f"{reached}: hand off to a new session"


class Reactive(Value, frozen=True, omit_defaults=True):
    """What a compactor does once a request went wrong: on an `overflow`, and on a reply that hit its output `length`.

    `times` is how often in a row it answers with a smaller history, before a reply is billed; 0 is as often as asked.
    """

    overflow: bool = True
    length: bool = False
    times: int = 0


class Policy(Value, frozen=True, omit_defaults=True):
    """The ordered layers, which messages no edit may touch, and what is done without being asked.

    `description` says in a sentence what it does, for who chooses one. `reserve` is how many tokens it holds back for the
    reply, at most a fifth of the window, where the author of an agent states no other; None is pi's 16,384.
    """

    name: str
    layers: tuple[Layer, ...]
    pinned: Callable[[Message], bool] = lambda message: message.role == "system"
    automatic: Automatic = Automatic()
    description: str = ""
    reserve: int | None = None
    reactive: Reactive = Reactive()

    @property
    def first(self) -> int:
        """The place of the layer that most folds are made by: the first one that summarizes, or else the first."""
        return next((n for n, layer in enumerate(self.layers) if layer.kind == "summarize"), 0)

    @property
    def wording(self) -> Wording:
        """How the summaries of that layer are worded."""
        return self.layers[self.first].summary


def policy(
    name: str,
    layers: Iterable[Layer],
    *,
    description: str = "",
    reserve: int | None = None,
    reactive: Reactive | None = None,
    path: str = "",
) -> Policy:
    """A policy of layers in the order of their marks.

    Raises `ConfigError`, with the file `path` that it stands in or its name, where there is no layer, and for marks out
    of range or out of order; marks of different kinds are in the order that a window gives them.
    """
    layers, path = tuple(layers), path or name
    if not layers:
        raise ConfigError("there must be at least one layer", path=path, key="layers")
    for layer in layers:
        if not _falls(layer.at, layer.to):
            raise ConfigError(f"needs 0 < to <= at <= 1, has to={layer.to}, at={layer.at}", path=path, key=layer.name)
    shares = [layer.at for layer in layers if not isinstance(layer.at, Mark)]
    if shares != sorted(shares):
        raise ConfigError("layers must stand in the order of their marks", path=path, key="layers")
    return Policy(name, layers, description=description, reserve=reserve, reactive=reactive or Reactive())


def _falls(at: Fill, to: Fill) -> bool:
    """Whether a fill may lie at or below another, for all that can be said without a window."""
    high, low = mark_of(at), mark_of(to)
    if not 0 < high.share <= 1 or not 0 < low.share <= 1:
        return False
    return isinstance(at, Mark) or isinstance(to, Mark) or to <= at
