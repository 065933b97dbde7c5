"""Calls that were made over and over and brought the same each time: told once, with how often."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from foldline._facts.calls import MADE
from foldline._facts.types import Facts, Piece
from foldline._messages import replace

OFTEN = 3
"""How often a call is made in one turn that is told with how often."""

_Call = tuple[int, int]


def counted(facts: Facts) -> Iterator[Piece]:
    """The pieces, of calls that often brought the same in a turn the newest with how often that was; two commits are two."""
    calls = (piece for piece in facts.pieces if piece.kind in ("call", "change", "failure"))
    heads = {(piece.at, piece.part): piece for piece in calls if not piece.text.startswith(MADE)}
    told: dict[_Call, list[str]] = {call: [] for call in heads}
    for piece in facts.pieces:
        if piece.by == "tool" and (piece.at, piece.part) in told:
            told[piece.at, piece.part].append(piece.text)
    asked = sorted(request.at for request in facts.requests)
    same: dict[tuple[int, tuple[str, ...]], list[_Call]] = {}
    for call, texts in told.items():
        if len(texts) > 1 or " → " in texts[0]:
            same.setdefault((bisect_right(asked, call[0]), (*texts,)), []).append(call)
    often = [some for some in same.values() if len(some) >= OFTEN]
    times = {some[-1]: len(some) for some in often}
    over = {call for some in often for call in some[:-1]}
    for piece in facts.pieces:
        call = (piece.at, piece.part)
        if call in times and piece is heads[call]:
            yield replace(piece, text=f"{piece.text} ({times[call]} times)")
        elif piece.by != "tool" or call not in over:
            yield piece
