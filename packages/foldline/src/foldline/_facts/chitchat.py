"""What a user says in passing, in the languages of `words/chitchat.toml`: "ok lanjut", "thanks", "好的"."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from foldline._facts.language import read_words

ASKING = re.compile(r"[?!？！؟¿¡]")
"""What asks or orders, however short."""

ACCEPTING = 5
"""Words of the longest text that accepts something by how it begins."""

_CLAUSE = re.compile(r"[\s]*[,;:.!–—，。、！\n]")
"""Where the first clause of a text ends."""


def said_in_passing(text: str) -> bool:
    """Whether a text holds nothing but agreement, thanks, greetings and the like, and neither asks nor orders."""
    said = unicodedata.normalize("NFC", text).casefold().replace("’", "'").strip()
    return bool(said) and not ASKING.search(said) and _passing().fullmatch(said) is not None


def agrees(text: str) -> bool:
    """Whether a text begins with agreement or the like, a clause of its own: "yes, then commit"."""
    return said_in_passing(_CLAUSE.split(text.strip(), maxsplit=1)[0])


def accepts(text: str) -> bool:
    """Whether a few words begin with agreement: "yes please do"."""
    words = text.split()
    return agrees(text) or (0 < len(words) <= ACCEPTING and said_in_passing(words[0]) and not asks(text))


def asks(text: str) -> bool:
    """Whether a text ends in a question: in its last paragraph, since what comes behind one is its choices."""
    return re.search(r"[?？؟]", text.rstrip().rpartition("\n\n")[2]) is not None


@cache
def _passing() -> re.Pattern[str]:
    words = read_words("chitchat").values()
    said = {unicodedata.normalize("NFC", each).casefold() for several in words for each in several}
    longest = [re.escape(each) for each in sorted(said, key=len, reverse=True)]
    spaced, close = ("|".join(each for each in longest if (each[-1] < "\u3000") is wanted) for wanted in (True, False))
    apart = r"[^\w?!]"
    return re.compile(rf"{apart}*(?:(?:{close}){apart}*|(?:{spaced})(?:{apart}+|\Z))+")
