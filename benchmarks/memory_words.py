"""What `memory` looks for in texts: literals, words beside them, passages. Shares no code with what it measures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

NEAR = 240
"""Characters between a literal and the words that tell what it is."""

# -- literals ----------------------------------------------------------------------------------------------------

_TOKEN = re.compile(r"[A-Za-z0-9_~@$./:#-]{3,160}")
_QUOTED = re.compile(r"\"([^\"\n\\]{5,48})\"|'([^'\n\\]{5,48})'|`([^`\n\\]{5,48})`")
_PROSE = re.compile(r"[A-Za-z][A-Za-z ,-]*[A-Za-z.!?]")
_PATH = re.compile(r"(?=.*[A-Za-z]{2}).*\w/\w|/\w+/\w|~/\w")
_FILE = re.compile(r"[\w.-]+\.(?!\d)[A-Za-z][A-Za-z0-9]{0,4}")
_NUMBER = re.compile(r"\d{3,}(?:\.\d+)?|\d+\.\d+(?:\.\d+)*|\d{4}-\d\d-\d\d")
_NAME = re.compile(r"(?=.{5})(?:[A-Za-z0-9$]*_[A-Za-z0-9_$]+|[a-z]+[A-Z][A-Za-z0-9]*|[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*)")
_MIXED = re.compile(r"(?=.{6})(?=.*\d)(?=.*[a-z])[A-Za-z0-9-]+")
_CODE = re.compile(r"[A-Z0-9]{6,}|[A-Z]{1,6}-?\d[\dA-Z-]+")
_KINDS = (_PATH, _FILE, _NUMBER, _NAME, _MIXED, _CODE)


def literals(text: str, *, quoted: bool = False) -> set[str]:
    """The paths, file names, numbers, codes and identifiers in a text, and with `quoted` what stands in quotes."""
    found = {token.strip(".:-#$") for token in set(_TOKEN.findall(text))}
    words = {token for token in found if len(token) >= 3 and any(kind.fullmatch(token) for kind in _KINDS)}
    words |= {t for t in found if "/" in t and len(t) > 5 and _PATH.match(t)}
    if quoted:
        strings = ("".join(groups).strip() for groups in _QUOTED.findall(text))
        words |= {s for s in strings if len(s) >= 5 and " " in s and _PROSE.fullmatch(s)}
    return words


def stands(text: str, word: str) -> bool:
    """Whether a text holds a word, and not only inside of a longer one."""
    return any(True for _ in places(text, word))


def places(text: str, word: str) -> Iterator[int]:
    """Where a word begins in a text by itself."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (_joins(text[at - 1 : at]) and _joins(word[0])) and not (
            _joins(text[end : end + 1]) and _joins(word[-1])
        ):
            yield at
        at = text.find(word, at + 1)


def _joins(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")


# -- words beside a literal --------------------------------------------------------------------------------------

_RUN = re.compile(r"[^\s\"'`<>|{}\[\]()=:;,!?*…“”„‚‘’«»。、,:;「」『』()]+")
_NAMED = re.compile(r"[/_.\\@#~$]")
_ASIAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def near(text: str, literal: str, words: Sequence[str], least: int, within: int = NEAR) -> bool:
    """Whether a literal stands in a text with at least so many of the words around it.

    A word that is a piece of a path, of a name or of the literal itself says nothing about it.
    """
    for at in places(text, literal):
        around = f"{text[max(0, at - within) : at]} \n {text[at + len(literal) : at + len(literal) + within]}"
        if sum(_said(around, word) for word in words) >= least:
            return True
    return False


def _said(text: str, word: str) -> bool:
    """Whether a text says a word, in any case; in writing without spaces, or of several words, anywhere."""
    word = word.casefold()
    if _ASIAN.search(word) or _RUN.fullmatch(word) is None:
        return word in text.casefold()
    return word in _runs(text)


@lru_cache(maxsize=4096)
def _runs(text: str) -> frozenset[str]:
    """The words of a text: its runs of letters and signs, and the parts of those that hyphens alone hold together."""
    runs = {run.strip(".-/_#~").removesuffix("'s") for run in _RUN.findall(text.casefold())}
    return frozenset(runs | {part for run in runs if not _NAMED.search(run) for part in run.split("-")})


# -- passages ----------------------------------------------------------------------------------------------------

_QUOTE = re.compile(r"^\s*(?:\*\*\d+\*\*\s*)?>+ ?", re.MULTILINE)
_DRESS = str.maketrans("“”„«»‘’‚`", '"""""\'\'\'\'', "*_")
LEAST_SHARED = 0.6


def bare(text: str) -> str:
    """A text without the marks of quotation, without emphasis, in small letters and with single spaces."""
    return " ".join(_QUOTE.sub("", text).translate(_DRESS).casefold().split())


def holds(text: str, passage: str) -> bool:
    """Whether a text holds a passage, wherever its lines end."""
    return bare(passage).strip(" .\"'") in bare(text)


def same(line: str, passage: str) -> bool:
    """Whether a line and a passage say the same: one holds the other, and the line not only a little of it."""
    line, passage = (bare(each).strip(" .!\"'…") for each in (line, passage))
    if not line or not passage:
        return False
    return passage in line or (line in passage and len(line) >= LEAST_SHARED * len(passage))


def lines_of(texts: Iterable[str]) -> list[str]:
    """The lines of texts that say something."""
    return [line.strip() for text in texts for line in text.splitlines() if line.strip()]
