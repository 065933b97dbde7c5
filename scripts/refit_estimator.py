"""Fits the tables of foldline._tokens.estimate to more texts, and to a family that has none yet.

    python scripts/refit_estimator.py FOLDER

Which kinds of bytes there are stays as `train_estimator.py` found it; what a kind is worth is moved as little from what it
is as the texts of FOLDER ask for, by ridge regression over pieces. The small tables of plain texts are made for families
that have none alone: others were 4 % nearer in German and Indonesian then, and 2 % farther in what agents write. Needs
numpy, splintr-rs and ctok as that does.

FOLDER has one subfolder per kind of text with UTF-8 files, `KIND_LANGUAGE` where it has a language. In November 2026 these
were 28 MB: half of Python's standard library (`python`) and of the public sessions of coding agents (`session`), man pages
in 20 languages (`man_de`), Django's catalogues in 98 (`po_de`), GNOME's help in ten (`help_de`), and the sentences of
`benchmarks/material/learning` (`learn_de`); beside them what `train_estimator.py` makes, and records of words and numbers.
It began at the tables that `train_estimator.py` had made: one refit on top of another drifts. Nothing of
`benchmarks/material/tune`, `sealed`, `endings` or `typed` is among them.
"""

from __future__ import annotations

import argparse
import random
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "packages/foldline/src"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

from estimator import counters
from estimator_labels import MADE
from foldline._tokens import short_texts
from foldline._tokens.families import EDGE, FAMILIES, read_table
from foldline._tokens.long_texts import BITS, PAD, places
from foldline._tokens.short_texts import LONGEST, ShortTables

OUT = Path(__file__).resolve().parent.parent / "packages/foldline/src/foldline/_tokens"
ROOM = {"session": 3_000_000, "python": 1_000_000, "learn": 500_000, "typed": 500_000, "records": 1_500_000,
        "help": 300_000, "man": 100_000, "po": 30_000, "made": 150_000}  # fmt: skip
"""Bytes of a kind at most, by how its name begins."""

WEIGHT = {"session": 6.0, "python": 6.0, "learn": 2.0, "typed": 1.5, "zh": 3.0}
"""How many times a piece counts, by the words of its kind's name.

Agents' own texts are what is counted most. Chinese has the most characters, and a refit to less of it, without prose, had
it 8 % too high for Claude.
"""

HALF_WIDTH = str.maketrans("，：；（）？！", ",:;()?!")
"""Chinese as it is typed between code and names, where tokens do not end where they do before signs of full width."""

KEPT = (("long", "o200k"), ("long", "gemma"))
"""Tables that stay as they are: they were nearest to begin with, and a refit gained 0.3 % or lost as much in English."""

NEAREST = {"cl100k": "llama"}
"""The family whose figures another starts from: Llama 3 took over the vocabulary of cl100k and added to it."""

HOLD = {"long": 10.0, "plain": 10.0, "other": 3.0}
"""How much speaks for what each table says by now."""

CLAUDE_SHARE = 0.4
"""ctok is slow, and counts this share of the pieces."""


class Piece(NamedTuple):
    """A piece of text, and how many times it counts."""

    text: str
    weight: float


def pieces(folder: Path, rng: random.Random) -> list[Piece]:
    """Pieces of every size up to 6 kB, cut at the ends of lines where they are short."""
    found = []
    kinds: dict[str, list[str]] = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        kinds.setdefault(path.relative_to(folder).parts[0], []).append(path.read_text("utf-8", errors="ignore"))
    words = {kind: own for kind, texts in kinds.items() if (own := " ".join(texts).split())}
    kinds["records"] = ["\n".join(records(words, rng))]
    kinds["typed_zh"] = [text.translate(HALF_WIDTH) for text in kinds["learn_zh"]]
    sources = [text for texts in kinds.values() for text in texts]
    kinds |= {f"made_{make.__name__}": [make(rng, sources) for _ in range(n)] for make, n in MADE.items()}
    for kind, texts in kinds.items():
        left, weight = ROOM[kind.split("_")[0]], prod(WEIGHT.get(word, 1.0) for word in kind.split("_"))
        for piece in cut_all(rng.sample(texts, len(texts)), rng):
            left -= len(piece.encode())
            if left < 0:
                break
            found.append(Piece(piece, weight))
    return found + [Piece(sign * rng.randrange(300, 5_000), 1.0) for sign in "   \n\tab0=-_." for _ in range(12)]


def cut_all(texts: Sequence[str], rng: random.Random) -> Iterator[str]:
    """The pieces of all texts."""
    return (piece for text in texts for piece in cut(text, rng))


def cut(text: str, rng: random.Random) -> Iterator[str]:
    """A text in pieces of 10 to 6,000 characters, as many small ones as large ones on a logarithmic scale."""
    at = 0
    while at < len(text):
        size = int(10 * 600 ** rng.random())
        end = text.find("\n", at + size) + 1 if size < 1000 else at + size
        end = end if at < end < at + 3 * size else at + size
        if piece := text[at:end].strip("\n"):
            yield piece
        at = end


SIGNS = [(": ", ", "), (":", "、"), (":", ","), (": ", "; "), (" = ", "\n"), (": ", "\n- "), (" | ", " | ")]


def records(words: dict[str, list[str]], rng: random.Random) -> Iterator[str]:
    """Lines as a service's tools print them: names of fields in some language, with numbers, codes, dates and names."""
    kinds = [kind for kind in words if kind not in ("session", "python")]
    for _ in range(18_000):
        own = words[rng.choice(kinds)]
        names, end = rng.choice(SIGNS)
        short = [word[: rng.randrange(2, 9)] for word in rng.choices(own, k=8)]
        fields = [f"{rng.choice(short)}{names}{value(short, rng)}" for _ in range(rng.randrange(2, 7))]
        yield end.join(fields)


def value(words: Sequence[str], rng: random.Random) -> str:
    capitals = "".join(rng.choices("ABCDEFGHJKLMNPQRSTUVWXYZ", k=rng.randrange(1, 4)))
    number = rng.randrange(10 ** rng.randrange(2, 7))
    made = (
        f"{capitals}{number}{rng.choice(capitals)}",
        f"{capitals}-{number:04d}",
        f"{number:,}{rng.choice(['', '円', ' €', '원', ' Rp', '元', '%'])}",
        f"20{rng.randrange(20, 28)}-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}",
        f"{rng.randrange(1, 13)}月{rng.randrange(1, 29)}日",
        f"{rng.randrange(1, 29):02d}.{rng.randrange(1, 13):02d}.2026",
        f"0{rng.randrange(10, 99)}-{rng.randrange(1000, 9999)}-{rng.randrange(1000, 9999)}",
    )
    return rng.choice([*made, rng.choice(words), " ".join(rng.choices(words, k=2))])


def large_features(raws: Sequence[bytes]) -> np.ndarray:
    """How often each kind of cell of each table stands in a text."""
    data = read_table("estimate_long.bin")
    kinds = [np.frombuffer(data, np.uint8, 1 << BITS, i << BITS) for i in range(3)]
    rows = np.zeros((len(raws), 768), np.float32)
    for row, raw in zip(rows, raws):
        size = len(raw) + -len(raw) % 8
        text = EDGE * PAD + raw.ljust(size + PAD, EDGE) + EDGE * PAD
        for i, (kind, at) in enumerate(zip(kinds, places(np, text, PAD, size))):
            row[256 * i : 256 * i + 256] = size / at.size * np.bincount(kind.take(at).ravel(), minlength=256)
    return rows


def small_features(raws: Sequence[bytes], plain: bool) -> np.ndarray:
    """How often each class of byte stands in a text."""
    told = short_texts._tables(FAMILIES[0], plain)
    tables = ShortTables(told.left, told.right, told.before, told.after, bytes(range(256)), 1.0, 0.0)
    rows = np.zeros((len(raws), 256), np.float32)
    for row, raw in zip(rows, raws):
        gap = short_texts.GAP
        states = short_texts._weights(gap + raw + gap, tables)[len(gap) : len(gap) + len(raw)]
        row[:] = np.bincount(np.frombuffer(states, np.uint8), minlength=256)
    return rows


def refit(counts: np.ndarray, tokens: np.ndarray, weight: np.ndarray, start: np.ndarray, hold: float) -> np.ndarray:
    """Weights near `start` with a smaller error of the pieces, which stays even over all of them.

    A relative error would have them too low, since what is dear for its size counts less.
    """
    scale = weight**0.5 * (tokens + 10) ** -0.5 / 5
    scaled = (counts * scale[:, None]).astype(np.float64)
    left = (tokens - counts @ start) * scale
    penalty = hold * (scaled.sum(0) / 100 + 0.01)
    return start + np.linalg.solve(scaled.T @ scaled + np.diag(penalty), scaled.T @ left)


def moved(row: bytes, worth: np.ndarray) -> bytes:
    """A row of a file with what its kinds are worth now, by whole units: what stays stays to the bit, as runs do."""
    cells = np.frombuffer(row, np.uint8, offset=8)
    steps = np.round((worth - unpacked(row)) / np.float64(struct.unpack_from("<f", row)[0]))
    return row[:8] + np.clip(cells + steps, 0, 255).astype(np.uint8).tobytes()


def unpacked(row: bytes) -> np.ndarray:
    unit, base = struct.unpack_from("<ff", row)
    cells = np.frombuffer(row, np.uint8, offset=8)
    return cells * np.float64(unit) + base / (len(cells) // 256)


def rows_of(data: bytes, start: int, stop: int, width: int) -> dict[str, bytes]:
    return {family: data[at : at + width] for family, at in zip(FAMILIES, range(start, stop, width))}


class Fit(NamedTuple):
    """Pieces by how often each kind of bytes stands in them, their tokens by family, and how many times each counts."""

    counts: np.ndarray
    tokens: dict[str, np.ndarray]
    weight: np.ndarray


def fitted(fit: Fit, rows: dict[str, bytes], table: str) -> dict[str, bytes]:
    """The rows of all families, refitted to the pieces that were counted for them."""
    made = {}
    for family in FAMILIES:
        known = fit.tokens[family] > 0
        counts, tokens = fit.counts[known], fit.tokens[family][known]
        row = rows[family] if family in rows else rows[NEAREST[family]]
        start = unpacked(row)
        worth = refit(counts, tokens, fit.weight[known], start, HOLD[table])
        off = [np.abs(counts @ w / tokens - 1).mean() for w in (start, worth)]
        print(f"{table} {family}: {off[0]:.2%} to {off[1]:.2%} mean error of pieces", flush=True)
        made[family] = row if (table, family) in KEPT else moved(row, worth)
    return made


def labelled(texts: Sequence[str], rng: random.Random) -> dict[str, np.ndarray]:
    """Tokens of the texts by each family; 0 where they were not counted."""
    count, missing = counters()
    if missing:
        sys.exit("\n".join(missing))
    chosen = [rng.random() < CLAUDE_SHARE for _ in texts]

    def figures(family: str, counted: Callable[[str], int]) -> Any:
        claude = family.startswith("claude")
        return np.array([counted(t) if not claude or c else 0 for t, c in zip(texts, chosen)], np.float64)

    return {family: figures(family, count[family]) for family in FAMILIES}


def main() -> None:
    """Writes both files of tables anew."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args()
    rng = random.Random(3)
    found = pieces(asked.folder, rng)
    texts = [piece.text for piece in found]
    raws = [text.encode() for text in texts]
    tokens, weight = labelled(texts, rng), np.array([piece.weight for piece in found])
    high = np.array([8 * (len(raw) - len(text)) / len(raw) for raw, text in zip(raws, texts)])
    size = np.array([len(raw) for raw in raws])

    def fit(features: Callable[[Sequence[bytes]], np.ndarray], which: np.ndarray) -> Fit:
        at = np.flatnonzero(which)
        return Fit(features([raws[i] for i in at]), {f: figures[at] for f, figures in tokens.items()}, weight[at])

    data, halves = read_table("estimate_long.bin"), read_table("estimate_short.bin")
    at, half = 3 << BITS, len(halves) // 2
    made = fitted(fit(large_features, size > 200), rows_of(data, at, len(data), 776), "long")
    large = data[:at] + b"".join(made.values())
    small = b""
    for plain, part in ((True, halves[:half]), (False, halves[half:])):
        which = (size <= 2 * LONGEST) & ((high < 1.2) if plain else (high > 0.8))
        rows = rows_of(part, 1024, half, 264)
        made = fitted(fit(partial(small_features, plain=plain), which), rows, "plain" if plain else "other")
        small += part[:1024] + b"".join((made | (rows if plain else {})).values())
    (OUT / "estimate_long.bin").write_bytes(large)
    (OUT / "estimate_short.bin").write_bytes(small)


if __name__ == "__main__":
    main()
