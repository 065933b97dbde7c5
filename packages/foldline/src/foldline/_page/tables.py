"""Rows of tables for who reads them: each in one piece, its cells with the names of their columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from foldline._facts.types import Piece
from foldline._messages import replace


def rows(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces, of each row of a table that has names for its columns one for all of it."""
    row: tuple[int, int] | None = None
    for piece in pieces:
        text = (piece.at, piece.part)
        if piece.row:
            row = text
            yield replace(piece, text=piece.row)
        elif piece.begins or text != row:
            row = None
            yield piece
