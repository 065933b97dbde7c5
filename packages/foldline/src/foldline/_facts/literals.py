"""Literals that an agent may have to write again, letter by letter: paths, names, numbers, addresses, hashes."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

_WORDS = re.compile(r"https?://[^\s\"'<>)\]}|`\\]{4,200}|(?:\.{1,2}/|~/|(?<!<)/)?[\w@][\w@./+-]{2,199}", re.ASCII)
_JOINING = (string.ascii_letters + string.digits + "_@./+~<-").encode()
_RUNS = bytes(sign if sign in _JOINING else ord(" ") for sign in range(256))
"""What parts the words of `_WORDS` made blank, but for what parts or joins an address."""

_PLACES = re.compile(
    r"(?P<url>https?://)|(?P<pair>[A-Za-z]+/[A-Za-z]+$)|(?P<path>(?:~|\.{1,2})?/?(?:[\w@.+-]+/)+[\w@.+-]*$|^/[\w@.+-]{3,}$)"
)
_NAMES = re.compile(
    r"(?P<file>[\w-][\w.-]*\.[a-zA-Z][a-zA-Z0-9]{0,5}$)|(?P<hash>(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}$)|"
    r"(?P<number>[0-9]{3,}(?:\.[0-9]+)?$)|(?P<version>v?\d+\.\d+(?:\.\d+)?[\w.+-]*$)|"
    r"(?P<name>_*[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+_*$)|(?P<camel>(?:[a-z]+[A-Z]|[A-Z][a-z0-9]+[A-Z])\w*$)|"
    r"(?P<mixed>(?=.*\d)(?=.*[A-Za-z])[\w.@+-]{4,}$)|(?P<kebab>[a-zA-Z][a-z0-9]+(?:-[a-z0-9]+){1,8}$)"
)
"""Telling shapes, of words with a slash and of words without."""

_NO_PLACES = re.compile(r"(?i)^(?:and/or|n/a|w/o|true/false|yes/no|/dev/\w+|(?:/usr)?/bin/\w+|\d{4}-\d\d-\d\dT.*)$")
_NO_NAMES = re.compile(
    r"(?i)^(?:e\.g|i\.e|etc|vs|a\.k\.a|\d{1,2}(?:st|nd|rd|th)|\d+(?:\.\d+)?[a-z]{1,3}|\d\.\d|utf-?8|0+|\d{4}-\d\d-\d\dT.*)$"
)
"""What has such a shape and tells nothing."""

_SPAN = re.compile(r":\d+(?:-\d+)?$")


REMEMBERED = 4_096
"""Texts whose literals are kept: what was kept word for word, or is folded by several policies, is read again and again."""

MOST_RUNS = 65_536
"""Runs of signs whose literals are kept."""

_SHORTEST, _LONGEST = 3, 120
"""Characters of a literal."""

_known: dict[tuple[int, int], tuple[str, ...]] = {}


def literals(text: str) -> tuple[str, ...]:
    """The distinct literals in a text that have a telling shape, in the order in which they stand."""
    # as where tokens are counted: a hash has 64 bits and a secret of the process, and keeps no text alive
    key = hash(text), len(text)
    found = _known.get(key)
    if found is None:
        if len(_known) >= REMEMBERED:
            _known.clear()
        found = _known[key] = tuple(dict.fromkeys(_found_in(text)))
    return found


def _found_in(text: str) -> Iterator[str]:
    """What is literal in a text, line by line where an address stands, else of each run of signs once."""
    start = 0
    while (address := text.find("://", start)) >= 0:
        begin, end = text.rfind("\n", start, address) + 1, text.find("\n", address)
        begin, end = max(start, begin), len(text) if end < 0 else end
        yield from _in_runs(text[start:begin])
        yield from filter(None, map(_literal, _WORDS.findall(text[begin:end])))
        start = end
    yield from _in_runs(text[start:] if start else text)


def _in_runs(text: str) -> Iterator[str]:
    runs = dict.fromkeys(text.encode("ascii", "replace").translate(_RUNS).split())
    return chain.from_iterable(filter(None, map(_runs.__getitem__, runs)))


class _Runs(dict[bytes, tuple[str, ...]]):
    """What is literal in runs of signs without a blank, most of which are ordinary words."""

    def __missing__(self, run: bytes) -> tuple[str, ...]:
        if len(self) >= MOST_RUNS:
            self.clear()
        self[run] = found = _in_run(run)
        return found


_runs = _Runs()


def _in_run(run: bytes) -> tuple[str, ...]:
    word = run.strip(b".-+<~")
    if word.isalpha() and (word.islower() or word.isupper() or word.istitle()):
        return ()
    if run.isdigit() and len(run) <= _LONGEST:
        return (run.decode(),) if len(run) >= _SHORTEST and run.strip(b"0") else ()
    return tuple(filter(None, map(_literal, _WORDS.findall(run.decode()))))


@lru_cache(maxsize=65_536)
def _literal(word: str) -> str:
    """The word without what punctuation left at its end; empty where it is ordinary."""
    word = word.rstrip(".-+,:")
    return word if _SHORTEST <= len(word) <= _LONGEST and _tells(word) else ""


def _tells(word: str) -> bool:
    """Whether a word has the shape of a literal."""
    if word.isalpha() and (word.islower() or word.isupper() or word.istitle() or not word.isascii()):
        return False
    shape, noise = (_PLACES, _NO_PLACES) if "/" in word else (_NAMES, _NO_NAMES)
    return shape.match(word) is not None and not noise.match(word)


def without_span(path: str) -> str:
    """A path without the lines that were read of it."""
    return _SPAN.sub("", path)


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
