"""What a report asks or offers behind what it tells, in a piece of its own: who reads it may pass it over."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from foldline._facts.cues import asks, offers
from foldline._facts.splitting import ends, glued
from foldline._facts.types import Facts, Piece
from foldline._messages import replace


def asides_apart(facts: Facts) -> Iterator[Piece]:
    """The pieces; those of other agents, and of reports behind which the user spoke, in two where they end in a question or an offer."""
    spoke = max((request.newest for request in facts.requests), default=-1)
    for piece in facts.pieces:
        passed = piece.by == "peer" or (piece.kind == "report" and piece.at < spoke)
        place = _aside(piece.text) if passed and not piece.laid_out else 0
        if place:
            yield replace(piece, text=piece.text[:place].rstrip())
        yield replace(piece, text=piece.text[place:].lstrip(), begins=False, item=False) if place else piece


def _aside(text: str) -> int:
    """Where the first sentence of a text begins that asks or offers something, where others stand before it."""
    if not _is_aside(text):
        return 0
    places = sorted({0, *ends(text), *glued(text)})
    return next((start for start, end in pairwise(places) if _is_aside(text[start:end])), 0)


def _is_aside(said: str) -> bool:
    return asks(said) or offers(said)
