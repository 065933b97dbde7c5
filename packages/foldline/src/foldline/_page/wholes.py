"""What belongs together on a page: the items of a list, the parts of a long sentence, a line and what it leads in."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Set

from foldline._facts.cues import only_announces
from foldline._facts.texts import LONGEST
from foldline._facts.types import Piece
from foldline._page.choosing import Candidate
from foldline._page.quoting import bare, number, quotes_on

FEW = 4
"""Sentences that are told all where one of them is: by itself it does not say what it is about."""

BRIEF = 2
"""The same of a report, which is told whole or not at all."""

STEPS = 5
"""Numbered items that are told all or not at all: who counts misses the others."""

_ENDS = ".!?…:;)]`\"'。！？：；）」"
"""What a sentence that is whole ends with."""


def torn(found: Sequence[Candidate], known: set[int]) -> Iterator[list[Candidate]]:
    """What is missing, by the places that are `known` to be told, of lists of which half is told, of the few sentences that the
    agent said amid its work, and of sentences that are too long for one piece."""
    for said in (*_thoughts(found), *_brief_reports(found)):
        missing = [each for each in said if each.place not in known]
        if 0 < len(missing) < len(said):
            yield missing
    for items in _lists(found):
        missing = [each for each in items if each.place not in known]
        steps = len(items) <= STEPS and number(items[0].piece) == 1
        if 0 < len(missing) <= len(items) / 2 or (steps and 0 < len(missing) < len(items)):
            yield missing
    parts = [(one, other) for one, other in itertools.pairwise(found) if goes_on(one.piece, other.piece)]
    for one, other in (*parts, *((each, before) for before, each in reversed(parts))):
        if one.place in known and other.place not in known:
            yield [other]


def halved(found: Sequence[Candidate], told: Set[int]) -> set[int]:
    """The places of the user's messages as an earlier summary lists them, where not all of them are told: who reads some takes
    them for all."""
    listed = (e for e in found if e.piece.section == "messages")
    lists = ([*some] for _, some in itertools.groupby(listed, key=lambda each: (each.piece.at, each.piece.part)))
    return {each.place for items in lists if not all(e.place in told for e in items) for each in items}


def standing(pieces: Sequence[Candidate]) -> list[Candidate]:
    """Pieces in order without those that lead in what is not told."""
    return [each for each, behind in zip(pieces, (*pieces[1:], None)) if not _leads_nowhere(each, behind)]


def _lists(found: Iterable[Candidate]) -> Iterator[list[Candidate]]:
    """The items of each list that the agent wrote, or of the user's messages."""
    items = (e for e in found if e.piece.item and (e.piece.by == "agent" or e.piece.section == "messages"))
    for _, some in itertools.groupby(items, key=_list):
        yield [*some]


def _list(each: Candidate) -> tuple[int, int, str, bool]:
    """What the items of one list have in common."""
    return each.piece.at, each.piece.part, each.piece.under, number(each.piece) > 0


def _thoughts(found: Iterable[Candidate]) -> Iterator[list[Candidate]]:
    """What the agent said at once amid its work, where that is not much."""
    said = (each for each in found if each.piece.kind == "thought" and not only_announces(bare(each.piece)))
    texts = ([*some] for _, some in itertools.groupby(said, key=lambda each: (each.piece.at, each.piece.part)))
    return (text for text in texts if len(text) <= FEW)


def _brief_reports(found: Iterable[Candidate]) -> Iterator[list[Candidate]]:
    """Reports of no more than two sentences."""
    said = (each for each in found if each.piece.kind == "report")
    texts = ([*some] for _, some in itertools.groupby(said, key=lambda each: (each.piece.at, each.piece.part)))
    return (text for text in texts if len(text) <= BRIEF)


def goes_on(before: Piece, each: Piece) -> bool:
    """Whether a piece is the rest of a sentence that was too long for one, or of a quotation."""
    one = (each.at, each.part) == (before.at, before.part) and not each.begins and each.by != "tool"
    cut = len(before.text) > LONGEST // 2 and before.text[-1] not in _ENDS
    return one and (cut or bool(quotes_on(before.text)))


def without_beginnings(pieces: Sequence[Piece], left_out: Set[int]) -> set[int]:
    """The places that are left out, and those of the rests of sentences that begin there."""
    over = {*left_out}
    for i, (before, each) in enumerate(itertools.pairwise(pieces)):
        over.update({i + 1} if i in over and each.by == "agent" and goes_on(before, each) else ())
    return over


def _leads_nowhere(each: Candidate, behind: Candidate | None) -> bool:
    """Whether a piece leads in what is not told: it ends with a colon, and what follows in its text is left out."""
    leads = each.piece.by == "agent" and each.piece.text.endswith((":", "："))
    if not leads or behind is None:
        return leads
    return behind.place > each.place + 1 or (behind.piece.at, behind.piece.part) != (each.piece.at, each.piece.part)
