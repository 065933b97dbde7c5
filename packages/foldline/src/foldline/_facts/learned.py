"""What a sentence most likely is, as labelled sentences of its language teach.

Every word and every two words that follow each other speak for or against each kind, by a weight: a multinomial logistic
regression, whose weights `scripts/learn.py` finds and keeps in `learned/<speaker>.<language>`. In scripts without spaces letters
take the place of words.
"""

from __future__ import annotations

import math
import re
import sys
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from pkgutil import get_data
from zlib import crc32

from foldline._patterns import pattern

SCALE = 20
"""By which weights are multiplied to be kept as whole numbers of one byte, from -127 to 127."""

REMEMBERED = 8_192
"""Features whose weights are kept: most that are said are among a few thousand."""

_FOLDER = "learned"
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff]")
_LATIN = re.compile(r"[a-z]{2,}")
_TOKEN = pattern(r"[^\W\d_]+(?:['’][^\W\d_]+)?|0|[^\w\s]|_+")
_DIGITS = re.compile(r"\d+")


class Weights:
    """The weights of features for each of `kinds` but the first, against which they are reckoned."""

    def __init__(self, kinds: tuple[str, ...], known: array[int], rows: memoryview) -> None:
        self.kinds = kinds
        self._known = known
        """The checksums of the features, in their order."""
        self._rows = rows
        """The weights of each, a signed byte for each kind but the first."""
        self.row = lru_cache(maxsize=REMEMBERED)(self._row)
        """The weights of a feature; none where it has none."""

    def shares(self, text: str, given: Iterable[str] = ()) -> dict[str, float]:
        """How likely a sentence is of each kind, from 0 to 1; `given` is what else is known of it, as features."""
        spoken = features(text)
        scale = SCALE * math.sqrt(len(spoken))
        said, known = self._sums(spoken), self._sums(given)
        odds = [1.0, *(math.exp(each / scale + more / SCALE) for each, more in zip(said, known))]
        whole = sum(odds)
        return {kind: each / whole for kind, each in zip(self.kinds, odds)}

    def _sums(self, features: Iterable[str]) -> list[int]:
        """What features weigh together for each kind."""
        rows = [*filter(None, map(self.row, features))]
        return [*map(sum, zip(*rows))] if rows else [0] * (len(self.kinds) - 1)

    def _row(self, feature: str) -> memoryview | None:
        known, checksum = self._known, _checksum(feature)
        at = bisect_left(known, checksum)
        if at == len(known) or known[at] != checksum:
            return None
        width = len(self.kinds) - 1
        return self._rows[at * width : (at + 1) * width]


def written(kinds: Sequence[str], weights: Mapping[str, Sequence[int]]) -> bytes:
    """The weights of features as their file has them: a line with the kinds and one with how many features there are, then the
    checksums of these in their order, four bytes for each, the lowest first, then the weights of each."""
    rows = {_checksum(each): row for each, row in weights.items()}
    head = f"{' '.join(kinds)}\n{len(rows)}\n".encode()
    checksums = b"".join(each.to_bytes(4, "little") for each in sorted(rows))
    return head + checksums + b"".join(bytes(weight % 256 for weight in rows[each]) for each in sorted(rows))


def read(file: bytes) -> Weights:
    """The weights that a file has."""
    kinds, count, rest = file.split(b"\n", 2)
    known = array("I", rest[: 4 * int(count)])
    if sys.byteorder == "big":
        known.byteswap()
    return Weights(tuple(kinds.decode().split()), known, memoryview(rest)[4 * int(count) :].cast("b"))


def _checksum(feature: str) -> int:
    return crc32(feature.encode("utf-8", "surrogatepass"))


def features(text: str) -> list[str]:
    """The words of a sentence and every two that follow each other; letters where its script has no spaces."""
    plain = _DIGITS.sub("0", " ".join(text.lower().replace("¤", " ").strip(" -*•").split()))
    if _WIDE.search(plain):
        letters = f"<{plain}>"
        latin = (f"{word} " for word in _LATIN.findall(plain))
        return [*dict.fromkeys((*letters, *map("".join, pairwise(letters)), *latin))]
    words = ["<", *_TOKEN.findall(plain), ">"]
    return [*dict.fromkeys((*words, *map(" ".join, pairwise(words))))]


@cache
def learned(speaker: str, language: str) -> Weights | None:
    """What was learned of the sentences of a speaker (`user`, `agent`) in a language; none where nothing was."""
    try:
        file = get_data(__package__, f"{_FOLDER}/{speaker}.{language}")
    except OSError:
        return None
    return read(file) if file else None
