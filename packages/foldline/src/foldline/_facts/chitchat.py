"""What a user says in passing, in the languages of `words/chitchat.toml`: "ok lanjut", "thanks", "好的"."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import NamedTuple

from foldline._facts.language import read_words
from foldline._patterns import pattern

ASKING = re.compile(r"[?!？！؟¿¡]")
"""What asks or orders, however short."""

ACCEPTING = 5
"""Words of the longest text that accepts something by how it begins."""

ACKNOWLEDGING = 8
"""Words of the longest text that acknowledges something and says no more."""

_NAMES = pattern(r"[\d_/`@#\n]")
_CLAUSE = re.compile(r"[\s]*[,;:.!–—，。、！\n]")
"""Where the first clause of a text ends."""


def said_in_passing(text: str) -> bool:
    """Whether a text holds nothing but agreement, thanks, greetings and the like, and neither asks nor orders."""
    said = unicodedata.normalize("NFC", text).casefold().replace("’", "'").strip()
    return bool(said) and not ASKING.search(said) and _is_told_by(_passing(), said)


def agrees(text: str) -> bool:
    """Whether a text begins with agreement or the like, a clause of its own: "yes, then commit"."""
    return said_in_passing(_CLAUSE.split(text.strip(), maxsplit=1)[0])


def accepts(text: str) -> bool:
    """Whether a few words begin with agreement: "yes please do"."""
    words = text.split()
    return agrees(text) or (0 < len(words) <= ACCEPTING and said_in_passing(words[0]) and not asks(text))


def acknowledges(text: str) -> bool:
    """Whether a few words begin with agreement and name nothing that could be asked for: "Noted. I go on with the plan."."""
    return agrees(text) and len(text.split()) <= ACKNOWLEDGING and not (_NAMES.search(text) or asks(text))


def asks(text: str) -> bool:
    """Whether a text ends in a question: in its last paragraph, since what comes behind one is its choices."""
    return re.search(r"[?？؟]", text.rstrip().rpartition("\n\n")[2]) is not None


def _is_told_by(phrases: Phrases, said: str) -> bool:
    """Whether a text is one phrase after the other, with what is no word, no question and no order between them."""
    open, seen = [(0, False)], set[tuple[int, bool]]()
    while open:
        place = open.pop()
        if place in seen:
            continue
        seen.add(place)
        start, told = place
        if start == len(said):
            if told:
                return True
            continue
        if _apart(said[start]):
            open.append((start + 1, told))
        for end in range(start + 1, min(start + phrases.longest, len(said)) + 1):
            phrase = said[start:end]
            if phrase in phrases.close or (phrase in phrases.spaced and (end == len(said) or _apart(said[end]))):
                open.append((end, True))
    return False


def _apart(letter: str) -> bool:
    return not (letter.isalnum() or letter in "_?!")


class Phrases(NamedTuple):
    """What is said in passing: phrases that stand apart from what is behind them, and those of languages without spaces."""

    spaced: frozenset[str]
    close: frozenset[str]
    longest: int


@cache
def _passing() -> Phrases:
    words = read_words("chitchat").values()
    said = {unicodedata.normalize("NFC", each).casefold() for several in words for each in several}
    spaced = frozenset(each for each in said if each[-1] < "\u3000")
    return Phrases(spaced, frozenset(said - spaced), max(map(len, said)))
