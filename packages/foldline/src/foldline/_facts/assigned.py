"""What the lead of a team of agents asks of one of them, in whose session it stands where a user's words do."""

from __future__ import annotations

import re

from foldline._facts.patterns import rare
from foldline._facts.texts import record_of

_LETTER = rare(r"<teammate-message teammate_id=\"team-lead\"[^>\n]*>\n?(.*?)\n?</teammate-message>", re.DOTALL)
"""A message as Claude Code hands it on; the one that leads a team has this name in all sessions but its own."""

_ASSIGNMENT = "task_assignment"
"""The only record among such messages that asks for something; the others say who waits or is to end."""


def assigned(text: str) -> str:
    """What the lead asks for in words or in the record of a task, in order; empty where it asks nothing."""
    return "\n".join(filter(None, (_words(letter.strip()) for letter in _LETTER.findall(text))))


def said_beside(text: str) -> str:
    """The same text without what the lead says."""
    return _LETTER.sub("", text).strip()


def _words(letter: str) -> str:
    if not letter.startswith("{"):
        return letter
    record = record_of(letter)
    if not isinstance(record, dict) or record.get("type") != _ASSIGNMENT:
        return ""
    return ": ".join(said for key in ("subject", "description") if isinstance(said := record.get(key), str) and said)
