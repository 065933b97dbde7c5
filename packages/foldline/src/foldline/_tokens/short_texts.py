"""Tokens of short texts, without numpy and without a loop over bytes.

In two rounds each byte meets its neighbour as one of 16 classes, which `bytes.translate` and whole-text integers do at
once; what the last round finds has a weight.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from foldline._tokens.families import EDGE, place, read_table

__all__ = ["LONGEST", "short_tokens"]

LONGEST = 64
"""Bytes of the longest text that these tables count: of longer ones the hashed tables know the language, and these had
messages in German and Indonesian 20 to 27 % too low for Claude."""

GAP = EDGE * 3
"""Stands between two texts that are taken at once, so that neither is in the other's windows."""

AT_ONCE = 4096
"""Bytes that are taken at once; larger integers leave the processor's first cache."""


class ShortTables(NamedTuple):
    """Two rounds of classes and what the last one weighs: tokens = `base` × bytes + `unit` × the weights."""

    left: bytes
    right: bytes
    before: bytes
    after: bytes
    weights: bytes
    unit: float
    base: float


def short_tokens(raws: Iterable[bytes], family: str, *, plain: bool) -> Iterator[float]:
    """Tokens of texts of up to `LONGEST` bytes; `plain` are those of which seven bytes in eight are ASCII."""
    tables = _tables(family, plain)
    lot: list[bytes] = []
    size = 0
    for raw in raws:
        lot.append(raw)
        size += len(raw)
        if size >= AT_ONCE:
            yield from _count(lot, tables)
            lot, size = [], 0
    yield from _count(lot, tables)


def _count(lot: list[bytes], tables: ShortTables) -> Iterator[float]:
    weights = _weights(GAP + GAP.join(lot) + GAP, tables)
    at = len(GAP)
    for raw in lot:
        size = len(raw)
        yield tables.base * size + tables.unit * _sum(weights[at : at + size])
        at += size + len(GAP)


def _weights(text: bytes, tables: ShortTables) -> bytes:
    """The weight of every byte, by the byte before it and the two after."""
    number, size = int.from_bytes, len(text)
    pairs = (number(text.translate(tables.left), "little") << 8) | number(text.translate(tables.right), "little")
    met = pairs.to_bytes(size + 1, "little")
    fours = (number(met.translate(tables.before), "little") << 16) | number(met.translate(tables.after), "little")
    return fours.to_bytes(size + 3, "little")[2 : size + 2].translate(tables.weights)


def _sum(weights: bytes) -> int:
    """Adler's sum adds up bytes; that of `LONGEST` stays below its modulus, 65521."""
    return (zlib.adler32(weights) & 0xFFFF) - 1


@cache
def _tables(family: str, plain: bool) -> ShortTables:
    """The file holds for either kind four maps of all families, then for each family a unit, a base and 256 weights."""
    data = read_table("estimate_short.bin")
    start = 0 if plain else len(data) // 2
    left, right, before, after = (data[i : i + 256] for i in range(start, start + 1024, 256))
    at = start + 1024 + place(family) * 264
    unit, base = struct.unpack_from("<ff", data, at)
    return ShortTables(left, right, before, after, data[at + 8 : at + 264], unit, base)
