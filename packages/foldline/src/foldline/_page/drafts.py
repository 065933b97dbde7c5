"""Drafts: texts of the agent of which it wrote much into a file later, word for word."""

from __future__ import annotations

from foldline._facts.types import Facts

FEWEST, SHARE = 6, 1 / 3
"""Pieces of a text that stand in a file from which it was a draft, and their share of it."""


def drafts(facts: Facts) -> set[int]:
    """The places of what stands in files of what was drafted there, but for how each draft begins."""
    texts: dict[tuple[int, int], list[int]] = {}
    for i, piece in enumerate(facts.pieces):
        texts.setdefault((piece.at, piece.part), []).append(i)
    found: set[int] = set()
    for places in texts.values():
        filed = [i for i in places if facts.pieces[i].filed]
        found.update(filed if len(filed) >= max(FEWEST, SHARE * len(places)) else ())
        found.discard(places[0])
    return found
