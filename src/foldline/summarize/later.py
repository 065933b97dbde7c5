"""Values that the user named once, and what the user said later that may have put another in their place.

A correction need not say that it is one: "for the summaries take qwen2.5-7b" ends what an earlier "use mistral-small for
the summaries" began. Such a pair is told by its values, which are of one kind, and by the words around them. It is no
proof; so nothing is dropped for it from what was said: the later words are put beside the earlier value, and the reader sees.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from foldline.messages import Value
from foldline.summarize.corrections import corrects, slips
from foldline.summarize.facts import Request
from foldline.summarize.literals import line_around
from foldline.summarize.stems import stems

SHORT = 400
"""Characters of a message up to which its values and its words are taken to be about one another."""

FEW = 8
"""Values in a message up to which it is taken to state them; one with more is a paste."""

NAMED = 100
"""The claim of words that name the value again."""

RARE = 3
"""Messages of the user in which a word may stand and still say what they are about."""

REMARK = re.compile(r' \(the user later: "[^"\n]*"\)')

_WIDTH = 100
_TOKEN = re.compile(r"[#~/$€£]?[A-Za-z0-9_](?:[A-Za-z0-9_./:@#+~&?=%-]*[A-Za-z0-9%_])?", re.ASCII)
_A_FILE = re.compile(r"\.[A-Za-z]{1,5}$|:\d+:\d+")
_KINDS = re.compile(
    r"(?P<url>\w+://.*)|(?P<address>[^@]+@.+)|(?P<channel>#(?!\d+$).*)|(?P<money>[$€£]\d.*)"
    r"|(?P<time>\d[\d.,]*(?i:ms|s|secs?|m|mins?|h|hrs?|d|days?|weeks?))|(?P<size>\d[\d.,]*(?i:[KMGT]i?B?|B))"
    r"|(?P<share>\d[\d.,]*%)|(?P<place>\d+(?:\.\d+){3}(?::\d+)?)|(?P<version>v?\d+(?:\.\d+)+)|(?P<number>\d\d+)"
    r"|(?P<path>(?=.{4}).*/.*)|(?P<name>(?=.{4}).*(?:\d|_|\w-\w|[a-z][A-Z]|\w:\w).*)"
)
_PLAIN = frozenset(("money", "time", "size", "share", "number"))
"""Kinds whose values mean nothing without the words beside them: 30 % of one thing is not 30 % of another."""


class Later(Value, frozen=True, omit_defaults=True):
    """A value, the one that may hold now, the words it was about if it means nothing without them, and the later words.

    `claim` is how much speaks for it: whether the value is named again, else how many words are shared.
    """

    value: str
    now: str
    about: frozenset[str]
    said: str
    at: int
    claim: int = 0

    def bears_on(self, text: str) -> bool:
        """Whether a text states the value, about the same thing."""
        if (
            self.value not in text
            or self.now in text
            or not re.search(rf"(?<![\w.]){re.escape(self.value)}(?!\w|\.\w)", text)
        ):
            return False
        return not self.about or not self.about.isdisjoint(stems(text.casefold()))

    @property
    def remark(self) -> str:
        """The later words, as they are put behind a line with the value."""
        return f' (the user later: "{self.said}")'


class _Said(NamedTuple):
    request: Request
    values: dict[str, str]
    about: frozenset[str]


def said_later(requests: Iterable[Request]) -> Iterator[Later]:
    """The values of the user's short messages that a later one may have replaced, each with that one's words."""
    short = [(r, values_in(r.text)) for r in requests if len(r.text) <= SHORT]
    said = [_Said(r, values, _subjects(r.text)) for r, values in short if len(values) <= FEW]
    stated, spoken = _places(each.values for each in said), _places(each.about for each in said)
    for i, (request, values, about) in enumerate(said):
        takes_back = corrects(request.text) or slips(request.text)
        shared = Counter(p for word in about if len(spoken[word]) <= RARE for p in spoken[word] if p < i)
        for new, kind in values.items():
            meant = [
                (NAMED, place, old)
                for old, its_kind in values.items()
                if takes_back or its_kind == kind
                for place in stated[old]
            ]
            meant += (
                (words, place, old)
                for place, words in shared.items()
                for old, its_kind in said[place].values.items()
                if its_kind == kind and old not in values
            )
            claim, place, old = max((m for m in meant if m[1] < i and new not in said[m[1]].values), default=(0, 0, ""))
            if claim:
                first = said[place]
                words = line_around(request.text, new, _WIDTH).replace('"', "'")
                yield Later(
                    old, new, first.about if first.values[old] in _PLAIN else frozenset(), words, request.at, claim
                )


def _places(each: Iterable[Iterable[str]]) -> dict[str, list[int]]:
    """Where each item stands."""
    places: dict[str, list[int]] = {}
    for place, items in enumerate(each):
        for item in items:
            places.setdefault(item, []).append(place)
    return places


def values_in(text: str) -> dict[str, str]:
    """The values in a text that can be told from words, each with its kind; files are none, they stand beside each other."""
    found = ((token, _KINDS.fullmatch(token)) for token in _TOKEN.findall(text) if len(token) <= 80)
    return {
        t: k.lastgroup or "" for t, k in found if k and (k.lastgroup in ("url", "address") or not _A_FILE.search(t))
    }


def _subjects(text: str) -> frozenset[str]:
    """What a text is about, besides its values."""
    values = {value.casefold()[:5] for value in values_in(text)}
    return frozenset(word for word in stems(text.casefold()) if len(word) > 3 or not word.isascii()) - values
