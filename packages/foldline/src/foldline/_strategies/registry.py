"""The strategies by the names that a policy's file has for them: foldline's own, and those that packages offer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from inspect import Parameter, signature
from typing import Any, cast, get_type_hints

from msgspec import Struct, defstruct

from foldline._decoding import converted
from foldline._errors import ConfigError
from foldline._offered import Offers, offered, unknown
from foldline._strategies.all_but import (
    summarize_all,
    summarize_all_but_messages,
    summarize_all_but_share,
    summarize_all_but_tokens,
    summarize_turn,
)
from foldline._strategies.budget import use_budget
from foldline._strategies.chitchat import strip_chitchat
from foldline._strategies.hard import hard_strategies
from foldline._strategies.old_outputs import clear_tool_outputs, condense_tool_outputs
from foldline._strategies.older import summarize_older
from foldline._strategies.replies import shorten_replies
from foldline._strategies.stages import digest_stages, summarize_oldest
from foldline._strategies.strategy import Made, Strategy, remembered
from foldline._strategies.tool_outputs import prune_tool_outputs, shorten_newest, shorten_tool_outputs
from foldline._strategies.truncate import keep_newest, truncate

GROUP = "foldline.strategies"
"""The group of entry points under which a package names what makes a strategy of its arguments."""

Maker = Callable[..., Any]
"""Makes a strategy, or several that are tried in turn, of the arguments that a policy's file gives."""

OWN: Mapping[str, Maker] = {
    make.__name__: make
    for make in (
        prune_tool_outputs, clear_tool_outputs, condense_tool_outputs, shorten_tool_outputs, shorten_newest, shorten_replies,
        summarize_older, summarize_all_but_tokens, summarize_all_but_messages, summarize_all_but_share, summarize_all,
        summarize_turn, use_budget, truncate, hard_strategies, strip_chitchat, digest_stages,
        summarize_oldest, keep_newest,
    )
}  # fmt: skip
"""The makers that are part of foldline."""


@cache
def _theirs() -> Mapping[str, Maker]:
    found: dict[str, Maker] = offered(GROUP, cast(Any, Callable), taken=OWN)
    return {name: remembered(make, name) for name, make in found.items()}


MAKERS: Mapping[str, Maker] = Offers(OWN, _theirs)
"""Every maker by its name."""


def made(name: str, arguments: Mapping[str, Any], path: str, key: str) -> tuple[Strategy, ...]:
    """The strategies that a name stands for, with the arguments that stand under `key` in the file `path`.

    Raises `ConfigError` for a name or an argument that there is not, and for a maker that fails.
    """
    if name not in MAKERS:
        raise ConfigError(unknown("strategy", name, MAKERS), path=path, key=f"{key}.use")
    with _naming(name, path, key):
        given = converted(arguments, arguments_of(name), path, key)
        found = MAKERS[name](**{argument: getattr(given, argument) for argument in arguments})
    strategies = found if isinstance(found, tuple) else (found,)
    for strategy in strategies:
        if not callable(strategy):
            raise ConfigError(f"{name} made a {type(strategy).__name__}, which is no strategy", path=path, key=key)
    return strategies


def with_arguments(strategy: Strategy, given: Mapping[str, object], key: str) -> Strategy:
    """A strategy made again with those arguments that its maker takes; one that remembers no maker stays as it is.

    Raises `ConfigError` with `key`, which the arguments stand under in the settings, where its maker fails.
    """
    if not isinstance(strategy, Made):
        return strategy
    taken = {name: value for name, value in given.items() if name in signature(strategy.make).parameters}
    with _naming(strategy.name, "settings", key):
        return remembered(strategy.make, strategy.name)(**{**strategy.arguments, **taken}) if taken else strategy


@contextmanager
def _naming(name: str, path: str, key: str) -> Iterator[None]:
    try:
        yield
    except ConfigError:
        raise
    except Exception as error:
        raise ConfigError(f"{name} cannot be made: {type(error).__name__}: {error}", path=path, key=key) from error


def arguments_of(name: str) -> type[Struct]:
    """The arguments that a maker takes, as what they are decoded into."""
    make = MAKERS[name]
    try:
        hints = get_type_hints(make, include_extras=True)
    except (NameError, TypeError):  # names that only a type checker imports, or a maker that is no function
        hints = {}
    fields: list[Any] = []
    for each in signature(make).parameters.values():
        if each.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
            default = () if each.default is Parameter.empty else (each.default,)
            fields.append((each.name, hints.get(each.name, Any), *default))
    return defstruct(name, fields, frozen=True, forbid_unknown_fields=True, kw_only=True)
