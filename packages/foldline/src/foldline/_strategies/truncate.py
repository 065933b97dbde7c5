"""The oldest history gives way to a notice: what is left when nothing else may fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from foldline._messages import Message, Summary
from foldline._strategies.strategy import Number, Strategy, Tokens, never_summarizes, remembered
from foldline._view import Edit, Entry, View

QUOTES = ((8, 400), (2, 120), (1, 24))
"""How many of the newest user messages the notice quotes and how many characters of each, tried in this order."""


@remembered
def truncate(*, keep: Tokens = 0) -> Strategy:
    """Drops the oldest messages that are not pinned, as few as free what is asked, into a notice.

    The notice says how much went, quotes the newest user messages of it and carries on the summary that stood there.
    Each run between pins gets a notice of its own. At least `keep` tokens of the newest history stay, and tool
    outputs that the model has not read yet.
    """

    @never_summarizes
    def strategy(view: View, excess: int) -> Iterator[Edit]:
        legal = view.cut_points()
        for start, stop in view.unpinned(len(view.entries)):
            if excess <= 0:
                return
            ends = [i for i in range(start + 1, stop + 1) if i in legal and i <= view.last_cut]
            sizes = dict(enumerate(accumulate(entry.tokens for entry in view.entries[start:stop]), start + 1))
            ends = [end for end in ends if view.tokens - sizes[end] >= keep]
            if not ends:
                continue
            end, notice = _enough(view, start, ends, sizes, excess)
            excess -= sizes[end] - view.count(notice)
            yield Edit(tuple(entry.id for entry in view.entries[start:end]), (notice,), by="truncate")

    return strategy


def _enough(view: View, start: int, ends: Sequence[int], sizes: dict[int, int], excess: int) -> tuple[int, Message]:
    """The nearest end that frees enough, and its notice: as much said as possible, less where nothing else helps."""
    words = _words_in(view.entries[start : ends[-1]])
    for quotes, length in QUOTES:
        for end in (end for end in ends if sizes[end] >= excess):
            notice = _notice(view.entries[start:end], words, quotes, length)
            if sizes[end] - view.count(notice) >= excess:
                return end, notice
    return ends[-1], _notice(view.entries[start : ends[-1]], words, *QUOTES[-1])


def _words_in(entries: Sequence[Entry]) -> list[str]:
    """What the user says in each entry, and nobody else in the user's role."""
    from foldline._facts.reading import words_of_each

    return [*words_of_each([entry.message for entry in entries])]


def _notice(gone: Sequence[Entry], words: Sequence[str], quotes: int, length: int) -> Message:
    """What stands in the place of entries: how many they were, and so many of the user's newest words there, each cut to a length."""
    summaries = [s for entry in gone if (s := entry.message.summary)]
    fresh = [entry for entry in gone if entry.message.summary is None]
    tokens = sum(entry.tokens for entry in fresh)
    lines = [f"[truncated: {len(fresh)} earlier messages, {tokens:,} tokens; recall {fresh[0].id}]"] if fresh else []
    carried = summaries[-1:] if (quotes, length) == QUOTES[0] else []
    said = [text.strip() for entry, own in zip(gone, words) for text in _said(entry.message, own, carried)]
    newest = [text for text in said if text][-quotes:]
    if newest:
        lines.append("The user said there:")
        lines += [f"> {text if len(text) <= length else text[:length] + '…'}" for text in newest]
    lines += [summary.text for summary in carried]
    facts = summaries[-1].facts if summaries else {}
    return Message("user", (Summary("\n".join(lines) or "[truncated]", facts),))


def _said(message: Message, own: str, carried: Sequence[Summary]) -> Iterator[str]:
    """The user's `own` words in a message, and those that a summary had kept where it is not carried on itself."""
    if message.summary is None:
        yield own
    elif message.summary not in carried:
        requests = message.summary.facts.get("requests")
        for request in requests if isinstance(requests, list | tuple) else ():
            if isinstance(request, dict) and isinstance(text := request.get("text"), str):
                yield text


@remembered
def keep_newest(*, messages: Number = 50) -> Strategy:
    """Drops all but the newest messages, so many of them, and the pins, into a notice that quotes the user.

    Somewhat fewer stay where a pair would be split, and tool outputs that the model has not read yet stay in any case.
    """

    @never_summarizes
    def strategy(view: View, excess: int) -> Iterator[Edit]:
        spoken = [at for at, entry in enumerate(view.entries) if entry.message.role != "system"]
        if len(spoken) <= messages:
            return
        first = spoken[-messages] if messages else len(view.entries)
        cut = min((i for i in view.cut_points() if first <= i <= view.last_cut), default=view.last_cut)
        for start, stop in view.unpinned(cut):
            gone = view.entries[start:stop]
            notice = _notice(gone, _words_in(gone), *QUOTES[0])
            yield Edit(tuple(entry.id for entry in gone), (notice,), by="keep_newest")

    return strategy
