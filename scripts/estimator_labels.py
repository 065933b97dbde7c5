"""Texts and labels for train_estimator.py: kinds of text that are made, and how many tokens end on each byte."""

from __future__ import annotations

import base64
import json
import random
import re
import struct
import textwrap
import time
import unicodedata
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from foldline._tokens.families import FAMILIES

SPLINTR = {"o200k": "o200k_base", "gemma": "gemma3", "llama": "llama3", "qwen": "qwen3", "deepseek": "deepseek_v3",
           "mistral": "mistral_v3", "glm": "glm4", "kimi": "kimi_k2", "cl100k": "cl100k_base"}  # fmt: skip
CTOK = {"claude3": "3.0", "claude4.7": "4.8"}
HEX = "0123456789abcdef"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
RUNS = LETTERS + "0123456789" + "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~" * 3 + " \n\t\r─═█│━…·\0" * 8
EMOJI = [chr(c) for low, high in ((0x1F300, 0x1F650), (0x1F680, 0x1F6FC), (0x1F900, 0x1F9FF), (0x2600, 0x27BF))
         for c in range(low, high)]  # fmt: skip
COMMON_EMOJI = "😀😂🤣😊😍🎉🔥✅❌🚀💡👍🙏✨🐛📝⚠❤"


# --- kinds of text that are made ---


def some(rng: random.Random, alphabet: str, n: int) -> str:
    return "".join(rng.choices(alphabet, k=n))


def words_of(rng: random.Random, texts: list[str]) -> list[str]:
    return [w for w in rng.choice(texts).split() if 2 < len(w) < 30][:400] or ["x"]


def blob(rng: random.Random, texts: list[str], n: int) -> bytes:
    """Bytes as programs have them: noise, compressed text, text, small integers, gaps, records."""
    kind, out = rng.randrange(6), b""
    if kind == 0:
        return rng.randbytes(n)
    if kind == 1:
        return zlib.compress(rng.choice(texts).encode() * 2)[:n].ljust(200, b"\1")
    if kind == 2:
        return rng.choice(texts).encode()[:n]
    while len(out) < n:
        if kind == 3:
            out += struct.pack("<I", rng.randrange(1 << rng.choice([4, 8, 12, 20, 32])))
        elif kind == 4:
            out += bytes(rng.randrange(1, 40)) + rng.randbytes(rng.randrange(1, 24))
        else:
            code = rng.choice([b"\x48\x89\xe5", b"\xff\xff\xff", b"\0\0\0\0\0", b"\x0f\x1f\x44", b"\x48\x8b"])
            out += struct.pack("<QIHH", rng.randrange(1 << 24) * 16, rng.randrange(1 << 16), 3, 1) + code
    return out[:n]


def base64_text(rng: random.Random, texts: list[str]) -> str:
    text = base64.b64encode(blob(rng, texts, rng.randrange(400, 6000))).decode()
    if rng.random() < 0.2:
        text = text.replace("+", "-").replace("/", "_").rstrip("=")
    width = rng.choice([0, 64, 72, 76, 76])
    text = "\n".join(textwrap.wrap(text, width)) if width else text
    armour = "-----BEGIN CERTIFICATE-----\n%s\n-----END CERTIFICATE-----\n"
    return rng.choice(["%s", "%s\n", "data:image/png;base64,%s", '"data": "%s"', armour]) % text


def hex_text(rng: random.Random, texts: list[str]) -> str:
    data, kind = blob(rng, texts, rng.randrange(300, 3000)), rng.randrange(8)
    text, words = data.hex(), words_of(rng, texts)
    if kind == 0:
        return "\n".join(" " + data[i : i + 16].hex(" ") for i in range(0, len(data), 16))
    if kind == 1:
        rows = [(i, data[i : i + 16]) for i in range(0, len(data), 16)]
        shown = ["".join(chr(c) if 32 <= c < 127 else "." for c in row) for _, row in rows]
        return "\n".join(f"{i:08x}: {row.hex(' ', 2)}  {s}" for (i, row), s in zip(rows, shown))
    if kind == 2:
        return rng.choice([text, text.upper(), data.hex(" ")])
    if kind in (3, 4):
        return rng.choice(["", ", "]).join(rng.choice(["\\x%02x", "0x%02x"]) % byte for byte in data)
    if kind == 5:
        return "\n".join(
            f"{some(rng, HEX, 64)}  {rng.choice(['', './', '/usr/bin/'])}{rng.choice(words)}" for _ in range(40)
        )
    if kind == 6:
        return "\n".join(
            some(rng, HEX, rng.choice([7, 8, 40])) + " " + " ".join(rng.choices(words, k=6)) for _ in range(40)
        )
    return "\n".join("-".join(some(rng, HEX, q) for q in (8, 4, 4, 4, 12)) for _ in range(50))


def log_text(rng: random.Random, texts: list[str]) -> str:
    words, form, out = words_of(rng, texts), rng.randrange(5), []
    for _ in range(60):
        said, one, n = (
            " ".join(rng.choices(words, k=rng.randrange(2, 9))),
            rng.choice(words),
            rng.randrange(10 ** rng.randrange(1, 8)),
        )
        day = f"20{rng.randrange(10, 30)}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"
        hour = f"{rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02}"
        stamp = rng.choice(
            [f"{day}T{hour}.{n % 1000:03}Z", f"{day} {hour},{n % 1000:03}", f"[{day} {hour}]", f"Nov {n % 28:2} {hour}"]
        )
        level = rng.choice(["INFO", "DEBUG", "WARN", "ERROR", "info"])
        address = ".".join(str(rng.randrange(256)) for _ in range(4))
        out.append([
            f"{stamp} {level} {one}: {said} {rng.choice(words)}={n}",
            f'{address} - - [{stamp}] "GET /{one} HTTP/1.1" {rng.choice([200, 301, 404, 500])} {n} "-" "Mozilla/5.0"',
            f"{stamp} host {one}[{n}]: {said}",
            f"-rw-r--r-- 1 root root {n:8} {stamp} {one}",
            f"{n:6} {one} {rng.random() * 100:5.1f} {n} {said}",
        ][form])  # fmt: skip
    return "\n".join(out)


def table_text(rng: random.Random, texts: list[str]) -> str:
    words, between = words_of(rng, texts), rng.choice([",", ", ", "\t", " | ", ";"])

    def cell() -> Any:
        return rng.choice(
            [rng.choice(words), round(rng.gauss(0, 10 ** rng.randrange(6)), rng.randrange(7)), rng.randrange(10**9)]
        )

    if rng.random() < 0.5:
        return "\n".join(between.join(str(cell()) for _ in range(6)) for _ in range(60))
    rows = [
        {word: rng.choice([cell(), True, None, [1, 2], some(rng, LETTERS, 12)]) for word in words[:4]}
        for _ in range(25)
    ]
    return json.dumps(rows, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, None, 2]))


def wrapped_text(rng: random.Random, texts: list[str]) -> str:
    text = rng.choice(texts)
    start = rng.randrange(max(1, len(text) - 5000))
    text, kind, first = text[start : start + 5000], rng.randrange(8), rng.randrange(900)
    lines = text.split("\n")
    return [
        lambda: json.dumps({"role": "tool", "content": text}, ensure_ascii=False),
        lambda: json.dumps({"text": text[:1500]}),
        lambda: "\n".join(f"{i:6}\t{line}" for i, line in enumerate(lines, first)),
        lambda: "\n".join(f"src/main.py:{i}:{line}" for i, line in enumerate(lines, first)),
        lambda: "@@ -1,7 +1,9 @@\n" + "\n".join(rng.choice("  +-") + line for line in lines),
        lambda: text.upper(),
        lambda: json.dumps(json.dumps([text[:2500]], ensure_ascii=False), ensure_ascii=False),
        lambda: "\n".join("> " + line for line in lines),
    ][kind]()


def emoji_text(rng: random.Random, texts: list[str]) -> str:
    words, share, out = words_of(rng, texts), rng.choice([0.1, 0.3, 1]), []
    for _ in range(400):
        one = rng.choice(EMOJI) if rng.random() < 0.6 else rng.choice(COMMON_EMOJI)
        one += rng.choices(["", rng.choice("🏻🏼🏽🏾🏿"), "\ufe0f", "\u200d" + rng.choice(EMOJI)], [6, 1, 1, 1])[0]
        out.append(one + rng.choice(["", "\n", " ", '","']) if rng.random() < share else rng.choice(words) + " ")
    return "".join(out)


def run_text(rng: random.Random, texts: list[str]) -> str:
    out = []
    for _ in range(40):
        out.append(rng.choice(RUNS) * int(2 ** rng.uniform(1, 11)) + rng.choice(["", "\n", " "]))
        if rng.random() < 0.3:
            out.append(some(rng, RUNS, rng.randrange(2, 5)) * rng.randrange(4, 200))
    return "".join(out)


def strange_text(rng: random.Random, texts: list[str]) -> str:
    low, high = rng.choice([(0, 256), (0x250, 0x3000), (0x250, 0xD7FF), (0x10000, 0x1FFFF)])
    return "".join(chr(rng.randrange(low, high)) for _ in range(1200))


MADE = {
    base64_text: 320,
    hex_text: 320,
    log_text: 160,
    table_text: 160,
    wrapped_text: 320,
    emoji_text: 120,
    run_text: 40,
    strange_text: 8,
}


# --- labels: how many tokens end on each byte ---


class Splintr:
    """A vocabulary of splintr-rs."""

    def __init__(self, name: str) -> None:
        import splintr

        self.coder = splintr.Tokenizer.from_pretrained(name)
        self.ids = self.coder.encode if self.coder.family == "Spm" else self.coder.encode_ordinary
        self.sizes: dict[int, int] = {}

    def ends(self, text: str) -> np.ndarray:
        for token in (ids := self.ids(text)):
            if token not in self.sizes:
                self.sizes[token] = len(bytes(self.coder.decode_token_bytes(token)))
        n = len(text.encode())
        at = np.minimum(np.cumsum([self.sizes[token] for token in ids]), n) - 1
        return np.minimum(np.bincount(np.maximum(at, 0), minlength=n), 255).astype(np.uint8)


class Ctok:
    """A family of ctok, whose tokens name marks (of case and word edges) beside the text that they cover."""

    def __init__(self, version: str) -> None:
        import ctok

        self.tokenize, self.version = ctok.tokenize, version
        self.frame = ctok.tokenize("a", version).count("⟨pad⟩")

    def ends(self, text: str) -> np.ndarray:
        widths = [len(c.encode()) for c in text]
        count, at, byte, part = np.zeros(sum(widths), np.int64), 0, 0, 0
        for token in self.tokenize(text, self.version)[self.frame :]:
            part = part + len(re.findall("⟨0x..⟩", token)) if "⟨0x" in token else 0
            while part and at < len(text) and part >= widths[at]:
                part -= widths[at]
                byte, at = byte + widths[at], at + 1
            for c in "" if "⟨0x" in token else re.sub("⟨[a-z]+⟩", "", token):
                # the marks imply single spaces; fold and normalisation may hide a character or two
                ahead = next((k for k in range(6) if text[at + k : at + k + 1].lower() == c.lower()), 0)
                byte, at = byte + sum(widths[at : at + ahead + 1]), min(at + ahead + 1, len(text))
            count[max(min(byte + part, len(count)) - 1, 0)] += 1
        return np.minimum(count, 255).astype(np.uint8)


def label(folder: Path, out: Path, share: float) -> None:
    """Tokenizes every text of `folder` and the made ones by every family; Claude's, which is slow, a `share` of them."""
    rng = random.Random(1)
    docs = [(p.parent.name, p.read_text("utf-8", errors="ignore")) for p in sorted(folder.rglob("*.txt"))]
    texts = [text for _, text in docs if text.strip()]
    docs += [(f"made_{make.__name__}", make(rng, texts)) for make, n in MADE.items() for _ in range(2 * n)]
    docs = [(kind, unicodedata.normalize("NFC", text)) for kind, text in docs if text]
    raws = [text.encode() for _, text in docs]
    edges = np.cumsum([0] + [len(raw) for raw in raws])
    ends = np.zeros((len(FAMILIES), edges[-1]), np.uint8)
    known = np.ones((len(FAMILIES), len(docs)), bool)
    known[[FAMILIES.index(family) for family in CTOK]] = [rng.random() < share for _ in docs]
    for f, family in enumerate(FAMILIES):
        start, coder = time.time(), Splintr(SPLINTR[family]) if family in SPLINTR else Ctok(CTOK[family])
        for i in np.flatnonzero(known[f]):
            ends[f, edges[i] : edges[i + 1]] = coder.ends(docs[i][1])
        print(f"{family}: {time.time() - start:.0f} s", flush=True)
    np.savez(
        out, raw=np.frombuffer(b"".join(raws), np.uint8), edges=edges, ends=ends, known=known, kind=[k for k, _ in docs]
    )
