"""What belongs together on a page: the items of a list, the parts of a long sentence, a line and what it leads in."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from foldline._facts.cues import announces
from foldline._facts.texts import LONGEST
from foldline._page.choosing import Candidate
from foldline._page.quoting import bare, number

FEW = 4
"""Sentences that are told all where one of them is: by itself it does not say what it is about."""

STEPS = 5
"""Numbered items that are told all or not at all: who counts misses the others."""

_ENDS = ".!?…:;)]`\"'。！？：；）」"
"""What a sentence that is whole ends with."""


def torn(found: Sequence[Candidate], known: set[int]) -> Iterator[list[Candidate]]:
    """What is missing, by the places that are `known` to be told, of lists of which half is told, of the few sentences that the
    agent said amid its work, and of sentences that are too long for one piece."""
    for said in _thoughts(found):
        missing = [each for each in said if each.place not in known]
        if 0 < len(missing) < len(said):
            yield missing
    for items in _lists(found):
        missing = [each for each in items if each.place not in known]
        steps = len(items) <= STEPS and number(items[0].piece) == 1
        if 0 < len(missing) <= len(items) / 2 or (steps and 0 < len(missing) < len(items)):
            yield missing
    parts = [pair for pair in itertools.pairwise(found) if goes_on(*pair)]
    for one, other in (*parts, *((each, before) for before, each in reversed(parts))):
        if one.place in known and other.place not in known:
            yield [other]


def standing(pieces: Sequence[Candidate]) -> list[Candidate]:
    """Pieces in order without those that lead in what is not told."""
    return [each for each, behind in zip(pieces, (*pieces[1:], None)) if not _leads_nowhere(each, behind)]


def _lists(found: Iterable[Candidate]) -> Iterator[list[Candidate]]:
    """The items of each list that the agent wrote."""
    items = (each for each in found if each.piece.item and each.piece.by == "agent")
    for _, some in itertools.groupby(items, key=_list):
        yield [*some]


def _list(each: Candidate) -> tuple[int, int, str, bool]:
    """What the items of one list have in common."""
    return each.piece.at, each.piece.part, each.piece.under, number(each.piece) > 0


def _thoughts(found: Iterable[Candidate]) -> Iterator[list[Candidate]]:
    """What the agent said at once amid its work, where that is not much."""
    said = (each for each in found if each.piece.kind == "thought" and not announces(bare(each.piece)))
    texts = ([*some] for _, some in itertools.groupby(said, key=lambda each: (each.piece.at, each.piece.part)))
    return (text for text in texts if len(text) <= FEW)


def goes_on(before: Candidate, each: Candidate) -> bool:
    """Whether a piece is the rest of a sentence that was too long for one."""
    one = (each.piece.at, each.piece.part) == (before.piece.at, before.piece.part) and not each.piece.begins
    return (
        one and each.piece.by != "tool" and len(before.piece.text) > LONGEST // 2 and before.piece.text[-1] not in _ENDS
    )


def _leads_nowhere(each: Candidate, behind: Candidate | None) -> bool:
    """Whether a piece leads in what is not told: it ends with a colon, and nothing of the same text follows."""
    leads = each.piece.by == "agent" and each.piece.text.endswith((":", "："))
    return leads and (behind is None or (behind.piece.at, behind.piece.part) != (each.piece.at, each.piece.part))
