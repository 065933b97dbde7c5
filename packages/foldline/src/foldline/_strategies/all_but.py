"""Everything but a stated part of a history gives way to a summary, whatever is asked to come free.

Where `summarize_older` keeps less the less may remain, these keep what they state: so many tokens, messages, a share of
them, or nothing. Pins and tool outputs that the model has not read yet stay in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from foldline._strategies.older import MIN_SPAN, edit_for, said_in, sums_behind, tokens_behind, tokens_of, told_together
from foldline._strategies.strategy import Number, Share, Strategy, Tokens, remembered
from foldline._view import Brief, Edit, View, opens_turn

Cuts = Literal["turns", "anywhere"]
"""Where a history may be cut: where turns start, or wherever no pair is split."""

MAX_TOKENS = 4_000
"""Tokens of a summary at most, unless told otherwise."""


@remembered
def summarize_all_but_tokens(
    *, keep: Tokens = 20_000, max_tokens: Tokens = MAX_TOKENS, cut: Cuts = "turns"
) -> Strategy:
    """Replaces everything but the newest `keep` tokens, at least, by a summary of at most `max_tokens`.

    With `cut` as "turns" no turn is split: the newest one stays whole, however large it is.
    """

    def cut_in(view: View) -> int:
        return _latest(view, tokens_behind(view), keep, turns=cut == "turns")

    return _all_before(cut_in, max_tokens, "summarize_all_but_tokens")


@remembered
def summarize_all_but_messages(*, messages: Number = 10, max_tokens: Tokens = MAX_TOKENS) -> Strategy:
    """Replaces everything but the newest `messages`, at least, by a summary of at most `max_tokens`."""

    def cut_in(view: View) -> int:
        return _latest(view, _spoken_behind(view), messages)

    return _all_before(cut_in, max_tokens, "summarize_all_but_messages")


@remembered
def summarize_all_but_share(*, share: Share = 0.4, max_tokens: Tokens = MAX_TOKENS) -> Strategy:
    """Replaces everything but the newest `share` of the messages, at least, by a summary of at most `max_tokens`."""

    def cut_in(view: View) -> int:
        behind = _spoken_behind(view)
        return _latest(view, behind, int(share * behind[0]))

    return _all_before(cut_in, max_tokens, "summarize_all_but_share")


@remembered
def summarize_all(*, words: Tokens = 0, max_tokens: Tokens = MAX_TOKENS) -> Strategy:
    """Replaces the whole history by a summary of at most `max_tokens`, but for what the model has yet to answer.

    The newest `words` tokens of what the user said stay as the messages that they are, before the summary.
    """

    def strategy(view: View, excess: int) -> Iterator[Edit]:
        waits = bool(view.entries) and any(view.entries[-1].message.calls)
        most = view.last_cut if waits else max(view.unread, view.last_cut)
        stop = max((i for i in view.cut_points() if i <= most), default=0)
        kept = _newest_words(view, stop, words)
        for spans in told_together(view, list(view.unpinned(stop, kept))):
            size = _size(max_tokens, said_in(view, spans))
            if not kept:
                yield edit_for(view, spans, size, by="summarize_all")
                continue
            *earlier, newest = (tuple(entry.id for entry in view.entries[start:end]) for start, end in spans)
            yield Edit(newest, Brief(size, also=tuple(id for ids in earlier for id in ids)), by="summarize_all")

    return strategy


@remembered
def summarize_turn(*, keep: Tokens = 20_000, max_tokens: Tokens = MAX_TOKENS) -> Strategy:
    """Replaces all of the newest turn but its newest `keep` tokens, at least, by a summary of its own.

    What the user said at its begin stays. For a turn that fills the window by itself.
    """

    def strategy(view: View, excess: int) -> Iterator[Edit]:
        begin = view.turns[-1] + 1 if view.turns else 0
        stop = _latest(view, tokens_behind(view), keep)
        for span in view.unpinned(stop, range(begin)):
            if tokens_of(view, [span]) >= MIN_SPAN:
                yield edit_for(view, [span], _size(max_tokens, said_in(view, [span])), by="summarize_turn")

    return strategy


def _all_before(cut_in: Callable[[View], int], max_tokens: int, by: str) -> Strategy:
    """Replaces what stands before a cut by summaries; what is a summary already is not summarized by itself."""

    def strategy(view: View, excess: int) -> Iterator[Edit]:
        spans = told_together(view, list(view.unpinned(cut_in(view))))
        for told in spans:
            entries = [entry for start, end in told for entry in view.entries[start:end]]
            if any(entry.message.summary is None for entry in entries):
                yield edit_for(view, told, _size(max_tokens, said_in(view, told)), by=by)

    return strategy


def _size(max_tokens: int, said: int) -> int:
    """Tokens of a summary: no more than there is to say."""
    return max(64, min(max_tokens, said))


def _latest(view: View, behind: Sequence[int], least: int, *, turns: bool = False) -> int:
    """The latest cut, with `turns` only at a turn's start, that has at least so much behind it; 0 where there is none."""
    legal = view.cut_points()
    starts = view.turns if turns else legal
    return max((i for i in starts if i in legal and i <= view.last_cut and behind[i] >= least), default=0)


def _spoken_behind(view: View) -> list[int]:
    """For each place, how many messages stand from it on, those of the system aside."""
    return sums_behind([entry.message.role != "system" for entry in view.entries])


def _newest_words(view: View, stop: int, words: int) -> set[int]:
    """Where the newest messages of the user stand before a place that take so many tokens together."""
    kept: set[int] = set()
    for i in range(stop - 1, -1, -1):
        entry = view.entries[i]
        if opens_turn(entry.message) and not any(True for _ in entry.message.results):
            if (words := words - entry.tokens) < 0:
                break
            kept.add(i)
    return kept
