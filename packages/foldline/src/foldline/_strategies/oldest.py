"""The oldest messages of what is being worked at give way to a few points."""

from __future__ import annotations

from collections.abc import Iterator

from foldline._strategies.older import edit_for, tokens_of
from foldline._strategies.stages import spans_of, with_stages
from foldline._strategies.strategy import Number, Strategy, Tokens, remembered
from foldline._view import Edit, View


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
