"""By how much the estimate of a page may be too low, where no vocabulary is there to say so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from foldline._messages import Message
from foldline._tokens.meter import TEXT_ERROR

SAMPLE = 8_000
"""Characters of what the user said that tell the language."""

MEASURED = 200
"""Tokens of the smallest pages that were measured: of smaller ones a line more is worth a line that may be too much."""

LAST_LATIN = "\u024f"

SPARING = ("o200k", "gemma")
"""The families whose tokenizers have words of many languages, and which are so estimated half as wrong in Latin letters."""


class Doubt(NamedTuple):
    """A relative error that every page has, and tokens that a page is off by besides, however small it is."""

    share: float
    tokens: int

    def of(self, tokens: int) -> float:
        """The relative error of a page of that size."""
        return self.share + self.tokens / max(1, tokens)


ENGLISH, SPARED_ENGLISH = Doubt(0.03, 14), Doubt(0.03, 0)
LATIN, SPARED_LATIN = Doubt(0.09, 75), Doubt(0.06, 40)
KOREAN, WIDE = Doubt(0.03, 8), Doubt(0.14, 14)
"""What 99 of 100 pages stay within, of the English ones 98: 1,500 folds of the sessions in `benchmarks/material/tune` into
200 to 60,000 tokens, counted by the tokenizers of eight families."""


def text_error(messages: Sequence[Message], tokens: int, family: str) -> float:
    """What the estimate of a page of that size may be too low by, as a share: the page is in the language of the user."""
    from foldline._facts.language import language_of  # with all that reads facts, which most steps need not

    said = "\n".join(message.text for message in messages if message.role == "user")[:SAMPLE]
    language, spared = language_of(said), family in SPARING
    if language == "en" or not said:
        doubt = SPARED_ENGLISH if spared else ENGLISH
    elif language == "ko":
        doubt = KOREAN
    elif language in ("ja", "zh") or (not language and max(said) > LAST_LATIN):
        doubt = WIDE
    else:
        doubt = SPARED_LATIN if spared else LATIN
    return doubt.of(tokens) if tokens >= MEASURED else TEXT_ERROR
