"""Makes the tables of foldline._tokens.estimate.

    python scripts/train_estimator.py label FOLDER LABELS.npz     tokenizes texts, about 20 minutes for 50 MB
    python scripts/train_estimator.py fit LABELS.npz              writes packages/foldline/src/foldline/_tokens/estimate_{long,short}.bin

Needs numpy, numba, splintr-rs (vocabularies of o200k, Llama 3, Qwen 3, DeepSeek V3, Gemma 3, GLM 4, Kimi K2, Mistral
Tekken) and ctok (a reconstruction of Claude's). Nothing that they hold is copied: only counts reach the tables.

FOLDER has one subfolder per kind of text with UTF-8 files `*.txt`. The shipped tables were made (November 2026) from
51 MB: Python's standard library; JavaScript, minified JavaScript, CSS, JSON and README files of npm packages; C headers;
shell scripts; the Debian handbook's HTML; man pages in 22 languages; translated messages of Debian's and Django's
catalogues in 40 languages; GNOME's help in 15; CLDR's names of emoji and places in 30; public sessions of three coding
agents (kinds `session_*`). To that this script adds kinds that it makes itself: base64, hex, logs, tables, wrapped text
(JSON strings, numbered lines, diffs), emoji, runs. They are tested on other kinds: sessions of five other agents, Perl,
C++ and TypeScript, other HTML and Markdown, real logs, program dumps, prose and interface texts in eight languages.
"""

from __future__ import annotations

import argparse
import itertools
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from estimator_labels import label
from foldline._tokens.families import EDGE, FAMILIES
from foldline._tokens.long_texts import BITS, PAD, places

OUT = Path(__file__).resolve().parent.parent / "packages/foldline/src/foldline/_tokens"
WEIGHTS = {"session_": 3.0, "made_": 0.6}
"""What agents read counts more, noise less: its contexts are many and would fill the cells."""

DOUBT = (1, 60, 5)
"""Sightings of a cell for which half of what they say is believed: five bytes are seldom seen again in other kinds."""

SEEN = 0.996
"""Kinds left out of training (a quarter, three families) were estimated 0 to 0.5 % too high; this takes the middle."""


class Labels(NamedTuple):
    """The texts as `long_texts` lays them out, their labels, and pieces of about `piece` bytes.

    `inside` is 1 for the bytes of a text and 0 for the edges after it, which have a weight too: they end no token.
    """

    text: bytes
    inside: np.ndarray
    weight: np.ndarray
    edges: np.ndarray
    piece_of: np.ndarray
    document_of: np.ndarray
    raw_edges: np.ndarray
    ends: np.ndarray
    known: np.ndarray

    def of(self, family: str) -> tuple[np.ndarray, np.ndarray]:
        """The labels of `family`, and which documents have them."""
        f, n = FAMILIES.index(family), len(self.inside)
        ends, known = np.zeros(n, np.uint8), self.known[f].copy()
        for i in np.flatnonzero(known):
            part = self.ends[f, self.raw_edges[i] : self.raw_edges[i + 1]]
            ends[self.edges[i] : self.edges[i] + len(part)] = part
            # many tokens on one byte: the tokenizer's stream could not be laid over the text
            known[i] = part.max(initial=0) < 12
        return ends, known

    def by_piece(self, values: np.ndarray) -> np.ndarray:
        return np.bincount(self.piece_of, weights=values * self.inside, minlength=len(self.document_of))


def load(path: Path, piece: tuple[int, int]) -> Labels:
    """The labels of `path`, with pieces between the two sizes."""
    data = np.load(path)
    raw, raw_edges, rng = data["raw"].tobytes(), data["edges"], np.random.default_rng(0)
    docs = [raw[a:b] for a, b in itertools.pairwise(raw_edges)]
    sizes = [len(doc) + PAD + -len(doc) % 8 for doc in docs]
    edges = np.cumsum([0, *sizes])
    inside, weight = np.zeros(edges[-1], np.float32), np.zeros(edges[-1], np.float32)
    starts = []
    for doc, size, start, kind in zip(docs, sizes, edges, data["kind"]):
        inside[start : start + len(doc)] = 1
        weight[start : start + size] = next((w for name, w in WEIGHTS.items() if kind.startswith(name)), 1.0)
        cuts = np.cumsum(np.exp(rng.uniform(*np.log(piece), len(doc) // piece[0] + 1)).astype(int))
        starts += [start, *(start + cuts[cuts < len(doc) - piece[0] // 2])]
    marks = np.zeros(edges[-1], np.int32)
    marks[starts] = 1
    text = EDGE * PAD + b"".join(doc.ljust(size, EDGE) for doc, size in zip(docs, sizes)) + EDGE * PAD
    document_of = np.searchsorted(edges, starts, side="right") - 1
    return Labels(
        text, inside, weight, edges, np.cumsum(marks) - 1, document_of, raw_edges, data["ends"], data["known"]
    )


# --- the hashed tables ---


def cells(text: bytes) -> list[np.ndarray]:
    """The cell of every byte in each of the three tables; the bytes of a pair have the pair's."""
    found: list[list[np.ndarray]] = [[], [], []]
    size = len(text) - 2 * PAD
    for at in range(0, size, 1 << 20):
        n = min(1 << 20, size - at)
        for parts, rows in zip(found, places(np, text, PAD + at, n)):
            parts.append(np.repeat(rows.T.ravel().astype(np.uint32), n // rows.size))
    return [np.concatenate(parts) for parts in found]


@njit
def gain(at, ends, guess, weight, inside, missed, piece_of, pull, out):  # type: ignore[no-untyped-def]
    for i in range(at.shape[0]):
        if weight[i] > 0:
            out[at[i]] += (ends[i] - guess[i] + pull * missed[piece_of[i]] * inside[i]) * weight[i]


@njit
def add(at, step, ends, guess, inside, piece_of, missed):  # type: ignore[no-untyped-def]
    missed[:] = 0
    for i in range(at.shape[0]):
        guess[i] += step[at[i]]
        missed[piece_of[i]] += (ends[i] - guess[i]) * inside[i]


def additive(data: Labels, at: list[np.ndarray], family: str, rounds: int = 8) -> tuple[float, list[np.ndarray]]:
    """One value per cell, such that their sum is near the labels byte by byte and, after the first round, piece by piece."""
    ends, known = data.of(family)
    weight = data.weight * np.repeat(known, np.diff(data.edges))
    sizes = np.maximum(data.by_piece(data.inside), 1)
    base = float((ends * weight).sum() / weight.sum())
    guess, missed = np.full(len(ends), base, np.float32), np.zeros(len(sizes))
    values = [np.zeros(1 << BITS) for _ in at]
    mass = [np.bincount(a, weights=weight, minlength=1 << BITS) for a in at]
    for turn in range(rounds):
        for a, value, seen, doubt in zip(at, values, mass, DOUBT):
            out = np.zeros(1 << BITS)
            gain(a, ends, guess, weight, data.inside, missed / sizes, data.piece_of, 8.0 if turn else 0.0, out)
            step = (0.1 if turn else 1.0) * out / (seen + doubt)
            value += step
            add(a, step, ends, guess, data.inside, data.piece_of, missed)
    return base, values


def kinds_of_cells(points: np.ndarray, weight: np.ndarray, rounds: int = 25) -> tuple[np.ndarray, np.ndarray]:
    """Weighted k-means: 256 kinds of cells, by what the cell is worth in each family."""
    rng, points = np.random.default_rng(0), points.astype(np.float32)
    used = np.flatnonzero(weight > 1)
    chance = weight[used] ** 0.5
    means = points[rng.choice(used, 256, replace=False, p=chance / chance.sum())].copy()
    kind = np.zeros(len(points), np.int64)
    for _ in range(rounds):
        for i in range(0, len(points), 1 << 16):
            kind[i : i + (1 << 16)] = ((means * means).sum(1) - 2 * points[i : i + (1 << 16)] @ means.T).argmin(1)
        n = np.bincount(kind, weights=weight, minlength=256)
        for f in range(points.shape[1]):
            means[:, f] = np.bincount(kind, weights=weight * points[:, f], minlength=256) / np.maximum(n, 1e-9)
    return kind.astype(np.uint8), means


def refit(counts: np.ndarray, tokens: np.ndarray, start: np.ndarray, weight: np.ndarray, hold: float) -> np.ndarray:
    """Weights near `start` with a smaller relative error of whole pieces (ridge regression)."""
    scale = weight / (tokens + 5)
    scaled = counts * scale[:, None]
    left = (tokens - counts @ start) * scale
    penalty = hold * len(tokens) * (counts.mean(0) / counts.sum(1).mean() + 1e-5)
    return start + np.linalg.solve(scaled.T @ scaled + np.diag(penalty), scaled.T @ left)


def bytes_of(weights: np.ndarray) -> tuple[float, float, bytes]:
    """Weights as a unit, an offset and whole numbers below 256."""
    low = float(weights.min())
    unit = max(float(weights.max()) - low, 1e-6) / 255
    return unit, low, np.round((weights - low) / unit).astype(np.uint8).tobytes()


def counts_of(data: Labels, states: np.ndarray, counted: np.ndarray) -> np.ndarray:
    n = len(data.document_of)
    flat = np.bincount(data.piece_of.astype(np.int64) * 256 + states, weights=counted, minlength=n * 256)
    return flat.reshape(n, 256)


def large_tables(path: Path) -> bytes:
    """The file of the hashed tables: a kind for each cell, then for each family what each kind is worth."""
    data = load(path, (1000, 1400))
    at = cells(data.text)
    fitted = [additive(data, at, family) for family in FAMILIES]
    shared, starts = [], []
    for i, a in enumerate(at):
        seen = np.bincount(a, weights=data.weight, minlength=1 << BITS) + 0.05
        kind, means = kinds_of_cells(np.stack([values[i] for _, values in fitted], 1), seen)
        shared.append(kind)
        starts.append(means)
    counts = np.concatenate([counts_of(data, kind[a], data.weight > 0) for kind, a in zip(shared, at)], 1)
    weight = data.weight[data.edges[data.document_of]] ** 0.5
    body = b""
    for f, (family, (base, _)) in enumerate(zip(FAMILIES, fitted)):
        ends, known = data.of(family)
        tokens, usable = data.by_piece(ends), known[data.document_of] & (counts.sum(1) > 600)
        start = np.concatenate([means[:, f] + base / 3 for means in starts])
        worth = refit(counts[usable], tokens[usable], start, weight[usable], 1.0).reshape(3, 256)
        low = worth.min(1)
        unit = float((worth.max(1) - low).max()) / 255
        body += struct.pack("<ff", unit * SEEN, low.sum() * SEEN)
        body += np.round((worth - low[:, None]) / unit).astype(np.uint8).tobytes()
        off = np.abs(counts[usable] @ worth.ravel() / np.maximum(tokens[usable], 1) - 1).mean()
        print(f"{family}: {off:.2%} mean error of training pieces", flush=True)
    return b"".join(kind.tobytes() for kind in shared) + body


# --- the small tables ---

SMALL, LARGE = b"abcdefghijklmnopqrstuvwxyz", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
PLAIN = [
    *(b"aeiouy", b"bcdfghlmnprst", b"jkvwxzq", b"AEIOUY", b"BCDFGHJKLMNPQRSTVWXZ", b"0123456789", b" ", b"\n\r"),
    *(b"\t", b".,;:!?", b"()[]{}<>", b"\"'`", b"_-/", b"=+*&|@#$%^~\\"),
]
OTHER = [
    *(SMALL, LARGE, b"0123456789", b" ", b"\n\r\t", b".,;:!?()[]{}<>\"'`_-/=+*&|@#$%^~\\"),
    *map(range, (128, 144, 160, 176, 192, 0xD4, 0xE0, 0xE1, 0xE4), (144, 160, 176, 192, 0xD4, 0xE0, 0xE1, 0xE4, 256)),
]
"""Where the classes of bytes start from, in texts that are mostly ASCII and in others."""


@njit
def reassign(quad, n, tokens, maps, before, after, means, order, start, which):  # type: ignore[no-untyped-def]
    """Moves each byte of one map to the class in which the quads that hold it cost least."""
    for v in range(256):
        best, least = maps[which, v], np.inf
        for c in range(16):
            maps[which, v], cost = c, 0.0
            for place in (which, which + 2):
                for k in range(start[place, v], start[place, v + 1]):
                    i = order[place, k]
                    b = before[maps[0, quad[0, i]] * 16 + maps[1, quad[1, i]]]
                    a = after[maps[0, quad[2, i]] * 16 + maps[1, quad[3, i]]]
                    for f in range(tokens.shape[1]):
                        mean = means[b * 16 + a, f]
                        cost += mean * (n[i] * mean - 2 * tokens[i, f])
            if cost < least - 1e-9:
                best, least = c, cost
        maps[which, v] = best


def cluster(n: np.ndarray, tokens: np.ndarray, before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, float]:
    """Groups the 256 pairs on either side into 16 each, in place; returns what each meeting is worth, and the loss."""
    eye = np.eye(16)
    for _ in range(8):
        for mine, other, seen, ends in ((before, after, n, tokens), (after, before, n.T, tokens.transpose(1, 0, 2))):
            near, near_ends = seen @ eye[other], np.einsum("abf,bc->acf", ends, eye[other])
            means = np.einsum("ac,abf->cbf", eye[mine], near_ends) / (eye[mine].T @ near + 1e-9)[..., None]
            cost = np.einsum("ab,cbf->ac", near, means**2) - 2 * np.einsum("abf,cbf->ac", near_ends, means)
            mine[:] = cost.argmin(1)
    met = eye[before].T @ n @ eye[after]
    ends = np.einsum("ac,abf,bd->cdf", eye[before], tokens, eye[after])
    return (ends / (met + 1e-9)[..., None]).reshape(256, -1), -float((ends**2 / (met + 1e-9)[..., None]).sum())


def classes(
    quad: np.ndarray, n: np.ndarray, tokens: np.ndarray, groups: Sequence[Sequence[int]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two maps of bytes to 16 classes, two of their pairs to 16: what tells most of where tokens end.

    The maps start from the `groups` and move a byte at a time.
    """
    rng = np.random.default_rng(1)
    first = np.array([next((i for i, group in enumerate(groups, 1) if byte in group), 0) for byte in range(256)])
    maps = np.stack([first, first]).astype(np.int64)
    order = np.stack([np.argsort(row, kind="stable") for row in quad])
    start = np.stack([np.searchsorted(np.sort(row), np.arange(257)) for row in quad])

    def pairs() -> tuple[np.ndarray, np.ndarray]:
        flat = (maps[0, quad[0]] * 16 + maps[1, quad[1]]) * 256 + maps[0, quad[2]] * 16 + maps[1, quad[3]]
        sums = [np.bincount(flat, weights=w, minlength=1 << 16).reshape(256, 256) for w in (n, *tokens.T)]
        return sums[0], np.stack(sums[1:], 2)

    tries = [(rng.integers(0, 16, 256), rng.integers(0, 16, 256)) for _ in range(8)]
    before, after = min(tries, key=lambda pair: cluster(*pairs(), *pair)[1])
    for _ in range(6):
        for which in (0, 1):
            means, _ = cluster(*pairs(), before, after)
            reassign(quad, n, tokens, maps, before, after, means, order, start, which)
    cluster(*pairs(), before, after)
    return maps, before, after


def small_tables(path: Path, plain: bool) -> bytes:
    """One half of the file of the small tables, from texts that are mostly ASCII (`plain`) or are not."""
    data = load(path, (60, 500))
    text = np.frombuffer(data.text, np.uint8)[PAD:-PAD]
    high = np.add.reduceat((text > 127) * data.inside, data.edges[:-1]) / np.diff(data.raw_edges)
    weight = data.weight * data.inside * np.repeat(high < 0.12 if plain else high >= 0.08, np.diff(data.edges))
    chosen = np.flatnonzero((weight > 0) & (np.random.default_rng(0).random(len(weight)) < 0.6))
    four = np.ndarray((len(text),), "<u4", data.text, PAD - 1, (1,))[chosen]
    found, place = np.unique(four, return_inverse=True)
    labels: dict[str, Any] = {family: data.of(family) for family in FAMILIES}
    n, *ends = (
        np.bincount(place, weights=weight[chosen] * values)
        for values in (np.ones(len(chosen)), *(labels[f][0][chosen] for f in ("o200k", "gemma", "llama", "qwen")))
    )
    quad = np.stack([(found >> (8 * k)) & 255 for k in range(4)]).astype(np.int64)
    kept = n >= 2
    maps, before, after = classes(quad[:, kept], n[kept], np.stack(ends, 1)[kept], PLAIN if plain else OTHER)
    whole = np.frombuffer(data.text, np.uint8)
    met = maps[0, whole[:-1]] * 16 + maps[1, whole[1:]]
    states = before[met[PAD - 1 : PAD - 1 + len(text)]] * 16 + after[met[PAD + 1 : PAD + 1 + len(text)]]
    counts, importance = (
        counts_of(data, states, data.inside),
        (data.by_piece(weight) / np.maximum(data.by_piece(data.inside), 1)) ** 0.5,
    )
    body = b"".join(m.astype(np.uint8).tobytes() for m in (maps[0] << 4, maps[1], before << 4, after))
    for values, known in labels.values():
        tokens, usable = data.by_piece(values), known[data.document_of] & (importance > 0.2) & (counts.sum(1) > 20)
        trusted = weight * np.repeat(known, np.diff(data.edges))
        start = np.bincount(states, weights=trusted * values, minlength=256) + 0.3
        start /= np.bincount(states, weights=trusted, minlength=256) + 1
        worth = refit(counts[usable], tokens[usable], start, importance[usable], 0.02)
        unit, low, row = bytes_of(np.clip(worth, -1, 3))
        body += struct.pack("<ff", unit, low) + row
    return body


def main() -> None:
    """Labels texts, or fits the tables to labels."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, help_text in (("label", "tokenize FOLDER into LABELS"), ("fit", "make the tables from LABELS")):
        command = commands.add_parser(name, help=help_text)
        if name == "label":
            command.add_argument("folder", type=Path)
            command.add_argument(
                "--claude-share", type=float, default=0.4, help="share of the texts for ctok, which is slow"
            )
        command.add_argument("labels", type=Path)
    asked = parser.parse_args()
    if asked.command == "label":
        label(asked.folder, asked.labels, asked.claude_share)
        return
    (OUT / "estimate_long.bin").write_bytes(large_tables(asked.labels))
    (OUT / "estimate_short.bin").write_bytes(small_tables(asked.labels, True) + small_tables(asked.labels, False))


if __name__ == "__main__":
    main()
