"""What the agent said before it wrote the same into a text: that says it, and can be read again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from foldline._facts.edits import PROSE
from foldline._facts.tool_calls import BODIES, WRITING, arguments_of, read_action
from foldline._facts.types import Piece
from foldline._messages import Message, ToolCall, replace

TEXTS = (*PROSE, ".tex", ".adoc")
"""What the names of texts end with."""

LEAST = 24
"""Letters and digits of the shortest sentence that is known again."""

_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n")
_BETWEEN = re.compile(r"[\W_]+")
"""What stands between the letters of a sentence, which is another in a table, a list and a line."""


def with_drafts(pieces: Sequence[Piece], messages: Sequence[Message]) -> tuple[Piece, ...]:
    """The pieces; those of the agent's words with the name of the text into which it wrote them later, word for word."""
    written: dict[str, tuple[int, str]] = {}
    for at, message in enumerate(messages):
        for call in message.calls:
            if name := _writes(call):
                written.update((each, (at, name)) for body in _bodies(call) for each in _sentences(body))
    if not written:
        return tuple(pieces)
    return tuple(replace(piece, filed=name) if (name := _filed(piece, written)) else piece for piece in pieces)


def _filed(piece: Piece, written: dict[str, tuple[int, str]]) -> str:
    """The text into which all of a piece was written later; empty for others."""
    if piece.by != "agent" or piece.kind not in ("report", "thought"):
        return ""
    said = [written.get(each, (-1, "")) for each in _sentences(piece.text.removeprefix(f"{piece.under}: "))]
    return said[0][1] if said and all(at > piece.at for at, _ in said) else ""


def _sentences(text: str) -> Iterator[str]:
    for each in _SENTENCE.split(text):
        letters = _BETWEEN.sub("", each)
        if len(letters) >= LEAST:
            yield letters


def _writes(call: ToolCall) -> str:
    """The name of the text that a call writes; empty where it writes none."""
    action = read_action(call)
    texts = (path for verb, path, _ in action.touches if verb in WRITING and path.endswith(TEXTS))
    return "" if action.command else next(texts, "").replace("\\", "/").rpartition("/")[2]


def _bodies(call: ToolCall) -> Iterator[str]:
    """What a call writes."""
    arguments = arguments_of(call)
    yield from _texts([arguments] if isinstance(arguments, str) else arguments.items())


def _texts(given: Iterable[Any]) -> Iterator[str]:
    for each in given:
        key, value = each if isinstance(each, tuple) else ("", each)
        if isinstance(value, str) and (not key or (key in BODIES and not key.startswith("old"))):
            yield value
        elif isinstance(value, list):
            yield from (text for item in value if isinstance(item, dict) for text in _texts(item.items()))
