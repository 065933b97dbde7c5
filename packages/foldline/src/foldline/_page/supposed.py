"""What the agent supposed before it found the cause: in the same turn that takes its place, unless something was done about it."""

from __future__ import annotations

from bisect import bisect_left

from foldline._facts.cues import asks, blames, says_traced
from foldline._facts.types import Facts
from foldline._page.quoting import bare


def supposed(facts: Facts) -> set[int]:
    """The places of what was said amid the work since the last change, in the turn and before the agent said that it found the
    cause: sentences that name one, and texts that end with a question."""
    asked = (request.newest for request in facts.latest.requests)
    changed = (p.at for p in facts.latest.pieces if p.kind == "change")
    breaks = sorted((*asked, *changed))
    traced = (p.at for p in facts.latest.pieces if p.kind == "thought" and says_traced(p.text))
    found = {bisect_left(breaks, at): at for at in traced}
    if not found:
        return set()
    thoughts = [(i, p) for i, p in enumerate(facts.pieces) if p.kind == "thought" and not p.weighs]
    before = [(i, p) for i, p in thoughts if p.at < found.get(bisect_left(breaks, p.at), -1)]
    open_ended = {at for at, text in {p.at: p.text for _, p in before}.items() if asks(text)}
    return {i for i, p in before if p.at in open_ended or blames(bare(p))}
