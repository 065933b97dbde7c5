"""What a session is about, in two sentences at most: of it, and never instead of a summary of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from foldline._clipping import cut
from foldline._facts.reading import user_words
from foldline._facts.splitting import sentences
from foldline._messages import Message

TELLING = 20
"""Characters below which a sentence greets or agrees, and says nothing of the work."""

WIDTH = 160
"""Characters of a sentence at most."""


def in_two_sentences(messages: Sequence[Message]) -> str:
    """What the user asked for first, and what the agent said last, each by the first sentence that tells something."""
    said = (message.text for message in reversed(messages) if message.role == "assistant")
    found = (_telling(user_words(messages)), _telling(said))
    return " ".join(dict.fromkeys(filter(None, found)))


def _telling(texts: Iterable[str]) -> str:
    """The first sentence of the texts that says something, on one line."""
    found = (each.text for text in texts for each in sentences(text) if not each.titled)
    return next((cut(" ".join(text.split()), WIDTH) for text in found if len(text) >= TELLING), "")
