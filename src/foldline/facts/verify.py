"""Which facts of a ledger can still be read after a fold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from foldline.facts.ledger import Ledger
from foldline.messages import Message, Value

_IDENTIFIERS = 40


class Kept(Value, frozen=True, omit_defaults=True):
    """How many facts are visible, and which are not, most important first."""

    kept: int
    lost: tuple[str, ...] = ()


def audit(ledger: Ledger, visible: Iterable[str]) -> Kept:
    """Which facts of a ledger stand literally in the visible texts."""
    text = "\n".join(visible)
    flat = " ".join(text.replace("\n> ", "\n").split())
    kept = 0
    lost: list[str] = []
    for name, literal, _ in _facts(ledger):
        if literal in text or " ".join(literal.split()) in flat:
            kept += 1
        else:
            lost.append(name)
    return Kept(kept, tuple(lost))


def origins(ledger: Ledger, folded: Sequence[tuple[str, Message]], names: Iterable[str]) -> dict[str, str]:
    """For facts by name, the id of the message that they were last seen in; those of earlier folds are left out.

    `folded` are the messages that the ledger was read from, with their ids. The ledger's clock starts anew behind the
    newest summary among them.
    """
    newest = max((i for i, (_, message) in enumerate(folded) if message.summary), default=-1)
    behind = max(newest, 0)
    start = ledger.end - (len(folded) - behind)
    wanted = set(names)
    found: dict[str, str] = {}
    for name, _, at in _facts(ledger):
        place = behind + at - start
        if name in wanted and at >= start + (newest >= 0) and place < len(folded):
            found[name] = folded[place][0]
    return found


def _facts(ledger: Ledger) -> Iterator[tuple[str, str, int]]:
    """Each fact that should be visible, by its name, the literal to look for and its time, most important first."""
    standing = [c for c in ledger.constraints if c.by != "project" and ledger.holds(c.text, c.at)]
    yield from ((f"constraint: {_short(c.text)}", c.text, c.at) for c in reversed(standing))
    yield from ((f"request: {_short(r.text)}", r.text, r.at) for r in reversed(ledger.requests))
    yield from ((f"open error: {_short(f.text)}", f.text, f.seen) for f in reversed(ledger.faults) if not f.resolved)
    yield from ((f"{f.state}: {f.path}", f.path, f.seen) for f in reversed(ledger.files) if f.changed)
    best = sorted(ledger.identifiers, key=lambda i: (-i.weight, -i.seen))[:_IDENTIFIERS]
    yield from ((f"identifier: {i.value}", i.value, i.seen) for i in best if ledger.holds(i.value, i.seen))


def _short(text: str) -> str:
    line = " ".join(text[:200].split())
    return line if len(line) <= 80 else line[:79] + "…"
