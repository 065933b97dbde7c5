"""Folds a view: one generator that waits only for summaries, and two short drivers of it."""

from __future__ import annotations

import inspect
import secrets
import time
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Sequence
from typing import NamedTuple

from foldline.errors import CannotFit, ConfigError, SummaryFailed
from foldline.fold import Fold, Receipt, Trigger
from foldline.messages import Message, Summary, ToolResult, Value, replace
from foldline.policy import Budget, Layer, Policy, hard_strategies
from foldline.strategies import Strategy
from foldline.summarize.extract import extract
from foldline.summarize.ledger import Ledger
from foldline.summarize.sections import quote
from foldline.summarize.verify import audit
from foldline.tokens.estimate import estimate
from foldline.view import Brief, Edit, View

MIN_PROGRESS = 0.02
"""The share of the view that a fold must free to be installed, unless the view is over its limit."""

MANUAL_SHARE = 0.4
"""What a fold by hand brings a view down to, where its layer asks for no less."""

NOTE_TOKENS = 48
"""What the line takes that ends each summary and says which messages can be recalled."""

SHOWN = 12
"""Characters of a user's message that must stand in a summary for the message to be shown there."""

LEAST_QUOTE = 24
"""Tokens that the user's newest words get, however small the budget."""

RECOVERY_SHARE = 0.7
"""What a fold after an overflow brings a request down to: the count was wrong once, so it leaves room."""

Summarizer = Callable[[Brief, Sequence[Message]], "Summary | str | Awaitable[Summary | str]"]
"""Writes a summary of messages for a brief, at once or awaited."""


class Ask(Value, frozen=True):
    """What a fold waits for: a summary of the messages, within the brief."""

    brief: Brief
    messages: tuple[Message, ...]


Answer = Summary | SummaryFailed
Folding = Generator[Ask, Answer, tuple[View, Fold]]


class Step(NamedTuple):
    """Strategies that run while the view is over `mark` tokens, until it is down to `target`."""

    layer: Layer
    mark: int
    target: int


def steps_for(policy: Policy, budget: Budget, overhead: int) -> list[Step]:
    """A policy's layers in tokens of a view: each starts at its mark, or at the limit where that is lower."""
    limit = budget.limit - overhead
    marks = ((layer, min(round(layer.at * budget.window) - overhead, limit)) for layer in policy.layers)
    return [Step(layer, mark, min(round(layer.to * budget.window) - overhead, mark)) for layer, mark in marks]


def steps_by_hand(policy: Policy, view: View, budget: Budget, overhead: int) -> list[Step]:
    """The layers that a user's own command runs: the first that summarizes, whatever the fill."""
    layer = next((layer for layer in policy.layers if not layer.hard and layer.name != "prune"), policy.layers[-1])
    target = min(round(layer.to * budget.window) - overhead, round(view.tokens * MANUAL_SHARE))
    return [Step(layer, -1, max(0, target))]


def steps_within(max_tokens: int) -> list[Step]:
    """What meets a hard budget for the messages of a view."""
    layer = Layer("full", 1.0, 1.0, _hard(max_tokens), hard=True)
    return [Step(layer, max_tokens, max_tokens)]


def _hard(max_tokens: int) -> tuple[Strategy, ...]:
    return hard_strategies(max_tokens // 3)


def folding(
    view: View,
    steps: Sequence[Step],
    *,
    trigger: Trigger = "threshold",
    limit: int | None = None,
    focus: str = "",
    ratio: float = 1.0,
    overhead: int = 0,
    error: float = 0.0,
    rounds: int = 0,
) -> Folding:
    """Runs the steps over a view, and returns the view and the fold that were reached.

    Yields an `Ask` for each summary that a layer wants written; a failure sent back is answered by extraction. The
    fold is empty where nothing was to be done, or nothing worth it could be. Raises `CannotFit` where the view is
    still over `limit`. `ratio` is tokens per estimated token, `rounds` how many folds the history has seen at least.
    """
    began = time.perf_counter()
    before = view
    edits: list[Edit] = []
    layers: list[str] = []
    failures: list[str] = []
    for step in steps:
        if view.tokens <= step.mark or _outputs(view) < step.layer.outputs_over:
            continue
        for strategy in step.layer.strategies:
            if view.tokens <= step.target:
                break
            for edit in strategy(view, view.tokens - step.target):
                if not (edit := _standing(edit, view)).drop:
                    continue
                written = yield from _write(edit, view, step.layer, focus, ratio, failures, rounds)
                after = view.apply(written)
                if after.tokens < view.tokens:
                    view = after
                    edits.append(written)
                    layers.append(step.layer.name)
                if view.tokens <= step.target:
                    break
    if limit is not None and view.tokens > limit:
        raise CannotFit(view.tokens + overhead, limit + overhead, in_the_way(view, overhead))
    if not edits or _idle(before, view, trigger, limit):
        return before, Fold(trigger=trigger, receipt=Receipt(before.tokens + overhead, before.tokens + overhead))
    receipt = replace(
        _receipt(before, view, edits, overhead),
        error=error,
        instruction=focus,
        failures=tuple(failures),
        seconds=time.perf_counter() - began,
    )
    return view, Fold(
        secrets.token_hex(4), trigger, layers[-1], tuple(edits), _first_kept(before, view, edits), receipt
    )


def _standing(edit: Edit, view: View) -> Edit:
    """An edit without the messages of nothing but thinking that an earlier edit of the same strategy orphaned."""
    if not view.bound or all(id in view.index for id in edit.drop):
        return edit
    return replace(edit, drop=tuple(id for id in edit.drop if id in view.index))


def _write(
    edit: Edit, view: View, layer: Layer, focus: str, ratio: float, failures: list[str], rounds: int
) -> Generator[Ask, Answer, Edit]:
    """The edit with its summary written, by whoever drives the fold or, where that failed, by extraction."""
    if (start := view.find(edit.drop)) is None:
        return edit
    span = view.entries[start : start + len(edit.drop)]
    messages = tuple(entry.message for entry in span)
    if not isinstance(edit.into, Brief):
        return _with_ledger(edit, edit.into, messages)
    size = max(32, int(edit.into.max_tokens / max(ratio, 0.1)) - NOTE_TOKENS)
    brief = replace(edit.into, max_tokens=size, focus=focus or edit.into.focus, round=max(rounds, _round(messages)) + 1)
    answer: Answer | None = None
    if not layer.hard:
        answer = yield Ask(brief, messages)
    most = min(sum(entry.tokens for entry in span), edit.into.max_tokens * 3 // 2 + 64)
    if answer is None or (fault := _fault(answer, most, view)):
        if answer is not None:
            failures.append(fault)
        answer = extract(brief, messages)
    assert isinstance(answer, Summary)
    answer = _with_words(answer, messages, size // 4)
    note = f"[folded: {len(span)} messages, {span[0].id} to {span[-1].id}; any of them can be recalled by its id]"
    summary = Summary(f"{answer.text.rstrip()}\n\n{note}", {**answer.facts, "round": brief.round})
    return replace(edit, into=(Message("user", (summary,)),))


def _with_ledger(edit: Edit, into: Sequence[Message], messages: Sequence[Message]) -> Edit:
    """An edit whose summaries, which a strategy wrote, carry on the ledger of what they stand for."""
    if not any(message.summary for message in into):
        return edit
    facts = {**Ledger.of(messages).facts(), "round": max(1, _round(messages))}
    told = (replace(m, parts=(replace(s, facts=facts),)) if (s := m.summary) else m for m in into)
    return replace(edit, into=tuple(told))


def _with_words(summary: Summary, messages: Sequence[Message], room: int) -> Summary:
    """The summary with the ledger behind it, and with the user's newest words where it shows none of them.

    A model may forget what the user said, and a small budget may not hold it; then it is quoted here, newest first.
    """
    ledger = Ledger.from_facts(summary.facts) if summary.facts else Ledger.of(messages)
    facts = summary.facts or ledger.facts()
    said = [request for request in reversed(ledger.requests) if request.text.strip()]
    missing = [request for request in said if request.text.split("\n")[0][:SHOWN].strip() not in summary.text]
    if not missing or (summary.facts and missing[0] is not said[0]):
        return replace(summary, facts=facts)
    quotes: list[str] = []
    for request in missing:
        if quotes and room < LEAST_QUOTE:
            break
        quotes.insert(0, quote(ledger, request, max(room, LEAST_QUOTE)))
        room -= estimate(quotes[0])
    return Summary("\n".join(["## User requests", *quotes, "", summary.text]), facts)


def _fault(answer: Answer, most: int, view: View) -> str:
    """What keeps a draft from being installed; empty where nothing does."""
    if isinstance(answer, SummaryFailed):
        return str(answer)
    if not answer.text.strip():
        return "the summary was empty"
    size = view.count(Message("user", (answer,)))
    return f"the summary took {size:,} tokens where {most:,} were allowed" if size > most else ""


def _round(messages: Iterable[Message]) -> int:
    """How many folds the newest summary among the messages has seen."""
    rounds = (s.facts.get("round", 1) for message in messages if (s := message.summary))
    return max((n for n in rounds if isinstance(n, int)), default=0)


def _idle(before: View, after: View, trigger: Trigger, limit: int | None) -> bool:
    """Whether a fold freed too little to be worth the cache that it breaks."""
    must = limit is not None and before.tokens > limit
    return not must and before.tokens - after.tokens < MIN_PROGRESS * before.tokens


def _outputs(view: View) -> int:
    return sum(entry.tokens for entry in view.entries if any(True for _ in entry.message.results))


def _first_kept(before: View, after: View, edits: Sequence[Edit]) -> str | None:
    """The first entry that stands behind everything that was summarized away."""
    dropped = {id for edit in edits for id in edit.drop}
    gone = [i for i, entry in enumerate(before.entries) if entry.id in dropped and entry.id not in after.index]
    return before.entries[gone[-1] + 1].id if gone and gone[-1] + 1 < len(before.entries) else None


def _receipt(before: View, after: View, edits: Sequence[Edit], overhead: int) -> Receipt:
    touched = {id for edit in edits for id in edit.drop}
    folded = [entry for entry in before.entries if entry.id in touched]
    first = before.index[folded[0].id]
    stubs = sum(1 for entry in folded if entry.id in after.index)
    ledger = Ledger.of(entry.message for entry in folded)
    kept = audit(ledger, _visible(after))
    return Receipt(
        tokens_before=before.tokens + overhead,
        tokens_after=after.tokens + overhead,
        messages_folded=len(folded),
        messages_pruned=stubs,
        facts_kept=kept.kept,
        facts_lost=len(kept.lost),
        lost=kept.lost[:12],
        cache_discarded=sum(entry.tokens for entry in before.entries[first:]),
        round=_round(after.messages),
    )


def _visible(view: View) -> Iterator[str]:
    for message in view.messages:
        for part in message.parts:
            match part:
                case ToolResult(parts=parts):
                    yield from (p.text for p in parts if hasattr(p, "text"))
                case _ if hasattr(part, "arguments"):
                    yield part.arguments
                case _ if hasattr(part, "text"):
                    yield part.text


def in_the_way(view: View, overhead: int = 0) -> list[tuple[str, int]]:
    """What takes the room of a view, largest first, as `(what, tokens)`."""
    named = [
        (f"{entry.message.role} message {entry.id}" + (", pinned" if entry.pinned else ""), entry.tokens)
        for entry in view.entries
    ]
    if overhead:
        named.append(("system prompt and tool schemas", overhead))
    return sorted(named, key=lambda item: -item[1])[:10]


# -- drivers -----------------------------------------------------------------------------------------------------


def run(folding: Folding, summarizer: Summarizer) -> tuple[View, Fold]:
    """Drives a fold with a summarizer that answers at once; refuses one that must be awaited."""
    answer: Answer | None = None
    while True:
        try:
            ask = next(folding) if answer is None else folding.send(answer)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        asked = _asked(summarizer, ask)
        if isinstance(asked, Summary | SummaryFailed):
            answer = asked
        else:
            if inspect.iscoroutine(asked):
                asked.close()
            raise ConfigError("this summarizer is awaited: call the async method", path="summarizer")


async def arun(folding: Folding, summarizer: Summarizer) -> tuple[View, Fold]:
    """Drives a fold with a summarizer that answers at once or is awaited."""
    answer: Answer | None = None
    while True:
        try:
            ask = next(folding) if answer is None else folding.send(answer)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        asked = _asked(summarizer, ask)
        answer = asked if isinstance(asked, Summary | SummaryFailed) else await _awaited(asked)


def _asked(summarizer: Summarizer, ask: Ask) -> Answer | Awaitable[Summary | str]:
    """A summarizer's answer; whatever it raises is a failed summary, which never stops the agent."""
    try:
        answer = summarizer(ask.brief, ask.messages)
    except Exception as cause:  # noqa: BLE001
        return SummaryFailed(f"{type(cause).__name__}: {cause}", cause=cause)
    return answer if inspect.isawaitable(answer) else _as_summary(answer)


async def _awaited(answer: Awaitable[Summary | str]) -> Answer:
    try:
        return _as_summary(await answer)
    except Exception as cause:  # noqa: BLE001
        return SummaryFailed(f"{type(cause).__name__}: {cause}", cause=cause)


def _as_summary(answer: object) -> Answer:
    match answer:
        case Summary():
            return answer
        case str():
            return Summary(answer)
        case _:
            return SummaryFailed(f"the summarizer gave a {type(answer).__name__}, not a text")
