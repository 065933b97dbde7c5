"""The pieces that are told as lines, turn by turn."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence

from foldline._clipping import cut
from foldline._facts.cues import asks
from foldline._facts.folders import grouped, without_names
from foldline._facts.said import TO
from foldline._facts.told import AMID, EARLIER, IN_SHORT, NOW, PASTED, SHORTENED, SINCE
from foldline._facts.types import Facts, Piece
from foldline._messages import replace
from foldline._page.choosing import READ, Candidate, Scale
from foldline._page.drafts import drafts
from foldline._page.files import by_file, in_folders
from foldline._page.quoting import LEADS_IN, Lists, anothers, quotes_on, safe, shorten
from foldline._page.superfluous import is_edit
from foldline._page.wholes import goes_on

GAP = " …"
"""What stands where some of a text is left out."""

FILED = "written into "
"""What stands before the names of texts that have the rest of a draft."""

MANY_EDITS = 5
"""Files that were edited one behind the other from which they are told by their folders, and not by what was touched in them."""

AGAIN = 80
"""Characters of a request that stands elsewhere on the page, or was made before."""

BRIEF = 40
"""Characters of the longest answer to what the agent had asked that stands over its turn where it is not told: what came of it says
nothing without."""

_BLOCKS = ("```", "~~~", " |")
"""How a block of code and a table end."""

_WAS_READ = re.compile(r"[Rr]ead(?:_file)? \S+")
_LABELLED = re.compile(r"\*\*|[^.!?\n]{1,60}: ")
"""How a sentence begins that stands in a line of its own."""


_WHOLE = "read "
"""How a call that read a whole file is told."""


class Turns:
    """How pieces read as lines: those of one text or call in one, with the number of the turn before its first where turns
    are `numbered`; `wanted` are the requests that the page tells as the task, and the `scale` says how much is told again."""

    def __init__(self, facts: Facts, wanted: Sequence[str], scale: Scale, *, numbered: bool) -> None:
        asked = [(at, r) for r in facts.requests for at in r.places] if numbered else []
        self._starts = sorted(at for at, _ in asked)
        self._asked = {self.turn(at): r.text for at, r in asked}
        self._elsewhere = {self.turn(at): r.text for at, r in asked if at != r.at or r.text in wanted}
        said = {p.at: p.text for p in facts.pieces if p.kind == "report"}
        asking = {self.turn(at) + 1 for at, text in said.items() if asks(text)}
        self._brief = {turn: r.text for at, r in asked if (turn := self.turn(at)) in asking and len(r.text) <= BRIEF}
        now = max((r for _, r in asked if r.text in wanted), key=lambda request: request.newest, default=None)
        self._now = self.turn(now.newest) if now else 0
        self._wanted = _begin(now.text, scale.begin) if now else ""
        self._pieces = facts.pieces
        self._summed_up = Counter(piece.at for piece in facts.pieces if piece.section)
        self._room = scale.head
        self._for_reading = scale is READ
        self._drafts = sorted(drafts(facts)) if self._for_reading else []
        self._heads = {(p.at, p.part): p.text for p in facts.pieces if p.kind in ("call", "change", "failure")}
        self._known: dict[tuple[tuple[int, str], ...], str] = {}
        """The lines of what was told before: a page is written several times until it fills its room."""

    def lines(self, pieces: Sequence[Candidate]) -> Iterator[str]:
        """The lines of pieces that stand in order."""
        turn, last = 0, None
        summed_up = Counter(each.piece.at for each in pieces if each.piece.section)
        for now, group in self._groups(pieces):
            piece = group[0].piece
            told = (*((each.place, each.piece.text) for each in group),)
            line = self._known.get(told) or self._known.setdefault(told, self._line(group))
            before = last.piece if last else None
            if piece.by == "summary" and not (
                before and before.by == "summary" and (before.at == piece.at or not piece.section)
            ):
                line = self._framed(line.lstrip("\n"), piece, summed_up[piece.at])
            if before and before.section and not piece.section:
                yield SINCE
            if now != turn and not (before and self._is_asked_again(before, turn, piece, now)):
                yield from [""] if turn else []
                line = f"**{now}** {line}" if piece.by == "user" or not (head := self._head(now)) else f"{head}\n{line}"
            elif last and piece.by == "user" and piece.at == last.piece.at and self._left_out(last, group[0]):
                yield "> …"
            yield line
            turn, last = now, group[-1]

    def _left_out(self, last: Candidate, each: Candidate) -> bool:
        """Whether words stand between two pieces of a message that are not told; of what was pasted a part is told in any case."""
        return any(piece.kind != "excerpt" for piece in self._pieces[last.place + 1 : each.place])

    def _framed(self, line: str, piece: Piece, told: int) -> str:
        """The first line of an earlier summary, of which so many pieces are `told`, behind what says that it is one."""
        if not piece.section:
            return f"{EARLIER}{line.lstrip()}"
        return f"{(EARLIER if told == self._summed_up[piece.at] else IN_SHORT).rstrip()}\n{line}"

    def _is_asked_again(self, before: Piece, then: int, piece: Piece, now: int) -> bool:
        """Whether a turn begins with the words of the one before it, of which only these are told."""
        return before.by == "user" != piece.by and self._asked.get(then) == self._asked.get(now)

    def turn(self, at: int) -> int:
        """The number of the turn in which a message stands; 0 where none is numbered."""
        return bisect_right(self._starts, at)

    def _head(self, turn: int) -> str:
        """The line over a turn whose request is told as the task, or was made before; empty where neither is so."""
        if turn == self._now:
            return f"**{turn}** {NOW}{self._wanted})"
        words = " ".join(safe(self._elsewhere.get(turn) or self._brief.get(turn, "")).split())
        return f"**{turn}** > {cut(words, AGAIN)}" if words else ""

    def _groups(self, pieces: Sequence[Candidate]) -> Iterator[tuple[int, list[Candidate]]]:
        """The pieces of each text and call with their turn; edits, and files that were read, stand together where they follow each
        other."""
        alike: list[Candidate] = []
        turn = 0
        for _, some in itertools.groupby(pieces, key=lambda each: (each.piece.at, each.piece.part, each.piece.by)):
            group = [*some]
            now = self.turn(group[0].piece.at)
            kind = _kind(group[0].piece) if len(group) == 1 else ""
            kind = kind if kind != _WHOLE or self._for_reading else ""
            if alike and (now != turn or kind != _kind(alike[0].piece)):
                yield turn, alike
                alike = []
            if kind:
                alike += group
            else:
                yield now, group
            turn = now
        if alike:
            yield turn, alike

    def _line(self, group: Sequence[Candidate]) -> str:
        piece = group[0].piece
        if is_edit(piece) and is_edit(group[-1].piece):
            done = by_file(each.piece.text for each in group)
            many = self._for_reading and sum(1 + each.count(", ") for each in map(without_names, done)) > MANY_EDITS
            return f"- {anothers('; '.join(in_folders(done) if many else done))}"
        if len(group) > 1 and (head := _edited(piece)) and head == _edited(group[-1].piece):
            return f"- {anothers(head)} → {anothers('; '.join(_said_of_it(each.piece) for each in group))}"
        if len(group) > 1 and _kind(piece) == _WHOLE == _kind(group[-1].piece):
            paths = dict.fromkeys(each.piece.text.partition(" ")[2] for each in group)
            return f"- {anothers(f'{_WHOLE}{grouped(paths)}')}"
        if piece.by == "tool":
            head = self._heads.get((piece.at, piece.part), "")
            texts = [each.piece.text for each in group]
            if head and texts[0] != head:
                texts.insert(0, _named(head, self._room))
            listed = len(texts) > 2 and group[-1].piece.item
            below = "\n".join(f"  - {text}" for text in texts[1:])
            return anothers(f"- {texts[0]}:\n{below}" if listed else f"- {'; '.join(texts)}")
        if piece.by == "user" and piece.kind != "excerpt":
            return "\n".join(map(_quoted, safe(self._joined(group, gap="\n…")).splitlines()))
        if piece.kind == "answer":
            return f"(chosen) {anothers(self._joined(group))}"
        if piece.kind == "report":
            return anothers(self._report(group))
        if piece.section:
            return anothers(self._joined(group, gap=""))
        if piece.kind == "thought":
            return f"{AMID}{anothers(self._joined(group))}"
        mark = {"user": PASTED, "peer": "(another agent) ", "harness": "(the instructions say) "}.get(piece.by, "")
        who = f"{piece.who}:{chr(10) if piece.item else ' '}" if piece.who else ""
        return mark + anothers(f"{who}{self._joined(group)}")

    def _report(self, group: Sequence[Candidate]) -> str:
        """A report; one with several gaps says once that it is told in short, and not at each of them."""
        more = _behind(group[-1].piece.text, GAP) if self._goes_on(group[-1]) else ""
        more += self._filed(group[-1].piece)
        if sum(each.place > before.place + 1 for before, each in itertools.pairwise(group)) > 1:
            return f"{SHORTENED}{self._joined(group, gap='')}{more}"
        return self._joined(group) + more

    def _filed(self, last: Piece) -> str:
        """Into which texts the agent wrote what is left out of a report that was a draft of them."""
        own = (self._pieces[i] for i in self._drafts if self._pieces[i].at == last.at)
        names = dict.fromkeys(piece.filed for piece in own if piece.part == last.part)
        return f" ({FILED}{', '.join(names)})" if names else ""

    def _joined(self, group: Sequence[Candidate], gap: str = GAP) -> str:
        """The texts of pieces in order, items in lines below the one that leads them in, with a `gap` where lines are left out; where a
        line goes on behind one, that is marked in any case."""
        text, lists, last, listed = (GAP if self._is_rest(group[0]) else ""), Lists(), group[0], False
        for each in group:
            piece = replace(each.piece, over=each.piece.over or self._over(each, last))
            skips = each.place > last.place + 1
            text += self._rest_of_list(last, each) if skips and not gap else ""
            heads = "".join(f"\n{line}" for line in lists.headings(piece))
            if piece.item:
                lines = lists.lines(piece)
                late = skips and len(lines) > 1 and self._is_later_item(each)
                text += _behind(text, gap, piece.text) if skips and not late else ""
                text += heads + "".join(f"\n{line}" for line in (_begun_late(lines) if late else lines))
            else:
                parted = piece.begins and (piece.by != "user" or last.piece.item)
                parted |= listed and any(p.begins for p in self._pieces[last.place + 1 : each.place])
                labelled = _LABELLED.match(piece.text) and not (listed and not parted)
                below = parted or heads or (skips and gap.startswith("\n")) or labelled
                bare_gap = below and not text.endswith(LEADS_IN)
                apart = _behind(text, gap if bare_gap else gap or GAP, piece.text) if skips else ""
                inside = piece.depth if listed and not (heads or text.endswith(_BLOCKS)) else 0
                text += f"{apart}{heads}{_line_within(inside) if below else ' '}{piece.text}"
                lists.over(piece.text.partition(": ")[0])
                listed &= not parted
            listed |= piece.item
            last = each
        return text[1:]

    def _rest_of_list(self, last: Candidate, each: Candidate) -> str:
        """A line for the other items of a list that was told last, where the next piece stands in none of its lines."""
        piece, behind = last.piece, self._pieces[last.place + 1]
        is_one = piece.item and behind.item and (piece.under, piece.depth) == (behind.under, behind.depth)
        ends = (each.piece.under, each.piece.depth) != (piece.under, piece.depth)
        return f"\n{'  ' * (piece.depth + 1)}{GAP.strip()}" if is_one and ends else ""

    def _over(self, each: Candidate, last: Candidate) -> str:
        """The headings that stand over a list in a list, where what begins that is left out behind the `last` piece that is told."""
        place, piece = each.place - 1, each.piece
        while piece.item and piece.depth and (place > last.place or each is last) and place >= 0:
            piece, place = self._pieces[place], place - 1
            if (piece.at, piece.part) != (each.piece.at, each.piece.part):
                return ""
            if piece.over and piece.item and piece.depth:
                return piece.over
        return ""

    def _is_later_item(self, each: Candidate) -> bool:
        """Whether the piece before an item is one of the same list."""
        piece, before = each.piece, self._pieces[each.place - 1]
        return before.item and (before.at, before.part, before.under) == (piece.at, piece.part, piece.under)

    def _is_rest(self, each: Candidate) -> bool:
        """Whether a piece is the rest of a sentence that does not begin on the page."""
        return each.place > 0 and goes_on(self._pieces[each.place - 1], each.piece)

    def _goes_on(self, each: Candidate) -> bool:
        """Whether the text of a piece has more than is told."""
        behind = self._pieces[each.place + 1 : each.place + 2]
        return any((piece.at, piece.part) == (each.piece.at, each.piece.part) for piece in behind)


def _kind(piece: Piece) -> str:
    """What pieces have in common that are told together: edits, edits of one file that say of themselves what they did, or files that
    were read; empty for others."""
    if is_edit(piece):
        return "edit"
    if head := _edited(piece):
        return head
    return _WHOLE if piece.kind == "call" and _WAS_READ.fullmatch(piece.text) else ""


def _edited(piece: Piece) -> str:
    """An edit that says of itself what it did, without that and without the names that it touched; empty for others."""
    edits = piece.kind == "change" and piece.text.startswith("edit ")
    head, says, _ = piece.text.partition(" → ")
    return head.partition(" (")[0] if edits and says else ""


def _said_of_it(edit: Piece) -> str:
    head, _, said = edit.text.partition(" → ")
    return f"{said}{head.removeprefix(_edited(edit))}"


def _behind(text: str, gap: str, following: str = "") -> str:
    """A gap behind a text, below a block of code or a table that it ends with, and within a quotation that it cuts, where what is
    told behind the gap does not end that."""
    if text.endswith(_BLOCKS):
        return f"\n{gap.strip()}" if gap else ""
    quotes = quotes_on(text.rpartition("\n")[2])
    return f"{gap or GAP}{quotes}" if quotes and not following.count(quotes) % 2 else gap


def _begun_late(lines: Sequence[str]) -> list[str]:
    """An item below what leads its list in, with a gap for those before it."""
    first, *more = lines
    return [first, f"{more[0][: len(more[0]) - len(more[0].lstrip())]}{GAP.strip()}", *more]


def _line_within(lists: int) -> str:
    """Where a line begins that goes on within an item of so many lists."""
    return f"\n{'  ' * (lists + 1)}" if lists else "\n"


def _begin(request: str, characters: int) -> str:
    """How a request begins that stands above; nothing where it has no `characters`."""
    first, *more = safe(request).strip().splitlines()
    words = cut(first, characters)
    return f", above: “{words}{GAP if more and words == first else ''}”" if characters else ""


def _quoted(line: str) -> str:
    """A line of the user's, and below it what it answers, which somebody else said."""
    words, to, told = line.partition(TO)
    question, end, more = told.rpartition("”)")
    question, more = (question, more) if end else (told, "")
    return f"> {words}{more}\n{to.lstrip()}{anothers(question)}{end}" if to else f"> {line}"


def _named(head: str, room: int) -> str:
    """A call by as much of it as some tokens hold; a command ends with its sign."""
    named = shorten(head, room)
    return f"{named}`" if named != head and head[0] == "`" and named.count("`") % 2 else named
