"""The law of round trips: where one thing that a message says is said otherwise, and then again as it was, it is what it was."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from operator import eq
from typing import Any

from hypothesis import strategies as st

from foldline import Message
from foldline.extend import Part, Text, Thinking, ToolCall, ToolResult, replace
from foldline.integrations._history import Shape

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=12)
JSON = st.dictionaries(WORDS, st.one_of(WORDS, st.integers(-999, 999), st.lists(WORDS, max_size=2)), max_size=3)
PNG = b"\x89PNG\r\n\x1a\n"

CUT = "[cut]"


def said_otherwise(message: Message) -> Iterator[Message]:
    """The message with each of its texts, results and calls said otherwise, one at a time."""
    for at, part in enumerate(message.parts):
        if (other := _other(part)) is not None:
            yield replace(message, parts=(*message.parts[:at], other, *message.parts[at + 1 :]))


def _other(part: Part) -> Part | None:
    if isinstance(part, Text):
        return replace(part, text=CUT)
    if isinstance(part, ToolCall):
        return replace(part, arguments='{"cut": true}')
    if isinstance(part, ToolResult) and any(isinstance(inner, Text) for inner in part.parts):
        return replace(part, parts=tuple(Text(CUT) if isinstance(inner, Text) else inner for inner in part.parts))
    return None


def check(shape: Shape[Any], native: Any, same: Callable[[Any, Any], bool] = eq) -> None:
    """Fails where anything of one of a framework's messages is lost."""
    said = list(shape.read(native))
    assert list(shape.read(native)) == said
    for at, message in enumerate(said):
        for other in said_otherwise(message):
            there = [(was, other if n == at else was) for n, was in enumerate(said)]
            edited = shape.edited(native, there)
            assert plain(shape.read(edited)) == plain(now for _, now in there)
            back = shape.edited(edited, [(now, was) for was, now in there])
            assert same(back, native), f"{native}\n{back}"
        check_thinking(shape, native, said, at)


def check_thinking(shape: Shape[Any], native: Any, said: list[Message], at: int) -> None:
    """Fails where more than its thinking goes from a message whose thinking goes."""
    spoken = tuple(part for part in said[at].parts if not isinstance(part, Thinking))
    if spoken and len(spoken) < len(said[at].parts):
        now = [replace(m, parts=spoken) if n == at else m for n, m in enumerate(said)]
        assert plain(shape.read(shape.edited(native, list(zip(said, now))))) == plain(now)


def plain(messages: Iterable[Message]) -> list[Message]:
    """The messages, the arguments of whose calls are written alike."""
    return [replace(message, parts=tuple(map(_alike, message.parts))) for message in messages]


def _alike(part: Part) -> Part:
    return replace(part, arguments=json.dumps(json.loads(part.arguments))) if isinstance(part, ToolCall) else part
