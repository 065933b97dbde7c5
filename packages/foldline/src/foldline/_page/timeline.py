"""What happened: the pieces that a page tells, each in its place in time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby

from foldline._facts.chitchat import accepts
from foldline._facts.cues import asks, decides
from foldline._facts.rules import bids
from foldline._facts.types import Facts
from foldline._messages import replace
from foldline._page.choosing import ENOUGH, LEAST, PASSING, Candidate, choose, is_bare, is_raw, next_best, terms, unlike
from foldline._page.quoting import bare, shorten
from foldline._page.reports import LEAST_ROOM, beyond, formed, longer, outcomes, places
from foldline._page.superfluous import LONG_MESSAGE, led_to_report, reported
from foldline._page.turns import Turns
from foldline._page.unreported import as_one, fresh, overtaken, repeats, running, texts_of, unfinished, unreported
from foldline._page.wholes import halved, standing, torn

WORDS, ALL_WORDS = 0.7, 0.8
"""The share of the timeline that the user's words have before anything else, and the one in which all of them may stand."""

SCARCE, FEW_WORDS = 1.5, 0.9
"""So many times the room from which on hardly anything but the user's words is told where a budget is to be filled, and the share
of it that they have then."""

MANY, MOST_OF_MANY = 100, 0.5
"""Pieces from which a message of the user hands something in, and the share of the words' room that it has before others."""

ORDER = 24
"""Characters of the shortest line that orders something and says what."""

HEAD_LEFT = 0.5
"""The share of what is told of how a long message begins that stands beside what it orders further on."""

LONG_WORDS, LONG_HEAD = 1_000, 700
"""Tokens that are told of one message of the user where no budget is to be filled, and those of its beginning: a longer one hands in
what was worked through since."""

ANSWERED_WORDS, ANSWERED_HEAD = 400, 280
"""The same of one that a report answered while the user asked for more since."""

ANSWERED_SHARE, ANSWERED_LEAST = 10, 160
"""The part of the room that one such message may take, and the tokens that it may in any case: what came of it is told as well."""

CHEAP_WORDS = 0.25
"""The share in which they stand whole even where a hard budget is to tell as much as it can."""

OWN = 0.6
"""The share of what the user's words leave up to which all is told that an agent said that never reported."""

RUNNING = 0.15
"""The share of the room in which its words are told in any case in the turn that goes on behind the page."""

LITTLE = 0.003
"""What its words in a turn without a report say for each token where they have what room is left: more than that work goes on."""

LEAST_BEGINNING = 24
"""Characters of the beginning of a piece below which it says nothing."""

LEAST_SAID = 0.3
"""The share of what a piece says that its beginning has to say where it is told before all that has room."""

FRAME = 5
"""Tokens that stand around the beginning of a piece."""

DECIDING = 6
"""Words of the shortest sentence that begins with agreement and says what was decided."""

HARDLY_ANY = 60
"""Tokens below which rules are told before all else, where the last one has no room its beginning."""


class Timeline:
    """The pieces that are told out of those found, and how they read; `told` are the terms that the page says already. A page
    that `fills` its budget, or tells of an agent without a word, has what says little as well."""

    def __init__(self, facts: Facts, found: Sequence[Candidate], told: set[str], turns: Turns, fills: str) -> None:
        self.told = told
        self._fills = fills if any(piece.by == "agent" for piece in facts.pieces) else "outputs"
        self.chosen: list[Candidate] = []
        self._newest = facts.end
        self._reported = reported(facts)
        self._answers = _answers(facts)
        self._turns = turns
        own = [] if fills else unreported(facts, found)
        again = repeats(own)
        self.found = [each for each in found if each.place not in again] if again else found
        texts = texts_of(each for each in own if each.place not in again)
        told_later = overtaken(texts, turns.turn)
        self.found = [each for each in self.found if each.place not in told_later] if told_later else self.found
        self._texts = [text for text in texts if text[0].place not in told_later]
        self._whole = {each.place for text in self._texts for each in text}
        self._running = [] if fills else texts_of(running(facts, found))
        pieces = Counter((each.piece.at, each.piece.part) for each in found if each.piece.by == "user")
        self._handed_in = {at for (at, _), many in pieces.items() if many >= MANY}
        asked = max((request.newest for request in facts.latest.requests), default=-1)
        self._answered = {at for i in led_to_report(facts) if (at := facts.pieces[i].at) < asked}

    def left(self) -> list[Candidate]:
        """The pieces that are not told."""
        return self._without_chosen(self.found)

    @property
    def _spent(self) -> int:
        return sum(each.cost for each in self.chosen)

    def _without_chosen(self, some: Iterable[Candidate]) -> list[Candidate]:
        known = {each.place for each in self.chosen}
        return [each for each in some if each.place not in known]

    def _take(self, some: Iterable[Candidate]) -> None:
        """Tells pieces whatever they say."""
        for each in some:
            self.chosen.append(each)
            self.told.update(each.terms)

    def _tells(self, each: Candidate) -> bool:
        """Whether a piece is more than an output, a call without its end, or what a report took up; of a page that fills its
        budget the calls, and what they changed, are a part in any case."""
        if self._fills and each.piece.kind in ("call", "change"):
            return True
        return not (is_raw(each.piece) or is_bare(each.piece) or each.place in self._reported)

    def tell(self, room: int) -> None:
        """Chooses pieces for `room` tokens: rules that stand nowhere else first, then the user's words, then what says most."""
        rules = [each for each in self.found if each.binds and room < HARDLY_ANY]
        self.chosen += choose(rules, room, self.told, self._newest)
        if begun := self._begun(self._without_chosen(rules or self.found), room - self._spent):
            self._take([begun])
            return
        words = self._words(room)
        cost = sum(each.cost for each in words)
        whole = cost <= room * ALL_WORDS
        if cost <= room * (CHEAP_WORDS if self._fills else ALL_WORDS):
            said = (each for each in words if each.piece.kind != "excerpt")
            self._take(each for each in said if each.piece.at in self._answers or not _small_talk(each))
        elif not self._fills:
            self._take(_beginnings(words))
        few = self._fills and cost > room * SCARCE
        share = int(room * (ALL_WORDS if whole else FEW_WORDS if few else WORDS))
        spoken = words if whole else self._spoken(words, int(share * MOST_OF_MANY))
        self.chosen += choose(self._without_chosen(spoken), share - self._spent, self.told, self._newest)
        if not any(each.piece.kind == "report" for each in self.found):
            self._take_unreported(int((room - self._spent) * OWN))
        self._take_running(int(room * RUNNING))
        rest = (each for each in self.left() if self._tells(each) and each.piece.at not in self._handed_in)
        self.chosen += self._choose(rest, room - self._spent)
        if not self._fills and room >= LEAST_ROOM:
            reports = longer(each for each in self.found if each.place not in self._whole)
            told = formed(reports, self.chosen, room)
            came = outcomes(self.found, self._unanswered(told), self._turns.turn, room)
            self.chosen = [*came, *formed(reports, self.chosen, room - sum(e.cost for e in came))] if came else told
            left_out = places(reports) - {each.place for each in self.chosen}
            self.found = [each for each in self.found if each.place not in left_out]
        own = [each for each in self.left() if each.place in self._whole]
        self.chosen += self._choose(own, room - self._spent, LITTLE) if own else ()

    def _take_unreported(self, room: int) -> None:
        """Tells what the agent said in turns without a report, all of it where that has room."""
        told = [each for text in fresh(self._texts) for each in text]
        if sum(each.cost for each in told) <= room:
            self._take(told)

    def _take_running(self, room: int) -> None:
        """Tells what the agent said in the turn that goes on behind the page, the newest text first, each as a whole."""
        for text in reversed(self._running):
            left = self._without_chosen(text)
            cost = sum(each.cost for each in left)
            if cost <= room:
                self._take(left)
                room -= cost

    def _unanswered(self, told: Sequence[Candidate]) -> set[int]:
        """The turns of which the user's words are `told`, and no word of the agent."""
        turns = {by: {self._turns.turn(e.piece.at) for e in told if e.piece.by == by} for by in ("user", "agent")}
        return turns["user"] - turns["agent"]

    def _words(self, room: int) -> list[Candidate]:
        """The user's words; where no budget is to be filled, of a long message how it begins and ends."""
        words = [each for each in self.found if each.piece.by == "user"]
        if self._fills:
            return words
        messages = (list(said) for _, said in groupby(words, key=lambda each: each.piece.at))
        told = {each.place for said in messages for each in self._shortened(said, room)}
        over = {each.place for each in words} - told | beyond(self.found)
        self.found = [each for each in self.found if each.place not in over]
        return [each for each in words if each.place in told]

    def _shortened(self, said: list[Candidate], room: int) -> list[Candidate]:
        """A message, of a long one how it begins and how it ends, and what it orders between."""
        behind = [*accumulate(each.cost for each in reversed(said))][::-1]
        before = [*accumulate(each.cost for each in said)]
        over = said[0].piece.at in self._answered
        most, begins = (ANSWERED_WORDS, ANSWERED_HEAD) if over else (LONG_WORDS, LONG_HEAD)
        if over and (few := max(room // ANSWERED_SHARE, ANSWERED_LEAST)) < most:
            most, begins = few, begins * few // most
        if behind[0] <= most:
            return said
        ends = most - begins
        between = [e for e, head, tail in zip(said, before, behind) if head > begins * HEAD_LEFT and tail > ends]
        ordered = [
            e for e in between if e.piece.kind != "excerpt" and len(bare(e.piece)) >= ORDER and bids(bare(e.piece))
        ]
        spent = accumulate(each.cost for each in ordered)
        orders = {e.place for e, cost in zip(ordered, spent) if cost <= begins * (1 - HEAD_LEFT)}
        begins -= sum(each.cost for each in ordered if each.place in orders)
        return [e for e, head, tail in zip(said, before, behind) if head <= begins or tail <= ends or e.place in orders]

    def _spoken(self, words: Sequence[Candidate], most: int) -> Iterator[Candidate]:
        """The user's words, of a table or the like that was handed in what says most in `most` tokens."""
        for at in sorted(self._handed_in):
            yield from choose((e for e in words if e.piece.at == at), most, set(self.told), self._newest)
        yield from (each for each in words if each.piece.at not in self._handed_in)

    def _begun(self, some: Iterable[Candidate], room: int) -> Candidate | None:
        """The beginning of what says most of some, where that has no room as a whole; None where it has, or its beginning says
        little."""
        best = next_best(some, self.told, self._newest)
        if best is None or best.cost + FRAME <= room:
            return None
        begun = _beginning(best, room)
        said = sum(best.terms.get(term, 0.0) for term in terms(begun.piece.text)) if begun else 0.0
        return begun if said >= LEAST_SAID * best.whole else None

    def tell_more(self, room: int, wanted: str) -> bool:
        """Chooses more pieces for `room` tokens: what is new, else what says again what others said, but for what is `wanted`.

        What is left then goes to what a report took up, and of a page that fills its budget to outputs and what files show.
        """
        before = len(self.chosen)
        left = self.left()
        words = [*filter(self._tells, left)]
        more = self._choose(words, room)
        again = (each for each in words if self._fills or each.piece.kind not in PASSING)
        more = more or choose(
            unlike(again, self.chosen, wanted), room, set(), self._newest, 0.0, None if self._fills else self.chosen
        )
        more = more or self._choose((each for each in left if self._fills == "outputs" or not is_raw(each.piece)), room)
        self.chosen += more
        if not self._fills:
            self._complete(room - sum(each.cost for each in more))
        return len(self.chosen) > before

    def _complete(self, room: int) -> None:
        """Tells what is missing of what belongs together, where there is room for it."""
        known = {each.place for each in self.chosen}
        for missing in torn(self.found, known):
            cost = sum(each.cost for each in missing)
            if cost <= room:
                self._take(missing)
                known.update(each.place for each in missing)
                room -= cost

    def _choose(self, some: Iterable[Candidate], room: int, enough: float = ENOUGH) -> list[Candidate]:
        """Chooses among pieces, and among the texts of turns without a report as wholes."""
        if self._fills:
            return choose(some, room, self.told, self._newest)
        texts = {text[0].place: text for text in self._texts}
        left = {each.place: each for each in some}
        units = [as_one(text) for place, text in texts.items() if place in left]
        rest = [each for place, each in left.items() if place not in self._whole]
        chosen = choose([*units, *rest], room, self.told, self._newest, enough, self.chosen)
        return [one for each in chosen for one in texts.get(each.place, [each])]

    def beginning(self, room: int) -> Candidate | None:
        """Of the next piece as much as `room` tokens hold; None where that says nothing."""
        best = next_best(self.left(), self.told, self._newest)
        return _beginning(best, room) if best else None

    def leave_out(self, room: int) -> list[Candidate]:
        """Takes back what was chosen last, at least one piece and so many that they cost `room`; the last one first."""
        out: list[Candidate] = []
        while self.chosen and room > 0:
            out.append(self.chosen.pop())
            room -= out[-1].cost
        return out

    def lines(self, *more: Candidate) -> list[str]:
        """The chosen pieces as lines."""
        pieces = sorted([*self.chosen, *more], key=lambda each: each.place)
        known = {each.place for each in pieces}
        over = set() if self._fills else halved(self.found, known) | unfinished(self._texts, known)
        over |= {each.place for each in pieces if each.title and each.place + 1 not in known}
        pieces = [each for each in pieces if each.place not in over]
        return [*self._turns.lines(standing(pieces))]


def _beginning(each: Candidate, room: int) -> Candidate | None:
    """As much of a piece as `room` tokens hold; None where that says nothing."""
    text = shorten(each.piece.text, room - FRAME)
    return replace(each, piece=replace(each.piece, text=text)) if len(text) >= LEAST_BEGINNING else None


def _answers(facts: Facts) -> set[int]:
    """The messages of the user right behind a report that ends with a question."""
    found: set[int] = set()
    asked = False
    for piece in facts.pieces:
        if piece.kind == "report":
            asked = asks(piece.text)
        elif piece.by == "user":
            found.update({piece.at} if asked else ())
        else:
            asked = False
    return found


def _beginnings(words: Sequence[Candidate]) -> list[Candidate]:
    """How each longer message of the user begins: there stands what is to be done with what was pasted into it."""
    said = [each for each in words if each.piece.kind != "excerpt"]
    pieces = Counter(each.piece.at for each in said)
    first = {each.piece.at: each for each in reversed(said)}
    return [each for at, each in sorted(first.items()) if pieces[at] >= LONG_MESSAGE]


def _small_talk(each: Candidate) -> bool:
    """Whether words say nothing but agreement, thanks and the like; several that begin so may decide something."""
    text = each.piece.text
    decided = decides(text) and len(text.split()) >= DECIDING
    return each.whole < LEAST and accepts(text.replace("!", ".")) and not decided
