"""The extractive summary: the ledger and the sentences that carry decisions, in fixed sections, without a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from foldline.facts.ledger import Ledger
from foldline.facts.literals import kind_of, literals, need
from foldline.facts.speech import clean
from foldline.facts.types import Identifier
from foldline.messages import Message, Summary
from foldline.page.layout import Line, Page, shorten
from foldline.page.sections import (
    OWN,
    boost_of,
    bulletless,
    command_lines,
    error_lines,
    file_lines,
    progress_lines,
    request_lines,
    rule_lines,
)
from foldline.view import Brief

_SHARES = {
    "Goal": 0.12, "Constraints": 0.22, "In progress": 0.10, "Next steps": 0.07, "Errors": 0.08,
    "Files": 0.32, "Decisions": 0.14, "Done": 0.10, "Commands": 0.08, "Critical context": 0.10,
}  # fmt: skip
_REQUESTS = 0.42
_SPOKEN = 0.62
"""The user's words come first: requests alone, and requests with constraints, may take these shares of the page."""
_TRAIL = 0.14
"""The files come next with this share, those that were changed first."""
_LITERALS = 0.5
_LEAST_PROSE = 0.3
"""Literals get this share of the page, and leave to prose this share of what is left then."""
_LINE = 0.3
"""A line is preferred to its bare literals from this share of their chance per character on."""
_WORD = re.compile(r"(?<![^\s(\"'])[^\W\d_]{2,}(?=[\s,.:;!?)\"']|$)|[\u3040-\u9fff]{2}")
_WORDY = 6
"""A line with so many ordinary words tells something; code and log lines seldom have them."""

MOST_NUMBERS = 40
"""Bare numbers in the list; a page has thousands of them, and few are needed again."""

_ROW = 20
_PLACE = re.compile(r"\d:\d+$")
_CODE = re.compile(
    r"[{};,(\[\\]$|^\W*(?:const|let|var|import|export|type|func|function|def|class|if|for|return|public|private|fn|use|async|await)\b"
    r"|=>|^[\"'][^\"']+[\"']:|^\W*[\w.]+ = |^\w[\w.]*\(|[;{}].*[;{}]"
)
"""A line of code says little without the lines around it: its names are listed instead."""


def extract(brief: Brief, messages: Sequence[Message]) -> Summary:
    """The summary of messages within the tokens of a brief, from what stands in them and nothing else."""
    ledger = Ledger.of(messages)
    return Summary(compose(brief, ledger), ledger.facts())


def compose(brief: Brief, ledger: Ledger) -> str:
    """A ledger as text of at most `brief.max_tokens`."""
    budget = max(brief.max_tokens, 0)
    focus = " ".join(clean(brief.focus).split())
    top = shorten(f"Focus: {focus}", max(budget // 8, 20)) if focus else ""
    boost = boost_of(focus)
    width = 160 if budget < 1_000 else 240 if budget < 3_000 else 400
    page = Page(budget, top)
    for line in request_lines(ledger, int(budget * _REQUESTS), boost):
        page.add(line)
    quoted = "\n".join(line.text for line in page.lines)
    for line in sorted(
        rule_lines(ledger, boost), key=lambda line: (line.rank < OWN, line.text[2:] in quoted, -line.rank)
    ):
        page.add(line, budget * _SPOKEN - page.used)
    room = budget * _TRAIL
    trail = list(file_lines(ledger, max(room, (budget - page.used) * _SHARES["Files"] * 0.6), boost))
    for line in sorted(trail, key=lambda line: -line.rank):
        room -= page.add(line, room)
    bare = int(budget * _LITERALS)
    page.budget -= min(bare, int((budget - page.used) * (1 - _LEAST_PROSE)))
    lines = [
        *rule_lines(ledger, boost),
        *progress_lines(ledger, width, boost),
        *error_lines(ledger, width, boost),
        *trail,
        *command_lines(ledger, min(width, 240), boost),
    ]
    page.fill(lines, _SHARES)
    page.budget = budget
    _add_literals(page, ledger, bare)
    page.fill(lines, _SHARES)
    return clean(page.text() or _least(ledger, budget))


def _add_literals(page: Page, ledger: Ledger, room: int) -> None:
    """Adds the literals most needed that nothing above shows: a few in the line that they stood in, the others bare."""
    room = min(page.budget, page.used + room)
    shown = "\n".join(line.text for line in page.lines)
    chance = chances(ledger)
    for v in reversed(ledger.labelled):
        if (
            v.by == "user"
            and len(v.label) > 2
            and not _PLACE.search(v.value)
            and v.value not in shown
            and ledger.holds(v.value, v.at)
        ):
            text = f"- {v.label}: {v.value}"
            page.add(Line("Critical context", text + ledger.later(text, v.at), -1.0 - v.at), room - page.used)
    known = {i.value: i for i in ledger.identifiers}
    fresh = [known[value] for value in chance if value not in shown]
    taken: set[str] = set()
    lines = room // 250
    for rank, i in enumerate(fresh[: 6 * lines]):
        if lines and _tells(i, ledger, chance, taken):
            line = Line("Critical context", f"- {bulletless(i.line)}{ledger.later(i.line, i.seen)}", 1.0 + rank)
            if page.add(line, room - page.used):
                taken.update(literals(i.line))
                lines -= 1
    _add_bare(page, [i.value for i in fresh if i.value not in taken], room)


def chances(ledger: Ledger) -> dict[str, float]:
    """How likely each identifier that still stands is needed again; first those that are worth most for their length."""
    chance = {
        i.value: need(i.value, i.count, i.weight, max(ledger.end - i.seen, 0))
        for i in ledger.identifiers
        if ledger.holds(i.value, i.seen) and not ledger.later(i.value, i.seen)
    }
    return dict(sorted(chance.items(), key=lambda item: -item[1] / (len(item[0]) + 6) ** 0.5))


def _add_bare(page: Page, values: Iterable[str], room: int) -> None:
    """Adds literals as lists, one for each kind, the first of them first until there is no room."""
    kinds: dict[str, list[str]] = {}
    left, bare = float(room - page.used), 0
    for value in values:
        kind = kind_of(value)
        bare = bare + 1 if value.isdigit() else bare
        if value.isdigit() and (len(value) < 4 or bare > MOST_NUMBERS):
            continue
        left -= (len(value) + 2) / 3 + (0 if kind in kinds else 8)
        if left < 0:
            break
        kinds.setdefault(kind, []).append(value)
    for place, (kind, names) in enumerate(kinds.items()):
        for start in range(0, len(names), _ROW):
            row = f"- {kind}: {', '.join(names[start : start + _ROW])}"
            page.add(Line("Identifiers", row, 1e3 * place + start))


def _tells(i: Identifier, ledger: Ledger, chance: dict[str, float], taken: set[str]) -> bool:
    """Whether the line of an identifier is worth its tokens against the bare literals."""
    if len(_WORD.findall(i.line)) < _WORDY or _CODE.search(i.line) or not ledger.holds(i.line, i.seen):
        return False
    gain = sum(chance.get(word, 0.0) for word in literals(i.line) if word not in taken)
    return gain / (len(i.line) + 4) > _LINE * chance[i.value] / (len(i.value) + 3)


def _least(ledger: Ledger, budget: int) -> str:
    """What is said where nothing fits whole: the head of the newest request."""
    text = f"> {ledger.requests[-1].text}" if ledger.requests else f"({ledger.end} messages without words)"
    return shorten(text, budget)
