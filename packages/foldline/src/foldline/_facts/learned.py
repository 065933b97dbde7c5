"""What a sentence most likely is, as labelled sentences of its language teach.

Every word and every two words that follow each other speak for or against each kind, by a weight: a multinomial logistic
regression, whose weights `scripts/learn.py` finds and keeps in `learned/<speaker>.<language>.json`. In scripts without
spaces letters take the place of words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from pkgutil import get_data

import msgspec

from foldline._patterns import pattern

SCALE = 100
"""By which weights are multiplied in their files, to be whole numbers."""

_FOLDER = "learned"
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff]")
_LATIN = re.compile(r"[a-z]{2,}")
_TOKEN = pattern(r"[^\W\d_]+(?:['’][^\W\d_]+)?|0|[^\w\s]|_+")
_DIGITS = re.compile(r"\d+")


class Weights(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The weights of features for each of `kinds` but the first, against which they are reckoned."""

    kinds: tuple[str, ...]
    by_feature: Mapping[str, tuple[int, ...]]

    def shares(self, text: str, given: Iterable[str] = ()) -> dict[str, float]:
        """How likely a sentence is of each kind, from 0 to 1; `given` is what else is known of it, as features."""
        spoken = features(text)
        sums = [0.0] * (len(self.kinds) - 1)
        for names, weight in ((spoken, 1 / math.sqrt(len(spoken))), (given, 1.0)):
            for each in names:
                for i, value in enumerate(self.by_feature.get(each, ())):
                    sums[i] += value * weight
        odds = [1.0, *(math.exp(value / SCALE) for value in sums)]
        return {kind: each / sum(odds) for kind, each in zip(self.kinds, odds)}


def features(text: str) -> list[str]:
    """The words of a sentence and every two that follow each other; letters where its script has no spaces."""
    plain = _DIGITS.sub("0", " ".join(text.lower().replace("¤", " ").strip(" -*•").split()))
    if _WIDE.search(plain):
        letters = f"<{plain}>"
        return sorted({*letters, *map("".join, pairwise(letters)), *(f"{word} " for word in _LATIN.findall(plain))})
    words = ["<", *_TOKEN.findall(plain), ">"]
    return sorted({*words, *map(" ".join, pairwise(words))})


@cache
def learned(speaker: str, language: str) -> Weights | None:
    """What was learned of the sentences of a speaker (`user`, `agent`) in a language; none where nothing was."""
    name = f"{_FOLDER}/{speaker}.{language}.json"
    known = f"{speaker}.{language}.json" in _files()
    return msgspec.json.decode(get_data(__package__, name) or b"", type=Weights) if known else None


@cache
def _files() -> frozenset[str]:
    return frozenset(each.name for each in (Path(__file__).parent / _FOLDER).iterdir())
