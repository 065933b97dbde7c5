"""Values that the user named once, and what the user said later that may have put another in their place.

A correction need not say that it is one: "for the summaries take qwen2.5-7b" ends what an earlier "use mistral-small for
the summaries" began. Such a pair is told by its values, which are of one kind, and by the words around them. It is no
proof; so nothing is dropped for it from what was said: the later words are put beside the earlier value, and the reader sees.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from foldline.facts.corrections import corrects, slips
from foldline.facts.kinds import unsaid, values_in
from foldline.facts.literals import alone, line_around
from foldline.facts.speech import clean
from foldline.facts.stems import stems
from foldline.facts.types import Request
from foldline.messages import Value

SHORT = 400
"""Characters of a message up to which its values and its words are taken to be about one another."""

FEW = 8
"""Values in a message up to which it is taken to state them; one with more is a paste."""

NAMED = 100
"""The claim of words that name the value again."""

NEAR = 20
"""Earlier messages, the newest first, that are looked at for one mark of a value."""

SWAPPED = 50
"""The claim of a value whose letters are those of the other in another order."""

PLAIN_SHARE = 0.25
"""Of the words of the shorter message, those that must be shared for a name of letters alone to be taken for a value."""

RARE = 3
"""Messages of the user in which a word may stand and still say what they are about."""

REMARK = re.compile(r' \(the user later: "([^"\n]*)"\)')
_REMARKING = re.compile(r"\(\s*the\s+user\s+later\s*:", re.IGNORECASE)

_WIDTH = 100
_PLAIN = re.compile(r"[^\W\d_]+(?:[-./][^\W\d_]+)*")
"""A name of letters alone, which is no value where it is ordinary words, or a function that is merely spoken of."""

_LEAST_SHARED = 4
"""Characters at the start of two names that may make them two states of one thing: `image:11` and `image:12`."""


class Later(Value, frozen=True):
    """A value that the user named, and what was said later that may have put another in its place."""

    value: str
    now: str
    about: frozenset[str]
    """What the value was about, where it means nothing without that."""
    said: str
    at: int
    claim: int
    """How much speaks for it."""

    def bears_on(self, text: str) -> bool:
        """Whether a text states the value, about the same thing."""
        if self.value not in text or self.now in text or not re.search(alone(re.escape(self.value)), text):
            return False
        return not self.about or not self.about.isdisjoint(_subjects(text, (self.value,)))

    @property
    def remark(self) -> str:
        """The later words, as they are put behind a line with the value."""
        return f' (the user later: "{self.said}")'


class _Said(NamedTuple):
    request: Request
    values: dict[str, str]
    about: frozenset[str]


def heard(text: str) -> str:
    """What anybody but the user wrote, cleaned, and without the opening of a remark, which would make it the user's words."""
    return _REMARKING.sub("(", clean(text))


def said_later(requests: Iterable[Request]) -> Iterator[Later]:
    """The values of the user's short messages that a later one may have replaced, each with that one's words."""
    short = [(r, values_in(r.text)) for r in requests if len(r.text) <= SHORT]
    said = [_Said(r, values, _subjects(r.text, values)) for r, values in short if len(values) <= FEW]
    spoken, marked = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
    for i, each in enumerate(said):
        for word in each.about:
            spoken[word].append(i)
    for i, each in enumerate(said):
        request, values, about = each
        marks = [mark for value in values for mark in _marks(value)]
        slip = slips(request.text)
        takes_back = slip or corrects(request.text)
        shared = Counter(p for word in about if len(spoken[word]) <= RARE for p in spoken[word] if p < i)
        near = {*shared, *(p for mark in marks for p in marked[mark][-NEAR:])}
        for new, kind in values.items():
            meant = [
                (_claim(said[p], each, old, new, shared[p], slip), p, old)
                for p in near
                if new not in said[p].values
                for old, its in said[p].values.items()
                if _fits(its, kind, takes_back and old in values)
            ]
            claim, place, old = max(meant, default=(0, 0, ""))
            if claim:
                about_it = said[place].about if unsaid(old, said[place].values[old]) else frozenset()
                words = line_around(request.text, new, _WIDTH).replace('"', "'")
                yield Later(old, new, about_it, words, request.at, claim)
        for mark in marks:
            marked[mark].append(i)


def _fits(its: str, kind: str, taken_back: bool) -> bool:
    """Whether a value may take the place of another, going by their kinds; a file is replaced where that is said."""
    if its != kind:
        return taken_back and "file" not in (its, kind)
    return taken_back or kind != "file"


def _claim(before: _Said, after: _Said, old: str, new: str, shared: int, slip: bool) -> int:
    """How much speaks for a value in the place of an older one: whether that is named again, else words and letters."""
    if old in after.values:
        return NAMED
    alike = _alike(old, new, after.values[new], slip)
    few = PLAIN_SHARE * min(len(before.about), len(after.about))
    return 0 if _PLAIN.fullmatch(new) and not (alike and shared >= few) else shared + alike


@lru_cache(maxsize=4_096)
def _marks(value: str) -> tuple[str, str, str]:
    """How a value begins, its letters in order, and its shape: what it may share with the one that it was taken for."""
    shape = "9" * len(value) if value.isdigit() else re.sub(r"[0-9]+", "9", re.sub(r"[A-Za-z]+", "a", value))
    return f"begins {value[:_LEAST_SHARED]}", f"letters {''.join(sorted(value))}", f"shape {shape}"


def _alike(old: str, new: str, kind: str, slip: bool) -> int:
    """How much the letters of two values speak for one in the place of the other."""
    (_, letters, shape), (_, its_letters, its_shape) = _marks(old), _marks(new)
    if letters == its_letters and len(old) >= _LEAST_SHARED:
        return SWAPPED
    same = next((n for n, (a, b) in enumerate(zip(old, new)) if a != b), min(len(old), len(new)))
    if slip and shape == its_shape:
        return 1 + same
    return int(kind in ("name", "path") and same >= max(_LEAST_SHARED, min(len(old), len(new)) // 2))


def _subjects(text: str, values: Iterable[str]) -> frozenset[str]:
    """What a text is about, besides its values: the first letters of its words."""
    for value in values:
        text = text.replace(value, " ")
    return frozenset(word[:4] for word in stems(text.casefold()))
