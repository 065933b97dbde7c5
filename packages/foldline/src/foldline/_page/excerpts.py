"""What a page for reading leaves out of what a user pasted."""

from __future__ import annotations

from collections import defaultdict

from foldline._facts.alarms import says_wrong
from foldline._facts.types import Facts

_SAID = 100
"""Letters of a line of a log by which it is known among the user's words."""


def beside_errors(facts: Facts) -> set[int]:
    """The places of lines of a pasted log beside those that say what went wrong in it, and of what the user said of it in words."""
    pasted = [(i, p) for i, p in enumerate(facts.pieces) if p.kind == "excerpt" and p.by == "user"]
    said: dict[int, str] = defaultdict(str)
    for piece in facts.pieces:
        if piece.by == "user" and piece.kind != "excerpt":
            said[piece.at] += f" {piece.text}"
    wrong = {(p.at, p.part) for _, p in pasted if says_wrong(p.text)}
    beside = {i for i, p in pasted if (p.at, p.part) in wrong and not says_wrong(p.text)}
    return beside | {i for i, p in pasted if p.at in said and p.text[:_SAID] in said[p.at]}
