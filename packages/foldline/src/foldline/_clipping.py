"""Texts cut to a width, for where one line has to do."""

from __future__ import annotations

LOOKED_AT = 4
"""So many times the width is looked at: more of a text is seldom white space."""


def clipped(text: str, width: int) -> str:
    """A text of at most `width` characters; where its end is missing, `…` says so."""
    return text if len(text) <= width else text[: max(0, width - 1)] + "…"


def clipped_before(text: str, width: int) -> str:
    """The end of a text, of at most `width` characters; where its beginning is missing, `…` says so."""
    return text if len(text) <= width else "…" + text[len(text) - width + 1 :]


def one_line(text: str, width: int) -> str:
    """A text on one line of at most `width` characters."""
    return clipped(" ".join(text[: width * LOOKED_AT].split()), width)


def cut(text: str, width: int) -> str:
    """A text of at most `width` characters, cut between words where it has any."""
    if len(text) <= width:
        return text
    head = text[: width - 1]
    space = head.rfind(" ")
    return (head[:space] if space > width * 2 // 3 else head).rstrip() + "…"
