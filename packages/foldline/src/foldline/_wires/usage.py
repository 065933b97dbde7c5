"""What replies state of themselves, in the several spellings: what was billed, and how one ended that is no whole answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from foldline._messages import LARGEST_BILL, Usage


def stated(value: Any, key: str) -> Any:
    """What a dict or an object states under a key, or None."""
    known = type(value) is dict or isinstance(value, Mapping)  # the first is found five times as fast
    return value.get(key) if known else getattr(value, key, None)


def states_any(value: object, *keys: str) -> bool:
    """Whether a dict or an object states something under one of the keys."""
    return any(stated(value, key) is not None for key in keys)


def count(value: object, *keys: str) -> int:
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


# -- replies that broke off: their usage is no bill for what was sent -----------------------------------------------

BROKEN = frozenset(("aborted", "abort", "cancelled", "canceled", "error", "failed", "in_progress", "queued"))
"""How a reply ended, or stands, that no whole answer was billed for: OpenAI's responses, pi, Vercel's AI SDK, Cohere."""

BY_WINDOW = frozenset(("model_context_window_exceeded",))
"""How Anthropic names a reply that the window cut off."""

LENGTH = BY_WINDOW | {"length", "max_tokens", "max_output_tokens", "MAX_TOKENS", "incomplete"}
"""How a reply ended that hit its output limit, in the words of several providers."""

_ENDS = ("status", "stop_reason", "stopReason", "finish_reason", "finishReason", "type")


def broke_off(reply: object) -> bool:
    """Whether a provider's reply, a dict or its library's object, was aborted or failed."""
    return any(end.lower() in BROKEN for end in _ends_of(reply)) or bool(stated(reply, "error"))


def cut_off(reply: object, ends: frozenset[str] = LENGTH) -> bool:
    """Whether a provider's reply, a dict or its library's object, hit its output limit, or ended in one of those ways."""
    return any(end in ends for end in _ends_of(reply))


def _ends_of(reply: object) -> Iterator[str]:
    """What a reply says of how it ended."""
    ends = [stated(reply, key) for key in _ENDS]
    for several in ("choices", "candidates"):
        listed = stated(reply, several)
        first = listed[0] if isinstance(listed, list) and listed else None
        ends += [stated(first, "finish_reason"), stated(first, "finishReason")]
    return (end for end in ends if isinstance(end, str))
