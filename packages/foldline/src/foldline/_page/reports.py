"""The agent's longer reports, and what it worked out at length on the way, as wholes, where no budget is to be filled: all of
one, its outline, or how it opens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import dropwhile, groupby, islice, pairwise, takewhile

from foldline._facts.cues import announces, asks, is_courtesy, leans
from foldline._facts.literals import literals
from foldline._facts.splitting import split
from foldline._facts.types import Piece
from foldline._messages import replace
from foldline._page.choosing import LABEL, WEIGHTY, Candidate
from foldline._page.quoting import number
from foldline._page.wholes import STEPS, goes_on
from foldline._patterns import pattern

LONG = 4
"""Sentences from which some of a report, picked out of all of it, do not read on."""

AT_LENGTH = 6
"""The same of what it said amid its work: so many say how something is, and not only what it does next."""

OPENING = 2
"""The sentences by which a report is known: what it says first is what was done."""

NEWEST, FULL, SHORT = 3, 900, 300
"""The newest reports, the tokens up to which one of them is told as a whole, and those of an older one: by its outline who reads on
knows what came of it."""

BRIEF = 60
"""Tokens of a report that is the outcome of its turn as a whole; of a longer one a sentence is."""

OUTCOMES = 0.15
"""The share of the timeline that outcomes of turns have of which else nothing would be told."""

LEAST_ROOM = 500
"""Tokens of a timeline below which sentences are chosen one by one, from wherever they stand."""

OFTEN = 0.3
"""What is left of the worth of a sentence that is said too often to be part of a form."""

_THANKS = pattern(
    r"(?:many )?thanks\b|thank you\b|(?:vielen |herzlichen )?dank\b|danke\b|(?:muchas )?gracias\b|terima kasih\b|merci\b|obrigad[oa]\b|спасибо|ありがとう|感谢|谢谢|감사",
    re.IGNORECASE,
)
"""How a report begins that is polite first."""

_LEAST = {"report": LONG, "thought": AT_LENGTH}

Report = Sequence[Candidate]
Form = Callable[[Report], list[Candidate]]


def formed(reports: Sequence[Report], chosen: Iterable[Candidate], room: int) -> list[Candidate]:
    """What was chosen within `room` tokens, but of each longer report a form in place of what was chosen of it: how it opens,
    then fuller ones, the newest first. How each begins stands before the rest, as what stands last is left out first."""
    among = places(reports)
    others = [each for each in chosen if each.place not in among]
    forms: list[list[Candidate]] = [[] for _ in reports]
    left = room - _cost(others)
    for shape in _FORMS:
        for i in reversed(range(len(reports))):
            most = FULL if i >= len(reports) - NEWEST else SHORT
            fuller = _within(min(most, _cost(forms[i]) + left), shape(_without_courtesy(reports[i])))
            if 0 < (more := _cost(fuller) - _cost(forms[i])) <= left:
                forms[i], left = fuller, left - more
    begins = places(_first(_without_courtesy(report)) for report in reports)
    told = [each for form in reversed(forms) for each in form]
    return [*others, *sorted(told, key=lambda each: each.place not in begins)]


def outcomes(found: Iterable[Candidate], turns: set[int], turn: Callable[[int], int], room: int) -> list[Candidate]:
    """What came of some `turns` in which the agent reported, in few words of their last reports; nothing where that is too much
    for all of them: of many turns those are told that say most."""
    said = (e for e in found if e.piece.kind == "report" and e.share > OFTEN and turn(e.piece.at) in turns)
    last = {turn(at): [*some] for at, some in groupby(said, key=lambda each: each.piece.at)}
    told = [each for report in last.values() for each in _outcome(report)]
    return told if _cost(told) <= room * OUTCOMES else []


def _outcome(report: Report) -> list[Candidate]:
    """A short report whole, else the first of its sentences that says something by itself; nothing of one that asks."""
    report = _without_courtesy(report)
    said = [each for each in report if not (asks(each.piece.text) or each.piece.text.endswith((":", "：")))]
    if _cost(report) <= BRIEF:
        return [*said]
    if known := _behind_thanks(report):
        return known
    words = [each for each in said if not (each.piece.item or announces(each.piece.text))]
    telling = (each for each in words if len(each.piece.text) > LABEL)
    return _whole(report, [*islice(telling, 1)] or words[:1])


def places(reports: Iterable[Report]) -> set[int]:
    """The places of what reports say."""
    return {each.place for report in reports for each in report}


def beyond(found: Iterable[Candidate]) -> set[int]:
    """The places of what is more than is told of another agent's report that nobody summed up."""
    heard = (each for each in found if each.piece.by == "peer")
    texts = [[*some] for _, some in groupby(heard, key=lambda each: (each.piece.at, each.piece.part))]
    return places(texts) - places(_within(SHORT, text) for text in texts)


def longer(found: Iterable[Candidate]) -> list[Report]:
    """The reports of several sentences and what was worked out at length, oldest first."""
    said = (e for e in found if e.piece.by == "agent" and e.piece.kind in _LEAST and e.share > OFTEN)
    texts = ([*some] for _, some in groupby(said, key=lambda each: (each.piece.at, each.piece.kind)))
    return [text for text in texts if len(text) >= _LEAST[text[0].piece.kind]]


def _cost(some: Iterable[Candidate]) -> int:
    return sum(each.cost for each in some)


def _within(most: int, form: Report) -> list[Candidate]:
    """As much of a form as has room in so many tokens: its rim and what was left open, then its paragraphs, then its lists."""
    if _cost(form) <= most:
        return [*form]
    told: list[Candidate] = []
    for some in sorted(_units(_outline(form)), key=_rank):
        if _cost(told) + _cost(some) <= most:
            told += some
        elif len(some) == 1:
            break
    known = places([told])
    return sorted((e for e in told if not e.title or e.place + 1 in known), key=lambda each: each.place)


def _units(outline: Report) -> Iterator[list[Candidate]]:
    """The pieces of an outline, those of a few numbered items together."""
    units: list[list[Candidate]] = []
    counts = False
    for each in outline:
        goes_on = counts and (number(each.piece) > 1 or not each.piece.begins)
        counts = goes_on or number(each.piece) == 1
        units += [] if goes_on else [[]]
        units[-1].append(each)
    for some in units:
        yield from [some] if max(number(each.piece) for each in some) <= STEPS else ([each] for each in some)


def _rank(some: Report) -> tuple[bool, ...]:
    """How soon a part of an outline is told: the rim and what was left open first, then what weighs, paragraphs, a few steps, and
    other items."""
    rim = any((each.piece.edge and not each.title) or (each.piece.open and _matters(each.piece)) for each in some)
    return not rim, not any(_matters(each.piece) for each in some), some[0].piece.item, len(some) == 1


def _outline(report: Report) -> list[Candidate]:
    """The first sentence of each paragraph and item, and what was left open."""
    labels = {each.place + 1 for each in report if each.piece.begins and len(each.piece.text) <= LABEL}
    return _whole(
        report, [e for e in report if e.piece.begins or e.piece.edge or _matters(e.piece) or e.place in labels]
    )


def _opening(report: Report) -> list[Candidate]:
    """How it begins, with all of a short list and nothing of a longer one, and what was left open."""
    begins = [*report[:OPENING]]
    if begins[-1].piece.item:
        items = [*takewhile(lambda each: each.piece.item, report[OPENING - 1 :])]
        begins[-1:] = items if _cost(items) <= BRIEF else []
    return _whole(report, [*begins, *(each for each in report[OPENING:] if each.piece.open and each not in begins)])


def _matters(piece: Piece) -> bool:
    """Whether who carries on has to know what a piece tells: what was decided, is wrong or was left open."""
    return (piece.open and not is_courtesy(piece.text)) or piece.tells in WEIGHTY


def _without_courtesy(report: Report) -> Report:
    """A report without the sentences before what it says that are only polite, but for one that leads in a list; one that says no more
    as it is."""
    polite = [*takewhile(lambda each: not _said(each.piece.text), report)]
    if len(polite) == len(report):
        return report
    if report[len(polite)].piece.item:
        return report[max(len(polite) - 1, 0) :]
    first, *others = report[len(polite) :]
    return [replace(first, piece=replace(first.piece, text=_said(first.piece.text))), *others]


def _said(text: str) -> str:
    """What a piece of a report says behind the sentences that are only polite; all of it where that leans on them."""
    said = [*dropwhile(lambda each: (is_courtesy(each) or announces(each)) and not literals(each), split(text))]
    return "" if not said else text if leans(said[0]) else text[text.index(said[0]) :]


def _whole(report: Report, some: Iterable[Candidate]) -> list[Candidate]:
    """Some of a report, of the sentences that are too long for one piece all."""
    kept = places([[*some]])
    for before, each in pairwise(report):
        if before.place in kept and goes_on(before.piece, each.piece):
            kept.add(each.place)
    return [each for each in report if each.place in kept]


def _first(report: Report) -> list[Candidate]:
    """How it begins, below its titles; of one that begins with thanks the first that who carries on has to know."""
    if known := _behind_thanks(report):
        return known
    titles = [*takewhile(lambda each: each.title, report)]
    return _whole(report, report[: len(titles) + 1])


def _behind_thanks(report: Report) -> list[Candidate]:
    """What who carries on has to know first of a report that begins with thanks; empty of others."""
    polite = _THANKS.match(report[0].piece.text) is not None
    return _whole(report, islice((each for each in report if polite and _matters(each.piece)), 1))


_FORMS: tuple[Form, ...] = (_first, _opening, _outline, list)
