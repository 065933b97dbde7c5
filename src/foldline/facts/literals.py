"""Literals that an agent may have to write again, letter by letter: paths, names, numbers, addresses, hashes."""

from __future__ import annotations

import re
from functools import lru_cache

_WORDS = re.compile(r"https?://[^\s\"'<>)\]}|`\\]{4,200}|(?:\.{1,2}/|~/|(?<!<)/)?[\w@][\w@./+-]{2,199}", re.ASCII)
_SHAPES = re.compile(
    r"(?P<url>https?://)|(?P<pair>^[A-Za-z]+/[A-Za-z]+$)|(?P<path>^(?:~|\.{1,2})?/?(?:[\w@.+-]+/)+[\w@.+-]*$|^/[\w@.+-]{3,}$)|"
    r"(?P<file>^[\w-][\w.-]*\.[a-zA-Z][a-zA-Z0-9]{0,5}$)|(?P<hash>^(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}$)|"
    r"(?P<number>^[0-9]{3,}(?:\.[0-9]+)?$)|(?P<version>^v?\d+\.\d+(?:\.\d+)?[\w.+-]*$)|"
    r"(?P<name>^_*[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+_*$)|(?P<camel>^(?:[a-z]+[A-Z]|[A-Z][a-z0-9]+[A-Z])\w*$)|"
    r"(?P<mixed>^(?=.*\d)(?=.*[A-Za-z])[\w.@+-]{4,}$)|(?P<kebab>^[a-zA-Z][a-z0-9]+(?:-[a-z0-9]+){1,8}$)"
)
_WORTH = {
    "url": 0.65, "pair": 0.8, "path": 1.1, "file": 1.8, "hash": 0.65, "number": 0.45, "version": 0.5, "name": 1.15, "camel": 1.4,
    "mixed": 0.6, "kebab": 0.9,
}  # fmt: skip
_LISTED = {
    "url": "addresses", "pair": "paths", "path": "paths", "file": "paths", "hash": "numbers", "number": "numbers",
    "version": "numbers", "mixed": "numbers",
}  # fmt: skip
_ENDING = re.compile(
    r"(?i)\.(?:py|ipynb|[cm]?[jt]sx?|vue|go|mod|rs|[ch](?:pp|c)?|java|kts?|rb|php|swift|lua|sh|bats|ps1|sql|proto|pkl|jsonl?|ya?ml|toml|ini|cfg|conf|"
    r"env|xml|html?|s?css|mdx?|rst|txt|[ct]sv|log|lock|sum|db|sqlite3?|pdf|png|jpe?g|gif|svg|zip|gz|tar|whl|jar|patch|diff|bak|tmp|snap)$"
)
"""How files end; a word behind a dot is otherwise more often a member."""
_SPAN = re.compile(r":\d+(?:-\d+)?$")
_NOISE = re.compile(
    r"(?i)^(?:e\.g|i\.e|etc|vs|a\.k\.a|and/or|n/a|w/o|true/false|yes/no|\d{1,2}(?:st|nd|rd|th)|\d+(?:\.\d+)?[a-z]{1,3}|\d\.\d|/dev/\w+|(?:/usr)?/bin/\w+|utf-?8|0+|\d{4}-\d\d-\d\dT.*)$"
)


def literals(text: str) -> list[str]:
    """The distinct literals in a text that have a telling shape, in the order in which they stand."""
    found = (_literal(word) for word in dict.fromkeys(_WORDS.findall(text)))
    return list(dict.fromkeys(filter(None, found)))


@lru_cache(maxsize=65_536)
def _literal(word: str) -> str:
    """The word without what punctuation left at its end; empty where it is ordinary."""
    word = word.rstrip(".-+,:")
    return word if 3 <= len(word) <= 120 and worth(word) else ""


@lru_cache(maxsize=65_536)
def worth(word: str) -> float:
    """How likely a literal of this shape is needed again; 0 for an ordinary word."""
    if word.isalpha() and (word.islower() or word.isupper() or word.istitle() or not word.isascii()):
        return 0.0
    found = _SHAPES.search(word)
    if found is None or _NOISE.match(word) or len(word) < 3:
        return 0.0
    return _WORTH[found.lastgroup or ""]


@lru_cache(maxsize=65_536)
def kind_of(word: str) -> str:
    """What a list calls literals of this shape."""
    found = _SHAPES.search(word)
    if found is not None and found.lastgroup == "file" and not _ENDING.search(word):
        return "names"
    return _LISTED.get((found.lastgroup or "") if found else "", "names")


def without_span(path: str) -> str:
    """A path without the lines that were read of it."""
    return _SPAN.sub("", path)


def ends_as_file(word: str) -> bool:
    """Whether a word ends as files do."""
    return _ENDING.search(word) is not None


def alone(pattern: str) -> str:
    """A pattern where what fits it stands by itself, not within a longer value."""
    return rf"(?<![\w.])(?:{pattern})(?!\w|\.\w)"


def need(value: str, count: float, weight: float, age: float) -> float:
    """The chance that a literal is written again, from its shape, its uses, who wrote it, and its age in messages.

    The exponents were fitted to what agents wrote later in recorded sessions: most telling is that the user or the
    agent itself wrote the literal, which `weight` sums over its uses.
    """
    weight = min(max(weight, 0.0), 1e6)
    odds: float = worth(value) * weight**2.4 / max(count, 1.0) ** 1.5 / (age + 2.0) ** 0.45 / 6.0
    return odds / (1.0 + odds)


def line_around(text: str, value: str, width: int = 160) -> str:
    """The line in which a value stands last, cut to a width around it."""
    position = text.rfind(value)
    if position < 0:
        return ""
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    end = len(text) if end < 0 else end
    if end - start > width:
        left = (
            text.find(" ", max(start, position - width // 2), position) + 1 if position - start > width // 2 else start
        )
        left = left or position
        right = text.rfind(" ", position + len(value), left + width) if end > left + width else end
        right = max(right, position + len(value))
        cut = " ".join(text[left:right].split())
        return f"{'…' if left > start else ''}{cut}{'…' if right < end else ''}"
    return " ".join(text[start:end].split())
