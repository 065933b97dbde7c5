"""The sentences of what a user typed, verbatim, in any language; quotations, code and pasted output are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from foldline._facts.language import common_words
from foldline._facts.pasted import without_output
from foldline._patterns import pattern

BULLET = re.compile(r"\s*(?:(?:[-*•–·]|\(?\d{1,3}[.)、）]|\(?[a-zA-Z][.)]|#{1,6}|\[[ xX]\])\s+)+|\s+")
"""What stands before the words of a list's item or a heading."""

_FENCE = re.compile(r"\s*(?:```|~~~)")
_QUOTED = re.compile(r"\s*(?:>|<[/\w!][^>]*>\s*$)")
# what is looked for behind a sign stands behind it here too: a pattern that begins with its sign is tried at few places
_END = re.compile(
    r"[.!?…。！？](?:(?<=[.!?…])(?<![.!?…][.!?…])[.!?…]*+[\"'”’»)\]*_`]{0,6}(?=\s)|(?<=[。！？])[。！？]*+[」』”’）]{0,6})"
)
_CODE = pattern(r"`(?<![\w`]`)(?=[^\s`])([^`\n]*?)([.!?…]*)(?<=\S)`(?![\w`])")
"""Code in a line; a backquote amid a word is none of its signs."""

_GLUED = re.compile(
    r"[!?.:](?:(?<=[\w)\"”’][!?])(?=[A-Z][a-z]*[ ,'’])|(?<=[^\s(]`[.:])(?=[A-Z`])|(?<=[a-z]{3}\.)(?=([A-Z][a-z]*)(?:[ ,]|['’][a-z])))"
)
"""A sign right before a capital or code; behind letters it may stand in a name."""

_HEADING = re.compile(r"\s*(?:#{1,6}\s|\*\*[^*\n]+(?<![!！])\*\*\s*$)")
_MARKS = pattern(r"(#{1,6})\s+\S")
_SHORT = re.compile(
    r"(?:^|[\s(])(?:\w|\d\d|\w\.\w|e\.\s?g|i\.\s?e|z\.\s?b|d\.\s?h|u\.\s?a|p\.\s?ej|etc|vs|approx|resp|incl|cf|nr|ca|bzw|"
    r"evtl|ggf|inkl|usw|st|dr|mr|mrs|ms|prof|sr|sra|dll|dsb|min|max|fig|vol)\.$",
    re.IGNORECASE,
)
"""Dots that end no sentence."""

_NUMBER = re.compile(r"(?:^|[\s(])no\. \d$", re.IGNORECASE)
"""A dot that ends none because of the number behind it."""

_COUNTED = re.compile(r"\w \d{1,2}\.$")
"""A number behind a word, which may be the last of its sentence."""

_WORD = re.compile(r" ([A-Z][a-z]*)\b")
"""A word behind a number with a dot, which begins a sentence where it is one of the commonest of its language."""

_DATE = re.compile(r"(?:^|[\s(])\d{1,2}\.\d{1,2}\.$")
"""A dot that ends none where small letters follow: a day and a month, as several languages write them."""

_HEADS = -2
"""Where a heading stands: over all other lines."""

_WRAPPED, _WIDEST = 56, 100
"""A line of so many letters that ends without a sign goes on in the next one; nobody wraps longer ones."""


_SIGNED = re.compile(r"\w[\"'”’)\]`]?[.!?…](?=\s|$)|[。！？]")
"""How a sentence ends: who puts no such sign writes each on a line of its own."""


class Sentence(NamedTuple):
    """A sentence as it was typed."""

    text: str
    item: bool = False
    """Stands in a list."""
    titled: bool = False
    """Is the title of what follows."""
    heads: bool = False
    """And what follows is a list."""
    apart: bool = False
    """A blank line stands before it."""
    amid: bool = False
    """Lines stand before and behind the one that it is in."""
    line: str = ""
    """The whole line, where this is the first sentence of one."""
    under: str = ""
    """The title over it: a heading has all of its section, another one what stands right below it and its list."""


def sentences(message: str) -> Iterator[Sentence]:
    """The sentences of a message in order; each is a part of it, letter by letter."""
    blocks = list(_blocks(message))
    over: list[tuple[int, str]] = []
    for at, (block, apart) in enumerate(blocks):
        item = _is_item(block)
        parts = list(_parts(block))
        leads, depth = block.rstrip("*_").endswith((":", "：")), _depth(block)
        while over and over[-1][0] >= depth and (item or apart or leads or depth == _HEADS):
            over.pop()
        listed = not item and at + 1 < len(blocks) and _is_item(blocks[at + 1][0])
        for place, text in enumerate(parts):
            titled = place == len(parts) - 1 and (text.rstrip("*_").endswith((":", "：")) or _is_heading(block))
            amid, line = 0 < at < len(blocks) - 1, "" if place else block[block.index(text) :].strip()
            under = over[-1][1] if over else ""
            yield Sentence(text, item, titled, titled and listed, apart and place == 0, amid, line, under)
            if titled:
                over.append((depth, text))


def _blocks(message: str) -> Iterator[tuple[str, bool]]:
    """The lines that were typed, wrapped ones together, and whether a blank line stands before them."""
    typed = set(without_output(message).splitlines())
    signed = _SIGNED.search(message) is not None
    start = end = -1
    fenced, blank, apart, place, last = False, False, False, 0, ""
    for line in message.splitlines(keepends=True):
        begin, place = place, place + len(line)
        bare = line.rstrip()
        fence = bool(_FENCE.match(line))
        fenced ^= fence
        left_out = fence or fenced or not bare or bool(_QUOTED.match(line)) or line.splitlines()[0] not in typed
        if start >= 0 and (left_out or not signed or _begins(last, bare)):
            yield message[start:end], apart
            start = -1
        if not left_out:
            apart = blank if start < 0 else apart
            start, end, last = (begin if start < 0 else start), begin + len(bare), bare
        blank = not bare
    if start >= 0:
        yield message[start:end], apart


def _begins(last: str, line: str) -> bool:
    """Whether a line is more than the rest of the one before."""
    wrapped = _WRAPPED <= len(last) <= _WIDEST and last[-1] not in ".!?:;。！？：；…"
    return not wrapped or _is_item(line) or _is_heading(line)


def _is_heading(line: str) -> bool:
    """Whether a line is a heading, by its signs or in bold by itself."""
    return _HEADING.match(line) is not None


def section_end(lines: Sequence[str], start: int, level: int) -> int:
    """Where a section with a heading of so many signs ends: at the next heading that is none of its own parts'."""
    marks = ((i, _MARKS.match(lines[i])) for i in range(start, len(lines)))
    return next((i for i, found in marks if found and len(found[1]) <= level), len(lines))


def _depth(line: str) -> int:
    """How far in a line stands: an item by its blanks, below any other line, and that below a heading."""
    if _is_item(line):
        return len(line) - len(line.lstrip())
    return _HEADS if _is_heading(line) and not line.rstrip("*_ ").endswith((":", "：")) else _HEADS + 1


def _is_item(line: str) -> bool:
    bullet = BULLET.match(line)
    return bool(bullet and bullet.group().strip() and "#" not in bullet.group())


def _parts(block: str) -> Iterator[str]:
    """A block's sentences, without the bullet and the space around them."""
    bullet = BULLET.match(block)
    start = bullet.end() if bullet else 0
    for end in ends(block, start):
        if piece := block[start:end].strip():
            yield piece
        start = end


@lru_cache(maxsize=4_096)
def split(line: str) -> tuple[str, ...]:
    """The sentences of a line."""
    places = [0, *ends(line)]
    return tuple(said for start, end in pairwise(places) if (said := line[start:end].strip()))


def ends(line: str, start: int = 0) -> Iterator[int]:
    """Where the sentences of a line end behind a place, the line's own end last."""
    for end in _END.finditer(_CODE.sub(_hidden, line) if "`" in line else line, start):
        goes_on = line[end.end() + 1 : end.end() + 2]
        left_out = end.group().startswith(("..", "…")) and (goes_on.islower() or goes_on in ("-", "–", "—"))
        left_out |= goes_on.islower() and (
            "`" in end.group() or _DATE.search(line[max(start, end.end() - 8) : end.end()]) is not None
        )
        left_out |= not {"?", "？"}.isdisjoint(end.group()) and _GIVES.match(line, end.end()) is not None
        if not left_out and (end.group() != "." or not _abbreviates(line, start, end.end())):
            yield end.end()
    yield len(line)


_GIVES = pattern(r"\s*[(（][^()（）\n]{1,160}[)）][\"'*_]*\s*$")
"""What is given behind a question for who answers it, at the end of its line: examples, what may be chosen."""


def glued(sentence: str) -> Iterator[int]:
    """Where a sentence ends and the next one begins without a blank before it; amid a name none does."""
    for end in _GLUED.finditer(_CODE.sub(_hidden, sentence) if "`" in sentence else sentence):
        if end[1] is None or end[1].lower() in common_words(sentence):
            yield end.end()


def _hidden(code: re.Match[str]) -> str:
    """As many letters as code has, with no signs in it but those that it ends with."""
    return f"`{'x' * len(code[1])}{code[2]}`"


def _abbreviates(line: str, start: int, end: int) -> bool:
    """Whether the dot at the end of what stands between two places belongs to a short form."""
    begin = max(start, end - 12)
    if _SHORT.search(line[begin:end]) is None:
        return _NUMBER.search(line[begin : end + 2]) is not None
    behind = _WORD.match(line, end) if _COUNTED.search(line[begin:end]) else None
    return behind is None or behind[1].lower() not in common_words(line)
