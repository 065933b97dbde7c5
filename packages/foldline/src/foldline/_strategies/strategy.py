"""What a strategy is, whether it may ask for a summary, and what it was made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import signature
from typing import Annotated, Any, ParamSpec

from msgspec import Meta

from foldline._messages import Value
from foldline._view import Edit, View

P = ParamSpec("P")

Strategy = Callable[[View, int], Iterable[Edit]]

Tokens = Annotated[int, Meta(ge=0)]
"""A number of tokens as a policy's file may say it."""

Number = Annotated[int, Meta(ge=0)]
"""A number of messages, stages or characters as a policy's file may say it."""

Share = Annotated[float, Meta(ge=0, le=1)]
"""A share as a policy's file may say it."""


class Made(Value, frozen=True):
    """A strategy by its name and arguments: what it was made of can be shown, compared and changed."""

    name: str
    make: Callable[..., Strategy]
    arguments: Mapping[str, Any]
    summarizes: bool

    def __call__(self, view: View, excess: int) -> Iterable[Edit]:
        return self.make(**self.arguments)(view, excess)


def never_summarizes(strategy: Strategy) -> Strategy:
    """Marks a strategy whose edits never ask for a summary; a layer of nothing but such asks no model."""
    vars(strategy)["summarizes"] = False
    return strategy


def may_summarize(strategy: Strategy) -> bool:
    """Whether a strategy's edits may ask for a summary: any but those that are marked."""
    return getattr(strategy, "summarizes", True) is True


def remembered(make: Callable[P, Strategy], name: str = "") -> Callable[P, Strategy]:
    """A maker of strategies whose strategies remember their name (the maker's own, unless it is given) and arguments."""

    @wraps(make)
    def making(*args: P.args, **kwargs: P.kwargs) -> Strategy:
        strategy = make(*args, **kwargs)
        if not callable(strategy) or isinstance(strategy, Made):
            return strategy
        arguments = signature(make).bind(*args, **kwargs).arguments
        return Made(name or make.__name__, make, arguments, may_summarize(strategy))

    return making


def name_of(strategy: Strategy) -> str:
    """What a strategy is called where it is told of."""
    return strategy.name if isinstance(strategy, Made) else getattr(strategy, "__qualname__", type(strategy).__name__)
