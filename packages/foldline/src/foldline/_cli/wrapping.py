"""Long lines broken between words for a terminal, each going on below the column in which its words begin."""

from __future__ import annotations

import re
from collections.abc import Iterator

UNBROKEN = "\ufdd0"
"""Stands for a space at which no line is broken; it is no character of any text."""

_BEGINNING = re.compile(r" *(?:(?:[-✓✗⚠💡]|\d+\.) +|(?:\S+ )*?\S+ {2,})?")
"""What stands before the words of a line: a mark, or a label and the gap behind it."""


def unbroken(command: str) -> str:
    """A command that stays on one line however long it is, so that it can be copied."""
    return command.replace(" ", UNBROKEN)


def wrapped(text: str, width: int) -> str:
    """The text with lines of at most `width` characters, but for words that are longer, and lines with tabs."""
    lines = (
        part
        for line in text.replace(" %", f"{UNBROKEN}%").split("\n")
        for part in ([line] if "\t" in line or length(line) <= width else _broken(line, width))
    )
    return "\n".join(lines).replace(UNBROKEN, " ")


def length(text: str) -> int:
    """Columns that a terminal needs for a text: letters of East Asia are two wide."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _broken(line: str, width: int) -> Iterator[str]:
    found = _BEGINNING.match(line)
    words_at = found.end() if found else 0
    if words_at > width // 2:
        words_at = len(line) - len(line.lstrip(" "))
    now, indent, empty = line[:words_at], " " * words_at, True
    for word in line[words_at:].split(" "):
        if not empty and length(now) + 1 + length(word) > width:
            yield now.rstrip()
            now, empty = indent, True
        now += word if empty else f" {word}"
        empty = False
    yield now
