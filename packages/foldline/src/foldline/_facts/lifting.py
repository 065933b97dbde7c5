"""Rules that the user takes back by naming what they are about: "forget the emojis", "you may push now", "English again"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from foldline._facts.again import shared_in, telling_words
from foldline._facts.language import language_of
from foldline._facts.rules import Cues, cues_of, is_long, normal
from foldline._facts.splitting import sentences

_CLAUSE = re.compile(r"[,;:，；：、。!！](?!\d)|\s[-–—]\s")
"""Where a clause ends."""

_NAMED, _NAMED_WIDE = 1 / 2, 1 / 3
"""More than the first share of what such a clause names a rule must name too; where words are short, the second."""


def lifted(words: str, rules: Iterable[str]) -> set[str]:
    """The rules that a message takes back by what they are about; of a long one nothing is, which quotes what others wrote."""
    rules = [*rules]
    if not rules or is_long(words):
        return set()
    clauses = [*_clauses(words)]
    spoken = {language_of(words, before) for before in {*map(_language, rules)}}
    return {rule for cues in map(cues_of, spoken) if cues for clause in clauses for rule in _over(clause, cues, rules)}


@lru_cache(maxsize=4_096)
def _language(rule: str) -> str:
    return language_of(rule)


def _over(clause: str, cues: Cues, rules: list[str]) -> Iterator[str]:
    """The rules that a clause takes back."""
    over = cues.lifts.without(clause)
    if over is not None:
        yield from _naming(over, rules)
    if cues.again.match_in(clause):
        for value in cues.values:
            yield from _with_another(value, clause, rules)


def _clauses(words: str) -> Iterator[str]:
    for each in sentences(words):
        if not each.text.endswith(("?", "？")):
            yield from filter(None, map(str.strip, _CLAUSE.split(normal(each.text).lower())))


def _naming(over: str, rules: list[str]) -> set[str]:
    """The rules that name most of what is over."""
    named = telling_words(over)
    shared = {rule: shared_in(named, telling_words(rule)) for rule in rules}
    most = max(shared.values())
    enough = most > _NAMED * len(named) if over.isascii() or max(over) < "\u3040" else most >= _NAMED_WIDE * len(named)
    return {rule for rule, count in shared.items() if count == most} if most and enough else set()


def _with_another(value: re.Pattern[str], clause: str, rules: list[str]) -> Iterator[str]:
    """The rules that name another value than a clause does, of those of which one holds at a time."""
    if now := {*value.findall(clause)}:
        yield from (rule for rule in rules if (then := value.findall(rule.lower())) and now.isdisjoint(then))
