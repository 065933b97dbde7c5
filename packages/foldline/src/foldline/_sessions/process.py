"""A process that runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Process(NamedTuple):
    """A process by its id, and how it is called: its name and the words that it was started with, empty once it is gone."""

    id: int
    called: Callable[[], tuple[str, Sequence[str]]]
