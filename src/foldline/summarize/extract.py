"""The extractive summary: the ledger and the sentences that carry decisions, in fixed sections, without a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from foldline.messages import Message, Summary
from foldline.summarize.facts import Identifier
from foldline.summarize.layout import Line, Page, shorten
from foldline.summarize.ledger import Ledger
from foldline.summarize.literals import literals, worth
from foldline.summarize.reading import need
from foldline.summarize.sections import (
    boost_of,
    command_lines,
    error_lines,
    file_lines,
    progress_lines,
    request_lines,
    rule_lines,
    stated_lines,
)
from foldline.summarize.speech import clean
from foldline.tokens.estimate import estimate
from foldline.view import Brief

_SHARES = {
    "User requests": 0.34, "Goal": 0.12, "Constraints": 0.22, "In progress": 0.10, "Next steps": 0.07, "Errors": 0.08,
    "Files": 0.26, "Decisions": 0.14, "Done": 0.10, "Commands": 0.08, "Critical context": 0.10,
}  # fmt: skip
_LITERALS = 0.30


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
    prose = int(budget * (1 - _LITERALS))
    page.budget = prose
    lines = [
        *request_lines(ledger, int(prose * 0.36), boost),
        *rule_lines(ledger, boost),
        *progress_lines(ledger, width, boost),
        *error_lines(ledger, width, boost),
        *file_lines(ledger, prose * 0.26, boost),
        *command_lines(ledger, width, boost),
        *stated_lines(ledger),
    ]
    page.fill(lines, _SHARES)
    page.budget = budget
    _add_literals(page, ledger)
    page.fill(lines, _SHARES)
    text = page.text()
    return text if text or not budget else _least(ledger, budget)


def _add_literals(page: Page, ledger: Ledger) -> None:
    """Fills what is left with literals that nothing above shows: with their line where that shows several, else bare."""
    shown = "\n".join(line.text for line in page.lines)
    end = ledger.end or 1
    scores = {
        i.value: need(worth(i.value), i.count, i.weight, (end - i.seen) / end)
        for i in ledger.identifiers
        if ledger.holds(i.value, i.seen)
    }
    ranked = sorted((i for i in ledger.identifiers if i.value in scores and i.value not in shown), key=lambda i: -scores[i.value])
    taken: set[str] = set()
    bare: list[str] = []
    for i in ranked:
        if i.value in taken:
            continue
        if len(i.line) > len(i.value) + 8 and ledger.holds(i.line, i.seen) and _tells(i, scores, taken):
            if page.add(Line("Critical context", f"- {i.line}", 1.0 + len(taken), 0.0)):
                taken |= literals(i.line)
                continue
        bare.append(i.value)
        taken.add(i.value)
    for group in _grouped(bare, 8):
        page.add(Line("Critical context", f"- seen: {', '.join(group)}", 1e6 + len(taken), 0.0))


def _tells(i: Identifier, scores: dict[str, float], taken: set[str]) -> bool:
    """Whether the line of an identifier is worth its tokens against the bare literals."""
    fresh = sum(scores.get(word, 0.0) for word in literals(i.line) if word not in taken)
    return fresh / (estimate(i.line) + 2) > 0.6 * scores[i.value] / (estimate(i.value) + 1)


def _grouped(values: Sequence[str], size: int) -> Iterable[Sequence[str]]:
    return (values[start : start + size] for start in range(0, len(values), size))


def _least(ledger: Ledger, budget: int) -> str:
    """What is said where nothing fits whole: the head of the newest request."""
    return shorten(f"> {ledger.requests[-1].text}", budget) if ledger.requests else ""
