"""Outputs of tools as Codex sends them: of a long one, which a rollout holds whole, its beginning and its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from foldline._messages import Message, Part, Text, ToolResult, replace
from foldline._sessions.values import count

TOKEN, SPARE = 4, 1.2
"""Bytes that Codex takes for a token, and what it adds to the limit of a turn."""

LARGEST = int(10_000 * TOKEN * SPARE)
"""Bytes of an output where the turn states no limit: that of every model since GPT-5.1."""


def largest(policy: Mapping[str, Any]) -> int:
    """The bytes of an output that are sent under a turn's `truncation_policy`."""
    stated = count(policy.get("limit")) * (TOKEN if policy.get("mode") == "tokens" else 1)
    return int(stated * SPARE) or LARGEST


def as_sent(message: Message, most: int) -> Message:
    """The message with no more than so many bytes of text in a result; the same where it has none."""
    parts = tuple(
        replace(part, parts=tuple(_cut(part.parts, most))) if isinstance(part, ToolResult) else part
        for part in message.parts
    )
    return message if parts == message.parts else replace(message, parts=parts)


def _cut(parts: Iterable[Part], left: int) -> Iterator[Part]:
    for part in parts:
        if not isinstance(part, Text):
            yield part
            continue
        data = part.text.encode("utf-8", "surrogatepass")
        if len(data) <= left:
            yield part
        elif left > 0:
            yield replace(part, text=_middle_out(data, left))
        left -= len(data)


def _middle_out(data: bytes, most: int) -> str:
    half = most // 2
    missing = f"…{(len(data) - most) // TOKEN} tokens truncated…"
    return f"{_text(data[:half])}{missing}{_text(data[-half:])}"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "ignore")
