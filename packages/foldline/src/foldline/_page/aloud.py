"""What an agent thought aloud, in circles, in a long turn without a report: what it found, the newest of what says the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import groupby
from operator import itemgetter

from foldline._facts.cues import announces, asks, leans, says_found, thinks_aloud
from foldline._facts.splitting import split
from foldline._facts.types import Facts, Piece
from foldline._messages import replace
from foldline._page.choosing import ENOUGH, Candidate, candidates, choose
from foldline._page.superfluous import led_to_report
from foldline._page.wholes import goes_on
from foldline._patterns import pattern

ALOUD, FURTHER = 1_200, 500
"""Tokens of thoughts with which messages begin that are told of turns that no report closed, and of what else was thought, where no
budget is to be filled."""

LONG, CIRCLES = 6_000, 1 / 3
"""Characters of thoughts in such turns that only think aloud, and their share of all of them, from which they go in circles."""

FRESH = 0.4
"""The share of a thought that no newer one says as well where it is told beside that."""

GAP = " … "
"""What stands where sentences of a thought are left out."""

_ENDS = (".", "!", ")", "…", "。", "！")
_COMMIT = pattern(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b")


def found_aloud(facts: Facts) -> list[Piece]:
    """The pieces; where thoughts that no report closed go in circles, of them what was found, and the lines that showed a commit
    as results where the agent names that commit later."""
    closed = {*led_to_report(facts)}
    thoughts = {i: p for i, p in enumerate(facts.pieces) if p.kind == "thought" and i not in closed}
    if not (_in_circles([piece.text for piece in thoughts.values()]) or _says_again([*thoughts.values()])):
        return [*facts.pieces]
    whole = ((i, p) for i, p in thoughts.items() if i == 0 or not goes_on(facts.pieces[i - 1], p))
    sober = [(i, piece) for i, thought in whole if (piece := _sober(thought)).text]
    first = {p.at: i for i, p in reversed(thoughts.items())}
    opening = {place for place, (i, piece) in enumerate(sober) if first[piece.at] == i}
    told = _chosen(candidates([piece for _, piece in sober]), opening, facts.end)
    kept = {i: piece for place, (i, piece) in enumerate(sober) if place in told}
    named: dict[str, int] = {}
    for piece in facts.latest.pieces:
        if piece.kind == "thought":
            named.update(dict.fromkeys(_COMMIT.findall(piece.text), piece.at))
    rest = ((i, _shown(piece, named)) for i, piece in enumerate(facts.pieces) if i not in thoughts)
    return [piece for _, piece in sorted((*rest, *kept.items()), key=lambda each: each[0])]


def _in_circles(texts: Sequence[str]) -> bool:
    """Whether much of some thoughts only wonders, plans and asks; an agent that tells what it does does not."""
    length = sum(map(len, texts))
    aloud = (len(each) for text in texts for each in split(text) if thinks_aloud(each)) if length > LONG else ()
    return sum(aloud) > max(LONG, CIRCLES * length)


def _says_again(thoughts: Sequence[Piece]) -> bool:
    """Whether newer ones of many thoughts say most of the older ones again."""
    length = sum(len(thought.text) for thought in thoughts)
    return length > LONG and sum(len(each.piece.text) for each in _fresh(candidates(thoughts))) * 2 < length


def _sober(thought: Piece) -> Piece:
    """A thought without the sentences that only wonder, plan or ask, but for one on which the next leans, and without those that say
    nothing by themselves and lean on nothing that is told."""
    if thought.back:
        return thought
    if thought.item and thinks_aloud(thought.under):
        return replace(thought, text="")
    said = [*split(thought.text)]
    tells = [*map(_tells, said), False]
    for i, each in enumerate(said[1:], 1):
        tells[i] = tells[i] or (tells[i - 1] and leans(each) and not _muses(each))
    held = [tells[i] or (tells[i + 1] and leans(said[i + 1]) and not asks(each)) for i, each in enumerate(said)]
    runs = (" ".join(each for _, each in some) for told, some in groupby(zip(held, said), key=itemgetter(0)) if told)
    text = GAP.join(runs)
    return replace(thought, text=text if text.endswith(_ENDS) else "")


def _tells(sentence: str) -> bool:
    return not (_muses(sentence) or (leans(sentence) and not says_found(sentence)))


def _muses(sentence: str) -> bool:
    return announces(sentence) or thinks_aloud(sentence)


def _shown(piece: Piece, named: dict[str, int]) -> Piece:
    shown = _COMMIT.search(piece.text) if piece.kind == "shown" else None
    return replace(piece, kind="result") if shown and named.get(shown[0], -1) > piece.at else piece


def _chosen(thoughts: Sequence[Candidate], opening: Set[int], end: int) -> set[int]:
    """The places of the thoughts that are told: what messages begin with, which is how that came out what was done before, then what
    else says how something came out, and last what else the agent thought."""
    begun = [*_newest([*_fresh([each for each in thoughts if each.place in opening])][::-1], ALOUD)]
    others = [each for each in thoughts if each not in begun]
    results = [each for each in others if each.piece.back or says_found(each.piece.text)]
    known = {term for each in begun for term in each.terms}
    kept = choose(_fresh(results), FURTHER, known, end, ENOUGH)
    room = (FURTHER - sum(each.cost for each in kept)) // 2
    rest = _fresh([each for each in others if not says_found(each.piece.text)])
    kept += choose(rest, room, known, end, ENOUGH)
    return {each.place for each in (*begun, *kept)}


def _newest(thoughts: Sequence[Candidate], room: int) -> Iterator[Candidate]:
    """The newest of some thoughts that fit into so many tokens, each once."""
    once = {each.piece.text: each for each in thoughts}
    for each in reversed(once.values()):
        room -= each.cost
        if room >= 0:
            yield each


def _fresh(thoughts: Sequence[Candidate]) -> Iterator[Candidate]:
    """Those of which newer ones do not say most."""
    said: set[str] = set()
    for each in reversed(thoughts):
        new = sum(weight for term, weight in each.terms.items() if term not in said)
        if new >= FRESH * each.whole:
            yield each
            said.update(each.terms)
