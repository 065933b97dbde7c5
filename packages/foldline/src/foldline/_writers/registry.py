"""The summarizers that installed packages offer, by the names that may stand in place of a model's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, cast

from foldline._models import model as model_named
from foldline._offered import meant, offered, unknown
from foldline._writers import EXTRACT
from foldline._writers.draft import Summarizer

GROUP = "foldline.summarizers"
"""The group of entry points under which a package names its `Summarizer`."""


@cache
def declared() -> Mapping[str, Summarizer]:
    """The summarizers by name; one that cannot be loaded is warned of and left out."""
    return offered(GROUP, cast(Any, Callable), taken=(EXTRACT,))


def misspelled(name: str) -> str:
    """Which summarizer is meant by a name that is no known model's, where one is spelled nearly so; else empty."""
    if name == EXTRACT or model_named(name).known:
        return ""
    known = (EXTRACT, *declared())
    return unknown("summarizer", name, known) if name not in known and meant(name, known) else ""
