"""Whether something is said again: half of the words that tell something in it are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Set
from functools import cache, lru_cache

from foldline._facts.language import common_words
from foldline._patterns import pattern

_WORD = re.compile(r"[^\W_][\w./-]{2,}\w")
_WIDE = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"

_FILE = pattern(r"[\w-]+[./_][\w-]+(?:[./][\w-]+)*")
"""The name of a file, a branch, a function."""

_ANY = re.compile(r"[^\W_]{2,}")

_PULL = re.compile(r"\b[pm]rs?\b")
"""What a pull or merge request is called for short."""

FEW = 4
"""A word that more than one text in so many has says nothing of what it is about."""

MOSTLY = 3 / 4
"""The share of the words of a text that another one has, and more, where it speaks of the same."""

NAMED = 1 / 6
"""The share of the words of what takes a rule back that a rule must have where all of them are short."""

_AMOUNT = re.compile(
    r"[$€£¥₩]\s?\d[\d.,]*[km]?\b"
    r"|\b\d[\d.,]*\s?(?:[%$€£¥₩円元원字行秒分日天줄초단]|(?:usd|eur|gbp|jpy|chf|ms|s|sec|min|h|kb|mb|gb|px"
    r"|words?|lines?|columns?|characters?|sentences?|pages?|seconds?|minutes?|hours?|days?|weeks?|percent|dollars?|euros?"
    r"|wörtern?|zeilen|spalten|zeichen|sätzen?|sekunden|minuten|stunden|tagen?|wochen|prozent"
    r"|palabras|líneas|columnas|caracteres|frases|segundos|minutos|horas|días|semanas"
    r"|mots?|lignes?|colonnes|caractères|phrases?|secondes?|heures?|jours?|semaines?"
    r"|kata|baris|kolom|karakter|kalimat|detik|menit|jam|hari"
    r"|слова?|строка?|строки|столбц(?:а|ов)|символ(?:а|ов)|предложени[йя]|страниц[аыу]?|секунд[ыу]?|минут[ыу]?|час(?:а|ов)?|дня|дней|недел[ьию]|процент(?:а|ов)|рубл(?:ь|я|ей))\b)"
)
"""A number that measures; one without a unit may be a name."""

_STEM = 5
"""Letters by which the forms of one word are known."""


def said_again(text: str, later: str) -> bool:
    """Whether a later text says again what a text says; what has no word that tells something is never said again."""
    telling = _telling(text)
    return bool(telling) and 2 * len(telling & _telling(later)) >= len(telling)


def shared_words(text: str, others: Iterable[str]) -> list[int]:
    """How many words a text shares with each of others, forms of one word alike; words that many of these have say nothing."""
    wanted = _forms(text)
    found = [_forms(other) & wanted for other in others]
    stands = Counter(word for each in found for word in each)
    return [sum(1 for word in each if FEW * stands[word] <= len(found) + FEW) for each in found]


def mostly_of(text: str, other: str) -> bool:
    """Whether all but a few of the words of a text stand in another one, in any form."""
    wanted = _forms(text)
    return bool(wanted) and MOSTLY * len(wanted) < len(wanted & _forms(other))


def taken_back(sentence: str, words: str, rules: Iterable[str]) -> set[str]:
    """The rules that a sentence of a message takes back: those that the message says again, else those that name most of what it names.

    What is allowed for a file or a branch by its name takes back no rule that does not name it.
    """
    files = set(_FILE.findall(sentence))
    rules = [rule for rule in rules if not files or not files.isdisjoint(_FILE.findall(rule))]
    if again := {rule for rule in rules if said_again(rule, words)}:
        return again
    for words_of, share in ((_stems, 0), (telling_words, NAMED)):
        named = words_of(sentence)
        shared = {rule: len(words_of(rule) & named) for rule in rules}
        most = max(shared.values(), default=0)
        if most and most >= share * len(named):
            return {rule for rule, count in shared.items() if count == most}
    return set()


@lru_cache(maxsize=4_096)
def telling_words(text: str) -> frozenset[str]:
    """The words that say what a text is about, by their stems; where words are short, any two letters that follow each other."""
    return frozenset(word[:_STEM] for word in _telling(text) - common_words(text))


def shared_in(named: Iterable[str], words: Set[str]) -> int:
    """How many words stand among others, in any form."""
    return sum(any(word.startswith(other) or other.startswith(word) for other in words) for word in named)


def with_other_amounts(rule: str, rules: Iterable[str]) -> set[str]:
    """The rules that a later one says again with other amounts."""
    if not _AMOUNT.search(rule.lower()):
        return set()
    measured = _measured(rule)
    return {each for each in rules if each != rule and _measured(each) == measured}


@lru_cache(maxsize=4_096)
def _measured(rule: str) -> str:
    """A rule without its amounts and its last sign."""
    return _AMOUNT.sub("#", rule.lower()).rstrip(" .!。！")


@lru_cache(maxsize=4_096)
def _forms(text: str) -> frozenset[str]:
    common = common_words(text)
    words = _ANY.findall(_PULL.sub("pull request", text.lower()))
    return frozenset(word[:_STEM].rstrip("s") for word in words if word not in common)


@lru_cache(maxsize=4_096)
def _stems(text: str) -> frozenset[str]:
    """What the forms of a word have in common, of words that are long enough to have forms."""
    return frozenset(word[:_STEM] for word in _telling(text) - common_words(text) if len(word) >= _STEM)


@lru_cache(maxsize=4_096)
def _telling(text: str) -> frozenset[str]:
    if text.isascii() or max(text) < "\u3040":
        return frozenset(_WORD.findall(text.lower()))
    words, pairs = _wide()
    return frozenset((*words.findall(text.lower()), *pairs.findall(text)))


@cache
def _wide() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The same where Chinese, Japanese or Korean stands, which have short words: any two letters that follow each other."""
    return re.compile(rf"[^\W_{_WIDE}][\w./-]{{2,}}\w"), re.compile(rf"(?=([{_WIDE}]{{2}}))")
