"""Context size at each step of real sessions, against what the provider billed.

    python benchmarks/counting.py [FOLDER]

FOLDER holds session files of any agent (default: ../shared/corpus beside the repository). A step is a reply that was
billed more than 5,000 tokens behind the newest fold. Three ways to know the size of a step's request:

- *anchored*: every bill before the step is known;
- *second half*: only the bills of the first half of the session's steps are known, to the reader as to the meter;
- *no usage*: no bill is known; the agent's usual overhead stands in for the hidden part.

Beside it, in the same run: characters / 4 of what the file shows, and with `tiktoken` or `langchain-core` installed their
counts of the same messages. Errors are (counted - billed) / billed. "± holds" is the share of counts that are off by no more than the interval they state;
what the intervals rest on was chosen on every other session, and the rows "held-out half" are of the rest.
"""

from __future__ import annotations

import importlib.util
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from foldline import FoldlineError, Message, open_session
from foldline._messages import replace
from foldline._models import keeps_reasoning
from foldline._tokens.meter import Count, Meter
from foldline._tokens.sent import weighed
from foldline.extend import Context, Text, Thinking, ToolCall, ToolResult, model

LEAST = 5_000
"""Billed tokens from which a step counts: below, the hidden overhead is nearly all there is."""

MOST = 50
"""Steps of a session's second half that are counted, about: each is weighed from the beginning."""


class Step(NamedTuple):
    """What was billed for a request, and what was sent for it: our weight, characters, tiktoken's and langchain's count.

    `at` is the place of the reply.
    """

    at: int
    billed: int
    weight: int
    characters: int
    words: int
    approximate: int


class Case(NamedTuple):
    """A session's steps."""

    name: str
    agent: str
    family: str
    context: Context
    steps: list[Step]


def cases(folder: Path) -> Iterator[Case]:
    """Every session below the folder that has four steps or more; scripted ones (`made`) are no bills."""
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and "made" not in p.parts):
        try:
            session = open_session(path)
        except FoldlineError:
            continue
        family = model(session.model).family
        session.context.keeps_reasoning = kept = keeps_reasoning(session.model)
        entries, since = session.context.entries, session.context.since
        steps, size, words, approximate = [], 0, 0, 0
        sent = weighed([message for _, message in entries], family, since, kept).before
        for i, (_, message) in enumerate(entries):
            if i >= since and message.usage and message.usage.prompt > LEAST:
                steps.append(Step(i, message.usage.prompt, sent[i], size, words, approximate))
            shown = text_of(message)
            size, words = size + len(shown), words + bpe(shown)
            approximate += approximately(shown)
        if len(steps) >= 4:
            name = f"{path.parent.name}/{path.stem[:22]}"
            yield Case(name, session.agent, family, session.context, steps)


def text_of(message: Message) -> str:
    """Everything that the file shows of a message."""
    return "\n".join(_shown(message.parts))


def _shown(parts: Sequence[object]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Text | Thinking):
            yield part.text
        elif isinstance(part, ToolCall):
            yield part.name + part.arguments
        elif isinstance(part, ToolResult):
            yield from _shown(part.parts)


def _no_bpe(text: str) -> int:
    return 0


def _tiktoken() -> Callable[[str], int]:
    if importlib.util.find_spec("tiktoken") is None:
        return _no_bpe
    from foldline._tokens.exact import exact

    if exact("its vocabulary is here") is None:
        return _no_bpe
    return lambda text: exact(text) or 0


bpe = _tiktoken()


def _langchain() -> Callable[[str], int]:
    if importlib.util.find_spec("langchain_core") is None:
        return _no_bpe
    from langchain_core.messages import HumanMessage
    from langchain_core.messages.utils import count_tokens_approximately

    return lambda text: count_tokens_approximately([HumanMessage(text)])


approximately = _langchain()


class Off(NamedTuple):
    """By how much a count is off, and whether its interval holds."""

    error: float
    holds: bool


def off(count: Count, step: Step) -> Off:
    """How far a count is from a step's bill."""
    return Off(count.tokens / step.billed - 1, abs(count.tokens - step.billed) <= count.error * count.tokens)


def bare(tokens: float, step: Step) -> Off:
    """How far a number without an interval is from a step's bill."""
    return Off(tokens / step.billed - 1, False)


def anchored(case: Case) -> Iterator[Off]:
    """The error at each step but the first, all bills before it known."""
    meter = Meter(case.family)
    for step in case.steps:
        if meter.billed:
            yield off(meter.total(step.weight), step)
        meter.learn(step.billed, step.weight)


def second_half(case: Case) -> Iterator[Off]:
    """The error at each step of the second half, with the bills of the first."""
    known, hidden = case.context, case.steps[len(case.steps) // 2 :]
    entries = [
        (id, replace(message, usage=None) if at >= hidden[0].at else message)
        for at, (id, message) in enumerate(known.entries)
    ]
    for step in hidden[:: max(1, len(hidden) // MOST)]:
        then = Context(entries[: step.at], since=known.since, unsent=known.unsent, overhead=known.overhead)
        then.keeps_reasoning = known.keeps_reasoning
        yield off(then.size(case.family), step)


def no_usage(case: Case) -> Iterator[Off]:
    """The error at each step with no bill known."""
    meter = Meter(case.family, overhead=case.context.overhead)
    meter.guessed = case.context.overhead
    return (off(meter.total(step.weight), step) for step in case.steps)


def quarter(case: Case) -> Iterator[Off]:
    """The error of characters / 4."""
    return (bare(step.characters / 4, step) for step in case.steps)


def o200k(case: Case) -> Iterator[Off]:
    """The error of tiktoken's o200k over what the file shows."""
    return (bare(step.words, step) for step in case.steps)


def langchain(case: Case) -> Iterator[Off]:
    """The error of langchain's `count_tokens_approximately` over what the file shows."""
    return (bare(step.approximate, step) for step in case.steps)


class Row(NamedTuple):
    """The errors of one way to count, over all steps."""

    name: str
    found: list[Off]
    target: str

    def __str__(self) -> str:
        errors = [each.error for each in self.found]
        sizes = sorted(map(abs, errors))
        at = [sizes[min(len(sizes) - 1, int(len(sizes) * share))] for share in (0.5, 0.9, 0.95)]
        within = sum(e <= 0.05 for e in sizes) / len(sizes)
        mean, bias = statistics.mean(sizes), statistics.median(errors)
        holds = sum(each.holds for each in self.found) / len(self.found)
        figures = "  ".join(f"{value:7.2%}" for value in (mean, *at))
        return f"{self.name:<24} {figures}  {within:7.1%}  {bias:+7.2%}  {holds:7.1%}   {self.target}"


def main() -> None:
    """Prints a line for each session, and the errors over all steps."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2] / "shared" / "corpus"
    found = list(cases(folder)) if folder.is_dir() else []
    if not found:
        sys.exit(f"no sessions with usage below {folder}")
    print(
        f"{'session':<42} {'family':<9} {'steps':>5}  {'anchored':>8}  {'2nd half':>8}  {'no usage':>8}  {'chars/4':>8}"
    )
    for case in found:
        errors = [list(way(case)) for way in (anchored, second_half, no_usage, quarter)]
        medians = "  ".join(f"{statistics.median(o.error for o in each):+8.2%}" for each in errors)
        print(f"{case.name:<42} {case.family:<9} {len(case.steps):>5}  {medians}")
    ways = [
        ("anchored", anchored, "mean ≤ 0.4 %, p95 ≤ 1.5 %"),
        ("second half", second_half, "median ≤ 1 %, p90 ≤ 5 %, within 5 % ≥ 90 %"),
        ("no usage", no_usage, "median ≤ 10 %"),
        ("characters / 4", quarter, ""),
        *([("tiktoken o200k", o200k, "")] if bpe is not _no_bpe else []),
        *([("langchain approximately", langchain, "")] if approximately is not _no_bpe else []),
    ]
    print(
        f"\n{'':<24} {'mean':>7}  {'median':>7}  {'p90':>7}  {'p95':>7}  {'in 5 %':>7}  {'bias':>7}  {'± holds':>7}   target"
    )
    for name, way, target in ways:
        print(Row(name, [e for case in found for e in way(case)], target))
    for name, way, target in ways[:3]:
        print(Row(f"{name}, held-out half", [o for case in found[1::2] for o in way(case)], target))
    for agent in sorted({case.agent for case in found}):
        theirs = [e for case in found if case.agent == agent for e in no_usage(case)]
        print(Row(f"no usage, {agent}", theirs, "median ≤ 10 %"))


if __name__ == "__main__":
    main()
