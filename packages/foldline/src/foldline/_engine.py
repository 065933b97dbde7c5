"""Folds a view: one generator that waits only for summaries, and two short drivers of it."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from foldline._errors import CannotFit, UnsafeEdit
from foldline._facts.reading import facts_of, user_words
from foldline._facts.types import Facts
from foldline._facts.verify import audit, origins
from foldline._fold import Fold, Receipt, Trigger, automatic_folds, folds_behind
from foldline._messages import Message, Summary, ToolResult, replace
from foldline._policy import Layer
from foldline._steps import Step
from foldline._strategies import Strategy
from foldline._strategies.strategy import name_of
from foldline._tokens.estimate import estimate
from foldline._tokens.weigh import SURELY_SHORT, summary_frame
from foldline._view import Brief, Edit, Entry, View
from foldline._writers.accept import Written, extracted, write
from foldline._writers.asking import answer_to, await_answer
from foldline._writers.draft import Answer, Ask, Summarizer, spent_on

MIN_PROGRESS = 0.02
"""The share of the view that a fold must free to be installed, unless the view is over its limit."""

UNNOTED = 64
"""Tokens of a summary that has no room for a line which says what can be recalled."""

TRIES = 3
"""How often a page is written anew, smaller, until it holds."""

SPARE = 0.04
"""The share of its room that a page may leave before the newest of what it stands for stays whole instead."""

NAMED = 12
"""How many facts a receipt names of those lost, and of those repaired."""

SEALED = "a compaction that only its provider can read"
"""What a receipt names where such a one was folded and none stands in."""

RECOVERY_SHARE = 0.7
"""What a fold after an overflow brings a request down to: the count was wrong once, so it leaves room."""

Folding = Generator[Ask, Answer, tuple[View, Fold]]

Made = TypeVar("Made")


class Told(NamedTuple):
    """A summary that was written in place of the entries `drop`, and the facts that were read from all that it tells."""

    drop: tuple[str, ...]
    also: tuple[str, ...]
    facts: Facts
    written: Written


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
    on_fault: Callable[[str], None] | None = None,
) -> Folding:
    """Runs the steps over a view, and returns the view and the fold that were reached.

    Yields an `Ask` for each summary that a layer wants written; a failure sent back is answered by extraction. The
    fold is empty where nothing was to be done, or nothing worth it could be. Raises `CannotFit` where the view is
    still over `limit`. `ratio` is tokens per estimated token, `rounds` how many folds the history has seen at least.
    `on_fault` hears of a strategy that raises or proposes what is not safe, which is raised where it is None.
    """
    began = time.perf_counter()
    before = view
    edits: list[Edit] = []
    layers: list[str] = []
    told: list[Told] = []
    for step in steps:
        size = step.measure(view)
        if size <= step.mark or _outputs(view) < step.layer.outputs_over:
            continue
        for strategy in step.layer.strategies:
            if size <= step.target:
                break
            for edit in _proposed(strategy, view, size - step.target, on_fault):
                if not (edit := _standing(edit, view)).drop:
                    continue
                written, also = yield from _write(edit, view, step.layer, focus, ratio, rounds, trigger, told)
                after, made = _made(view, written, also, on_fault)
                if (smaller := step.measure(after)) < size:
                    view, size = after, smaller
                    edits += made
                    layers.append(step.layer.name)
                if size <= step.target:
                    break
    if limit is not None:
        _check(view, limit, steps, overhead)
    seconds = time.perf_counter() - began
    if not edits or _idle(before, view, steps, limit):
        nothing = Receipt(before.tokens + overhead, before.tokens + overhead)
        return before, Fold(trigger=trigger, receipt=_with_cost(replace(nothing, seconds=seconds), told))
    receipt = replace(_receipt(before, view, edits, overhead, told), error=error, instruction=focus, seconds=seconds)
    receipt = _with_cost(receipt, told)
    return view, Fold(
        secrets.token_hex(4), trigger, layers[-1], tuple(edits), _first_kept(before, view, edits), receipt
    )


def _proposed(strategy: Strategy, view: View, excess: int, on_fault: Callable[[str], None] | None) -> Iterator[Edit]:
    """What a strategy proposes, until it raises where somebody is to hear of that."""
    try:
        for edit in strategy(view, excess):
            if not isinstance(edit, Edit):
                raise TypeError(f"a strategy proposes edits, not a {type(edit).__name__}")
            yield edit
    except Exception as error:
        if on_fault is None:
            raise
        on_fault(f"{name_of(strategy)}: {type(error).__name__}: {error}")


def _standing(edit: Edit, view: View) -> Edit:
    """An edit without the messages of nothing but thinking that an earlier edit of the same strategy orphaned."""
    if not view.bound or all(id in view.index for id in edit.drop):
        return edit
    return replace(edit, drop=tuple(id for id in edit.drop if id in view.index))


def _also(edit: Edit, view: View) -> list[Entry]:
    """The entries of later spans that the summary of an edit tells as well, in order."""
    also = edit.into.also if isinstance(edit.into, Brief) else ()
    return [view.entries[at] for at in sorted(view.index[id] for id in also if id in view.index)]


def _made(
    view: View, edit: Edit, also: Sequence[Entry], on_fault: Callable[[str], None] | None
) -> tuple[View, list[Edit]]:
    """A view with an edit made, and with it those that take away what its summary tells as well: all of them, or none."""
    runs: list[list[str]] = []
    for entry in also:
        if runs and view.index[runs[-1][-1]] + 1 == view.index[entry.id]:
            runs[-1].append(entry.id)
        else:
            runs.append([entry.id])
    before, edits = view, []
    try:
        for each in (edit, *(Edit(tuple(run), by=edit.by) for run in runs)):
            if (each := _standing(each, view)).drop:
                view = view.apply(each)
                edits.append(each)
    except UnsafeEdit as unsafe:
        if on_fault is None:
            raise
        on_fault(str(unsafe))
        return before, []
    return view, edits


def _write(
    edit: Edit,
    view: View,
    layer: Layer,
    focus: str,
    ratio: float,
    rounds: int,
    trigger: Trigger,
    told: list[Told],
) -> Generator[Ask, Answer, tuple[Edit, Sequence[Entry]]]:
    """The edit with its summary written, by whoever drives the fold or, where that failed, by extraction, and what else it tells."""
    also = _also(edit, view)
    if (start := view.find(edit.drop)) is None:
        return edit, also
    span = (*view.entries[start : start + len(edit.drop)], *also)
    messages = tuple(entry.message for entry in span)
    if not isinstance(edit.into, Brief):
        return _with_facts(edit, edit.into, messages), also
    note = _note(span, edit.into.max_tokens)
    size = max(12, int(edit.into.max_tokens / max(ratio, 0.1)) - (estimate(note) + 2 if note else 0))
    leads = all(entry.message.role == "system" for entry in view.entries[:start])
    round = max(rounds, folds_behind(messages)) + 1
    after = tuple(user_words([e.message for e in view.entries[view.index[span[-1].id] + 1 :] if not e.pinned]))
    brief = replace(edit.into, max_tokens=size, focus=focus or edit.into.focus, round=round, leads=leads, after=after)
    facts = facts_of(messages)
    marks = {"round": round, "automatic": automatic_folds(messages) + (trigger == "threshold")}

    def summary_of(written: Written) -> Message:
        text = f"{written.summary.text.rstrip()}\n\n{note}".strip()
        return Message("user", (Summary(text, {**written.summary.facts, **marks}),))

    if layer.hard:
        most = edit.into.max_tokens + summary_frame(edit.into.max_tokens)
        written = _within(brief, facts, most, lambda written: view.count(summary_of(written)))
        spare = most - view.count(summary_of(written))
        if spare > SPARE * most and (less := _given_back(edit, edit.into, view, spare)):
            return (yield from _write(less, view, layer, focus, ratio, rounds, trigger, told))
    else:
        stay = [entry.message for entry in (*view.entries[:start], *view.entries[start + len(span) :])]
        most = min(sum(entry.tokens for entry in span), edit.into.max_tokens * 3 // 2 + 64)
        written = yield from write(brief, messages, facts, most, lambda text: _size(text, view), stay)
    told.append(Told(edit.drop, edit.into.also, facts, written))
    return replace(edit, into=(*written.native, summary_of(written))), also


def _within(brief: Brief, facts: Facts, most: int, size: Callable[[Written], int]) -> Written:
    """The page, a little smaller where together with its note it would take more than `most` tokens of the view."""
    written = Written(extracted(brief, facts))
    for _ in range(TRIES):
        if (over := size(written) - most) <= 0:
            break
        brief = replace(brief, max_tokens=brief.max_tokens - over)
        written = Written(extracted(brief, facts))
    return written


def _note(span: Sequence[Entry], tokens: int) -> str:
    """The line that ends a summary of so many tokens and says what can be recalled; the less room there is, the shorter."""
    if tokens < UNNOTED:
        return ""
    folded = f"[folded: {len(span)} messages"
    if tokens < SURELY_SHORT:
        return f"{folded}]"
    return f"{folded}, {span[0].id} to {span[-1].id}; any of them can be recalled by its id]"


def _given_back(edit: Edit, brief: Brief, view: View, spare: int) -> Edit | None:
    """The edit without the newest entries that a page which has said everything leaves room for; None where there are none."""
    told = (*edit.drop, *brief.also)
    legal = view.cut_points()
    kept, tokens, given = len(told), 0, 0
    for i in range(len(told) - 1, 0, -1):
        entry = view.entries[view.index[told[i]]]
        tokens += entry.tokens
        if tokens > spare:
            break
        if view.index[told[i]] in legal:
            kept, given = i, tokens
    if kept == len(told):
        return None
    also = told[len(edit.drop) : kept]
    return replace(
        edit,
        drop=told[: min(kept, len(edit.drop))],
        into=replace(brief, max_tokens=brief.max_tokens - given, also=also),
    )


def _size(text: str, view: View) -> int:
    """What a summary of that text takes in a view."""
    return view.count(Message("user", (Summary(text),)))


def _with_facts(edit: Edit, into: Sequence[Message], messages: Sequence[Message]) -> Edit:
    """An edit whose summaries, which a strategy wrote, carry on the facts of what they stand for."""
    if not any(message.summary for message in into):
        return edit
    folds = {"round": max(1, folds_behind(messages)), "automatic": automatic_folds(messages)}
    facts = {**facts_of(messages).data(), **folds}
    told = (replace(m, parts=(replace(s, facts=facts),)) if (s := m.summary) else m for m in into)
    return replace(edit, into=tuple(told))


def _check(view: View, limit: int, steps: Sequence[Step], overhead: int) -> None:
    """Raises `CannotFit` where the view is over its limit in tokens, or over a cap of its steps."""
    if view.tokens > limit:
        raise CannotFit(view.tokens + overhead, limit + overhead, in_the_way(view, overhead))
    for step in steps:
        if step.unit != "tokens" and (size := step.measure(view)) > step.mark:
            raise CannotFit(size, step.mark, in_the_way(view), unit=step.unit)


def _idle(before: View, after: View, steps: Sequence[Step], limit: int | None) -> bool:
    """Whether a fold freed too little to be worth the cache that it breaks."""
    must = limit is not None and before.tokens > limit
    must = must or any(step.measure(before) > step.mark for step in steps if step.unit != "tokens")
    return not must and before.tokens - after.tokens < MIN_PROGRESS * before.tokens


def _outputs(view: View) -> int:
    return sum(entry.tokens for entry in view.entries if any(True for _ in entry.message.results))


def _first_kept(before: View, after: View, edits: Sequence[Edit]) -> str | None:
    """The first entry that stands behind everything that was summarized away."""
    dropped = {id for edit in edits for id in edit.drop}
    gone = [i for i, entry in enumerate(before.entries) if entry.id in dropped and entry.id not in after.index]
    return before.entries[gone[-1] + 1].id if gone and gone[-1] + 1 < len(before.entries) else None


def _receipt(before: View, after: View, edits: Sequence[Edit], overhead: int, told: Sequence[Told]) -> Receipt:
    touched = {id for edit in edits for id in edit.drop}
    folded = [entry for entry in before.entries if entry.id in touched]
    first = before.index[folded[0].id]
    stubs = sum(1 for entry in folded if entry.id in after.index)
    known = next((each.facts for each in told if touched == {*each.drop, *each.also}), None)
    facts = known or facts_of(entry.message for entry in folded)
    kept = audit(facts, _visible(after))
    sealed = [entry.id for entry in folded if _is_sealed(entry.message)]
    unread = {SEALED: sealed[-1]} if sealed and not any(map(_is_sealed, after.messages)) else {}
    kept = replace(kept, lost=(*unread, *kept.lost))
    lost = set(kept.lost)
    repaired = tuple(name for each in told for name in each.written.repaired if name not in lost)
    made = {edit.drop for edit in edits}
    native = [message for each in told if each.drop in made for message in each.written.native]
    named = (*kept.lost[:NAMED], *repaired[:NAMED])
    return Receipt(
        tokens_before=before.tokens + overhead,
        tokens_after=after.tokens + overhead,
        messages_folded=len(folded),
        messages_pruned=stubs,
        facts_kept=kept.kept,
        facts_lost=len(kept.lost),
        lost=kept.lost[:NAMED],
        facts_repaired=len(repaired),
        repaired=repaired[:NAMED],
        found_in=origins(facts, [(entry.id, entry.message) for entry in folded], named) | unread,
        cache_discarded=sum(entry.tokens for entry in before.entries[first:]),
        round=folds_behind(after.messages),
        native="" if not native else "sealed" if any(map(_is_sealed, native)) else "readable",
    )


def _is_sealed(message: Message) -> bool:
    """Whether the message is a compaction that only its provider can read."""
    return (summary := message.summary) is not None and bool(summary.source) and not summary.text


def _with_cost(receipt: Receipt, told: Sequence[Told]) -> Receipt:
    """The receipt with what the summaries cost, and what became of their drafts."""
    written = [each.written for each in told]
    spent = spent_on(draft for each in written for draft in each.drafts)
    return replace(
        receipt,
        usage=spent.usage,
        cost=spent.cost,
        models=spent.models,
        calls=spent.calls,
        shared=spent.shared,
        failures=tuple(reason for each in written for reason in each.failures),
        rewritten=tuple(reason for each in written for reason in each.rewritten),
        remarks=tuple(remark for each in written for remark in each.remarks),
        waited=sum(each.waited for each in written),
        asked=sum(each.asked for each in written),
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


def announced(folding: Folding, tell: Callable[[], None]) -> Folding:
    """The same fold, told of before it is made: before its first summary is asked for, or where none is, at its end."""
    answer: Answer | None = None
    while True:
        try:
            ask = next(folding) if answer is None else folding.send(answer)
        except StopIteration as made:
            if answer is None and made.value[1]:
                tell()
            return made.value  # type: ignore[no-any-return]
        if answer is None:
            tell()
        answer = yield ask


# -- drivers -----------------------------------------------------------------------------------------------------


class Waiting(Protocol):
    """What somebody who drives a fold has to wait for, standing still or awaiting it."""

    def wait(self) -> Any:
        """What came of it, waited for in this thread."""

    async def await_it(self) -> Any:
        """What came of it, while the event loop goes on."""


class Asked(NamedTuple):
    """A summarizer's answer that is waited for, so many seconds at most."""

    ask: Ask
    summarizer: Summarizer
    seconds: float | None

    def wait(self) -> Answer:
        """The answer, or the failure of one that is late."""
        return answer_to(self.ask, self.summarizer, self.seconds)

    async def await_it(self) -> Answer:
        """The same, awaited."""
        return await await_answer(self.ask, self.summarizer, self.seconds)


def asking(
    folding: Folding, summarizer: Summarizer, seconds: float | None = None
) -> Generator[Waiting, Any, tuple[View, Fold]]:
    """A fold whose summaries a summarizer writes, each within so many seconds."""
    answer: Answer | None = None
    while True:
        try:
            ask = next(folding) if answer is None else folding.send(answer)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        answer = yield Asked(ask, summarizer, seconds)


def driven(steps: Generator[Waiting, Any, Made]) -> Made:
    """What comes of the steps, standing still where they wait."""
    came: Any = None
    while True:
        try:
            waiting = steps.send(came)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        came = waiting.wait()


async def adriven(steps: Generator[Waiting, Any, Made]) -> Made:
    """What comes of the steps, awaiting what they wait for."""
    came: Any = None
    while True:
        try:
            waiting = steps.send(came)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        came = await waiting.await_it()


def run(folding: Folding, summarizer: Summarizer, seconds: float | None = None) -> tuple[View, Fold]:
    """Drives a fold with a summarizer; one that must be awaited runs in an event loop of its own."""
    return driven(asking(folding, summarizer, seconds))


async def arun(folding: Folding, summarizer: Summarizer, seconds: float | None = None) -> tuple[View, Fold]:
    """Drives a fold with a summarizer that answers at once or is awaited."""
    return await adriven(asking(folding, summarizer, seconds))
