"""What Claude Code puts beside its summary: the files that were opened last, read again.

Up to 2.1.42 no row says so. In 43 compactions of those versions the first request behind one took 2,000 to 27,000 tokens
that nothing shows; what is reckoned here is off by 2,300 of 55,000 in the median, and newer versions write the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from foldline._sessions.values import count, mapping, string

FILES, LARGEST_FILE = 5, 5_000
"""How many files are read again, and the tokens beyond which one is only named: the limits in Claude Code itself."""

PLANS, MEMORY = "/.claude/plans/", ("CLAUDE.md", "CLAUDE.local.md")
"""Where plans are, and what is sent with every request and not read again."""

CHARACTERS, NUMBER, NAMED = 3.1, 4.5, 60
"""Characters of a source file for each token, tokens around each of its lines, whose numbers are read along, and around
each file: by the compactions of every other session."""


class Opened(NamedTuple):
    """A file as a tool last saw it."""

    path: str
    characters: float
    lines: float

    @property
    def tokens(self) -> float:
        """What it takes to read it again."""
        words = self.characters / CHARACTERS
        return NAMED + (words + NUMBER * self.lines if words <= LARGEST_FILE else 0)


def opened(result: Mapping[str, object]) -> Opened | None:
    """The file that a tool read, edited or wrote, all of it, by what Claude Code notes of the result; None for other tools."""
    file = mapping(result.get("file"))
    if path := string(file.get("filePath")):
        content = string(file.get("content"))
        lines = count(file.get("numLines")) or 1
        whole = max(lines, count(file.get("totalLines")))
        return Opened(path, len(content) * whole / lines, whole)
    path, content = string(result.get("filePath")), string(result.get("originalFile"), result.get("content"))
    return Opened(path, len(content), content.count("\n") + 1) if path and content else None


def restored(files: Iterable[Opened]) -> int:
    """The tokens of what is read again, of files in the order in which they were opened; a plan is, whatever came behind it."""
    newest: dict[str, Opened] = {}
    for file in files:
        newest.pop(file.path, None)
        newest[file.path] = file
    plans = [file for path, file in newest.items() if PLANS in path]
    others = [file for path, file in newest.items() if PLANS not in path and not path.endswith(MEMORY)]
    return round(sum(file.tokens for file in (*plans, *others[-FILES:])))
