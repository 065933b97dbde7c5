"""What was laid out, for who reads it: rows of tables, and code by its lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from foldline._facts.splitting import ends
from foldline._facts.texts import is_code
from foldline._facts.types import Facts, Piece
from foldline._messages import replace
from foldline._page.quoting import LEADS_IN, bare

SHOWN = 5
"""Lines of a block of code with its fences up to which it is told of any report: a command, not what stands in files since."""

LISTING, LISTED = 8, 0.4
"""Pieces of a report, and the share of code among them, from which it lists code line by line."""

_CODE = re.compile(
    r"[- ]*(?:[\w.\[\]\"']+ ?(?:: ?[\w\[\], |.]+)? ?= ?\S|[\w.]+\(.*\)$|\w+: (?:str|int|float|bool|list|dict|\w+ \| None)\b|\"\w+\": "
    r"|@\w+|\"\"\"|(?:raise|yield|assert|except) |(?:try|finally|else):|(?:if|elif|with|async|def|class) .*:|(?:SELECT|INSERT|CREATE) [A-Z*])"
)
"""How a line of code begins in a listing: one that gives a value or a type, calls something, or opens a block."""


def without_code(facts: Facts, pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces, of reports before those of the newest turn that has one without longer blocks of code, and without code that is
    listed line by line."""
    newest = max((piece.at for piece in facts.pieces if piece.kind == "report"), default=-1)
    since = max((request.newest for request in facts.requests if request.newest < newest), default=-1)
    for (kind, at, _), some in groupby(pieces, key=lambda piece: (piece.kind, piece.at, piece.part)):
        said = [*some]
        if kind != "report" or at >= since:
            yield from said
            continue
        code = [_is_code(bare(piece)) for piece in said]
        lists = len(said) >= LISTING and sum(code) >= LISTED * len(said)
        gone = [_is_block(p) or (lists and is_line) for p, is_line in zip(said, code)]
        for piece, left_out, behind in zip(said, gone, (*gone[1:], False)):
            if left_out:
                yield from _before_block(piece)
            else:
                yield replace(piece, text=f"{piece.text} …") if behind and piece.text.endswith(LEADS_IN) else piece


def _before_block(piece: Piece) -> Iterator[Piece]:
    """What the line that leads in a block of code says in whole sentences before that."""
    lead = piece.laid_out.partition("```")[0].strip() if "```" in piece.laid_out else ""
    *said, _ = ends(lead)
    if said:
        yield replace(piece, text=lead[: said[-1]], laid_out="")


def _is_block(piece: Piece) -> bool:
    return "```" in piece.laid_out and len(piece.laid_out.splitlines()) > SHOWN


def _is_code(line: str) -> bool:
    return is_code(line) or _CODE.match(line) is not None


def laid_out(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces as they were laid out, each row and each block of code in one, which stands with what leads it in and in no list."""
    whole: tuple[int, int] | None = None
    for piece in pieces:
        text = (piece.at, piece.part)
        if piece.laid_out:
            whole = text
            led_in = bool(piece.under) and piece.laid_out.startswith(f"{piece.under}:\n")
            piece = replace(piece, item=False, under="") if led_in else piece
            yield replace(piece, text=piece.laid_out)
        elif piece.begins or text != whole:
            whole = None
            yield piece
