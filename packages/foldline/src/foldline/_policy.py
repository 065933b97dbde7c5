"""When a history is folded, and what is tried in which order: data over the strategies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from foldline._errors import ConfigError
from foldline._messages import Message, Value, replace
from foldline._models import Model
from foldline._strategies import (
    Strategy,
    may_summarize,
    prune_tool_outputs,
    shorten_tool_outputs,
    summarize_older,
    truncate,
)
from foldline._strategies.budget import use_budget
from foldline._strategies.replies import shorten_replies
from foldline._strategies.tool_outputs import shorten_newest


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
    """The ordered layers, which messages no edit may touch, and what is done without being asked."""

    name: str
    layers: tuple[Layer, ...]
    pinned: Callable[[Message], bool] = lambda message: message.role == "system"
    automatic: Automatic = Automatic()

    def layer(self, name: str) -> Layer:
        """The layer of that name."""
        return next(layer for layer in self.layers if layer.name == name)


def policy(name: str, layers: Iterable[Layer]) -> Policy:
    """A policy of layers in the order of their marks; refuses marks out of range or out of order."""
    layers = tuple(layers)
    for layer in layers:
        if not 0 < layer.to <= layer.at <= 1:
            raise ConfigError(f"needs 0 < to <= at <= 1, has to={layer.to}, at={layer.at}", path=name, key=layer.name)
    if list(layers) != sorted(layers, key=lambda layer: layer.at):
        raise ConfigError("layers must stand in the order of their marks", path=name, key="layers")
    return Policy(name, layers)


def hard_strategies(keep: int) -> tuple[Strategy, ...]:
    """What is tried, in this order, when a budget must be met and no model may be asked.

    Outputs are pruned first only where that alone is enough: a summary made of stubs would know less. What is newer than
    any cut is cut down to `keep` tokens, and the summary has what room that leaves.
    """
    return (
        prune_tool_outputs(protect=keep, enough=True),
        shorten_newest(keep=keep),
        use_budget(),
        prune_tool_outputs(protect=0, minimum=0),
        shorten_tool_outputs(keep=1_000),
        use_budget(tail=0.0),
        shorten_tool_outputs(keep=200),
        shorten_tool_outputs(keep=40),
        shorten_replies(),
        truncate(),
    )


OPENCLAW = policy(
    "openclaw",
    (
        Layer("prune", 0.80, 0.60, (prune_tool_outputs(protect=40_000, minimum=20_000),), outputs_over=50_000),
        Layer("summarize", 0.88, 0.50, (summarize_older(keep=25_000),)),
        Layer("full", 0.95, 0.40, hard_strategies(10_000), hard=True),
    ),
)
"""The three layers of the OpenClaw requirements: prune at 80 %, summarize at 88 %, full at 95 %."""

PI = policy(
    "pi",
    (
        Layer("summarize", 0.92, 0.50, (summarize_older(keep=20_000),)),
        Layer("full", 0.95, 0.40, hard_strategies(10_000), hard=True),
    ),
)
"""pi summarizes once less than 16,384 tokens are left (92 % of 200,000), and keeps 20,000."""

DEFAULT = Policy("default", OPENCLAW.layers)
"""What foldline does unless told otherwise: OpenClaw's layers."""

PRESETS = {p.name: p for p in (DEFAULT, OPENCLAW, PI)}
"""The policies that `--policy NAME` knows."""


def preset(name: str) -> Policy:
    """The policy of that name; an unknown one is refused with the names that there are."""
    try:
        return PRESETS[name]
    except KeyError:
        raise ConfigError(f"no such policy; there are {', '.join(PRESETS)}", path=name, key="policy") from None
