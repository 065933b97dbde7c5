"""What was said and done as a reader wants it: paths from the folder of the work on, no marks of Markdown around words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from foldline._facts.standing import base_of
from foldline._facts.types import Facts, Kind
from foldline._messages import replace

_LINK = re.compile(r"\[([^\]\n]{1,120})\]\(([^)\s]+)\)")


def plain(facts: Facts) -> Facts:
    """The facts with their pieces in plain words; those of the user stand as they are."""
    roots = {base_of(facts), *(f"{each.folder}/" for each in facts.repositories if each.folder.startswith("/"))} - {""}
    longest = sorted(roots, key=len, reverse=True)
    return replace(
        facts,
        pieces=tuple(p if p.by == "user" else replace(p, text=_plain(p.text, longest, p.kind)) for p in facts.pieces),
    )


def _plain(text: str, roots: Sequence[str], kind: Kind) -> str:
    for root in roots:
        text = text.replace(root, "")
    if kind in ("call", "change", "failure", "excerpt", "shown"):
        return text
    return _LINK.sub(_linked, text).replace("**", "") if "](" in text else text.replace("**", "")


def _linked(link: re.Match[str]) -> str:
    """A link as words: a place that is named by its address stands for itself."""
    words, place = link.groups()
    if place.startswith("http"):
        return place if words == place else link[0]
    return place if words.split(":")[0] in place else f"{words} ({place})"
