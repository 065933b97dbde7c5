"""Which language a text is written in, as far as its letters and its commonest words tell, and what is said in each."""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from pkgutil import get_data
from typing import Any, NamedTuple

import msgspec

from foldline._patterns import pattern

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+|[^\s/\\_<>{}=]*+[/\\_<>{}=]\S*|\b\w+\.\w+\b", re.DOTALL)
_WORD = re.compile(r"[^\W\d_]{1,20}(?:'[^\W\d_]+)*")
_SAMPLE = 8_000
_LEAST = 6
"""Common words, or letters of a script, that must be there before a language is named."""

_AHEAD = 1.5
"""How far what tells of a language must be ahead of what tells of the next one before it is named."""

_SHARE = 1.08
"""Letters of a script for each word in Latin letters from which a text is in that script: they say more."""

_MANY = 12
"""Letters of a script from which a text is taken to be in it, whatever else stands there."""


class Language(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A language as `words/languages.toml` has it: its letters or its commonest words, and what is said in it."""

    name: str
    words: str = ""
    letters: str = ""
    option: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    soon: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    theirs: tuple[str, ...] = ()
    back: tuple[str, ...] = ()
    reverts: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    aloud: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    calm: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    moment: tuple[str, ...] = ()
    waits: tuple[str, ...] = ()
    rejects: tuple[str, ...] = ()
    verdict: tuple[str, ...] = ()
    graded: tuple[str, ...] = ()
    concludes: tuple[str, ...] = ()
    traced: tuple[str, ...] = ()
    blames: tuple[str, ...] = ()
    announces: tuple[str, ...] = ()
    how: tuple[str, ...] = ()
    polite: tuple[str, ...] = ()
    leans: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    submits: tuple[str, ...] = ()
    offers: tuple[str, ...] = ()
    whether: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    wonders: tuple[str, ...] = ()
    resumes: tuple[str, ...] = ()
    approves: tuple[str, ...] = ()
    decides: tuple[str, ...] = ()
    agrees: tuple[str, ...] = ()
    reason: tuple[str, ...] = ()
    alarm: tuple[str, ...] = ()
    looks: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


class _Heard(NamedTuple):
    """What tells of a language in a text, what tells of the next likely one, and how many words it has in Latin letters."""

    code: str
    found: int
    rival: int
    words: int


@cache
def languages() -> dict[str, Language]:
    """All languages that are known, by their codes."""
    return msgspec.convert(read_words("languages"), dict[str, Language])


def read_words(name: str) -> dict[str, Any]:
    """A table of `words/`."""
    return tomllib.loads((get_data(__package__, f"words/{name}.toml") or b"").decode())


def language_of(text: str, before: str = "") -> str:
    """The code of the language that a text is most likely in.

    Where its words do not tell, that which was spoken `before`, else English where nothing speaks against it, else empty.
    """
    heard = _heard(text)
    if before and heard.found == heard.rival:
        return before
    return heard.code if heard.found else "en" if text.isascii() else ""


def common_words(text: str) -> frozenset[str]:
    """The commonest words of the language of a text, which say nothing of what it is about."""
    return dict(_common()).get(language_of(text), frozenset())


def named_language(text: str) -> str:
    """The English name of the language of a text's prose, or an empty text where that cannot be told for sure."""
    heard = _heard(text)
    sure = heard.found >= max(_LEAST, _AHEAD * heard.rival) and heard.found > 0.08 * heard.words
    return languages()[heard.code].name if sure else ""


def script_of(text: str) -> str:
    """The code of the language whose letters a text is written in; empty for Latin ones."""
    return "" if text.isascii() else _written(text, len(_latin(text))).code


@lru_cache(maxsize=256)
def _heard(text: str) -> _Heard:
    prose = _CODE.sub(" ", text[:_SAMPLE])
    words = _latin(prose)
    if not prose.isascii() and (written := _written(prose, len(words))).code:
        return written
    counts = sorted(
        ((sum(map(known.__contains__, words)), -i, code) for i, (code, known) in enumerate(_common())), reverse=True
    )
    (best, _, code), (second, _, _) = counts[:2]
    return _Heard(code, best, second, len(words))


def _latin(prose: str) -> list[str]:
    return [word for word in _WORD.findall(prose.lower()) if word[0] < "\u0250"]


def _written(prose: str, words: int) -> _Heard:
    """The language that a script tells; its rival is what words there are in Latin letters."""
    highest = max(prose, default="")
    for code, first, letters in _scripts():
        count = len(letters.findall(prose)) if first <= highest else 0
        if count and (count >= _SHARE * words or count >= _MANY):
            return _Heard(code, count, int(_SHARE * words / _AHEAD), words)
    return _Heard("", 0, 0, words)


@cache
def _scripts() -> list[tuple[str, str, re.Pattern[str]]]:
    """The languages that have letters of their own, each with the first of them: to compile thousands takes a millisecond."""
    own = ((code, each.letters) for code, each in languages().items() if each.letters)
    return [(code, letters[0], pattern(f"[{letters}]")) for code, letters in own]


@cache
def _common() -> tuple[tuple[str, frozenset[str]], ...]:
    """The commonest words of the languages that are written in Latin letters; the first wins a tie."""
    return tuple((code, frozenset(each.words.split())) for code, each in languages().items() if each.words)
