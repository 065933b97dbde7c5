"""Replies that broke off: their usage is no bill for what was sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BROKEN = frozenset(("aborted", "abort", "cancelled", "canceled", "error", "failed", "in_progress", "queued"))
"""How a reply ended, or stands, that no whole answer was billed for: OpenAI's responses, pi, Vercel's AI SDK, Cohere."""

_ENDS = ("status", "stop_reason", "stopReason", "finish_reason", "finishReason", "type")


def broke_off(reply: Any) -> bool:
    """Whether a provider's reply, a dict or its library's object, was aborted or failed."""
    choices = _get(reply, "choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    ends = [*(_get(reply, key) for key in _ENDS), _get(first, "finish_reason")]
    return any(isinstance(end, str) and end.lower() in BROKEN for end in ends) or bool(_get(reply, "error"))


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else getattr(value, key, None)
