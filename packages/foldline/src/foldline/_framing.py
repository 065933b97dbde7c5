"""How a summary is worded on every wire: framed so that a model takes it for history."""

from __future__ import annotations

from foldline._messages import Message, Summary

SUMMARY_PREFIX = "The conversation history before this point was compacted into the following summary:\n\n<summary>\n"
SUMMARY_SUFFIX = "\n</summary>"


SHORT_PREFIX = "<summary>\n"


def summary_text(summary: Summary) -> str:
    """The words that a model reads in place of the folded messages."""
    prefix, suffix = _frame(summary)
    return prefix + summary.text + suffix


def is_summary(text: str, summary: Summary) -> bool:
    """Whether a text is what a model reads of that summary."""
    prefix, suffix = _frame(summary)
    whole = len(prefix) + len(summary.text) + len(suffix) == len(text)
    return whole and text.startswith(prefix) and text.endswith(suffix) and summary.text in text


def summary_in(text: str) -> str | None:
    """What a summary says that is worded as usual, or None where the text is none."""
    if not text.endswith(SUMMARY_SUFFIX):
        return None
    prefix = next((prefix for prefix in (SUMMARY_PREFIX, SHORT_PREFIX) if text.startswith(prefix)), None)
    return None if prefix is None else text[len(prefix) : -len(SUMMARY_SUFFIX)]


def is_sealed(message: Message) -> bool:
    """Whether a message is a compaction that only its provider can read."""
    return (summary := message.summary) is not None and bool(summary.source) and not summary.text


def _frame(summary: Summary) -> tuple[str, str]:
    return summary.frame or (SHORT_PREFIX if summary.short else SUMMARY_PREFIX, SUMMARY_SUFFIX)
