"""How long rules hold: until the user takes them back, says them again with another amount, or gives the next long task; those for the work at hand until they ask for other work, those for a stage of it until they name another one."""

from __future__ import annotations

from collections.abc import Iterable

from foldline._facts.again import taken_back, with_other_amounts
from foldline._facts.cues import resumes
from foldline._facts.lifting import lifted
from foldline._facts.rules import Lifetime, is_long, of_the_work, stages_in
from foldline._facts.types import Rule

ANSWER = 60
"""Characters of the longest message that is a short answer, and asks for no other work."""


def lasting(
    rules: Iterable[Rule], words: str, said: Iterable[tuple[str, Lifetime]], *, closed: bool
) -> tuple[Rule, ...]:
    """The rules that hold on behind words of the user's; `said` is what stands in these of rules, `closed` that the agent had
    reported on the work at hand."""
    over = is_long(words)
    another = closed and len(words) > ANSWER and not (resumes(words) or of_the_work(words))
    now = stages_in(words)

    def ended(rule: Rule) -> bool:
        return over or (another and of_the_work(rule.text)) or _is_of_another(stages_in(rule.text), now)

    held = tuple(rule for rule in rules if rule.lifetime != "task" or not ended(rule))
    for text, lifetime in said:
        known = [rule.text for rule in held]
        gone = taken_back(text, words, known) if lifetime == "back" else with_other_amounts(text, known)
        held = tuple(rule for rule in held if rule.text not in gone)
    gone = lifted(words, [rule.text for rule in held])
    return tuple(rule for rule in held if rule.text not in gone)


def _is_of_another(then: set[tuple[str, str]], now: set[tuple[str, str]]) -> bool:
    """Whether words that name stages name others than a rule does, of the same kind."""
    return then.isdisjoint(now) and not {name for name, _ in then}.isdisjoint(name for name, _ in now)
