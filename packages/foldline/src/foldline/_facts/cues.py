"""How agents and tools of several languages begin a line that says what is open, or what failed."""

from __future__ import annotations

import re
from functools import cache

import msgspec

_LABEL = 24
"""Characters that may stand between such a word and the colon of its label."""


def leaves_open(line: str, *, labelled: bool = False) -> bool:
    """Whether a line of a report begins by saying that something is open; `labelled`, only where a colon follows."""
    found = _pattern("open").match(line)
    return found is not None and (not labelled or found[0].endswith((":", "：")))


def failed_with(text: str) -> str:
    """What a tool's answer says that failed, where it begins by saying so."""
    found = _pattern("error").match(text.lstrip()[:400])
    return " ".join(found[0].split()) if found and found["rest"].strip() else ""


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    """Words with a colon behind them; where no spaces part words, also without."""
    from importlib.resources import files

    tables: dict[str, dict[str, list[str]]] = msgspec.json.decode((files(__package__) / "words/cues.json").read_bytes())
    words = sorted({word for each in tables.values() for word in each[kind]}, key=len, reverse=True)
    either = "|".join(map(re.escape, words))
    start = r"[\W_]*(?:\d+[.)]\s*)?(?:[^\n:：]{1,40}[:：]\s*)?"
    if kind == "open":
        return re.compile(rf"{start}(?:{either})(?:\b|(?=[^a-z]))[^\n:：]{{0,{_LABEL}}}(?:[:：]|\b)", re.IGNORECASE)
    return re.compile(rf"\W*(?:{either})\b(?:\s?\[\w+\]|\s\d+)?\s*[:：](?P<rest>[^\n]{{2,300}})", re.IGNORECASE)
