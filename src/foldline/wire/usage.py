"""What providers bill, in their several spellings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foldline.messages import LARGEST_BILL, Usage


def read_usage(reply: Any) -> Usage | None:
    """The usage in a provider's reply, or in its usage alone; None where it states none.

    Reads dicts and SDK objects, in the spelling of OpenAI chat completions, OpenAI responses, Anthropic and Gemini.
    """
    usage = reply
    for key in ("usage", "usageMetadata", "usage_metadata"):
        if (found := _get(reply, key)) is not None:
            usage = found
            break
    for spelling, read in _SPELLINGS.items():
        if _get(usage, spelling) is not None:
            read_as = read(usage)
            return read_as if read_as.context else None
    return None


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else getattr(value, key, None)


def _count(value: Any, *keys: str) -> int:
    """The first of the keys that holds a count; 0 where none does."""
    for key in keys:
        n = _get(value, key)
        if type(n) is int and 0 < n <= LARGEST_BILL:
            return n
    return 0


def _less(total: int, read: int, written: int, output: int) -> Usage:
    """A usage whose total includes the cached tokens; where these exceed it, it evidently does not."""
    cached = read + written
    return Usage(total - cached if cached <= total else total, output, read, written)


def _openai_chat(usage: Any) -> Usage:
    details = _get(usage, "prompt_tokens_details")
    read = _count(details, "cached_tokens")
    read = read or _count(usage, "cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens")
    written = _count(details, "cache_write_tokens", "cache_creation_tokens")
    written = written or _count(usage, "cache_creation_input_tokens")
    return _less(_count(usage, "prompt_tokens"), read, written, _count(usage, "completion_tokens"))


def _openai_responses(usage: Any) -> Usage:
    details = _get(usage, "input_tokens_details")
    read, written = _count(details, "cached_tokens"), _count(details, "cache_write_tokens")
    return _less(_count(usage, "input_tokens"), read, written, _count(usage, "output_tokens"))


_BY_MODEL = ("message", "fallback_message")


def _anthropic(usage: Any) -> Usage:
    """Server tools make several calls whose sum says nothing about the window, so the last one of a model counts."""
    iterations = _get(usage, "iterations")
    if isinstance(iterations, list):
        usage = next((each for each in reversed(iterations) if _get(each, "type") in _BY_MODEL), usage)
    written = _count(usage, "cache_creation_input_tokens")
    if not written and (creation := _get(usage, "cache_creation")) is not None:
        written = _count(creation, "ephemeral_5m_input_tokens") + _count(creation, "ephemeral_1h_input_tokens")
    read = _count(usage, "cache_read_input_tokens")
    return Usage(_count(usage, "input_tokens"), _count(usage, "output_tokens"), read, written)


def _gemini(usage: Any) -> Usage:
    total = _count(usage, "promptTokenCount", "prompt_token_count")
    total += _count(usage, "toolUsePromptTokenCount", "tool_use_prompt_token_count")
    output = _count(usage, "candidatesTokenCount", "candidates_token_count")
    output += _count(usage, "thoughtsTokenCount", "thoughts_token_count")
    return _less(total, _count(usage, "cachedContentTokenCount", "cached_content_token_count"), 0, output)


_SPELLINGS = {
    "prompt_tokens": _openai_chat,
    "completion_tokens": _openai_chat,
    "promptTokenCount": _gemini,
    "prompt_token_count": _gemini,
    "candidatesTokenCount": _gemini,
    "candidates_token_count": _gemini,
    "input_tokens_details": _openai_responses,
    "input_tokens": _anthropic,
    "output_tokens": _anthropic,
    "cache_read_input_tokens": _anthropic,
}
"""A key that only one spelling has, in the order in which they are looked for."""
