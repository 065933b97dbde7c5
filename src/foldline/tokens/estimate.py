"""Tokens of a text, estimated from its bytes by tables that `scripts/train_estimator.py` makes.

A token ends after a byte or it does not, and the bytes around it tell how likely that is. Texts above `SHORT` bytes add up
three hashed tables (three bytes, five bytes, eight byte classes); shorter ones pass two rounds of 16 classes, which
`bytes.translate` and whole-text integers do without a loop. The figure is the same with numpy and without it.
"""

from __future__ import annotations

import struct
import sys
import zlib
from functools import cache, lru_cache
from importlib import import_module
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["FAMILIES", "estimate"]

FAMILIES = ("o200k", "claude3", "claude4.7", "gemma", "llama", "qwen", "deepseek", "mistral", "glm", "kimi")
"""Tokenizers that have a table: OpenAI, Claude before and from 4.7, Gemini, and those of the open models."""

SHORT = 512
"""Bytes up to which the small tables serve, which cost no loading to speak of."""

LONG = 4096
"""Bytes from which numpy is worth importing for one text."""

IMPORT_PAYS = 400_000
"""Bytes counted without numpy after which importing it would have been cheaper (0.1 s beside 0.25 µs a byte)."""

BITS = 19
"""Each hashed table has 2^19 cells of one byte, so that the three stay in a processor's second cache."""

MASK = (1 << BITS) - 1
MULTIPLY_32 = 2654435761
"""Knuth's multiplicative hash of 32 bits; 5 bytes take a 24-bit factor, so that the product fits 64 bits."""

MULTIPLY_24 = 0xD1B54B
PAD = bytes(8)
PIECE = 1 << 15
"""Bytes that numpy takes at a time: its scratch arrays then stay in cache."""

GROUPS = (
    b"abcdefghijklmnopqrstuvwxyz",
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    b"0123456789",
    b" ",
    b"\n\r\t",
    b".,;:",
    b"()[]{}<>",
    b"\"'`",
    b"_-/\\=+*&|",
    bytes(range(128, 192)),
    bytes(range(192, 224)),
    bytes(range(224, 256)),
)
_NAMED = bytes.maketrans(b"".join(GROUPS), b"".join(bytes([i]) * len(group) for i, group in enumerate(GROUPS, 1)))
CLASSES = bytes(0 if _NAMED[byte] == byte else _NAMED[byte] for byte in range(256))
"""The class of each byte in the third table; 0 is what no group names."""


class Small(NamedTuple):
    """Two rounds of classes and what the last one weighs: tokens = `base` × bytes + `unit` × the weights."""

    left: bytes
    right: bytes
    before: bytes
    after: bytes
    weights: bytes
    unit: float
    base: float


class Large(NamedTuple):
    """The three hashed tables of one family: tokens = `base` × bytes + `unit` × the sum of the cells."""

    three: bytes
    five: bytes
    shape: bytes
    unit: float
    base: float


_without_numpy = 0


def estimate(text: str, family: str = "o200k") -> int:
    """Tokens of `text` in the tokenizer of `family`, about; 0 only for the empty text.

    Raises:
        ValueError: no table for `family`.
    """
    raw = text.encode("utf-8", "surrogatepass")
    size = len(raw)
    if size <= SHORT:
        # a character above ASCII has more bytes than one
        return _remembered(raw, family, 8 * (size - len(text)) < size)
    large = _large(family)
    numpy = _numpy(size)
    cells = _sum_with(numpy, raw, family) if numpy else _sum_without(raw, large)
    return max(1, round(large.base * size + large.unit * cells))


@lru_cache(maxsize=1 << 14)
def _remembered(raw: bytes, family: str, plain: bool) -> int:
    """A short text's figure; names, paths and lines come again and again."""
    table = _small(family, plain)
    return max(1, round(_short(raw, table))) if raw else 0


def _short(raw: bytes, table: Small) -> float:
    """Two rounds in which each byte meets its neighbour as one of 16 classes; Adler's sum adds up bytes."""
    number, size = int.from_bytes, len(raw)
    pairs = (number(raw.translate(table.left), "little") << 8) | number(raw.translate(table.right), "little")
    met = pairs.to_bytes(size + 1, "little")
    fours = (number(met.translate(table.before), "little") << 16) | number(met.translate(table.after), "little")
    ends = fours.to_bytes(size + 3, "little")[2 : size + 2].translate(table.weights)
    # 256 bytes at a time: their sum stays below Adler's modulus, 65521
    total = (zlib.adler32(ends[:256]) & 0xFFFF) - 1
    if size > 256:
        total += (zlib.adler32(ends[256:]) & 0xFFFF) - 1
    return table.base * size + table.unit * total


def _numpy(size: int) -> Any:
    """The numpy module where it is at hand or worth its import, else None."""
    global _without_numpy
    if "numpy" not in sys.modules and size < LONG and _without_numpy + size < IMPORT_PAYS:
        _without_numpy += size
        return None
    return _import_numpy()


@cache
def _import_numpy() -> Any:
    try:
        return import_module("numpy")
    except ImportError:
        return None


def _sum_with(np: Any, raw: bytes, family: str) -> int:
    """The cells of every byte, by numpy."""
    three, five, shape = _arrays(family)
    padded = b"".join((PAD, raw, PAD))
    total = 0
    for at in range(0, len(raw), PIECE):
        n = min(PIECE, len(raw) - at)
        piece = padded[at : at + n + len(PAD) * 2]
        # a factor shifted left drops the bytes above the window
        three_at = np.ndarray((n,), "<u4", piece, 7, (1,)) * np.uint32(MULTIPLY_32 << 8 & 0xFFFFFFFF)
        three_at >>= np.uint32(32 - BITS)
        five_at = np.ndarray((n,), "<u8", piece, 6, (1,)) * np.uint64(MULTIPLY_24 << 24)
        five_at >>= np.uint64(64 - BITS)
        classes = np.frombuffer(piece.translate(CLASSES), np.uint8)
        packed = (classes[:-4] << 4) | classes[4:]
        shape_at = np.ndarray((n,), "<u4", packed, 5, (1,)) * np.uint32(MULTIPLY_32)
        shape_at >>= np.uint32(32 - BITS)
        for table, places in ((three, three_at), (five, five_at.view(np.int64)), (shape, shape_at)):
            total += int(np.add.reduce(table.take(places), dtype=np.uint32))
    return total


def _sum_without(raw: bytes, table: Large) -> int:
    """The cells of every byte, by integers that hold a piece of the text in lanes of 64 bits."""
    pieces = -(-len(raw) // 2048)
    size = -(-len(raw) // pieces)
    padded = b"".join((PAD, raw, PAD))
    lanes = size // 8 + 3
    one = int.from_bytes(b"\1\0\0\0\0\0\0\0" * lanes, "little")
    total = 0
    for at in range(0, len(raw), size):
        n = min(size, len(raw) - at)
        piece = padded[at : at + n + len(PAD) * 2]
        text = int.from_bytes(piece, "little")
        classes = int.from_bytes(piece.translate(CLASSES), "little")
        packed = (classes << 4) | (classes >> 32)
        for phase in range(min(8, n)):
            count = (n - phase + 7) // 8
            three = ((text >> 8 * (7 + phase)) & one * 0xFFFFFF) * MULTIPLY_32 >> 5
            five = ((text >> 8 * (6 + phase)) & one * 0xFFFFFFFFFF) * MULTIPLY_24 >> 21
            shape = ((packed >> 8 * (5 + phase)) & one * 0xFFFFFFFF) * MULTIPLY_32 >> 13
            for number, cells in ((three, table.three), (five, table.five), (shape, table.shape)):
                total += _gather((number & one * MASK).to_bytes(lanes * 8, "little"), count, cells)
    return total


def _gather(lanes: bytes, count: int, cells: bytes) -> int:
    indices = struct.unpack_from(f"<{count}Q", lanes)
    return sum(itemgetter(*indices)(cells)) if count > 1 else cells[indices[0]]


@cache
def _small(family: str, plain: bool) -> Small:
    """The small tables of `family`, for text that is `plain` (seven bytes in eight are ASCII) or is not.

    The file holds for either kind four maps of all families, then for each family a unit, a base and 256 weights.
    """
    data = _read("estimate_short.bin")
    start = 0 if plain else len(data) // 2
    left, right, before, after = (data[i : i + 256] for i in range(start, start + 1024, 256))
    at = start + 1024 + _place(family) * 264
    unit, base = struct.unpack_from("<ff", data, at)
    return Small(left, right, before, after, data[at + 8 : at + 264], unit, base)


@cache
def _codes() -> tuple[bytes, ...]:
    """What all families share: for each cell of the three tables, the kind of cell it is."""
    data = zlib.decompress(_read("estimate_long.bin"))
    size = 1 << BITS
    return (data[:size], data[size : 2 * size], data[2 * size : 3 * size], data[3 * size :])


@cache
def _large(family: str) -> Large:
    """The tables of `family`: its own weight for each kind of cell."""
    *codes, weights = _codes()
    at = _place(family) * (8 + 3 * 256)
    unit, base = struct.unpack_from("<ff", weights, at)
    three, five, shape = (
        code.translate(weights[at + 8 + 256 * i : at + 264 + 256 * i]) for i, code in enumerate(codes)
    )
    return Large(three, five, shape, unit, base)


@cache
def _arrays(family: str) -> tuple[Any, ...]:
    np, large = _import_numpy(), _large(family)
    return tuple(np.frombuffer(table, np.uint8) for table in (large.three, large.five, large.shape))


def _place(family: str) -> int:
    if family not in FAMILIES:
        raise ValueError(f"no tokenizer family {family!r}; there are {', '.join(FAMILIES)}")
    return FAMILIES.index(family)


def _read(name: str) -> bytes:
    return Path(__file__).with_name(name).read_bytes()
