"""What is told of another agent's report: its verdict, and what it says came out with the list that follows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import groupby

from foldline._facts.cues import concludes, grades, passes_judgement
from foldline._facts.types import Piece
from foldline._page.wholes import goes_on

HEADS = 8
"""Items of the longest list that is told of what a report says came out."""


def unheard(pieces: Sequence[Piece], closed: Set[int], taken_in: Set[int]) -> set[int]:
    """The places of what is not told of other agents' reports: all but its one verdict where a report `closed` the turn that
    sums them up, all but what came out where the agent has `taken in` what they say, or where they say so themselves."""
    over: set[int] = set()
    heard = (i for i, piece in enumerate(pieces) if piece.by == "peer")
    for _, some in groupby(heard, key=lambda i: (pieces[i].at, pieces[i].part)):
        report = [*some]
        verdicts = [i for i in report if passes_judgement(pieces[i].text)]
        if report[0] in closed:
            told = verdicts if len(verdicts) == 1 else []
        else:
            told = [*(verdicts or _conclusion(pieces, report)), *_findings(pieces, report)]
        if told or report[0] in closed or report[0] in taken_in:
            rest = (i for i in report[1:] if i - 1 in told and goes_on(pieces[i - 1], pieces[i]))
            over.update({*report}.difference(told, rest))
    return over


def _conclusion(pieces: Sequence[Piece], report: Iterable[int]) -> Iterator[int]:
    """The places of what a report says came out, and of the list below that, where that is short enough to be told whole."""
    said = [i for i in report if not pieces[i].item and concludes(pieces[i].text)]
    yield from dict.fromkeys((*said[:1], *said[1:][-1:]))
    below = [i for i in report if pieces[i].item and concludes(f"{pieces[i].under}:")]
    yield from below if len(below) <= HEADS else ()


def _findings(pieces: Sequence[Piece], report: Iterable[int]) -> list[int]:
    """The places of findings that a report grades, where they are few."""
    graded = [i for i in report if grades(pieces[i].text)]
    return graded if len(graded) <= HEADS else []
