"""Tokens of long texts, with numpy or, at a tenth of the speed, without; the figure is the same.

Three hashed tables add up: one by the three bytes around each byte, and two that count for both bytes of a pair, by the
five bytes and the eight classes of bytes around it. What stands around a text is worth nothing, which they learned too.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Collection, Iterator
from functools import cache, lru_cache
from importlib import import_module
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import Any, NamedTuple

from foldline._tokens.families import EDGE, place, read_table

__all__ = ["BITS", "CLASSES", "PAD", "long_tokens", "places"]

BITS = 19
"""Each table has 2^19 cells of one byte, so that the three stay in a processor's second cache."""

FACTOR_4 = 2654435761
FACTOR_5 = 0xD1B54B
"""Multiplicative hashes (Knuth) of up to four bytes, and of five, where the product must fit 64 bits."""

PAD = 8
"""Texts start at a multiple of 8 bytes, with 8 to 15 bytes of `EDGE` between them, of which the last 8 do not count."""

PIECE = 1 << 16
"""Bytes that numpy takes at a time: its arrays then stay in cache."""

SLOW_PIECE = 1 << 13
"""The same without numpy, where they are whole numbers."""

IMPORT_PAYS = 1_000_000
"""Bytes that were counted without numpy after which importing it would have been cheaper (0.15 s, 0.15 µs a byte)."""

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
    bytes(range(224, 255)),
    EDGE,
)
CLASSES = bytes(next((i for i, group in enumerate(GROUPS, 1) if byte in group), 0) for byte in range(256))
"""The class of each byte in the third table; 0 is what no group names."""


Cells = tuple[bytes, bytes, bytes]


class LongTables(NamedTuple):
    """The cells of one family: tokens = `base` × bytes + `unit` × their sum."""

    cells: Cells
    unit: float
    base: float


_without_numpy = 0


def long_tokens(raws: Collection[bytes], family: str) -> list[float]:
    """Tokens of texts in UTF-8, none of them empty."""
    if not raws:
        return []
    tables = _tables(family)
    sizes = [len(raw) + -len(raw) % 8 for raw in raws]
    numpy = _numpy(sum(sizes))
    text = b"".join((EDGE * PAD, *(raw.ljust(size + PAD, EDGE) for raw, size in zip(raws, sizes))))
    edges = [*accumulate((size for each in sizes for size in (each, PAD)), initial=0)]
    sums = _sums_with(numpy, text, edges, _arrays(family)) if numpy else _sums_without(text, edges, tables.cells)
    return [tables.base * size + tables.unit * cells for size, cells in zip(sizes, sums)]


def _numpy(size: int) -> Any:
    """The numpy module where it is at hand or worth its import, else None."""
    global _without_numpy
    if "numpy" not in sys.modules and _without_numpy + size < IMPORT_PAYS:
        _without_numpy += size
        return None
    return _import_numpy()


@cache
def _import_numpy() -> Any:
    try:
        return import_module("numpy")
    except ImportError:
        return None


# -- with numpy --------------------------------------------------------------------------------------------------


def places(np: Any, text: bytes, at: int, size: int) -> Iterator[Any]:
    """The cells that each table has for `size` bytes of `text`, multiples of 8; four rows, of every fourth byte or pair.

    Before and after them `text` has `PAD` bytes more. What was yielded is overwritten by the next.
    """
    room = np.empty(4 * size, np.uint8)
    rows = room.reshape(4, size)
    # the four rows are copies of the text, each a byte further, in which windows are aligned
    rows[...] = np.ndarray((4, size), np.uint8, text, at - 1, (1, 1))
    yield _hashed(rows.view("<u4"), FACTOR_4 << 8)
    rows[...] = np.ndarray((4, size), np.uint8, text, at - 1, (2, 1))
    yield _hashed(rows.view("<u8"), FACTOR_5 << 24)
    pairs = _pairs().take(np.ndarray((size // 2 + 4,), "<u2", text, at - 4))
    rows = room[: 2 * size].reshape(4, size // 2)
    rows[...] = np.ndarray(rows.shape, np.uint8, pairs, 0, (1, 1))
    yield _hashed(rows.view("<u4"), FACTOR_4)


def _hashed(windows: Any, factor: int) -> Any:
    """The highest bits of the products; a factor shifted left drops the bytes above the window."""
    bits = 8 * windows.itemsize
    windows *= windows.dtype.type(factor & (1 << bits) - 1)
    windows >>= windows.dtype.type(bits - BITS)
    return windows


@cache
def _pairs() -> Any:
    """Two bytes as two classes in one."""
    np = _import_numpy()
    classes = np.frombuffer(CLASSES, np.uint8)
    return (classes[:, None] << 4 | classes).ravel()


@cache
def _arrays(family: str) -> list[Any]:
    return [_import_numpy().frombuffer(cells, "u1") for cells in _tables(family).cells]


def _sums_with(np: Any, text: bytes, edges: list[int], tables: list[Any]) -> list[int]:
    """The sums between every other pair of edges."""
    starts, end = np.array(edges), edges[-2]
    sums = np.zeros(len(edges), np.int64)
    for at in range(0, end, PIECE):
        size = min(PIECE, end - at)
        first, last = np.searchsorted(starts, at, "right") - 1, np.searchsorted(starts, at + size, "left")
        cuts = starts[first:last] - at
        cuts[0] = 0
        for cells, found in zip(tables, places(np, text, PAD + at, size)):
            step = size // found.shape[1]
            parts = np.add.reduceat(cells.take(found), cuts // step, 1, np.uint32)
            sums[first:last] += step // 4 * parts.sum(0, np.int64)
    return sums[::2].tolist()  # type: ignore[no-any-return]


# -- without numpy -----------------------------------------------------------------------------------------------


def _sums_without(text: bytes, edges: list[int], tables: Cells) -> list[int]:
    sums = []
    for start, end in zip(edges[::2], edges[1::2]):
        cuts = [*range(start, end, SLOW_PIECE), end]
        sums.append(sum(_sum_without(text[at : to + 2 * PAD], tables) for at, to in pairwise(cuts)))
    return sums


def _sum_without(piece: bytes, tables: Cells) -> int:
    """The cells of a piece, by whole numbers that hold it in lanes of 64 bits."""
    size = len(piece) - 2 * PAD
    three, five, eight = tables
    text = int.from_bytes(piece[PAD - 1 :], "little")
    phases = [text >> 8 * phase for phase in range(8)]
    total = 0
    for even, odd in zip(phases[::2], phases[1::2]):
        total += _gather(even, odd, 24, FACTOR_4, three, size // 8)
    for first, second in (phases[:4:2], phases[4::2]):
        total += 2 * _gather(first, second, 40, FACTOR_5, five, size // 8)
    classes = int.from_bytes(piece[PAD - 4 :].translate(CLASSES), "little")
    pairs = int.from_bytes((classes | classes >> 4).to_bytes(len(piece), "little")[::2], "little")
    for phase in range(0, min(8, size // 2), 2):
        count = (size // 2 - phase + 7) // 8
        total += 2 * _gather(pairs >> 8 * phase, pairs >> 8 * (phase + 1), 32, FACTOR_4, eight, count)
    return total


def _gather(even: int, odd: int, bits: int, factor: int, cells: bytes, count: int) -> int:
    """The sum of the cells that the lowest bits of the first `count` lanes of two numbers hash to."""
    window, place, drop = _lanes(count, bits), _lanes(count, BITS), bits - BITS
    hashed = (even & window) * factor >> drop & place | ((odd & window) * factor >> drop & place) << 32
    indices = struct.unpack(f"<{2 * count}I", hashed.to_bytes(8 * count, "little"))
    return sum(itemgetter(*indices)(cells))


@lru_cache(maxsize=64)
def _lanes(count: int, bits: int) -> int:
    """So many lanes with their lowest bits set."""
    return int.from_bytes(((1 << bits) - 1).to_bytes(8, "little") * count, "little")


@cache
def _tables(family: str) -> LongTables:
    """The file holds for each cell what kind it is, for all families, then what each kind is worth for each."""
    kinds, worth = _kinds()
    at = place(family) * (8 + 3 * 256)
    unit, base = struct.unpack_from("<ff", worth, at)
    three, five, eight = (
        cells.translate(worth[start : start + 256]) for cells, start in zip(kinds, range(at + 8, at + 8 + 3 * 256, 256))
    )
    return LongTables((three, five, eight), unit, base)


@cache
def _kinds() -> tuple[Cells, bytes]:
    """The kinds of all cells, and what they are worth: a fold counts for the session's model, and its page for none."""
    data, size = read_table("estimate_long.bin"), 1 << BITS
    return (data[:size], data[size : 2 * size], data[2 * size : 3 * size]), data[3 * size :]
