"""Thread references: what a goal needs from the sessions that a text names."""

from __future__ import annotations

import os
import re

from foldline._errors import SessionError
from foldline._recall.answer import fenced, reach
from foldline._recall.index import Index
from foldline._recall.scope import scope
from foldline._recall.search import Hit
from foldline._tokens.estimate import estimate

MOST = 4_000
"""Tokens that the excerpts may add together."""

SHARE = 4
"""One message takes at most this part of its session's tokens."""

_REFERENCE = re.compile(
    r"@session:([^\s\"'`<>()\[\]{},;]+)|(?<![\w/.-])([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?![\w/-])"
)


def resolve_references(text: str, goal: str = "", *, most: int = MOST, cwd: str | None = None) -> str:
    """The text, with excerpts behind it from each session that it names as `@session:ID` or by its whole id.

    The excerpts are what fits the goal best (without one, the text itself) and what the session was for, as quoted
    history. A session that is not there is said to be missing where it was named with `@session:`.
    """
    named = {(a or b).rstrip(".:!?"): bool(a) for a, b in _REFERENCE.findall(text)}
    goal = goal or _REFERENCE.sub(" ", text)
    blocks = []
    with Index() as index:
        for reference, explicit in named.items():
            try:
                blocks.append(_excerpts(index, reference, goal, most // len(named), cwd or os.getcwd()))
            except SessionError as error:
                if explicit:
                    blocks.append(f"[@session:{reference}: {error}]")
    return "\n\n".join((text, *blocks))


def _excerpts(index: Index, reference: str, goal: str, most: int, cwd: str) -> str:
    where = scope(reference, cwd=cwd)
    within = where.within[0]
    chosen: dict[int, tuple[Hit, str]] = {}
    for hit in (*index.first_words(within), *index.search(goal, where.within, limit=24)):
        text = index.text(hit)
        text = text[: reach(text, 0, most // SHARE)]
        size = estimate(text) + 16
        if hit.row not in chosen and size <= most:
            chosen[hit.row] = hit, text
            most -= size
    lines = [f"[{hit.id}] {hit.role}:\n{text}" for _, (hit, text) in sorted(chosen.items())]
    return fenced("\n\n".join(lines), session=reference, agent=within.agent, path=within.path)
