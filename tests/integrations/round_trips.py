"""The law of round trips: where one thing that a message says is said otherwise, and then again as it was, it is what it was."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from operator import eq
from typing import Any

from hypothesis import strategies as st

from foldline import Message
from foldline.extend import HostFormat, Part, Text, Thinking, ToolCall, ToolResult, replace

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


def check(format: HostFormat[Any], native: Any, same: Callable[[Any, Any], bool] = eq) -> None:
    """Fails where anything of one of a framework's messages is lost."""
    said = format.read(native)
    assert format.read(native) == said
    for other in said_otherwise(said):
        edited = format.edited(native, said, other)
        assert plain(format.read(edited)) == plain(other)
        back = format.edited(edited, other, said)
        assert same(back, native), f"{native}\n{back}"
    check_thinking(format, native, said)


def check_thinking(format: HostFormat[Any], native: Any, said: Message) -> None:
    """Fails where more than its thinking goes from a message whose thinking goes."""
    spoken = tuple(part for part in said.parts if not isinstance(part, Thinking))
    if spoken and len(spoken) < len(said.parts):
        now = replace(said, parts=spoken)
        assert plain(format.read(format.edited(native, said, now))) == plain(now)


def plain(message: Message) -> Message:
    """The message, the arguments of whose calls are written alike."""
    return replace(message, parts=tuple(map(_alike, message.parts)))


def _alike(part: Part) -> Part:
    return replace(part, arguments=json.dumps(json.loads(part.arguments))) if isinstance(part, ToolCall) else part
