"""What the messages of frameworks have in common: contents of texts and items, of which some gave way."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from foldline import Message
from foldline.extend import Media, Opaque, Part, Role, Summary, Text, Thinking, summary_text, text_of

KEY = "foldline"
"""Under which name what is foldline's stands in what is a framework's."""

ROLES: dict[str, Role] = {"system": "system", "developer": "system", "assistant": "assistant", "tool": "tool"}
"""The roles that are no user's."""


def as_json(value: Any) -> str:
    """The JSON text of what a framework holds as data."""
    return json.dumps(value, default=str, ensure_ascii=False)


def in_words(value: Any) -> str:
    """A text as it is, and the JSON text of anything else."""
    return value if isinstance(value, str) else as_json(value)


def words_of(message: Message) -> str:
    """The words of a message that a fold made."""
    return summary_text(message.summary) if message.summary else message.text


def inside(parts: Iterable[Part]) -> tuple[Text | Media | Opaque, ...]:
    """Those of some parts that may stand in a tool's result."""
    return tuple(part for part in parts if isinstance(part, Text | Media | Opaque))


def in_place(was: Message, now: Message) -> list[Part | None]:
    """What takes the place of each part of a message: the same, another, or none where its thinking went."""
    left = deque(now.parts)
    return [
        left.popleft() if left and (type(part) is not Thinking or type(left[0]) is Thinking) else None
        for part in was.parts
    ]


def content_now(
    given: Iterable[object], was: Iterable[Part], now: Iterable[Part | None], say: Callable[[object, str], object]
) -> Any:
    """A content as it is now: a text, or the items that stand as they did, the others as `say` makes them, the same with a text."""
    if isinstance(given, str):
        return next((part.text for part in now if isinstance(part, Text)), "")
    content = []
    for item, before, after in zip(given, was, now):
        if before == after:
            content.append(item)
        elif isinstance(after, (Text, Summary)):
            content.append(say(item, after.text))
    return content


def result_now(given: Iterable[object], was: Message, now: Message, say: Callable[[object, str], object]) -> Any:
    """The content of a tool's message as it is now: a text where its items are not those that it had."""
    before, after = (next(message.results) for message in (was, now))
    if isinstance(given, str) or len(before.parts) != len(after.parts):
        return text_of(after)
    return content_now(given, before.parts, after.parts, say)
