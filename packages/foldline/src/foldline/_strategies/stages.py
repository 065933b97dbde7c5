"""Stages of the work: closed ones give way to their digests, of the open one the oldest messages to a few points."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from foldline._messages import Message, Summary, replace
from foldline._stages import digest_text, digested, is_digest, superseded
from foldline._strategies.older import Span, edit_for, tokens_of
from foldline._strategies.strategy import Number, Strategy, Tokens, never_summarizes, remembered
from foldline._view import Edit, View


@remembered
def digest_stages(*, spare: Number = 0) -> Strategy:
    """Replaces the messages of closed stages by their digests, one stage after the other, the oldest first.

    The newest `spare` closed stages stay as they are.
    """

    @never_summarizes
    def strategy(view: View, excess: int) -> Iterator[Edit]:
        view = with_stages(view)
        reach = {entry.stage: at for at, entry in enumerate(view.entries)}
        closed = sorted((s for s in view.stages if s.closed), key=lambda stage: reach.get(stage.name, -1))
        for stage in closed[: max(0, len(closed) - spare)]:
            spans = spans_of(view, [at for at, e in enumerate(view.entries) if e.stage == stage.name])
            if not spans:
                continue
            largest = max(spans, key=lambda span: tokens_of(view, [span]))
            gone = [span for span in spans if span == largest or not _opens(view, span)]
            text = digest_text(stage.name, sum(b - a for a, b in gone), view.entries[largest[0]].id, stage.decision)
            digest = Message("user", (Summary(text),))
            if view.count(digest) < tokens_of(view, [largest]):
                for span in gone:
                    drop = tuple(entry.id for entry in view.entries[slice(*span)])
                    yield Edit(drop, (digest,) if span == largest else (), by="digest_stages")

    return strategy


def _opens(view: View, span: Span) -> bool:
    """Whether nobody but the system speaks before a span: where it goes without a word, another than the user might begin."""
    return all(entry.message.role == "system" for entry in view.entries[: span[0]])


@remembered
def drop_superseded() -> Strategy:
    """Takes back the digests of stages that were reopened, or closed with another one, since: they hold no longer."""

    @never_summarizes
    def strategy(view: View, excess: int) -> Iterator[Edit]:
        holds = {stage.name: stage.decision for stage in view.stages if stage.closed}
        for entry in view.entries:
            name = digested(entry.message)
            if name and (name not in holds or holds[name] not in entry.message.text):
                stale = Message("user", (Summary(superseded(entry.message)),))
                yield Edit((entry.id,), (stale,), by="drop_superseded")

    return strategy


@remembered
def summarize_oldest(*, messages: Number = 20, max_tokens: Tokens = 125) -> Strategy:
    """Replaces the oldest messages, so many of them, by a summary of at most `max_tokens`; those of closed stages stay.

    An earlier summary of this kind is one of them, so that it is carried on. Where pins or digests stand between them, the
    largest run is summarized.
    """

    def strategy(view: View, excess: int) -> Iterator[Edit]:
        view = with_stages(view)
        closed = {stage.name for stage in view.stages if stage.closed}
        working = [at for at, e in enumerate(view.entries) if e.stage not in closed and not e.pinned]
        if spans := spans_of(view, working[:messages]):
            largest = max(spans, key=lambda span: tokens_of(view, [span]))
            yield edit_for(view, [largest], max_tokens, by="summarize_oldest")

    return strategy


def with_stages(view: View) -> View:
    """A view with its stages: those that the host told of, or else those that its messages tell."""
    if view.stages:
        return view
    from foldline._facts.stages import stages_told

    course = stages_told(view.messages)
    entries = (replace(entry, stage=course.at(i)) for i, entry in enumerate(view.entries)) if course.runs else ()
    return replace(view, entries=tuple(entries), stages=course.stages) if course.runs else view


def spans_of(view: View, places: Collection[int]) -> list[Span]:
    """The runs of entries at some places, without pins, digests and what is not read yet, drawn in to cut points."""
    legal = view.cut_points()
    free = [
        i for i in places if i < view.last_cut and not view.entries[i].pinned and not is_digest(view.entries[i].message)
    ]
    spans: list[Span] = []
    for run in consecutive(free):
        points = [i for i in range(run[0], run[-1] + 2) if i in legal]
        spans += [(points[0], points[-1])] if len(points) > 1 else []
    return spans


def consecutive(places: Iterable[int]) -> list[list[int]]:
    """Places in order, those together that follow on one another."""
    runs: list[list[int]] = []
    for place in places:
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    return runs
