"""What providers bill: helpers for the several spellings, each of which stands with its format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foldline._messages import LARGEST_BILL, Usage


def stated(value: Any, key: str) -> Any:
    """What a dict or an object states under a key, or None."""
    known = type(value) is dict or isinstance(value, Mapping)  # the first is found five times as fast
    return value.get(key) if known else getattr(value, key, None)


def states_any(value: Any, *keys: str) -> bool:
    """Whether a dict or an object states something under one of the keys."""
    return any(stated(value, key) is not None for key in keys)


def count(value: Any, *keys: str) -> int:
    """The first of the keys that holds a count; 0 where none does."""
    for key in keys:
        n = stated(value, key)
        if type(n) is int and 0 < n <= LARGEST_BILL:
            return n
    return 0


def less_cached(total: int, read: int, written: int, output: int) -> Usage:
    """A usage whose total includes the cached tokens; where these exceed it, it evidently does not."""
    cached = read + written
    return Usage(total - cached if cached <= total else total, output, read, written)
