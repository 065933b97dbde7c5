"""Quoting: what somebody said, cut to a room and unable to pass for the page itself."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from foldline._clipping import cut as cut_between
from foldline._facts.patterns import rare
from foldline._facts.told import ASKED_BEFORE
from foldline._facts.types import Piece
from foldline._tokens.estimate import estimate

LEADS_IN = (":", "：")
"""How a text ends that says little without what stands behind it."""

LEAST_CUT = 12
"""Tokens that the line takes which says how much is cut."""

LEAST_PROPOSAL = 24
"""Tokens from which a proposal is told beside the words that take it up."""

ASKED = 160
"""Characters that are told of a request that stands elsewhere as well."""

ITEM = 90
"""Characters of each line of a proposal that has no room: of a list the items stay, and their ends go."""

PROPOSED, ANSWERED, REPORTED = (
    "(the agent had proposed) ",
    "(the agent said; the newest message below answers it) ",
    "(before that the agent had said) ",
)

_OPENED = re.compile(r'(?:^|[\s(\[*_:—–-])"(?=\S)[^"]*\Z')
"""A quotation that begins and does not end; one that began before a text only ends in it."""

_RULED = re.compile(r"(?<=\| ).+?(?= \|)")
_NUMBERED = re.compile(r"\W{0,3}(\d{1,2})[.)] ")
_FRAME = rare(r"<(\s*/?\s*(?:summary|system-reminder)\b)", re.IGNORECASE)
_QUOTE = rare(r"^(\W*(?:\*\*\d+\*\*\W*)?)>", re.MULTILINE)


def safe(text: str) -> str:
    """A text that cannot close the frame around a summary."""
    return _FRAME.sub(r"‹\1", text)


def anothers(text: str) -> str:
    """Somebody else's words, which cannot pass for a quotation of the user."""
    return _QUOTE.sub(r"\1›", safe(text))


def bare(piece: Piece) -> str:
    """The words of a piece, of an item of a list without what leads it in."""
    return piece.text.removeprefix(f"{piece.under}: ") if piece.item and piece.under else piece.text


def quotes_on(text: str) -> str:
    """The sign that is missing behind a text in which a quotation begins that does not end; empty where none does."""
    if _OPENED.search(text):
        return '"'
    return "”" if text.rfind("“") > text.rfind("”") else ""


def number(piece: Piece) -> int:
    """The number of an item of a list; 0 where it has none."""
    found = _NUMBERED.match(bare(piece)) if piece.item else None
    return int(found[1]) if found else 0


_RULE = rare(r"(?<=\n\n)(?:-{3,}|\*{3,}|_{3,})[ \t]*(?:\n(?=\n|```)|\Z)")
"""A rule of Markdown between two blank lines."""


class Lists:
    """Items of lists as lines, each below what leads in its list, and as far in as it stood."""

    def __init__(self) -> None:
        self._led: dict[int, str] = {}
        self._said: set[str] = set()
        self._label = ""
        self._columns = ""

    def over(self, label: str) -> None:
        """Notes that a label stands over what follows, and the one before it no longer."""
        self._said.discard(self._label)
        self._said.add(label)
        self._label = label

    def headings(self, piece: Piece) -> list[str]:
        """The lines over a piece: the headings without words of their own, and of a list in lists what leads in the one around it."""
        headings = piece.over.splitlines()
        self._said.update(headings)
        if headings and piece.item and piece.depth:
            self._led[piece.depth - 1] = headings[-1]
        lines = [f"{heading}:" for heading in headings]
        return [*lines[:-1], _listed(lines[-1], piece.depth - 2)] if lines and piece.item and piece.depth > 1 else lines

    def lines(self, piece: Piece) -> list[str]:
        """An item, with what leads in its list where that does not stand over it."""
        depth, label = piece.depth, piece.under
        self._led = {each: led for each, led in self._led.items() if each <= depth}
        if label in self._said:
            self._led[0] = label
        if not label or label in self._led.values():
            return self._item(piece)
        depth = 0 if piece.section else depth
        self._led[depth], self._said, self._columns = label, set(), ""
        return [_listed(f"{label}:", depth - 1) if depth else f"{label}:", *self._item(piece)]

    def _item(self, piece: Piece) -> list[str]:
        """An item as a line; the first row of a table below the names of its columns."""
        before, self._columns = self._columns, piece.columns
        if not piece.columns:
            return [_listed(bare(piece), piece.depth)]
        return (
            [piece.text] if piece.columns == before else [piece.columns, _RULED.sub("---", piece.columns), piece.text]
        )


def _listed(text: str, depth: int) -> str:
    return f"{'  ' * (depth + 1)}{'' if _NUMBERED.match(text) else '- '}{text}"


def quoted(texts: Sequence[str], room: int) -> list[str]:
    """Texts as quotations without blank lines and the rules between them, the newest whole first; of what does not fit the head and
    the tail stand, by whole lines."""
    blocks: list[list[str]] = []
    for text in reversed(texts):
        lines = [f"> {line}".rstrip() for line in _RULE.sub("", safe(text)).splitlines() if line.strip()]
        size = sum(estimate(line) + 1 for line in lines)
        if size > room:
            lines = _ends(lines, room)
        room -= sum(estimate(line) + 1 for line in lines)
        if lines:
            blocks.insert(0, lines)
    return [line for block in blocks for line in block]


def wanted(
    words: Sequence[str], said: str, proposes: bool, before: Sequence[str], taken_up: bool, room: int
) -> list[str]:
    """What the user wants as quotations, with what was asked `before` and is over and, in what room that leaves, what the agent
    had said: a proposal that the last of the words have `taken_up` stands between them and older words that are in force."""
    newest = quoted(words[-1:], room)
    lines = quoted(words[:-1], room - size(newest))
    asked = "; ".join(f"“{cut_between(' '.join(safe(text).split()), ASKED)}”" for text in before)
    asked_before = [f"{ASKED_BEFORE}{asked}"] if before else []
    left = min(room // 2, room - size([*lines, *newest, *asked_before]))
    cut: list[str] = []
    if said and left > LEAST_PROPOSAL:
        whole = estimate(said) <= left - LEAST_CUT
        cut = [line.removeprefix("> ") for line in quoted([said if whole else _outline(said)], left - 4)]
    mark = PROPOSED if taken_up else ANSWERED if proposes else REPORTED
    told = [f"{mark if i == 0 else ''}{anothers(line)}" for i, line in enumerate(cut)]
    if not taken_up:
        return [*lines, *newest, *asked_before, *told]
    return [*lines, *told, *newest, *asked_before] if lines else [*newest, *told, *asked_before]


def size(lines: Iterable[str]) -> int:
    """The tokens that lines take."""
    return sum(estimate(line) + 1 for line in lines)


def _outline(text: str) -> str:
    """The beginnings of a text's lines; of a numbered list those of its items, with what stands before and behind."""
    lines = text.splitlines()
    if sum(1 for line in lines if _NUMBERED.match(line)) > 1:
        rim = (0, len(lines) - 1)
        lines = [line for i, line in enumerate(lines) if i in rim or _NUMBERED.match(line)]
    return "\n".join(cut_between(line, ITEM) for line in lines)


def _ends(lines: Sequence[str], room: int) -> list[str]:
    """The head and the tail of lines, with a mark where some are left out."""
    whole, room = room, room - LEAST_CUT
    head: list[str] = []
    tail: list[str] = []
    first, last = 0, len(lines)
    spent = {0: 0, 1: 0}
    while first < last:
        side = 0 if spent[0] <= 2 * spent[1] else 1
        line = lines[first] if side == 0 else lines[last - 1]
        cost = estimate(line) + 1
        if spent[0] + spent[1] + cost > room:
            break
        spent[side] += cost
        if side == 0:
            head.append(line)
            first += 1
        else:
            tail.insert(0, line)
            last -= 1
    if first >= last:
        return list(lines)
    if not head:
        return [shorten(lines[0], whole)] if whole > 2 else []
    cut = sum(len(line) - 2 for line in lines[first:last])
    return [*head, f"> […{cut:,} characters cut…]", *tail]


def shorten(text: str, tokens: int) -> str:
    """As much of the head of a text as fits into some tokens, cut between words where it has any, and marked there."""
    if estimate(text) <= tokens:
        return text
    cuts = range(1, len(text) + 1)
    fitting = bisect_right(cuts, tokens, key=lambda end: estimate(_begun(text, end)))
    space = text.rfind(" ", fitting * 2 // 3, fitting)
    ends = (*([space] if space > 0 else ()), *range(fitting, 0, -1))
    # what is longer by a character may be fewer tokens, so what was found is weighed once more
    return next((head for end in ends if estimate(head := _begun(text, end)) <= tokens), "")


def _begun(text: str, end: int) -> str:
    return text[:end].rstrip() + "…"
