"""What happened: the pieces that a page tells, each in its place in time."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from foldline._facts.chitchat import accepts
from foldline._facts.cues import asks
from foldline._facts.texts import LONGEST
from foldline._facts.told import NOW
from foldline._facts.types import Facts
from foldline._messages import replace
from foldline._page.choosing import ENOUGH, LEAST, PASSING, Candidate, choose, is_raw, next_best, reported, unlike
from foldline._page.quoting import anothers, safe, shorten

WORDS, ALL_WORDS = 0.7, 0.8
"""The share of the timeline that the user's words have before anything else, and the one in which all of them may stand."""

CHEAP_WORDS = 0.25
"""The share in which they stand whole even where a hard budget is to tell as much as it can."""

LEAST_BEGINNING = 24
"""Characters of the beginning of a piece below which it says nothing."""

FRAME = 5
"""Tokens that stand around the beginning of a piece."""

_ENDS = ".!?…:;)]`\"'。！？：；）」"
"""What a sentence that is whole ends with."""

_HEAD = 12
"""Tokens of a call that is named before what it brought."""

_LABELLED = re.compile(r"\*\*|[^.!?\n]{1,60}: ")
"""How a sentence begins that stands in a line of its own."""

_NUMBERED = re.compile(r"\(?\d{1,2}[.)] ")


class Timeline:
    """The pieces that are told out of those found; `told` are the terms that the page says already, `wanted` the requests
    that it tells as the task; turns are `numbered` or not, and a page that `fills` its budget, or tells of an agent without a word,
    has what says little as well."""

    def __init__(
        self,
        facts: Facts,
        found: Sequence[Candidate],
        told: set[str],
        wanted: Sequence[str],
        *,
        numbered: bool,
        fills: str,
    ) -> None:
        self.found = found
        self.told = told
        self._fills = fills if any(piece.by == "agent" for piece in facts.pieces) else "outputs"
        self.chosen: list[Candidate] = []
        self._newest = facts.end
        self._reported = reported(facts)
        self._starts = sorted(request.at for request in facts.requests) if numbered else []
        self._wanted = {bisect_right(self._starts, r.newest) for r in facts.requests if r.text in wanted}
        self._answers = _answers(facts)
        self._heads = {(p.at, p.part): p.text for p in facts.pieces if p.kind in ("call", "change", "failure")}

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
        """Whether a piece is more than an output, or what a report took up."""
        return not (is_raw(each.piece) or each.place in self._reported)

    def tell(self, room: int) -> None:
        """Chooses pieces for `room` tokens: the user's words first, then what says most."""
        words = [each for each in self.found if each.piece.by == "user"]
        cost = sum(each.cost for each in words)
        whole = cost <= room * ALL_WORDS
        if cost <= room * (CHEAP_WORDS if self._fills else ALL_WORDS):
            said = (each for each in words if each.piece.kind != "excerpt")
            self._take(each for each in said if each.piece.at in self._answers or not _small_talk(each))
        share = int(room * (ALL_WORDS if whole else WORDS)) - self._spent
        self.chosen += choose(self._without_chosen(words), share, self.told, self._newest)
        self.chosen += self._choose(filter(self._tells, self.left()), room - self._spent)

    def tell_more(self, room: int, wanted: str) -> bool:
        """Chooses more pieces for `room` tokens: what is new, else what says again what others said, but for what is `wanted`.

        What is left then goes to what a report took up, and of a page that fills its budget to outputs and what files show.
        """
        left = self.left()
        words = [*filter(self._tells, left)]
        more = self._choose(words, room)
        again = (each for each in words if self._fills or each.piece.kind not in PASSING)
        more = more or choose(unlike(again, self.chosen, wanted), room, set(), self._newest)
        more = more or self._choose((each for each in left if self._fills == "outputs" or not is_raw(each.piece)), room)
        self.chosen += more
        if not self._fills:
            self._complete(room - sum(each.cost for each in more))
        return bool(more)

    def _complete(self, room: int) -> None:
        """Tells what is left of lists of which half is told, and of sentences that are too long for one piece, where there is
        room for it."""
        known = {each.place for each in self.chosen}
        lists = ((self._without_chosen(items), len(items) / 2) for items in _lists(self.found))
        ends = (
            ([each], 1)
            for before, each in itertools.pairwise(self.found)
            if before.place in known and _goes_on(before, each)
        )
        for missing, most in (*lists, *ends):
            cost = sum(each.cost for each in missing)
            if 0 < len(missing) <= most and cost <= room and not known & {each.place for each in missing}:
                self._take(missing)
                known.update(each.place for each in missing)
                room -= cost

    def _choose(self, some: Iterable[Candidate], room: int) -> list[Candidate]:
        return choose(some, room, self.told, self._newest, 0.0 if self._fills else ENOUGH)

    def beginning(self, room: int) -> Candidate | None:
        """Of the next piece as much as `room` tokens hold; None where that says nothing."""
        best = next_best(self.left(), self.told, self._newest)
        text = shorten(best.piece.text, room - FRAME) if best else ""
        return replace(best, piece=replace(best.piece, text=text)) if best and len(text) >= LEAST_BEGINNING else None

    def lines(self, *more: Candidate) -> list[str]:
        """The chosen pieces as lines, those of one text or call in one, with the number of the turn before its first."""
        pieces = sorted([*self.chosen, *more], key=lambda each: each.place)
        return [*self._told([each for each, behind in _with_next(pieces) if not _leads_nowhere(each, behind)])]

    def _told(self, pieces: Sequence[Candidate]) -> Iterator[str]:
        turn = 0
        for _, some in itertools.groupby(pieces, key=lambda each: (each.piece.at, each.piece.part)):
            group = [*some]
            now = bisect_right(self._starts, group[0].piece.at)
            line = self._line(group)
            if now != turn:
                wanted = now in self._wanted and group[0].piece.by != "user"
                line = (
                    f"**{now}**{f' {NOW}' if wanted else ''}{chr(10) if wanted or line.startswith(' ') else ' '}{line}"
                )
            yield line
            turn = now

    def _line(self, group: Sequence[Candidate]) -> str:
        piece = group[0].piece
        if piece.by == "tool":
            head = self._heads.get((piece.at, piece.part), "")
            texts = [each.piece.text for each in group]
            if head and texts[0] != head:
                texts.insert(0, shorten(head, _HEAD).rstrip("…") + "…")
            return f"- {anothers('; '.join(texts))}"
        if piece.by == "user" and piece.kind != "excerpt":
            return "\n".join(f"> {line}" for line in safe(_joined(group)).splitlines())
        if piece.kind == "answer":
            return f"(chosen) {anothers(_joined(group))}"
        mark = {"user": "(pasted) ", "peer": "(another agent) ", "harness": "(the command says) "}.get(piece.by, "")
        return mark + anothers(_joined(group))


def _joined(group: Sequence[Candidate]) -> str:
    """The texts of pieces in order, items in lines below the one that leads them in, marked where some are left out."""
    text, led, last = "", "", group[0]
    for each in group:
        piece = each.piece
        apart = " …" if each.place > last.place + 1 else ""
        if piece.item:
            said = piece.text.removeprefix(f"{piece.under}: ") if piece.under else piece.text
            lead = f"\n{piece.under}:" if piece.under not in ("", led) else ""
            text += f"{apart}{lead}\n  {'' if _NUMBERED.match(said) else '- '}{said}"
            led = piece.under
        else:
            parted = piece.begins and (piece.by != "user" or last.piece.item)
            below = parted or _LABELLED.match(piece.text)
            text += f"{apart}{chr(10) if below else ' '}{piece.text}"
        last = each
    return text[1:]


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


def _goes_on(before: Candidate, each: Candidate) -> bool:
    """Whether a piece is the rest of a sentence that was too long for one."""
    one = (each.piece.at, each.piece.part) == (before.piece.at, before.piece.part) and not each.piece.begins
    return one and len(before.piece.text) > LONGEST // 2 and before.piece.text[-1] not in _ENDS


def _small_talk(each: Candidate) -> bool:
    """Whether words say nothing but agreement, thanks and the like."""
    return each.whole < LEAST and accepts(each.piece.text.replace("!", "."))


def _lists(found: Iterable[Candidate]) -> Iterator[list[Candidate]]:
    """The items of each list that the agent wrote."""
    items = (each for each in found if each.piece.item and each.piece.by == "agent")
    for _, some in itertools.groupby(items, key=lambda each: (each.piece.at, each.piece.part, each.piece.under)):
        yield [*some]


def _with_next(pieces: Sequence[Candidate]) -> Iterator[tuple[Candidate, Candidate | None]]:
    return zip(pieces, (*pieces[1:], None))


def _leads_nowhere(each: Candidate, behind: Candidate | None) -> bool:
    """Whether a piece leads in what is not told: it ends with a colon, and nothing of the same text follows."""
    leads = each.piece.by == "agent" and each.piece.text.endswith((":", "："))
    return leads and (behind is None or (behind.piece.at, behind.piece.part) != (each.piece.at, each.piece.part))
