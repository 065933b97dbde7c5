"""When a history is folded, and what is tried in which order: data over the strategies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from foldline._errors import ConfigError
from foldline._messages import Message, Value, replace
from foldline._models import Model
from foldline._strategies import Strategy, may_summarize


class Budget(Value, frozen=True, omit_defaults=True):
    """How much a request may hold, in tokens: the model's `window`, less the `reserve` that is held back for the reply.

    `max_input` is a cap on the request alone, `bytes` and `images` are caps on what it carries; 0 where there is none.
    """

    window: int
    reserve: int = 0
    max_input: int = 0
    bytes: int = 0
    images: int = 0

    @property
    def limit(self) -> int:
        """The most that a request may take."""
        return min(self.max_input or self.window, self.window - self.reserve)

    def less(self, error: float) -> Budget:
        """The budget by a count that may be too small by that relative error, where the reserve does not cover it."""
        return replace(self, max_input=int((self.max_input or self.window) / (1 + error)))


def budget(window: int, reserve: int | None = None, max_input: int = 0) -> Budget:
    """A budget for a window; a reserve that is not given is pi's 16,384 tokens, at most a fifth of the window."""
    reserve = min(16_384, window // 5) if reserve is None else reserve
    if window <= 0:
        raise ConfigError(f"a window of {window:,} tokens holds nothing", path="budget", key="window")
    if not 0 <= reserve < window:
        raise ConfigError(f"a reserve of {reserve:,} leaves nothing of {window:,} tokens", path="budget", key="reserve")
    return Budget(window, reserve, max_input)


def budget_for(model: Model, window: int | None = None, reserve: int | None = None) -> Budget:
    """A model's budget; a `window` that is given takes the place of the model's own."""
    found = budget(model.window, reserve, model.max_input) if window is None else budget(window, reserve)
    return replace(found, bytes=model.max_bytes, images=model.max_images)


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


class Layer(Value, frozen=True, omit_defaults=True):
    """One step of a policy: from the fill `at` down to the fill `to`, both shares of the window.

    `outputs_over` is a second condition, tokens of tool output in the view. A `hard` layer may not be skipped, and asks
    no model. Nothing hangs on its name.
    """

    name: str
    at: float
    to: float
    strategies: tuple[Strategy, ...]
    hard: bool = False
    outputs_over: int = 0

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


class Policy(Value, frozen=True, omit_defaults=True):
    """The ordered layers, which messages no edit may touch, and what is done without being asked.

    `description` says in a sentence what it does, for who chooses one.
    """

    name: str
    layers: tuple[Layer, ...]
    pinned: Callable[[Message], bool] = lambda message: message.role == "system"
    automatic: Automatic = Automatic()
    description: str = ""

    @property
    def first(self) -> int:
        """The place of the layer that most folds are made by: the first one that summarizes, or else the first."""
        return next((n for n, layer in enumerate(self.layers) if layer.kind == "summarize"), 0)


def policy(name: str, layers: Iterable[Layer], *, description: str = "", path: str = "") -> Policy:
    """A policy of layers in the order of their marks.

    Raises `ConfigError`, with the file `path` that it stands in or its name, where there is no layer, and for marks out
    of range or out of order.
    """
    layers, path = tuple(layers), path or name
    if not layers:
        raise ConfigError("there must be at least one layer", path=path, key="layers")
    for layer in layers:
        if not 0 < layer.to <= layer.at <= 1:
            raise ConfigError(f"needs 0 < to <= at <= 1, has to={layer.to}, at={layer.at}", path=path, key=layer.name)
    if list(layers) != sorted(layers, key=lambda layer: layer.at):
        raise ConfigError("layers must stand in the order of their marks", path=path, key="layers")
    return Policy(name, layers, description=description)
