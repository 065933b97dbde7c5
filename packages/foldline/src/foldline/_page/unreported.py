"""What the agent said amid turns that no report closed: its words there are all the report there is, and each text is told whole or
not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import groupby

from foldline._facts.cues import announces, reasons
from foldline._facts.types import Facts
from foldline._messages import replace
from foldline._page.choosing import Candidate
from foldline._page.quoting import bare
from foldline._page.superfluous import led_to_report, says_why

WHOLE = 400
"""Tokens of the longest text that is told whole or not at all; of a longer one its outline says more than nothing."""

SAYS = 1.0
"""What the words of a text weigh from which it says something, whatever that is."""

SOON, MOST = 8, 0.6
"""The texts behind one among which one is looked for that says more than this share of it again."""

FRESH = 0.25
"""The share of a text that no newer one says as well where it is told beside that."""


def unreported(facts: Facts, found: Iterable[Candidate]) -> list[Candidate]:
    """What the agent said amid turns without a report."""
    closed = {*led_to_report(facts)}
    begun = max((r.newest for r in facts.requests), default=-1) if _reported_behind(facts) else facts.end
    return [e for e in found if e.piece.kind == "thought" and e.place not in closed and e.piece.at <= begun]


def running(facts: Facts, found: Iterable[Candidate]) -> list[Candidate]:
    """What the agent said in the turn that the messages behind go on with."""
    begun = max((r.newest for r in facts.requests), default=facts.end) if facts.goes_on else facts.end
    return [each for each in found if each.piece.kind == "thought" and each.piece.at > begun]


def repeats(said: Iterable[Candidate]) -> set[int]:
    """The places of sentences that were said before, word for word; items stay in their lists."""
    known: set[str] = set()
    over: set[int] = set()
    for each in said:
        over.update({each.place} if each.piece.text in known and not each.piece.item else ())
        known.add(each.piece.text)
    return over


def texts_of(said: Iterable[Candidate]) -> list[list[Candidate]]:
    """What was said at once, oldest first, without the sentences that only say what comes next."""
    telling = (each for each in said if not announces(bare(each.piece)) or reasons(each.piece.text))
    texts = ([*some] for _, some in groupby(telling, key=lambda each: (each.piece.at, each.piece.part)))
    return [text for text in texts if _says(text) and sum(each.cost for each in text) <= WHOLE]


def fresh(texts: Sequence[Sequence[Candidate]]) -> Iterator[Sequence[Candidate]]:
    """Those of texts of which newer ones do not say nearly all, newest first."""
    said: set[str] = set()
    for text in reversed(texts):
        terms = {term: weight for each in text for term, weight in each.terms.items()}
        if sum(weight for term, weight in terms.items() if term not in said) >= FRESH * sum(terms.values()):
            yield text
            said.update(terms)


def overtaken(texts: Sequence[Sequence[Candidate]], turn: Callable[[int], int]) -> set[int]:
    """The places of texts of which one of the next few of the same turn says most again: how far the work was then. What gives a
    reason, or tells what was wrong, stays."""
    terms = [{term: w for each in text for term, w in each.terms.items()} for text in texts]
    over: set[int] = set()
    for i, said in enumerate(terms):
        later = (
            terms[j]
            for j in range(i + 1, min(i + 1 + SOON, len(texts)))
            if turn(texts[j][0].piece.at) == turn(texts[i][0].piece.at)
        )
        whole = sum(said.values())
        if not says_why(each.piece for each in texts[i]) and any(
            sum(w for term, w in said.items() if term in by) >= MOST * whole for by in later
        ):
            over.update(each.place for each in texts[i])
    return over


def unfinished(texts: Iterable[Sequence[Candidate]], told: Set[int]) -> set[int]:
    """The places of texts that are not told as a whole."""
    return {each.place for text in texts if not all(e.place in told for e in text) for each in text}


def as_one(text: Sequence[Candidate]) -> Candidate:
    """A text as one candidate in the place of its first piece."""
    terms = {term: weight for each in text for term, weight in each.terms.items()}
    whole = sum(terms.values())
    share = sum(each.share * each.whole for each in text) / (sum(each.whole for each in text) or 1.0)
    cost, bonus = sum(each.cost for each in text), sum(each.bonus for each in text)
    return replace(text[0], cost=cost, terms=terms, whole=whole, share=share, bonus=bonus)


def _reported_behind(facts: Facts) -> bool:
    """Whether the messages that stay behind begin with the rest of a turn that a report closes."""
    asked = min((r.newest for r in facts.latest.requests if r.newest >= facts.end), default=facts.latest.end)
    return any(p.kind == "report" and facts.end <= p.at < asked for p in facts.latest.pieces)


def _says(text: Iterable[Candidate]) -> bool:
    """Whether a text says more than that work goes on, or gives a reason."""
    pieces = [*text]
    return sum(each.whole for each in pieces) >= SAYS or any(reasons(each.piece.text) for each in pieces)
