"""What a report says again: what the agent said and what it found on the way to it, and older reports of the same turn."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from foldline._facts.types import Facts
from foldline._page.choosing import Candidate
from foldline._page.superfluous import in_passing, led_to_report

AGAIN, BROUGHT_AGAIN = 0.55, 0.7
"""The share of what the agent said amid its work, and of what a call brought or an older report said, that a report says again
where it is enough to tell the report."""

ANSWERED, FEW = 0.4, 2
"""The same of a few sentences in a turn that changed nothing: its report is the answer that was asked for, and these led to it."""


class _Reports:
    """The terms of reports by where they stand, a message's texts apart and together."""

    def __init__(self, reports: Iterable[Candidate]) -> None:
        """`reports` stand in order."""
        self._texts: dict[tuple[int, int], set[str]] = {}
        self._messages: dict[int, set[str]] = {}
        for each in reports:
            self._texts.setdefault((each.piece.at, each.piece.part), set()).update(each.terms)
            self._messages.setdefault(each.piece.at, set()).update(each.terms)
        self._places, self._ends = [*self._texts], [*self._messages]

    def beside(self, at: int, part: int) -> set[str]:
        """What the next text of the same message reports."""
        behind = bisect_right(self._places, (at, part))
        if behind == len(self._places) or self._places[behind][0] != at:
            return set()
        return self._texts[self._places[behind]]

    def behind(self, at: int) -> set[str]:
        """What the next message reports that reports anything."""
        behind = bisect_right(self._ends, at)
        return self._messages[self._ends[behind]] if behind < len(self._ends) else set()


def repeated(facts: Facts, found: Sequence[Candidate]) -> set[int]:
    """The places of what the agent said at once amid its work or reported, and of what a call that changed nothing brought, where
    the next report of the turn says most of it again."""
    closed = {*led_to_report(facts)}
    acting = {(p.at, p.part) for p in facts.pieces if p.kind in ("change", "failure")}
    reports = _Reports(each for each in found if each.piece.kind == "report")
    texts: dict[tuple[int, int], list[Candidate]] = {}
    for each in found:
        piece, text = each.piece, (each.piece.at, each.piece.part)
        on_the_way = each.place in closed and text not in acting and (piece.kind == "result" or in_passing(piece))
        if on_the_way or piece.kind == "report":
            texts.setdefault(text, []).append(each)
    asked = sorted(request.newest for request in facts.requests)
    worked = {bisect_right(asked, p.at) for p in facts.pieces if p.kind == "change"}

    def again(at: int, part: int, text: Sequence[Candidate]) -> bool:
        report = reports.beside(at, part) or (reports.behind(at) if text[0].place in closed else set())
        shared = sum(weight for each in text for term, weight in each.terms.items() if term in report)
        led = len(text) <= FEW and bisect_right(asked, at) not in worked
        whole = text[0].piece.by == "tool" or text[0].piece.kind == "report"
        share = BROUGHT_AGAIN if whole else ANSWERED if led else AGAIN
        return shared >= share * sum(each.whole for each in text)

    return {each.place for text, pieces in texts.items() if again(*text, pieces) for each in pieces}
