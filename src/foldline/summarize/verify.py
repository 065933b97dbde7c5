"""Which facts of a ledger can still be read after a fold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from foldline.messages import Value
from foldline.summarize.ledger import Ledger

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
    for name, literal in _facts(ledger):
        if literal in text or " ".join(literal.split()) in flat:
            kept += 1
        else:
            lost.append(name)
    return Kept(kept, tuple(lost))


def _facts(ledger: Ledger) -> Iterator[tuple[str, str]]:
    """Each fact that should be visible, by its name and the literal to look for, most important first."""
    standing = [c for c in ledger.constraints if c.by != "project" and ledger.holds(c.text, c.at)]
    yield from ((f"constraint: {_short(c.text)}", c.text) for c in reversed(standing))
    yield from ((f"request: {_short(r.text)}", r.text) for r in reversed(ledger.requests))
    yield from ((f"open error: {_short(f.text)}", f.text) for f in reversed(ledger.faults) if not f.resolved)
    yield from ((f"{f.state}: {f.path}", f.path) for f in reversed(ledger.files) if f.changed)
    best = sorted(ledger.identifiers, key=lambda i: (-i.weight, -i.seen))[:_IDENTIFIERS]
    yield from ((f"identifier: {i.value}", i.value) for i in best if ledger.holds(i.value, i.seen))


def _short(text: str) -> str:
    line = " ".join(text[:200].split())
    return line if len(line) <= 80 else line[:79] + "…"
