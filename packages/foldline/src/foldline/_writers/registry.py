"""The summarizers that installed packages offer, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, cast

from foldline._offered import offered
from foldline._writers import EXTRACT
from foldline._writers.draft import Summarizer

GROUP = "foldline.summarizers"
"""The group of entry points under which a package names its `Summarizer`."""


@cache
def declared() -> Mapping[str, Summarizer]:
    """The summarizers by name; one that cannot be loaded is warned of and left out."""
    return offered(GROUP, cast(Any, Callable), taken=(EXTRACT,))
