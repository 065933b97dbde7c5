"""Older history gives way to a summary, the newest part stays as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from foldline._messages import Message, Text
from foldline._strategies.strategy import Strategy, Tokens, remembered
from foldline._view import Brief, Edit, Entry, View, opens_turn

Span = tuple[int, int]
"""Where a run of entries starts, and where it ends."""

MIN_SPAN = 400
"""Tokens below which a span is not worth a summary."""

TAIL_SHARE = 0.6
"""How much of what may stay is kept word for word; the rest is room for summaries, pins and growth."""

FRAME = 32
"""Tokens of the words around a summary, which are held back."""

TURN_SLACK = 0.5
"""A turn's start is taken for the cut where that leaves at least this share of the tail."""


LONGEST_WORDS = 2_000
"""Tokens of one user message that are reckoned as words to be quoted; what is longer is mostly pasted."""


@remembered
def summarize_older(
    *, keep: Tokens = 25_000, max_tokens: Tokens = 4_000, words: Tokens = 16_000, least: Tokens = 2_000, focus: str = ""
) -> Strategy:
    """Replaces everything but the newest `keep` tokens by a summary of at most `max_tokens`.

    The user's own words come on top, up to `words` tokens, so that they can be quoted in full (Codex keeps 20,000).
    The cut falls where no pair is split, at the start of a turn where one is near. Pins stay where they are, and one
    summary before them tells what stood between them, too. Less than `keep` stays where `excess` asks for more, and
    the summary gets shorter, down to `least` tokens (at most a quarter of what may remain): where the newest part
    alone is too large, cutting words helps little.
    """

    def strategy(view: View, excess: int) -> Iterator[Edit]:
        aim = max(0, view.tokens - max(0, excess))
        tail = min(keep, int(aim * TAIL_SHARE))
        cut = cut_for(view, tail)
        told = [spans for spans in told_together(view, list(view.unpinned(cut))) if _worth(view, spans)]
        folded = sum(tokens_of(view, spans) for spans in told)
        room = max(0, aim - (view.tokens - folded) - FRAME * len(told))
        for spans in told:
            tokens = tokens_of(view, spans)
            fair = max_tokens * tokens // folded + min(words, _words(view, spans))
            fits = room * tokens // folded if excess > 0 else fair
            floor = max(64, min(least, aim // 4) * tokens // folded)
            size = max(64, min(max(fair, 200), max(fits, floor), said_in(view, spans)))
            yield edit_for(view, spans, size, by="summarize_older", focus=focus)

    return strategy


def edit_for(view: View, spans: Sequence[Span], tokens: int, *, by: str, focus: str = "") -> Edit:
    """The edit that puts a summary of so many tokens before what tells all the spans."""
    first, *later = (tuple(entry.id for entry in view.entries[start:stop]) for start, stop in spans)
    also = tuple(id for ids in later for id in ids)
    return Edit(first, Brief(tokens, focus, also=also), by=by)


def told_together(view: View, spans: Sequence[Span]) -> list[list[Span]]:
    """The spans by the summaries that tell them: the first tells all, but those that cannot give way to nothing.

    Where a span between two of the assistant's messages went, they would become neighbours, which some providers refuse:
    such a span begins a summary of its own.
    """
    told: list[list[Span]] = []
    before = ""
    at = 0
    for start, stop in spans:
        for entry in view.entries[at:start]:
            before = entry.message.role if entry.message.role != "system" else before
        behind = (entry.message.role for entry in view.entries[stop:] if entry.message.role != "system")
        if not told or (before == "assistant" and next(behind, "") == "assistant"):
            told.append([(start, stop)])
            before = "user"
        else:
            told[-1].append((start, stop))
        at = stop
    return told


def cut_for(view: View, tail: int) -> int:
    """Where the tail starts: the earliest legal cut that keeps at most `tail` tokens, else the latest one.

    Tool outputs that the model has not read yet are in the tail in any case.
    """
    points = sorted(i for i in view.cut_points() if 0 < i <= view.last_cut)
    if not points:
        return 0
    behind = tokens_behind(view)
    fitting = [i for i in points if behind[i] <= tail]
    if not fitting:
        return points[-1]
    first = fitting[0]
    turns = [i for i in view.turns if i in set(fitting) and behind[i] >= behind[first] * TURN_SLACK]
    return turns[0] if turns else first


def _worth(view: View, spans: Sequence[Span]) -> bool:
    """Spans with anything in them that is not a summary already, and enough of it."""
    fresh = sum(entry.tokens for entry in _entries(view, spans) if entry.message.summary is None)
    return fresh >= MIN_SPAN


def _words(view: View, spans: Sequence[Span]) -> int:
    """Tokens of what the user said in the spans; what a file marks as somebody else's is none."""
    said = (entry.tokens for entry in _entries(view, spans) if opens_turn(entry.message) and _is_own(entry.message))
    return sum(min(tokens, LONGEST_WORDS) for tokens in said)


def _is_own(message: Message) -> bool:
    return any(type(part) is not Text or part.by in ("", "user") for part in message.parts)


def said_in(view: View, spans: Sequence[Span]) -> int:
    """The most that a summary of the spans has to say: what earlier ones said, and a third of what is new."""
    earlier = sum(entry.tokens for entry in _entries(view, spans) if entry.message.summary is not None)
    return earlier + (tokens_of(view, spans) - earlier) // 3


def tokens_of(view: View, spans: Sequence[Span]) -> int:
    """Tokens of the entries in the spans."""
    return sum(entry.tokens for entry in _entries(view, spans))


def _entries(view: View, spans: Sequence[Span]) -> Iterator[Entry]:
    return (entry for start, stop in spans for entry in view.entries[start:stop])


def tokens_behind(view: View) -> list[int]:
    """For each index, the tokens of the entries from it on."""
    return sums_behind([entry.tokens for entry in view.entries])


def sums_behind(sizes: Sequence[int]) -> list[int]:
    """For each index, and that behind the last one, the sum of what stands from it on."""
    return [*accumulate(reversed(sizes), initial=0)][::-1]
