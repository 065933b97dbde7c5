"""How far the token estimate is from real tokenizers, and what it costs.

    python benchmarks/estimator.py [--text FOLDER] [--corpus FOLDER] [--runs N]

FOLDER has one subfolder per kind of text with UTF-8 files, of which each is cut into messages of 0.5 to 16 kB; the corpus
is a folder of agents' session files, of which each string of 500 bytes or more is a message. Without either, the texts
are those of this Python's library and kinds that are made on the spot, so that one run always prints something.

The tokenizers are those that are installed: splintr-rs (all but Claude's), ctok (a reconstruction of Claude's), and for
speed tiktoken, which takes its vocabulary from TIKTOKEN_CACHE_DIR. What is missing is said, not guessed.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import random
import statistics
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "packages/foldline/src"))

from foldline._tokens.estimate import FAMILIES, estimate_all
from foldline._tokens.exact import exact
from foldline.extend import estimate

SPLINTR = {"o200k": "o200k_base", "gemma": "gemma3", "llama": "llama3", "qwen": "qwen3", "deepseek": "deepseek_v3",
           "mistral": "mistral_v3", "glm": "glm4", "kimi": "kimi_k2", "cl100k": "cl100k_base"}  # fmt: skip
CTOK = {"claude3": "3.0", "claude4.7": "4.8"}
LEAST = 500
PER_KIND = 300_000
"""Bytes of each kind at most: ctok counts about 0.1 MB a second."""


def counters() -> tuple[dict[str, Callable[[str], int]], list[str]]:
    """A counting function for each family whose tokenizer is installed, and what is missing."""
    found: dict[str, Callable[[str], int]] = {}
    missing = []
    try:
        import splintr

        for family, name in SPLINTR.items():
            coder = splintr.Tokenizer.from_pretrained(name)
            encode = coder.encode if coder.family == "Spm" else coder.encode_ordinary
            found[family] = lambda text, encode=encode: len(encode(text))
    except ImportError:
        missing.append("splintr-rs is not installed: no figures for " + ", ".join(SPLINTR))
    try:
        import ctok

        for family, version in CTOK.items():
            frame = ctok.tokenize("a", version).count("⟨pad⟩")
            found[family] = lambda text, version=version, frame=frame: ctok.token_count(text, version) - frame
    except ImportError:
        missing.append("ctok is not installed: no figures for " + ", ".join(CTOK))
    return found, missing


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


def messages_of(path: Path) -> list[str]:
    """The long strings of a session file, each once."""
    text = path.read_text("utf-8", errors="ignore")
    found: dict[str, None] = {}
    for part in [text] if text.lstrip()[:1] == "[" or path.suffix == ".json" else text.splitlines():
        try:
            found.update(dict.fromkeys(strings(json.loads(part))))
        except ValueError:
            continue
    return [string for string in found if len(string) >= LEAST]


def cut(text: str, rng: random.Random) -> Iterator[str]:
    """Pieces of 0.5 to 16 kB, as many small ones as large ones on a logarithmic scale."""
    at = 0
    while len(text) - at >= LEAST:
        size = int(LEAST * 32 ** rng.random())
        yield text[at : at + size]
        at += size


def texts(asked: argparse.Namespace) -> dict[str, list[str]]:
    """Messages by kind."""
    rng, found = random.Random(5), dict[str, list[str]]()
    if asked.corpus:
        for path in sorted(asked.corpus.rglob("*.json*")):
            found.setdefault("session: " + path.relative_to(asked.corpus).parts[0], []).extend(messages_of(path))
    if asked.text:
        for path in sorted(asked.text.rglob("*")):
            if path.is_file():
                text = path.read_text("utf-8", errors="ignore")
                found.setdefault(path.relative_to(asked.text).parts[0], []).extend(cut(text, rng))
    if not found:
        library = sorted(Path(sysconfig.get_path("stdlib")).glob("[n-z]*.py"))
        found["python"] = [piece for path in library for piece in cut(path.read_text("utf-8", errors="ignore"), rng)]
        noise = b"".join(hashlib.sha256(str(i).encode()).digest() for i in range(2000))
        found["base64"] = list(cut(base64.encodebytes(noise).decode(), rng))
        found["hex"] = list(cut("\n".join(noise[i : i + 20].hex() for i in range(0, len(noise), 20)), rng))
        rows = [
            {"id": rng.randrange(10**9), "name": f"item {i}", "price": round(rng.random() * 99, 2)} for i in range(2000)
        ]
        found["json"] = list(cut(json.dumps(rows), rng))
    return {kind: sample(pieces, rng) for kind, pieces in found.items()}


def sample(pieces: list[str], rng: random.Random) -> list[str]:
    kept, size = [], 0
    for piece in rng.sample(pieces, len(pieces)):
        bytes_of = len(piece.encode("utf-8", "ignore"))
        if bytes_of >= LEAST and size < PER_KIND:
            kept.append(piece.encode("utf-8", "ignore").decode())
            size += bytes_of
    return kept


def mean(values: list[float]) -> float:
    return statistics.fmean(values) if values else 0.0


def nearness(kinds: dict[str, list[str]], count: dict[str, Callable[[str], int]]) -> None:
    """Errors by family and by kind, beside characters ÷ 4."""
    by_kind: dict[str, dict[str, list[float]]] = {kind: {} for kind in kinds}
    print(f"{'family':10} {'messages':>8} {'mean':>7} {'95th':>7} {'bias':>7}   {'chars÷4: mean':>14} {'95th':>7}")
    for family in [name for name in FAMILIES if name in count]:
        ours, theirs = [], []
        for kind, pieces in kinds.items():
            real = [max(count[family](piece), 1) for piece in pieces]
            errors = [estimate(piece, family) / n - 1 for piece, n in zip(pieces, real)]
            by_kind[kind][family] = [abs(error) for error in errors]
            ours += errors
            theirs += [abs(len(piece) / 4 / n - 1) for piece, n in zip(pieces, real)]
        sizes = sorted(abs(error) for error in ours)
        high, high_theirs = sizes[int(len(sizes) * 0.95)], sorted(theirs)[int(len(theirs) * 0.95)]
        print(
            f"{family:10} {len(ours):8} {mean(sizes):7.1%} {high:7.1%} {mean(ours):+7.1%}   {mean(theirs):14.1%} {high_theirs:7.1%}"
        )
    names = [name for name in FAMILIES if name in count]
    print(f"\nmean error by kind\n{'':24} " + " ".join(f"{name:>9}" for name in names))
    for kind, errors_of in sorted(by_kind.items()):
        print(f"{kind:24} " + " ".join(f"{mean(errors_of[name]):9.1%}" for name in names))


def seconds(what: Callable[[int], object], runs: int) -> tuple[float, float]:
    """CPU seconds: the median of several runs, which are told their number, and the best."""
    taken = []
    for turn in range(runs):
        start = time.process_time()
        what(turn)
        taken.append(time.process_time() - start)
    return statistics.median(taken), min(taken)


def speed(kinds: dict[str, list[str]], runs: int) -> None:
    """Megabytes a second on long texts, microseconds on messages; no text is given twice, which would cost nothing."""
    mixed = "\n".join(piece for pieces in zip(*kinds.values()) for piece in pieces)
    mixed = (mixed * (4_000_000 // len(mixed) + 1))[:4_000_000]
    texts = {"all kinds in turn": mixed} | {kind: ("".join(p) * 9)[:2_000_000] for kind, p in sorted(kinds.items())}
    texts |= {"spaces": " " * 1_000_000, "one letter": "a" * 1_000_000}
    print(f"\n{'long texts, MB/s':24} {'estimate':>18} {'tiktoken, exact':>18}")
    for name, text in texts.items():
        size = len(text.encode()) / 1e6
        middle, best = seconds(lambda turn, text=text: estimate(text[turn:]), runs)
        part = text[:1_000_000]
        rate = f"{'not at hand':>14}"
        if exact("") is not None:
            rate = f"{len(part.encode()) / 1e6 / seconds(lambda turn, part=part: exact(part[turn:]), 3)[0]:14.1f}"
        print(f"{name:24} {size / middle:9.0f} (best {size / best:3.0f}) {rate}")
    print(f"\n{'µs a message':24} {'alone':>9} {'in 1,000':>9} {'again':>9}")
    for length in (10, 100, 500, 2000, 5000):
        cuts = [mixed[i : i + length] for i in range(0, 4_000_000 - length, 4_000_000 // 1000)]
        alone = seconds(lambda turn, cuts=cuts: [estimate(f"{turn}a{cut}"[: len(cut)]) for cut in cuts], runs)[0]
        batch = seconds(lambda turn, cuts=cuts: estimate_all([f"{turn}b{cut}"[: len(cut)] for cut in cuts]), runs)[0]
        again = seconds(lambda turn, cuts=cuts: [estimate(cut) for cut in cuts], runs)[1]
        print(f"{length:6,} characters{'':7} " + " ".join(f"{1e6 * t / len(cuts):9.2f}" for t in (alone, batch, again)))


def main() -> None:
    """Prints both parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, help="folder with one subfolder per kind of text")
    parser.add_argument("--corpus", type=Path, help="folder of session files")
    parser.add_argument("--runs", type=int, default=7)
    asked = parser.parse_args()
    kinds = {kind: pieces for kind, pieces in texts(asked).items() if pieces}
    count, missing = counters()
    if count:
        nearness(kinds, count)
    print("".join(f"\n{line}" for line in missing))
    speed(kinds, asked.runs)


if __name__ == "__main__":
    main()
