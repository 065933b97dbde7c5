"""How a summary is worded on every wire: as a user's text, framed so that a model takes it for history."""

from __future__ import annotations

from foldline._messages import Summary

SUMMARY_PREFIX = "The conversation history before this point was compacted into the following summary:\n\n<summary>\n"
SUMMARY_SUFFIX = "\n</summary>"


SHORT_PREFIX = "<summary>\n"


def summary_text(summary: Summary) -> str:
    """The words that a model reads in place of the folded messages."""
    return (SHORT_PREFIX if summary.short else SUMMARY_PREFIX) + summary.text + SUMMARY_SUFFIX


def summary_in(text: str) -> str | None:
    """What a summary says that is worded like this, or None where the text is none."""
    if not text.endswith(SUMMARY_SUFFIX):
        return None
    prefix = next((prefix for prefix in (SUMMARY_PREFIX, SHORT_PREFIX) if text.startswith(prefix)), None)
    return None if prefix is None else text[len(prefix) : -len(SUMMARY_SUFFIX)]
