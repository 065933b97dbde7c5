"""How long rules hold: until the user takes them back, says them again with another amount, or gives the next long task."""

from __future__ import annotations

from collections.abc import Iterable

from foldline._facts.again import taken_back, with_other_amounts
from foldline._facts.lifting import lifted
from foldline._facts.rules import Lifetime, is_long
from foldline._facts.types import Rule


def lasting(rules: Iterable[Rule], words: str, said: Iterable[tuple[str, Lifetime]]) -> tuple[Rule, ...]:
    """The rules that hold on behind words of the user's; `said` is what stands in these of rules."""
    over = is_long(words)
    held = tuple(rule for rule in rules if not (over and rule.lifetime == "task"))
    for text, lifetime in said:
        known = [rule.text for rule in held]
        gone = taken_back(text, words, known) if lifetime == "back" else with_other_amounts(text, known)
        held = tuple(rule for rule in held if rule.text not in gone)
    gone = lifted(words, [rule.text for rule in held])
    return tuple(rule for rule in held if rule.text not in gone)
