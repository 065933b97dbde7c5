"""What was laid out, for who reads it: rows of tables, and code by its lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from foldline._facts.types import Piece
from foldline._messages import replace


def laid_out(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces as they were laid out, each row and each block of code in one."""
    whole: tuple[int, int] | None = None
    for piece in pieces:
        text = (piece.at, piece.part)
        if piece.laid_out:
            whole = text
            yield replace(piece, text=piece.laid_out)
        elif piece.begins or text != whole:
            whole = None
            yield piece
