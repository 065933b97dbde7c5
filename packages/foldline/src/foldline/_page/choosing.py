"""Which pieces are told: those that say most for their length and are not said yet, until the room is full."""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from math import log

from foldline._facts.cues import asks, leans, passes_judgement, reasons, wonders
from foldline._facts.types import LEFT, Piece, Rule
from foldline._messages import Value
from foldline._page.task import ADDRESS
from foldline._tokens.estimate import estimate_all

_TERM = re.compile(r"[\w@~$€£#./:%+-]+")
_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z][a-z]+[A-Z]")

_FRAME = 3
"""Tokens that a piece costs beside its text: a new line, a mark, what joins it to the one before."""

_QUESTION = 0.35
_LABELLED = 0.8
_EDGE = 0.85
_BINDING = 0.5
_REASONED = 0.8
_LEANING = 0.5
_SUPPOSED = 0.3
_RENEWED = 0.5
WEIGHTY = ("decided", *LEFT)
"""What sentences tell of an agent that who carries on has to know."""

BROUGHT = ("result", "excerpt", "shown", "given", "written")
"""The kinds of pieces that a call brought, or wrote: they are told behind it."""


BEGIN = 40
"""Characters of a rule by which it is known in the piece that holds it."""

LONG = 12
"""Lines of a report from which a short one is its title, or that of a part."""

_BARE = re.compile(r"[^\d`]{1,24}(?<![.!?:;,。！？：；、)\]”」])")
"""A line of few letters that ends no sentence."""

_HEADING = re.compile(r"[^`]{1,60}(?<![.!?:;,。！？：；、”」])")
"""A short line over a list that ends no sentence."""

_NUMBER = re.compile(r"\d+")
_LABEL = re.compile(r"[^\W\d_][\w -]{1,24}: \S")

_HEAD = 12
"""Tokens of the call that is named before what it brought, where the call itself is not told, as far as that is known before."""


class Worth(Value, frozen=True):
    """What pieces of a kind are worth: by themselves, for each new term, and for one that somebody else wrote as well."""

    base: float
    terms: float
    used: float = 0.0


WORTH: dict[tuple[str, str], Worth] = {
    ("user", "rule"): Worth(4.0, 1.5),
    ("harness", "rule"): Worth(0.4, 0.5),
    ("command", "rule"): Worth(0.4, 0.5),
    ("harness", "said"): Worth(0.6, 0.6),
    ("user", "excerpt"): Worth(0.2, 0.5, 0.6),
    ("user", "said"): Worth(2.0, 2.0),
    ("user", "answer"): Worth(3.0, 0.0),
    ("agent", "answer"): Worth(3.0, 0.0),
    ("agent", "report"): Worth(1.0, 1.1),
    ("agent", "thought"): Worth(0.1, 0.7),
    ("tool", "change"): Worth(1.6, 1.2),
    ("tool", "failure"): Worth(1.4, 1.0),
    ("tool", "call"): Worth(0.4, 0.8),
    ("tool", "result"): Worth(0.1, 0.45, 0.5),
    ("tool", "excerpt"): Worth(0.0, 0.15, 0.15),
    ("tool", "shown"): Worth(0.0, 0.15, 0.15),
    ("peer", "said"): Worth(0.3, 0.6, 0.5),
    ("summary", "summary"): Worth(1.0, 1.2),
}
"""By who speaks and what the piece is."""

WEIGHTS = {
    "literal": 1.0,
    "figure": 0.5,
    "capitals": 0.6,
    "name": 0.3,
    "long": 0.2,
    "word": 0.12,
    "pair": 0.15,
    "": 0.0,
}
"""What a term is worth by its shape; a pair is two letters of a language that is written without spaces."""


class Scale(Value, frozen=True):
    """What counts on a page: what pieces are worth, the terms in them, the tokens of a call that is only named before what it
    brought, and the characters of the request in force where its turn is told."""

    worth: Mapping[tuple[str, str], Worth]
    weights: Mapping[str, float]
    head: int
    begin: int


READ = Scale(WORTH, WEIGHTS, 60, 48)
"""On a page that is made to be read."""

FILLED = Scale(
    WORTH
    | {
        ("agent", "thought"): Worth(0.1, 0.4),
        ("tool", "change"): Worth(2.5, 2.2),
        ("tool", "call"): Worth(0.6, 1.2),
        ("tool", "result"): Worth(0.1, 0.5, 1.0),
        ("tool", "given"): Worth(0.0, 0.45, 0.15),
        ("tool", "written"): Worth(0.0, 0.5, 0.4),
    },
    WEIGHTS | {"literal": 2.0, "figure": 1.0, "name": 0.5, "pair": 0.05},
    _HEAD,
    0,
)
"""On one that fills a hard budget: what was called, with what, and what it changed is needed again letter by letter, and so are
names and numbers."""

NEAR = 1.4
"""What a sentence of a report gains beside one that is told."""


PASSING = ("thought", "excerpt", "shown")
"""The kinds of pieces that are told of work only where they say enough for their length."""

BROUGHT_MOST, BROUGHT_USED = 2, 5
"""How many pieces are told of what a call brought, where no budget is to be filled, and up to how many of those that somebody wrote of."""

ENOUGH = 0.02
"""What such a piece says for each token where no budget is to be filled."""

LEAST = 0.35
"""What a piece must say to be told at all: thanks and yeses say less."""

FEW = 3
"""Words without a digit from which a sentence is known by them."""

AGAIN, SUPERSEDED = 0.7, 0.5
"""The share of a sentence, and of a report by such sentences, that a later message says again where it takes its place."""

_TOO_LITTLE = AGAIN - 0.001
"""The share below which it does not, however the weights of the terms are rounded."""

REPORT = 120
"""Tokens of a report that a later message says most of again, where no budget is to be filled."""

_UNKNOWN = Worth(0.3, 0.7)


class Candidate(Value, frozen=True, gc=False):
    """A piece with its place among all of them, what it costs in tokens, and its terms with their weights."""

    place: int
    piece: Piece
    cost: int
    terms: dict[str, float]
    whole: float
    """The weights of its terms together."""
    share: float = 1.0
    """What its form leaves of its worth: less of a question, which was answered, of what was said again and again, and of a line of many."""
    bonus: float = 0.0
    """What its form adds: somebody put a label before it, or a report begins or ends with it."""
    worth: Worth = _UNKNOWN
    binds: bool = False
    """Whether a rule that stands is said in it."""
    title: bool = False
    """Whether it is the title of what stands behind it, and says nothing without that."""


def candidates(
    pieces: Sequence[Piece],
    boost: Mapping[str, float] | None = None,
    standing: Sequence[Rule] = (),
    scale: Scale = READ,
) -> list[Candidate]:
    """The pieces, weighed; a term that stands in many of them says less, one of `boost` more, and so does a rule that stands."""
    binding: dict[int, list[str]] = {}
    for rule in standing:
        binding.setdefault(rule.at, []).append(rule.text[:BEGIN])
    binds = [any(text in piece.text for text in binding.get(piece.at, ())) for piece in pieces]
    found = [terms(piece.text, scale.weights) for piece in pieces]
    stands = Counter(term for each in found for term in each)
    rare = {term: 1.0 / (1.0 + 0.5 * log(n)) for term, n in stands.items()}
    said: Counter[str] = Counter()
    for piece in pieces:
        said[piece.text] += piece.times
    shapes = Counter(_shape(piece) for piece in pieces if piece.kind in BROUGHT)
    costs = estimate_all([piece.text for piece in pieces])
    lift = boost or {}
    titles = _titles(pieces)
    weighed = [{t: w * rare[t] + lift.get(t, 0.0) for t, w in each.items()} for each in found]
    renewed = _renewed(pieces, found)
    return [
        Candidate(
            i,
            piece,
            cost,
            each,
            sum(each.values()),
            _standing(piece)
            / (shapes[_shape(piece)] if piece.kind in BROUGHT and not piece.used else said[piece.text])
            * (_RENEWED if i in renewed else 1.0),
            (_LABELLED if _LABEL.match(piece.text) else 0.0)
            + (_EDGE if (piece.edge and i not in titles) or i - 1 in titles else 0.0)
            + (_REASONED if piece.by == "agent" and (reasons(piece.text) or piece.tells in WEIGHTY) else 0.0)
            + (_BINDING if bound else 0.0),
            scale.worth.get((piece.by, "report" if piece.weighs else piece.kind), _UNKNOWN),
            bound,
            i in titles,
        )
        for i, (piece, cost, each, bound) in enumerate(zip(pieces, costs, weighed, binds))
    ]


def _titles(pieces: Sequence[Piece]) -> set[int]:
    """The places of short lines of long reports that end no sentence, with others behind them: titles, where a chat was copied without
    its marks."""
    heads = {
        i
        for i, (p, below) in enumerate(pairwise(pieces))
        if p.kind == "report"
        and p.begins
        and not p.item
        and below.item
        and (p.at, p.part) == (below.at, below.part)
        and _HEADING.fullmatch(p.text)
    }
    lines = Counter(piece.at for piece in pieces if piece.kind == "report")
    long = ((i, p) for i, p in enumerate(pieces) if p.kind == "report" and lines[p.at] >= LONG and p.begins)
    return heads | {i for i, p in long if not p.item and _BARE.fullmatch(p.text)}


def _renewed(pieces: Sequence[Piece], found: Sequence[Mapping[str, float]]) -> set[int]:
    """The places of the user's sentences that a later one says again with another value."""
    own = [i for i, piece in enumerate(pieces) if piece.by == "user" and piece.kind in ("said", "rule")]
    words = {i: {term for term in found[i] if not _NUMBER.search(term)} for i in own}
    places: dict[str, list[int]] = {}
    for i, said in words.items():
        for word in said:
            places.setdefault(word, []).append(i)

    def likely(i: int) -> set[int]:
        """Later ones that have one of its rarest words: whoever has most of its words has one of these."""
        rarest = sorted(words[i], key=lambda word: len(places[word]))[: int((1 - AGAIN) * len(words[i])) + 1]
        return {later for word in rarest for later in places[word] if later > i}

    def renews(later: int, i: int) -> bool:
        return len(words[i] & words[later]) >= AGAIN * len(words[i]) and not found[i].keys() <= found[later].keys()

    return {i for i in own if len(words[i]) >= FEW and any(renews(later, i) for later in likely(i))}


def _standing(piece: Piece) -> float:
    """What the form of a piece leaves of its worth: less of a question, and of words amid the work that lean on what nobody
    sees or only suppose something."""
    if asks(piece.text) and not piece.open:
        return _QUESTION
    if piece.kind != "thought":
        return 1.0
    return (_LEANING if leans(piece.text) else 1.0) * (_SUPPOSED if wonders(piece.text) else 1.0)


def _shape(piece: Piece) -> str:
    """What the lines of a listing have in common, which differ in their numbers."""
    return _NUMBER.sub("#", piece.text)


LABEL = 40
"""Characters of a sentence that by itself says nothing: the one behind it does."""


def told_again(found: Sequence[Candidate]) -> set[int]:
    """The places of what a later message says most of again, of reports of the agent: all but the verdict, or how each of them
    begins that has none.

    Its lines stay with their first sentences, as many of them as there is room for.
    """
    reports: dict[int, list[Candidate]] = {}
    for each in found:
        if each.piece.kind == "report":
            reports.setdefault(each.piece.at, []).append(each)
    over: set[int] = set()
    for at in _superseded(found, reports):
        verdict = [each for each in reports[at] if _judges(each.piece)]
        lines = zip(("", *(each.piece.text for each in reports[at])), reports[at])
        begins = verdict or [each for before, each in lines if each.piece.begins or len(before) <= LABEL]
        ends = accumulate(_cost(each, True) for each in begins)
        kept = {each.place for each, end in zip(begins, ends) if end <= REPORT}
        over.update(each.place for each in reports[at] if each.place not in kept)
    return over


def _judges(piece: Piece) -> bool:
    """Whether a piece says the verdict of a report, below its title as well."""
    return any(map(passes_judgement, (piece.text, piece.text.partition(": ")[2])))


def _superseded(found: Sequence[Candidate], reports: Mapping[int, Sequence[Candidate]]) -> set[int]:
    """The reports of which a later message of the agent or the user says most again."""
    said_in: dict[str, set[int]] = {}
    for each in found:
        if each.piece.kind in ("report", "said") and each.piece.by in ("agent", "user"):
            for term in each.terms:
                said_in.setdefault(term, set()).add(each.piece.at)

    def likely(each: Candidate) -> set[int]:
        """The messages that have one of its rarest terms: of the others none says most of it."""
        some, left = set[int](), each.whole
        for term in sorted(each.terms, key=lambda term: len(said_in[term])):
            some |= said_in[term]
            left -= each.terms[term]
            if left < _TOO_LITTLE * each.whole:
                break
        return some

    def says_again(by: int, each: Candidate) -> bool:
        return sum(weight for term, weight in each.terms.items() if by in said_in[term]) >= AGAIN * each.whole

    def most(at: int, report: Sequence[Candidate]) -> float:
        """What the later message that says most of a report again says of it."""
        again: dict[int, float] = {}
        for each in report:
            for by in likely(each):
                if by > at and says_again(by, each):
                    again[by] = again.get(by, 0.0) + each.whole
        return max(again.values(), default=0.0)

    return {at for at, report in reports.items() if most(at, report) >= SUPERSEDED * sum(e.whole for e in report) > 0}


def is_bare(piece: Piece) -> bool:
    """Whether a piece names a call and not how it ended: it is told with what the call brought, or where a budget is to be
    filled and nothing else is left to tell."""
    return piece.kind == "call" and " → " not in piece.text


def choose(
    some: Iterable[Candidate],
    room: int,
    told: set[str],
    newest: int,
    enough: float = 0.0,
    beside: Iterable[Candidate] | None = None,
) -> list[Candidate]:
    """Those that say most for their length, as many as fit into `room` tokens; what they say is added to `told`.

    `newest` is the number of the newest message: of two that say as much the later one is told. What was said and seen in
    passing is told where it says more than `enough`. Of what a call brought a few pieces are told, with those that stand `beside`
    them already; where nothing does, any number.
    """
    found = [*some]
    heap = [(-_score(each, told, newest, True), each.place, each) for each in found]
    heapq.heapify(heap)
    around = _beside(found)
    near: set[int] = set()
    chosen: dict[int, Candidate] = {}
    heads: set[tuple[int, int]] = set()
    bounded = beside is not None
    seen = Counter((each.piece.at, each.piece.part) for each in beside or () if each.piece.kind in BROUGHT)
    misses = 0
    while heap and room > 4 and misses < 60:
        _, place, each = heapq.heappop(heap)
        headed = each.piece.kind not in BROUGHT or (each.piece.at, each.piece.part) in heads
        score = _score(each, told, newest, headed) * (NEAR if place in near else 1.0)
        call = (each.piece.at, each.piece.part)
        passing = each.piece.kind in PASSING and not each.piece.weighs
        if score <= (enough if passing else 0.0) or place in chosen or (each.title and place + 1 not in chosen):
            continue
        if bounded and each.piece.kind in BROUGHT and seen[call] >= (BROUGHT_USED if each.piece.used else BROUGHT_MOST):
            continue
        if heap and score < -heap[0][0]:
            heapq.heappush(heap, (-score, place, each))
            continue
        cost = _cost(each, headed)
        if cost > room:
            misses += 1
            continue
        room -= cost
        chosen[place] = each
        heads.add(call)
        seen[call] += each.piece.kind in BROUGHT
        told.update(each.terms)
        for other in around.get(place, ()):
            if other.place not in chosen:
                near.add(other.place)
                heapq.heappush(heap, (-_score(other, told, newest, True) * NEAR, other.place, other))
    return [*chosen.values()]


def _beside(found: Sequence[Candidate]) -> dict[int, list[Candidate]]:
    """What stands right before and behind each sentence of a report: told together they read on."""
    placed = {each.place: each for each in found if each.piece.kind == "report"}
    return {
        place: [
            other
            for other in (placed.get(place - 1), placed.get(place + 1))
            if other and (other.piece.at, other.piece.part) == (each.piece.at, each.piece.part)
        ]
        for place, each in placed.items()
    }


def is_raw(piece: Piece) -> bool:
    """Whether a piece is what a file shows still, or a line of an output that nobody wrote of, that was cut in front, or that
    is hardly more than addresses."""
    cut = piece.kind == "excerpt" and (not piece.used or piece.text.startswith("…"))
    addresses = piece.kind in BROUGHT and 2 * sum(map(len, ADDRESS.findall(piece.text))) > len(piece.text)
    return piece.by == "tool" and (piece.kind == "shown" or cut or addresses)


def next_best(left: Iterable[Candidate], told: set[str], newest: int) -> Candidate | None:
    """The piece of words that says most for its length, whatever it takes; None where none says anything."""
    said = (e for e in left if not (e.piece.kind in BROUGHT or is_bare(e.piece)))
    words = ((_score(e, told, newest, True), -e.place, e) for e in said)
    score, _, best = max(words, default=(0.0, 0, None))
    return best if score > 0 else None


def unlike(left: Iterable[Candidate], chosen: Iterable[Candidate], shown: str) -> list[Candidate]:
    """What was said once, but for what is shown or what one of the chosen pieces says as well, all of it."""
    holding: dict[str, list[Candidate]] = {}
    for each in chosen:
        for term in each.terms:
            holding.setdefault(term, []).append(each)

    def repeated(each: Candidate) -> bool:
        fewest = min((holding.get(term, []) for term in each.terms), key=len, default=[])
        return any(each.terms.keys() <= other.terms.keys() for other in fewest)

    return [e for e in left if e.share == 1.0 and e.terms and e.piece.text not in shown and not repeated(e)]


def _cost(each: Candidate, headed: bool) -> int:
    return each.cost + _FRAME + (0 if headed else _HEAD)


def _score(each: Candidate, told: set[str], newest: int, headed: bool) -> float:
    """What a piece says that is not told yet, for each token."""
    piece = each.piece
    worth, whole = each.worth, each.whole
    if piece.kind == "answer":
        return worth.base * each.share / (_cost(each, headed) + 4)
    if whole < LEAST:
        return 0.0
    fresh = sum([weight for term, weight in each.terms.items() if term not in told])
    if not fresh:
        return 0.0
    said = (worth.base + each.bonus) * (fresh / whole) * min(1.0, whole)
    said += (worth.terms + worth.used * min(piece.used, 2)) * fresh
    age = 0.95 + 0.1 * piece.at / max(1, newest)
    return said * each.share * age / (_cost(each, headed) + 4)


def terms(text: str, weights: Mapping[str, float] = WEIGHTS) -> dict[str, float]:
    """The words and literals of a text, in small letters, with what each is worth by its shape."""
    found: dict[str, float] = {}
    for word in _TERM.findall(text):
        if not word.isascii() and (runs := _spaceless().findall(word)):
            for run in runs:
                for i in range(max(1, len(run) - 1)):
                    found[run[i : i + 2]] = weights["pair"]
            word = _spaceless().sub("", word)
        shape, term = _shaped(word)
        if weight := weights[shape]:
            found[term] = weight
    return found


@cache
def _spaceless() -> re.Pattern[str]:
    """Letters of languages that are written without spaces."""
    return re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+")


@lru_cache(maxsize=65_536)
def _shaped(word: str) -> tuple[str, str]:
    word = word.strip(".:-/+#")
    return _shape_of(word), word.lower()


def _shape_of(word: str) -> str:
    """The shape of a word, by which it is worth something: literals most, names next, short words nothing."""
    if len(word) < 2 and not word.isdigit():
        return ""
    if not (word.isalpha() and word.islower()):
        if any(c.isdigit() for c in word):
            return "literal" if len(word) > 2 else "figure"
        if any(c in "_/.@" for c in word[1:]) or _CAMEL.search(word):
            return "literal"
        if word.isupper() and len(word) > 2:
            return "capitals"
        if word[0].isupper():
            return "name" if len(word) > 2 else ""
    return "long" if len(word) > 6 else "word" if len(word) > 3 or not word.isascii() else ""
