"""Folds a view: one generator, which waits for nothing but summaries."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import NamedTuple

from foldline._engine.driving import Folding
from foldline._engine.receipts import receipt_of
from foldline._engine.steps import Step
from foldline._engine.summaries import Replacement, Told, replacement
from foldline._errors import CannotFit, UnsafeEdit
from foldline._fold import THRESHOLD, Fold, Occasion
from foldline._messages import replace
from foldline._policy import Fill, Layer, Mark
from foldline._strategies import Strategy
from foldline._strategies.stages import consecutive
from foldline._strategies.strategy import name_of
from foldline._view import Edit, View, in_the_way
from foldline._writers.draft import Answer, Ask

OnFault = Callable[[str], None] | None


class Reached(NamedTuple):
    """What steps made of a view: what it is now, the edits, the summaries that were told, and the layer that ended it."""

    view: View
    edits: list[Edit]
    told: list[Told]
    last: Layer
    least: float
    """The least share of the view that one of the layers must free."""


def reaching(view: View, steps: Sequence[Step], occasion: Occasion = THRESHOLD) -> Generator[Ask, Answer, Reached]:
    """Runs the steps over a view as far as they are due, with an `Ask` for each summary that a layer wants written."""
    last, least = Layer("", 1.0, 1.0, ()), 1.0
    edits: list[Edit] = []
    told: list[Told] = []
    for step in steps:
        size = step.measure(view)
        if size <= step.mark or _outputs(view) < step.layer.outputs_over:
            continue
        for strategy in step.layer.strategies:
            if size <= step.target:
                break
            for edit in _proposed(strategy, view, size - step.target, occasion.on_fault):
                if not (edit := _standing(edit, view)).drop:
                    continue
                new = yield from replacement(edit, view, step.layer, occasion)
                told += [new.told] if new.told else []
                after, made = _made(view, new, occasion.on_fault)
                if (smaller := step.measure(after)) < size:
                    view, size, last, least = after, smaller, step.layer, min(least, step.layer.least)
                    edits += made
                if size <= step.target:
                    break
    return Reached(view, edits, told, last, least)


def folding(view: View, steps: Sequence[Step], occasion: Occasion = THRESHOLD) -> Folding:
    """Runs the steps over a view, and returns the view and the fold that were reached.

    Yields an `Ask` for each summary that a layer wants written; a failure sent back is answered by extraction. The
    fold is empty where nothing was to be done, or nothing worth it could be. Raises `CannotFit` where the view is
    still over the occasion's limit.
    """
    began = time.perf_counter()
    before = view
    view, edits, told, last, least = yield from reaching(view, steps, occasion)
    if occasion.limit is not None:
        _check(view, occasion.limit, steps, occasion.overhead)
    seconds = time.perf_counter() - began
    if not edits or _idle(before, view, steps, occasion.limit, least):
        return before, Fold(trigger=occasion.trigger, receipt=receipt_of(before, before, (), told, occasion, seconds))
    receipt = receipt_of(before, view, edits, told, occasion, seconds)
    if occasion.trigger == "threshold":
        receipt = replace(receipt, threshold=_reached(last.at))
    kept = _first_kept(before, view, edits)
    return view, Fold(os.urandom(4).hex(), occasion.trigger, last.name, tuple(edits), kept, receipt)


def _proposed(strategy: Strategy, view: View, excess: int, on_fault: OnFault) -> Iterator[Edit]:
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


def _reached(at: Fill) -> str:
    """That a fill was reached, in the words of the OpenClaw requirements where it is a share."""
    return f"threshold of {at} reached" if isinstance(at, Mark) else f"{at:.0%} threshold reached"


def _made(view: View, new: Replacement, on_fault: OnFault) -> tuple[View, list[Edit]]:
    """A view with an edit made, and with it those that take away what its summary tells as well: all of them, or none.

    The last goes first: what opens the history goes once it is seen who speaks behind all of them.
    """
    runs = [*consecutive(view.index[entry.id] for entry in new.also)]
    gone = (Edit(tuple(view.entries[at].id for at in run), by=new.edit.by) for run in reversed(runs))
    after, edits = view, []
    try:
        for edit in (new.edit, *gone, *new.cuts):
            if (edit := _standing(edit, after)).drop:
                after = after.apply(edit)
                edits.append(edit)
    except UnsafeEdit as unsafe:
        if on_fault is None:
            raise
        on_fault(str(unsafe))
        return view, []
    return after, edits


def _check(view: View, limit: int, steps: Sequence[Step], overhead: int) -> None:
    """Raises `CannotFit` where the view is over its limit in tokens, or over a cap of its steps."""
    if view.tokens > limit:
        raise CannotFit(view.tokens + overhead, limit + overhead, in_the_way(view, overhead))
    for step in steps:
        if step.unit != "tokens" and (size := step.measure(view)) > step.mark:
            raise CannotFit(size, step.mark, in_the_way(view), unit=step.unit)


def _idle(before: View, after: View, steps: Sequence[Step], limit: int | None, least: float) -> bool:
    """Whether a fold freed less than the share `least` of the view, which is not worth the cache that it breaks."""
    must = limit is not None and before.tokens > limit
    must = must or any(step.measure(before) > step.mark for step in steps if step.unit != "tokens")
    return not must and before.tokens - after.tokens < least * before.tokens


def _outputs(view: View) -> int:
    return sum(entry.tokens for entry in view.entries if any(True for _ in entry.message.results))


def _first_kept(before: View, after: View, edits: Sequence[Edit]) -> str | None:
    """The first entry that stands behind everything that was summarized away."""
    dropped = {id for edit in edits for id in edit.drop}
    gone = [i for i, entry in enumerate(before.entries) if entry.id in dropped and entry.id not in after.index]
    return before.entries[gone[-1] + 1].id if gone and gone[-1] + 1 < len(before.entries) else None
