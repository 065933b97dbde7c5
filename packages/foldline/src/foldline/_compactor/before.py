"""What a host is asked before a fold is made, and may answer."""

from __future__ import annotations

from collections.abc import Sequence

from foldline._messages import Message, Summary, Value
from foldline._view import Brief
from foldline._writers.draft import Summarizer


class Verdict(Value, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a host says to a fold that is about to be made: nothing, where all of it is empty."""

    veto: str = ""
    """Why the fold must not be made now; the history is handed out as it stands."""
    instructions: str = ""
    """What the summary must keep, beside what it keeps anyway."""
    summary: str = ""
    """A summary in place of the one that would be written; it is checked as any other, and goes through if it holds."""


NOTHING = Verdict()
"""What is said where nobody has anything to say."""


def given(text: str) -> Summarizer:
    """A summarizer that answers with a text which is there already."""

    def summarize(brief: Brief, messages: Sequence[Message]) -> Summary:
        return Summary(text)

    return summarize
