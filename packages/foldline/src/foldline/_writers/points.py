"""A summary in a few points, each a line: how many there are, and what code writes without a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from foldline._clipping import cut, one_line
from foldline._facts.types import Facts
from foldline._messages import Message
from foldline._page.quoting import quoted, safe, wanted
from foldline._page.task import rules, task
from foldline._patterns import pattern
from foldline._view import Brief, opens_turn

_POINT = pattern(r"(?m)^\s*(?:[-*•]|\d+[.)])\s+(\S.*)$")
_LONGEST = 1_000
"""Characters that are looked at of what was said."""

_CHARACTERS = 3
"""Characters for each token of a point, rather few."""


def miscounted(text: str, least: int, most: int) -> str:
    """What is wrong with the number of points in a text; empty where nothing is."""
    found = len(_POINT.findall(text))
    return "" if least <= found <= most else f"the summary had {found} points where {least} to {most} were asked for"


def pointed(messages: Sequence[Message], most: int, max_tokens: int) -> str:
    """What turns of the messages came to, from the first to the last of them, a point for each, in their own words."""
    turns = [turn for turn in _turns(messages) if turn]
    chosen = (
        turns if len(turns) <= most else [turns[round(i * (len(turns) - 1) / max(1, most - 1))] for i in range(most)]
    )
    width = max(24, max_tokens * _CHARACTERS // max(1, len(chosen)) - 2)
    return "\n".join(f"- {safe(cut(turn, width))}" for turn in chosen)


def bound(points: str, facts: Facts, brief: Brief) -> str:
    """Points, and below them in the user's words what is wanted now and the rules that stand, each in as many tokens as the points."""
    ruled = [rule.text for rule in rules(facts, brief.after) if rule.by != "project" and rule.text not in points]
    words = (*wanted(*task(facts, brief.after).asked(), brief.max_tokens), *quoted(ruled, brief.max_tokens))
    return "\n".join((points, *dict.fromkeys(words)))


def _turns(messages: Sequence[Message]) -> Iterator[str]:
    """What each turn came to, the agent's last words in it or else the user's; of an earlier summary its points."""
    said = ""
    for message in messages:
        if message.summary is not None:
            yield from (one_line(point, _LONGEST) for point in _POINT.findall(message.text))
        elif message.role in ("user", "assistant") and message.text.strip():
            if opens_turn(message):
                yield said
            said = one_line(message.text, _LONGEST)
    yield said
