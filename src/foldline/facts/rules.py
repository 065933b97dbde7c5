"""What a user's sentence is to the work: a rule that stands, an order for one turn, one taken back, or none of these.

A linear model decides. Each language has a table of words, every word with the marks of what it does (`n` denies, `x`
limits, `t` names a task …), and weights of marks, of marks side by side, of marks in one sentence, and of some words
themselves. `scripts/train_rules.py` makes the tables and prints what they are worth; nothing here knows a word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import combinations, pairwise, repeat
from operator import add
from typing import Literal, NamedTuple

import msgspec

from foldline.facts.splitting import BULLET, sentences

Lifetime = Literal["none", "standing", "once", "back"]

LIFETIMES: tuple[Lifetime, ...] = ("standing", "once", "back")
"""In the order of the weights."""

UNSPACED = frozenset(("zh", "ja", "ko"))
"""Whose words are looked up at every letter: no spaces part them, or endings carry what counts."""

SCALE = 64
"""What a weight of one logit is in the tables."""

SKIPPED = "_"
"""The mark of words that the table does not have."""

_STEP, _HALF = 1 << 20, 1 << 19
_LONGEST = 24
"""Marks that are judged together: a longer sentence is judged in parts, which overlap by a third."""

_SURE = 3 * SCALE
"""What a part of a long sentence must be worth: with many parts one is soon mistaken."""

_READ = 2_000
"""Letters of a sentence that are read."""

_SHORTEST_STEM = 3
_SIGNS = "¤?!:;,…¿0"
"""What is no word and has itself as its mark."""

_LITERAL = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」|『[^』\n]*』"
    r"|https?://\S+|<[^<>\n]{1,80}>|\[[^\]\n]{1,80}\]|[\w.+-]{1,60}@[\w-]{1,60}\.\w+"
    r"|[a-z0-9_.~-]{0,80}/[a-z0-9_./*~-]*|[a-z0-9_-]{0,60}\.[a-z][a-z0-9_.]*|[a-z0-9]{1,40}_[a-z0-9_]*|--?[a-z][a-z-]+",
    re.DOTALL,
)
"""What is quoted, and names of files, pages and code: what they say is not what the user says."""

_MAY_QUOTE = re.compile(r"[`\"“„«「『/<\[@_]|\.[a-z]|--?[a-z]")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)*|[¤?!:;,…¿]|\.{3}")
_WIDE = str.maketrans("？！：；，、’＂", "?!:;,,'\"")
_SAMPLE = 4_000
"""Letters of a message from which its language is told."""

_LABEL = re.compile(r"\W*[\w-]+(?: [\w-]+)? ?[:=：] ?\S+")
"""A name and its value."""

_TITLE = 60
"""Letters of the longest line over a list that says what its items are."""


class Words(NamedTuple):
    """One language's table, ready to be summed: the three weights of a feature are one number."""

    marks: dict[str, str]
    starts: dict[str, int]
    """How many words, or letters, the longest phrase has that starts with a word or letter."""
    stems: dict[str, str]
    weights: dict[str, int]
    pairs: dict[tuple[str, str], int]
    """Of two marks anywhere in a sentence, in the order of the alphabet."""
    links: _Links
    leaps: _Links
    firsts: _Links
    unspaced: bool


class _Links(dict[tuple[str, str], int]):
    """What two words are worth, each of which may have several marks; `between` says how they stand to each other."""

    def __init__(self, weights: dict[str, int], between: str) -> None:
        super().__init__()
        self._weights, self._between = weights, between

    def __missing__(self, pair: tuple[str, str]) -> int:
        worth = self[pair] = sum(map(self._weights.get, _linked(pair, self._between), repeat(0)))
        return worth


def _linked(pair: tuple[str, str], between: str) -> Iterator[str]:
    return (a + between + b for a in pair[0] for b in pair[1])


def rules_in(message: str, *, margin: float = 0.0) -> list[tuple[str, Lifetime]]:
    """The sentences of a user's message that are more than its task, verbatim, each with how long it is to hold.

    The items of a list are what the line above it calls them ("A few rules:", "Leave these files alone:"); that line
    is told where an item needs it. `margin` is in logits, as in `lifetime`.
    """
    language = language_of(message)
    found: list[tuple[str, Lifetime]] = []
    title = ""
    above: Lifetime = "none"
    for sentence in sentences(message):
        text = sentence.text
        kind = lifetime(text, language=_script(text) or language, margin=margin)
        short = len(text) <= _TITLE
        if sentence.titled or (short and _LABEL.fullmatch(text)):
            title, above = text, kind if short and sentence.heads else "none"
            continue
        if not sentence.item:
            above = "none"
        elif kind == "none" != above and not text.endswith(("?", "？")):
            if title:
                found.append((title, above))
            title, kind = "", above
        if kind != "none":
            found.append((text, kind))
    return found


def lifetime(sentence: str, *, language: str = "", margin: float = 0.0) -> Lifetime:
    """How long what a user's sentence orders is to hold; `none` where it orders nothing beyond the task itself.

    `margin` is in logits: how much more than nothing must speak for it.
    """
    words = _words(language or language_of(sentence))
    if words is None:
        return "none"
    text = normal(sentence[:_READ])
    marks = marks_of(text, words)
    if len(marks) <= _LONGEST:
        parts = [marks]
    else:
        parts = [marks[at : at + _LONGEST] for at in range(0, len(marks), _LONGEST * 2 // 3)]
    best, found = int(margin * SCALE) + (0 if len(parts) == 1 else _SURE), 0
    for part in parts:
        worth = _worth(part, text if len(parts) == 1 else "", words)
        for place, score in enumerate(_three(worth), 1):
            if score > best:
                best, found = score, place
    return LIFETIMES[found - 1] if found else "none"


def _worth(marks: list[str], text: str, words: Words) -> int:
    """The sum of the weights of all features of a sentence."""
    get, framed = words.weights.get, ["^", *marks, "$"]
    seen = sorted(set("".join(marks)) - {SKIPPED})
    worth = words.weights["bias"] + sum(map(get, seen, repeat(0)))
    worth += sum(map(words.pairs.get, combinations(seen, 2), repeat(0)))
    worth += sum(map(words.links.__getitem__, set(pairwise(framed))))
    worth += sum(map(words.leaps.__getitem__, set(zip(framed, framed[2:]))))
    worth += sum(map(words.firsts.__getitem__, set(zip(repeat(framed[1]), marks[1:]))))
    worth += sum(map(get, form(text, len(marks)), repeat(0)))
    return worth + sum(map(get, spelled(text, words.unspaced), repeat(0)))


def _three(worth: int) -> Iterator[int]:
    for _ in LIFETIMES:
        score = (worth + _HALF) % _STEP - _HALF
        worth = (worth - score) // _STEP
        yield score


# --- features: the script that trains takes them from here ---


def names(text: str, words: Words) -> Iterator[str]:
    """The features of a normal text by name, as often as they count."""
    marks = marks_of(text, words)[:_LONGEST]
    framed = ["^", *marks, "$"]
    seen = sorted(set("".join(marks)) - {SKIPPED})
    yield from (*seen, *map("&".join, combinations(seen, 2)), *form(text, len(marks)), *spelled(text, words.unspaced))
    for between, pairs in (
        ("", pairwise(framed)),
        (".", zip(framed, framed[2:])),
        ("~", zip(repeat(framed[1]), marks[1:])),
    ):
        for pair in set(pairs):
            yield from _linked(pair, between)


def normal(sentence: str) -> str:
    """A sentence without its bullet, in small letters, with signs for literals and numbers."""
    bullet = BULLET.match(sentence)
    text = sentence[bullet.end() if bullet else 0 :].lower().translate(_WIDE).replace("**", "")
    if _MAY_QUOTE.search(text):
        text = _LITERAL.sub(" ¤ ", text)
    return _NUMBER.sub("0", text)


def marks_of(text: str, words: Words) -> list[str]:
    """What the words of a normal text do, one after the other; the longest phrase counts."""
    return _unspaced_marks(text, words) if words.unspaced else _spaced_marks(text, words)


def _spaced_marks(text: str, words: Words) -> list[str]:
    tokens, known = _TOKEN.findall(text), words.marks
    marks: list[str] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        for size in range(words.starts.get(token, 1), 1, -1):
            mark = known.get(" ".join(tokens[at : at + size]))
            if mark and at + size <= len(tokens):
                break
        else:
            size, mark = 1, known.get(token)
        marks.append(mark or _stem(token, words.stems))
        at += size
    return marks


def _stem(token: str, stems: dict[str, str]) -> str:
    for size in range(len(token), _SHORTEST_STEM - 1, -1):
        mark = stems.get(token[:size])
        if mark:
            return mark
    return token[0] if token[0] in _SIGNS else SKIPPED


def _unspaced_marks(text: str, words: Words) -> list[str]:
    text, known, starts = " ".join(text.split()), words.marks, words.starts
    marks: list[str] = []
    at, end = 0, len(text)
    while at < end:
        letter = text[at]
        for size in range(min(starts.get(letter, 0), end - at), 0, -1):
            mark = known.get(text[at : at + size])
            if mark:
                marks.append(mark)
                at += size
                break
        else:
            if letter in _SIGNS:
                marks.append(letter)
            elif letter not in " .。" and (not marks or marks[-1] != SKIPPED):
                marks.append(SKIPPED)
            at += 1
    return marks


def form(text: str, size: int) -> list[str]:
    """How a sentence looks: how it ends and how long it is."""
    last = text.rstrip()[-1:]
    length = f"L{min(size if size < 4 else 3 + size // 4, 9)}"
    return [length, f"F{last}"] if last in "?:!" else [length]


def spelled(text: str, unspaced: bool) -> set[str]:
    """Words and pairs of words as they are written; where no space parts them, two and three letters."""
    if unspaced:
        line = f"^{text.strip(' .。!')}$"
        two = [f"#{a}{b}" for a, b in pairwise(line)]
        return {*two, *map(add, two, line[2:])}
    tokens = ["^", *_TOKEN.findall(text), "$"]
    return {*map("#".__add__, tokens), *[f"#{a} {b}" for a, b in pairwise(tokens)]}


# --- languages ---

_SCRIPTS = (("ko", "\uac00-\ud7af"), ("ja", "\u3040-\u30ff"), ("zh", "\u4e00-\u9fff"), ("ru", "\u0400-\u04ff"))
_SCRIPT = tuple((name, re.compile(f"[{letters}]")) for name, letters in _SCRIPTS)
_OTHER_SCRIPT = re.compile("[\u0370-\u03ff\u0530-\u1dff\u2c00-\u2dff\ua000-\uabff]")


def language_of(text: str) -> str:
    """The language of a text by its script and its commonest words; English where nothing speaks against it."""
    text = text[:_SAMPLE]
    script = _script(text)
    if script or _OTHER_SCRIPT.search(text):
        return script
    tokens = _TOKEN.findall(normal(text))
    worth: Counter[str] = Counter()
    for token in tokens:
        worth.update(_votes().get(token, {}))
    for letter in set("".join(tokens)):
        if not letter.isascii():
            worth.update(_votes().get(letter, {}))
    best = max(worth, key=lambda name: (worth[name], name), default="")
    if best and worth[best] > 0:
        return best
    return "en" if text.isascii() else ""


def _script(text: str) -> str:
    """The language that a script tells; half as many letters of it as of Latin ones are enough, for they say more."""
    latin = sum(map(str.isascii, text))
    for name, letters in _SCRIPT:
        count = len(letters.findall(text))
        if (count and count * 3 >= latin - count) or count >= 12:
            return name
    return ""


@cache
def _votes() -> dict[str, dict[str, int]]:
    """Which languages a word speaks for."""
    return msgspec.json.decode(_path("languages").read_bytes(), type=dict[str, dict[str, int]])


# --- tables ---


class Table(msgspec.Struct):
    """A language's file: marks of words and stems, and what a feature weighs for each lifetime."""

    marks: dict[str, str] = {}
    stems: dict[str, str] = {}
    weights: dict[str, tuple[int, int, int]] = {}


def ready(table: Table, shared: Table, language: str) -> Words:
    """A language's table with what all languages share, as it is used."""
    weights: dict[str, int] = {}
    for name, (a, b, c) in (*shared.weights.items(), *table.weights.items()):
        weights[name] = weights.get(name, 0) + a + b * _STEP + c * _STEP * _STEP
    pairs = {(name[0], name[2]): worth for name, worth in weights.items() if len(name) == 3 and name[1] == "&"}
    starts: dict[str, int] = {}
    for phrase in table.marks:
        parts = phrase if language in UNSPACED else phrase.split()
        starts[parts[0]] = max(starts.get(parts[0], 0), len(parts))
    links, leaps, firsts = (_Links(weights, between) for between in ("", ".", "~"))
    return Words(table.marks, starts, table.stems, weights, pairs, links, leaps, firsts, language in UNSPACED)


@cache
def _words(language: str) -> Words | None:
    """The table of a language, read once; none where there is none."""
    if language in ("shared", "languages") or not language.isalpha() or not _path(language).is_file():
        return None
    table, shared = (msgspec.json.decode(_path(name).read_bytes(), type=Table) for name in (language, "shared"))
    return ready(table, shared, language)


def _path(name: str) -> Traversable:
    return files("foldline.facts") / "words" / f"{name}.json"
