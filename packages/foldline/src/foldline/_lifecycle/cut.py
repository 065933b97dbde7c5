"""Replies that were cut off by their length: whether the window did it, and the calls that they leave unfinished."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldline import _wires as wire
from foldline._messages import Message, ToolCall, replace
from foldline._wires.objects import as_data
from foldline._wires.usage import BY_WINDOW, cut_off

FULL = 0.98
"""The share of the window that request and reply fill where the window cut the reply off."""


def cut_by_window(reply: Any, window: int) -> bool:
    """Whether a reply ended because the window was full, and not by a limit that its caller set."""
    if not cut_off(reply):
        return False
    usage = wire.read_usage(reply)
    return cut_off(reply, BY_WINDOW) or (usage is not None and usage.context >= FULL * window)


def without_unfinished_calls(messages: Sequence[Any], format: str = "") -> list[Any]:
    """A history without the calls at its end, which nothing has answered: a reply that was cut off leaves them unfinished.

    What is left of the reply stays, a message of nothing but such calls goes, and each other message is the very same.
    `format` names the wire format, which is found out where it is not given. Raises `WireError` for what cannot be read.
    """
    kept = list(messages)
    while kept:
        (plain,) = as_data(kept[-1:], len(kept) - 1)
        own = isinstance(plain, Message)
        format = format or (own and "none") or wire.detect(as_data(kept))
        last = plain if own else wire.decode(plain, format, f"messages[{len(kept) - 1}]")
        parts = tuple(part for part in last.parts if type(part) is not ToolCall)
        if last.role != "assistant" or len(parts) == len(last.parts):
            break
        if parts:
            left = replace(last, parts=parts)
            return [*kept[:-1], left if own else wire.encode(left, format)]
        kept.pop()
    return kept
