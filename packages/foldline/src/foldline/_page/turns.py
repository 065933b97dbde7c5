"""The pieces that are told as lines, turn by turn."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from foldline._facts.told import EARLIER, NOW
from foldline._facts.types import Facts
from foldline._page.choosing import Candidate
from foldline._page.quoting import anothers, item, safe, shorten

_HEAD = 12
"""Tokens of a call that is named before what it brought."""

_LABELLED = re.compile(r"\*\*|[^.!?\n]{1,60}: ")
"""How a sentence begins that stands in a line of its own."""


class Turns:
    """How pieces read as lines: those of one text or call in one, with the number of the turn before its first where turns
    are `numbered`; `wanted` are the requests that the page tells as the task."""

    def __init__(self, facts: Facts, wanted: Sequence[str], *, numbered: bool) -> None:
        self._starts = sorted(request.at for request in facts.requests) if numbered else []
        self._wanted = {bisect_right(self._starts, r.newest) for r in facts.requests if r.text in wanted}
        self._heads = {(p.at, p.part): p.text for p in facts.pieces if p.kind in ("call", "change", "failure")}
        self._known: dict[tuple[tuple[int, str], ...], str] = {}
        """The lines of what was told before: a page is written several times until it fills its room."""

    def lines(self, pieces: Sequence[Candidate]) -> Iterator[str]:
        """The lines of pieces that stand in order."""
        turn, before = 0, ""
        for _, some in itertools.groupby(pieces, key=lambda each: (each.piece.at, each.piece.part)):
            group = [*some]
            now = bisect_right(self._starts, group[0].piece.at)
            told = (*((each.place, each.piece.text) for each in group),)
            line = self._known.get(told) or self._known.setdefault(told, self._line(group))
            if group[0].piece.by == "summary" != before:
                line = f"{EARLIER}{line.lstrip()}"
            before = group[0].piece.by
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
    text, led, last = "", {""}, group[0]
    for each in group:
        piece = each.piece
        apart = " …" if each.place > last.place + 1 else ""
        if piece.item:
            lead = "" if piece.under in led else f"\n{piece.under}:"
            text += f"{apart}{lead}\n{item(piece)}"
            led.add(piece.under)
        else:
            parted = piece.begins and (piece.by != "user" or last.piece.item)
            below = parted or _LABELLED.match(piece.text)
            text += f"{apart}{chr(10) if below else ' '}{piece.text}"
            led.add(piece.text.partition(": ")[0])
        last = each
    return text[1:]
