"""What was said and done as a reader wants it: paths from the folder of the work on, no marks of Markdown around words."""

from __future__ import annotations

import re

from foldline._facts.patterns import rare
from foldline._facts.standing import base_of
from foldline._facts.types import Facts, Kind, Piece
from foldline._messages import replace

_LINK = rare(r"`[^`\n]*`|\[([^\]\n]{1,120})\]\(([^)\s]+)\)")
"""A link; what stands in backquotes is code."""

_DEEP = re.compile(r"(?<![\w./:~-])~?/(?:[\w.@+-]+/){4,}(?=[\w.@+-]+/[\w.@+-]+)")
"""The folders above the last one of a long path, as outputs have them in each line and commands in each word."""

_DEEPER = 5
"""Slashes that a text with such a path has more of."""

_BOLD = re.compile(r"((```|~~~).*?\2|`[^`\n]*`)|(?<!/)\*\*(?!/)", re.DOTALL)
"""The marks around bold words; what stands in backquotes, or between fences, is code."""

_SHOWN: frozenset[Kind] = frozenset({"call", "change", "failure", "excerpt", "shown", "given", "written"})
"""The kinds of pieces that are no prose."""


def plain(facts: Facts) -> Facts:
    """The facts with their pieces in plain words; those of the user stand as they are."""
    roots = {base_of(facts), *(f"{each.folder}/" for each in facts.repositories if each.folder.startswith("/"))} - {""}
    either = "|".join(re.escape(root) for root in sorted(roots, key=len, reverse=True))
    root = rare(rf"(?:{either})(?=[\w.])") if roots else None

    def words(text: str, kind: Kind) -> str:
        text = root.sub("", text) if root else text
        if kind in ("excerpt", "shown", "call", "failure"):
            return _DEEP.sub("…/", text) if text.count("/") > _DEEPER else text
        text = text if kind in _SHOWN else _LINK.sub(_linked, text)
        return text if kind in _SHOWN or "**" not in text else _BOLD.sub(r"\1", text)

    def told(piece: Piece) -> Piece:
        text, under = words(piece.text, piece.kind), words(piece.under, piece.kind)
        return piece if (text, under) == (piece.text, piece.under) else replace(piece, text=text, under=under)

    return replace(facts, pieces=tuple(p if p.by == "user" else told(p) for p in facts.pieces))


def _linked(link: re.Match[str]) -> str:
    """A link as words: a place that is named by its address stands for itself."""
    words, place = link.groups()
    if not place:
        return link[0]
    if place.startswith("http"):
        return place if words == place else link[0]
    return place if words.split(":")[0] in place else f"{words} ({place})"
