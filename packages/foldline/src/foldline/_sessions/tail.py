"""What the last lines of a session file tell of it: the newest bill and what came behind it, at the cost of a few lines."""

from __future__ import annotations

from typing import NamedTuple

from foldline._sessions.descriptors import read_at
from foldline._sessions.format import Row
from foldline._sessions.lines import lines_from_end
from foldline._sessions.registry import format_named

CHUNK = 16 * 1024
"""Bytes per read from the end; a reply with its bill is seldom longer."""

REACH = 1024 * 1024
"""Bytes from the end in which the newest bill is looked for."""

BYTES_PER_TOKEN = 3
"""Bytes of JSON for a token, where the rows behind the newest bill are counted: 3.1 characters of what agents write."""


class Ends(NamedTuple):
    """The model of a session, its context in tokens, and its window where the file tells it, else 0."""

    model: str
    tokens: int
    window: int


def ends(fd: int, size: int, agent: str, last: bytes) -> Ends | None:
    """The ends of an open file of `size` bytes, the `last` of which were read; None where the whole has to be read.

    The ends do not tell where a fold stands behind the newest bill, where the path leads further back, where a row is of no
    known shape, and for agents whose files are no rows.
    """
    declared = format_named(agent).tail
    if declared is None:
        return None
    tell = declared().tell
    place: Row | None = None
    behind, tokens, model, window = 0, None, "", 0
    answers = False  # whether the rows before a bill of its own row may be answers that it does not hold yet
    for line in lines_from_end(fd, size, CHUNK, last):
        if line.offset < size - REACH:
            break
        try:
            said = tell(line.data)
        except (ValueError, RecursionError):
            break
        if said is None or (place and said.id != place.parent):
            continue
        if said.anew:
            break
        model, window = model or said.model, window or said.window
        size_of_row = len(said.content) // BYTES_PER_TOKEN
        if tokens is None:
            tokens = said.usage.context + behind if said.usage and said.usage.prompt else None
            behind += size_of_row
            answers = tokens is not None and said.id is None
        elif answers := answers and (said.answers or not size_of_row):
            tokens += size_of_row
        if tokens is not None and model and not answers:
            return Ends(model, tokens, window)
        place = said
    return None


def may_hold_folds(fd: int, size: int, agent: str) -> bool:
    """Whether the signs of a fold may stand in an open file; quoted inside a text they are escaped, and no sign."""
    declared = format_named(agent).tail
    if declared is None:
        return True
    signs = declared().signs
    rest = b""
    for at in range(0, size, REACH):
        data = rest + read_at(fd, REACH, at)
        if any(sign in data for sign in signs):
            return True
        rest = data[-32:]
    return False
