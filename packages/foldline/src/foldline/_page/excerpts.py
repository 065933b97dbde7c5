"""What a page for reading leaves out of what a user pasted."""

from __future__ import annotations

from foldline._facts.alarms import says_wrong
from foldline._facts.types import Facts


def beside_errors(facts: Facts) -> set[int]:
    """The places of lines of a pasted log beside those that say what went wrong in it."""
    pasted = [(i, p) for i, p in enumerate(facts.pieces) if p.kind == "excerpt" and p.by == "user"]
    wrong = {(p.at, p.part) for _, p in pasted if says_wrong(p.text)}
    return {i for i, p in pasted if (p.at, p.part) in wrong and not says_wrong(p.text)}
