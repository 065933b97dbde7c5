"""What a draft forgot, added by code: the task as it is now, the rules that stand, what is open, and the changed files."""

from __future__ import annotations

from collections.abc import Iterator

from foldline._facts.folders import listed_in
from foldline._facts.standing import changed_files
from foldline._facts.types import Facts
from foldline._facts.verify import audit
from foldline._messages import Value, replace
from foldline._page.files import files
from foldline._page.quoting import safe, wanted
from foldline._page.state import state
from foldline._page.task import rules, task
from foldline._patterns import pattern
from foldline._tokens.estimate import estimate
from foldline._view import Brief
from foldline._writers.headings import Sections

SHARE = 0.5
"""The share of a summary that is kept for what a draft may forget."""

TASK, FILES = 0.3, 0.1
"""The shares of a summary that the task and the files may take of it."""

_MARKS = pattern(r"(?m)^[^\S\n]*(?:[-*>][^\S\n]*)+(?:\[[ x]\][^\S\n]*)?|[*_`]")


class Repaired(Value, frozen=True):
    """A draft with what it forgot added: the text, and the facts by name that it shows only because they were added."""

    text: str
    added: tuple[str, ...] = ()


def reserve(facts: Facts, brief: Brief) -> int:
    """Of a summary's tokens, those to be kept for what may be forgotten."""
    needs = sum(estimate(line) + 1 for _, line in _lines(facts, brief, brief.max_tokens)) + 16
    return min(needs, int(brief.max_tokens * SHARE))


def repair(text: str, facts: Facts, brief: Brief, tokens: int, *, shown: str = "") -> Repaired:
    """The text with what it does not show, nor `shown` beside it, which nobody may edit; as much as fits into `tokens`."""
    shown = shown or text
    missing = audit(facts, (shown,)).lost
    flat = _flat(shown)
    sections = Sections(text)
    room = tokens - estimate(sections.text())
    parts: dict[str, list[str]] = {}
    for part, line in _lines(facts, brief, tokens, shown):
        cost = estimate(line) + 1 + (0 if part in parts or sections.has(part) else estimate(part) + 4)
        if cost <= room and _flat(line) not in flat:
            room -= cost
            parts.setdefault(part, []).append(line)
    sections.add(parts)
    text = sections.text()
    still = set(audit(facts, (shown, text)).lost)
    return Repaired(text, tuple(name for name in missing if name not in still))


def _lines(facts: Facts, brief: Brief, tokens: int, shown: str = "") -> Iterator[tuple[str, str]]:
    """What a summary must show, most important first, each line with the part of a page that it belongs to."""
    yield from (("Task now", line) for line in wanted(*task(facts, brief.after).asked(), int(tokens * TASK)))
    yield from (("Rules that stand", f"- {safe(rule.text)}") for rule in rules(facts, brief.after))
    yield from (("State", f"- {safe(text)}") for text in state(facts, brief.after))
    listed = {path for each in listed_in(shown) for path in (each.named, each.path)}
    forgotten = tuple(file for file in changed_files(facts) if file.path not in listed and file.path not in shown)
    yield from (("Files", f"- {safe(line)}") for line in files(replace(facts, files=forgotten), int(tokens * FILES)))


def _flat(text: str) -> str:
    return " ".join(_MARKS.sub("", text).split())
