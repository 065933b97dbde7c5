"""A folded history as `memory` reads it: the page by sections, the lines that quote the user, what stayed beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_histories import Chat, text, texts
from memory_words import bare

HEADINGS = {
    "task": ("Task now", "Goal"),
    "rules": ("Rules that stand", "Constraints"),
    "state": ("State", "In progress", "Next steps", "Errors", "Open errors"),
}
"""The sections that measures ask for, by the headings of today's page and of the one before it."""

_HEADING = re.compile(r"^## +(.+?)\s*$")
_BULLET = re.compile(r"^[-*•] +")
_QUOTED = re.compile(r"^(?:[-*•] +)?(?:\*\*\d+\*\*\s*)?> ?")
LEAST_QUOTED = 20


class Folded:
    """What a method left of a history: messages that stood there before, and what it wrote in place of the others."""

    def __init__(self, before: Sequence[Chat], after: Sequence[Chat]) -> None:
        stood = {(m["role"], text(m)) for m in before}
        self.messages = list(after)
        self.said = texts(after)
        self.written = [m for m in after if (m["role"], text(m)) not in stood]
        self.kept = [m for m in after if (m["role"], text(m)) in stood]
        self.sections = _sections(texts(self.written))
        self.has_page = any(name in self.sections for names in HEADINGS.values() for name in names)

    def section(self, kind: str) -> list[str]:
        """The lines of a section; none where the page lacks it."""
        return [line for name in HEADINGS[kind] for line in self.sections.get(name, ())]

    def bullets(self, kind: str) -> list[str]:
        """The items of a section without their marks."""
        return [_BULLET.sub("", line) for line in self.section(kind) if _BULLET.match(line)]

    def as_the_user(self) -> list[str]:
        """The lines of the page that stand there as the user's: quotations, the task, the rules."""
        if not self.has_page:
            return []
        quoted = [line for lines in self.sections.values() for line in lines if _QUOTED.match(line)]
        return [*dict.fromkeys([*quoted, *self.section("task"), *self.bullets("rules")])]

    def of_users(self) -> list[str]:
        """All that may be read as the user's words: what is written, and the user's messages that stayed."""
        return [*texts(self.written), *(text(m) for m in self.kept if m["role"] == "user")]


def _sections(written: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for page in written:
        name = ""
        for line in page.splitlines():
            if heading := _HEADING.match(line):
                name = heading[1]
            elif line.strip():
                found.setdefault(name, []).append(line.strip())
    return found


def shares_words(line: str, passage: str) -> bool:
    """Whether a line holds a passage, or is a piece of it that is long enough to be no accident."""
    line, passage = bare(_QUOTED.sub("", _BULLET.sub("", line))).strip(" …"), bare(passage)
    pieces = [piece.strip(" .-") for piece in line.split("…")]
    least = LEAST_QUOTED // 2 if not passage.isascii() else LEAST_QUOTED
    whole = len(passage) >= least // 2 and passage in line
    return whole or any(len(piece) >= least and piece in passage for piece in pieces)
