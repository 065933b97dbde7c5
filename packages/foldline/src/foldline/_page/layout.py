"""What was laid out, for who reads it: rows of tables, and code by its lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from foldline._facts.types import Facts, Piece
from foldline._messages import replace

SHOWN = 5
"""Lines of a block of code with its fences up to which it is told of any report: a command, not what stands in files since."""


def without_code(facts: Facts, pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces, of reports before those of the newest turn that has one without longer blocks of code."""
    newest = max((piece.at for piece in facts.pieces if piece.kind == "report"), default=-1)
    since = max((request.newest for request in facts.requests if request.newest < newest), default=-1)
    for piece in pieces:
        is_code = "```" in piece.laid_out and len(piece.laid_out.splitlines()) > SHOWN
        if not (is_code and piece.kind == "report" and piece.at < since):
            yield piece


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
