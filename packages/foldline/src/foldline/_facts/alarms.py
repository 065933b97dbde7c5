"""What a pasted log says went wrong, and where."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from foldline._patterns import pattern

MOST = 2
"""The lines that are told of those that say what went wrong: what follows comes of them."""

_STAMP = pattern(
    r"\s*(?:\[(?:\d{1,2}|[\d:. T/-]{8,30}Z?)\]|\d{4}-\d\d-\d\d[T ][\d:.,]{5,16}Z?|\d\d:\d\d:\d\d(?:[.,]\d+)?)(?:\s|$)"
)
"""The number of a process before what it prints, where several run in one terminal, or the time."""

_ALARM = pattern(
    r"\b(?:Uncaught|[Tt]ype error|(?:[A-Z]\w*)?(?:Error|Exception)): \S|\berror(?: ?\[?[A-Z]{1,6}\d+\]?)?: \S|^fatal: \S|\bERROR\b|\bFATAL\b"
)
_VAGUE = pattern(r"\bexited with\b|\bexit (?:code|status)\b|\bnon-zero\b|ERROR in \S+$|\bELIFECYCLE\b")
"""How a runner only says that what it ran failed."""

_CAUSED, _KNOWN = "Caused by: ", 120
"""How a trace of Java begins to name what an exception comes of, and the letters by which two lines say the same."""

_PLACE = pattern(r"(?:\./)?[\w@./\\-]{1,200}\.\w{1,5}:\d{1,6}(?::\d{1,5})?$")
"""A line that says where the one below it found something."""


def unstamped(line: str) -> str:
    """A line of a log without the number of its process or its time."""
    found = _STAMP.match(line)
    return line[found.end() :].strip() if found else line.strip()


def says_wrong(line: str) -> bool:
    """Whether a line of a log says what went wrong."""
    return _ALARM.search(line) is not None and _VAGUE.search(line) is None


def went_wrong(lines: Sequence[str]) -> list[str]:
    """The first of the lines that say what went wrong, each behind the line that says where, and the last that names a cause; where
    none says it those that only say that something did."""
    placed = (
        f"{above} {line}" if _PLACE.match(above) else line for above, line in pairwise(("", *lines)) if says_wrong(line)
    )
    found = [*placed] or [*filter(_ALARM.search, lines)]
    told = [*{line[:_KNOWN]: line for line in reversed(found)}.values()][::-1]
    causes = [line for line in told[1:] if line.startswith(_CAUSED)]
    return [*told[:1], *(causes[-1:] or told[1:])][:MOST]
