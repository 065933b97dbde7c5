"""A summary in a few points, each a line: how many there are, and what code writes without a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from foldline._clipping import cut, one_line
from foldline._messages import Message
from foldline._page.quoting import safe
from foldline._view import opens_turn

_POINT = re.compile(r"(?m)^\s*(?:[-*•]|\d+[.)])\s+\S")
_CHARACTERS = 3
"""Characters for each token of a point, rather few."""


def miscounted(text: str, least: int, most: int) -> str:
    """What is wrong with the number of points in a text; empty where nothing is."""
    found = len(_POINT.findall(text))
    return "" if least <= found <= most else f"the summary had {found} points where {least} to {most} were asked for"


def pointed(messages: Sequence[Message], most: int, max_tokens: int) -> str:
    """The newest of what was asked and answered in the messages, a point for each turn, in their own words."""
    turns = [turn for turn in _turns(messages) if turn][-most:]
    width = max(24, max_tokens * _CHARACTERS // max(1, len(turns)) - 2)
    return "\n".join(f"- {safe(cut(turn, width))}" for turn in turns)


def _turns(messages: Sequence[Message]) -> Iterator[str]:
    """What each turn came to: the agent's last words in it, or else the user's."""
    said = ""
    for message in messages:
        if message.summary is not None:
            yield from (one_line(_POINT.sub("", line), len(line)) for line in message.text.splitlines() if line.strip())
        elif opens_turn(message) and said:
            yield said
            said = one_line(message.text, 1_000)
        elif message.text.strip() and message.role in ("user", "assistant"):
            said = one_line(message.text, 1_000)
    yield said
