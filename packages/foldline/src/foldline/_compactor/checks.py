"""What a compactor is made with, refused at once where it can be no use: later it would fail in each fold, or in silence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from foldline._errors import ConfigError
from foldline._models import Model
from foldline._policy import Policy
from foldline._wires import FORMATS
from foldline._wires.format import HostFormat

Check = Callable[[Any], bool]


def _function(given: object) -> bool:
    return given is None or callable(given)


def _number(given: object) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool)


WANTED: dict[str, tuple[Check, str]] = {
    "model": (lambda given: isinstance(given, Model), "a name or a Model"),
    "policy": (lambda given: isinstance(given, Policy), "a name or a Policy"),
    "overhead": (lambda given: type(given) is int and given >= 0, "a number of tokens"),
    "summarizer": (callable, "a name or a function"),
    "ahead": (lambda given: _number(given) and 0 <= given < 1, "a share of the window, from 0 to less than 1"),
    "timeout": (lambda given: given is None or (_number(given) and given >= 0), "a number of seconds or None"),
    "grace": (lambda given: _number(given) and given >= 0, "a number of seconds"),
    "session": (lambda given: given is None or hasattr(given, "context"), "what open_session opened"),
    "clock": (callable, "a function"),
    **dict.fromkeys(("pinned", "speaker", "ask", "before_fold", "on_event"), (_function, "a function or None")),
}
"""What each argument has to be, as it is asked and as it is said."""


def check(**given: object) -> None:
    """Raises `ConfigError` for the first argument that is something else than what is wanted."""
    for key, value in given.items():
        holds, wanted = WANTED[key]
        if not holds(value):
            raise ConfigError(f"{wanted}, not {value!r}", path="Compactor", key=key)


def check_format(given: object) -> None:
    """Raises `ConfigError` for what is neither a framework's format nor the name of a wire format."""
    if not isinstance(given, HostFormat) and given != "" and given not in FORMATS:
        there_are = ", ".join(FORMATS)
        raise ConfigError(f"no such wire format: {given!r}; there are {there_are}", path="Compactor", key="format")
