"""A draft by its headings: lines at the end of the section that they belong to, and none that says nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from foldline._patterns import pattern

PARTS = (
    ("Task now", "Goal"),
    ("Rules that stand", "Constraints"),
    ("What happened", "Done", "Decisions"),
    ("State", "In progress", "Next steps"),
    ("Files",),
    ("Also named", "Critical context"),
)
"""The parts of a page in their order, each with the headings of a model's summary that stand in its place."""

SAME = {"Goal": "Task now", "Constraints": "Rules that stand", "In progress": "State"}
"""Headings of a model's summary that mean the same as one of a page."""

_PLACES = {name.casefold(): place for place, names in enumerate(PARTS) for name in names}
_SAME = {name.casefold(): part.casefold() for name, part in SAME.items()}
_ELSEWHERE = _PLACES["what happened"]

_HEADING = pattern(r"(#{1,6})\s+(.*)")
_FENCE = pattern(r"\s*(```|~~~)")
_NOTHING = pattern(r"\W*none\W*", re.IGNORECASE)


class Sections:
    """The sections of a text, each the lines from its heading to the next one of its level; the first has no heading."""

    def __init__(self, text: str) -> None:
        lines = _with_content([*_leveled(text)])
        self.level = next((level for line, level in lines if level and _name(line) in _PLACES), 0) or min(
            (level for _, level in lines if level), default=2
        )
        self.blocks: list[list[str]] = [[]]
        for line, level in lines:
            if level == self.level or (0 < level < self.level and len(self.blocks) > 1):
                self.blocks.append([])
            self.blocks[-1].append(line)

    def has(self, part: str) -> bool:
        """Whether there is a section of a part of a page."""
        return self._of(part) is not None

    def add(self, parts: Mapping[str, Sequence[str]]) -> None:
        """Puts lines at the ends of the sections of their parts; one that is missing is made where a page has it."""
        for part, lines in parts.items():
            block = self._of(part)
            if block is None:
                block = [f"{'#' * self.level} {part}"]
                self.blocks.insert(self._place(part), block)
            block[1:] = [line for line in block[1:] if not _NOTHING.fullmatch(line)]
            while not block[-1].strip():
                block.pop()
            block += lines

    def text(self) -> str:
        """The sections as text."""
        return "\n\n".join(filter(None, ("\n".join(block).strip("\n") for block in self.blocks)))

    def _of(self, part: str) -> list[str] | None:
        part = part.casefold()
        found = (b for b in reversed(self.blocks[1:]) if part in ((name := _name(b[0])), _SAME.get(name)))
        return next(found, None)

    def _place(self, part: str) -> int:
        """Behind the last section that a page has before the part; what is none of a page's stands where its timeline does."""
        places = [_PLACES.get(_name(block[0]), _ELSEWHERE) for block in self.blocks[1:]]
        return 1 + max((i for i, place in enumerate(places, 1) if place <= _PLACES[part.casefold()]), default=0)


def _leveled(text: str) -> Iterator[tuple[str, int]]:
    """The lines of a text with the levels of headings, 0 for all others."""
    fence = ""
    for line in text.split("\n"):
        if mark := _FENCE.match(line):
            fence = "" if fence == mark[1] else fence or mark[1]
        found = None if fence else _HEADING.match(line)
        yield line, len(found[1]) if found else 0


def _with_content(lines: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """The lines without the headings under which nothing stands."""
    kept: list[tuple[str, int]] = []
    said, below = False, 0
    for line, level in reversed(lines):
        if level and not said and below <= level:
            while kept and not kept[-1][0].strip():
                kept.pop()
            continue
        if level:
            said, below = False, level
        said = said or (not level and bool(line.strip()))
        kept.append((line, level))
    return kept[::-1]


def _name(line: str) -> str:
    """What a heading is called, without its marks and its number."""
    return re.sub(r"^[\W\d_]+|[\W_]+$", "", line).casefold()
