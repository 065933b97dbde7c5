"""Replies that broke off: their usage is no bill for what was sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

BROKEN = frozenset(("aborted", "abort", "cancelled", "canceled", "error", "failed", "in_progress", "queued"))
"""How a reply ended, or stands, that no whole answer was billed for: OpenAI's responses, pi, Vercel's AI SDK, Cohere."""

LENGTH = frozenset(
    ("length", "max_tokens", "max_output_tokens", "MAX_TOKENS", "model_context_window_exceeded", "incomplete")
)
"""How a reply ended that hit its output limit, in the words of several providers."""

_ENDS = ("status", "stop_reason", "stopReason", "finish_reason", "finishReason", "type")


def broke_off(reply: Any) -> bool:
    """Whether a provider's reply, a dict or its library's object, was aborted or failed."""
    return any(end.lower() in BROKEN for end in _ends_of(reply)) or bool(_get(reply, "error"))


def cut_off(reply: Any) -> bool:
    """Whether a provider's reply, a dict or its library's object, hit its output limit."""
    return any(end in LENGTH for end in _ends_of(reply))


def _ends_of(reply: Any) -> Iterator[str]:
    """What a reply says of how it ended."""
    ends = [_get(reply, key) for key in _ENDS]
    for several in ("choices", "candidates"):
        listed = _get(reply, several)
        first = listed[0] if isinstance(listed, list) and listed else None
        ends += [_get(first, "finish_reason"), _get(first, "finishReason")]
    return (end for end in ends if isinstance(end, str))


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else getattr(value, key, None)
