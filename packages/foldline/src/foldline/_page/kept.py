"""What its form leaves out of a page, and who reads one misses: decisions in words of what comes next, and questions that the
user passed over."""

from __future__ import annotations

from collections.abc import Iterable

from foldline._facts.cues import asks_whether, says_how
from foldline._facts.types import Facts
from foldline._page.quoting import bare


def kept(facts: Facts, passing: Iterable[int]) -> set[int]:
    """The places of what is told though it reads as said in `passing`: how something is solved, and whether something is to be done."""
    return {i for i in passing if _decided(facts, i) or _still_asked(facts, i)}


def _decided(facts: Facts, place: int) -> bool:
    """Whether the agent says that it does something, and how that solves something."""
    piece = facts.pieces[place]
    return piece.kind == "thought" and says_how(bare(piece))


def _still_asked(facts: Facts, place: int) -> bool:
    """Whether a report asks if something is to be done, and the user's next words decide nothing, or do so without the question."""
    piece = facts.pieces[place]
    return piece.kind == "report" and asks_whether(piece.text)
