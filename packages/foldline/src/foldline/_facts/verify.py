"""Which facts can still be read after a fold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from foldline._clipping import one_line
from foldline._facts.folders import listed_in
from foldline._facts.standing import changed_files, open_faults
from foldline._facts.texts import said_in
from foldline._facts.types import Facts
from foldline._messages import Message, Value

SHORT = 120
"""Characters of a fact that is shown whole or not at all."""


class Kept(Value, frozen=True, omit_defaults=True):
    """How many facts are visible, and which are not, most important first."""

    kept: int
    lost: tuple[str, ...] = ()


def audit(facts: Facts, visible: Iterable[str]) -> Kept:
    """Which facts stand literally in the visible texts, paths also where they are listed by their folders."""
    text = "\n".join(visible)
    listed = {path for each in listed_in(text) for path in (each.named, each.path)}
    flat = " ".join(text.replace("\n> ", "\n").split())
    kept = 0
    lost: list[str] = []
    for name, literal, _ in _named(facts):
        if literal in text or literal in listed or _stands(literal, flat):
            kept += 1
        else:
            lost.append(name)
    return Kept(kept, tuple(lost))


def _stands(literal: str, flat: str) -> bool:
    """Whether a text stands in another: of a long one at least half of its sentences."""
    if " ".join(literal.split()) in flat:
        return True
    said = [" ".join(each.split()) for each, *_ in said_in(literal)] if len(literal) > SHORT else []
    return bool(said) and 2 * sum(each in flat for each in said) >= len(said)


def origins(facts: Facts, folded: Sequence[tuple[str, Message]], names: Iterable[str]) -> dict[str, str]:
    """For facts by name, the id of the message that they were last seen in; those of earlier folds are left out.

    `folded` are the messages that the facts was read from, with their ids. The facts's clock starts anew behind the
    newest summary among them.
    """
    newest = max((i for i, (_, message) in enumerate(folded) if message.summary), default=-1)
    behind = max(newest, 0)
    start = facts.end - (len(folded) - behind)
    wanted = set(names)
    found: dict[str, str] = {}
    for name, _, at in _named(facts):
        place = behind + at - start
        if name in wanted and at >= start + (newest >= 0) and place < len(folded):
            found[name] = folded[place][0]
    return found


def _named(facts: Facts) -> Iterator[tuple[str, str, int]]:
    """Each fact that should be visible, by its name, the literal to look for and its time, most important first."""
    standing = [r for r in facts.rules if r.by != "project" and r.lifetime == "standing"]
    yield from ((f"rule: {_short(r.text)}", r.text, r.at) for r in reversed(standing))
    yield from ((f"request: {_short(r.text)}", r.text, r.at) for r in reversed(facts.requests))
    yield from ((f"open error: {_short(f.text)}", f.text, f.seen) for f in reversed([*open_faults(facts)]))
    yield from ((f"{f.state}: {f.path}", f.path, f.seen) for f in reversed(changed_files(facts)))


def _short(text: str) -> str:
    return one_line(text, 80)
