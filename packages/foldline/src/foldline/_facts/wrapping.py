"""Lines that an editor, a mail or a printed page broke, put together again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby, pairwise

from foldline._patterns import pattern

NARROWEST, WIDEST = 64, 120
"""Letters of the longest line of a paragraph that is broken at a width."""

_BEGINS = re.compile(r"(?:[-*+•–·]|\(?\w{1,3}[.)]|#{1,6}|\[[ xX]\])\s|[|>`~=+<{\[]|\*\*|--|at \S+[(:]")
"""How a line begins that goes on in none before it."""

_ENDS = re.compile(r"[:：;{}\[(|`>\\]$|^(?:#{1,6}\s|\||>)|  $")
"""A line behind which nothing goes on: one that leads something in, a row, a heading, code."""

_PROSE = pattern(r"[^\W\d_]{2,}[,;]? [^\W\d_]{1,}[,;]? [^\W\d_]{2,}")
"""Three words in a row."""


ABOUT = 0.85
"""The share of the width that a full line of a printed page has at least, whose letters are not equally wide."""

LEAST = 2
"""Lines that go on in small letters in the next one because they are full, from which a text is broken at a width."""


def unwrapped(lines: Sequence[str]) -> list[str]:
    """The lines of prose that a width parts from each other as one line; of a text that is not broken at one all as they are."""
    if len(lines) <= LEAST:
        return [*lines]
    parts = [(blank, [*lines]) for blank, lines in groupby(lines, key=lambda line: not line.strip())]
    full = loose = 0
    for blank, paragraph in parts:
        for line, behind in () if blank else pairwise(paragraph):
            if behind.lstrip()[0].islower() and _may_go_on(line, behind):
                broken = _is_full(line, behind, _width(paragraph))
                full, loose = full + broken, loose + (not broken)
    if full < max(LEAST, 2 * loose):
        return [*lines]
    return [line for blank, paragraph in parts for line in (paragraph if blank else _joined(paragraph))]


def _joined(paragraph: list[str]) -> list[str]:
    """A paragraph's lines, each that is full with the one behind it, where one of these begins with a small letter."""
    width, found = _width(paragraph), paragraph[:1]
    broken = [_may_go_on(*pair) and _is_full(*pair, width) for pair in pairwise(paragraph)]
    if not any(goes_on and behind.lstrip()[0].islower() for goes_on, behind in zip(broken, paragraph[1:])):
        return paragraph
    for goes_on, behind in zip(broken, paragraph[1:]):
        if goes_on:
            found[-1] = f"{found[-1].rstrip()} {behind.lstrip()}"
        else:
            found.append(behind)
    return found


def _width(paragraph: Sequence[str]) -> int:
    """The letters at which a paragraph may be broken; 0 where nobody breaks lines there."""
    widest = max(len(line.rstrip()) for line in paragraph)
    return widest if NARROWEST <= widest <= WIDEST else 0


def _is_full(line: str, behind: str, width: int) -> bool:
    """Whether the first word of the line behind does not fit in a line."""
    return 0 < ABOUT * width < len(line.rstrip()) + 1 + len(behind.split(maxsplit=1)[0])


def _may_go_on(line: str, behind: str) -> bool:
    return _PROSE.search(line) is not None and not (_ENDS.search(line) or _BEGINS.match(behind.lstrip()))
