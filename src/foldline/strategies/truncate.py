"""The oldest history gives way to a notice: what is left when nothing else may fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from foldline.messages import Message, Summary
from foldline.view import Edit, Entry, View, opens_turn

QUOTE = 400
"""Characters of each user message that the notice quotes, newest first."""


def truncate(*, keep: int = 0, quotes: int = 8) -> Callable[[View, int], Iterator[Edit]]:
    """Drops the oldest messages that are not pinned, as few as free what is asked, into a notice.

    The notice says how much went, quotes the newest `quotes` user messages of it and carries on the summary that
    stood there. At least `keep` tokens of the newest history stay.
    """

    def strategy(view: View, excess: int) -> Iterator[Edit]:
        first = next((i for i, entry in enumerate(view.entries) if not entry.pinned), None)
        if excess <= 0 or first is None:
            return
        stop_at = next((i for i in range(first, len(view.entries)) if view.entries[i].pinned), len(view.entries))
        ends = [i for i in sorted(view.cut_points()) if first < i <= stop_at and i < len(view.entries)]
        sizes = {end: sum(entry.tokens for entry in view.entries[first:end]) for end in ends}
        ends = [end for end in ends if view.tokens - sizes[end] >= keep]
        for end in ends:
            notice = _notice(view.entries[first:end], quotes)
            if sizes[end] - view.count(notice) >= excess:
                break
        else:
            if not ends:
                return
            end, notice = ends[-1], _notice(view.entries[first : ends[-1]], 0)
        yield Edit(tuple(entry.id for entry in view.entries[first:end]), (notice,), by="truncate")

    return strategy


def _notice(gone: Sequence[Entry], quotes: int) -> Message:
    summaries = [s for entry in gone if (s := entry.message.summary)]
    fresh = [entry for entry in gone if entry.message.summary is None]
    tokens = sum(entry.tokens for entry in fresh)
    lines = [f"[truncated: {len(fresh)} earlier messages, {tokens:,} tokens; recall {fresh[0].id}]"] if fresh else []
    said = [entry.message.text.strip() for entry in fresh if opens_turn(entry.message)]
    newest = [text for text in said if text][-quotes:] if quotes else []
    if newest:
        lines.append("The user said there:")
        lines += [f"> {text if len(text) <= QUOTE else text[:QUOTE] + '…'}" for text in newest]
    if summaries and quotes:
        lines.append(summaries[-1].text)
    facts = summaries[-1].facts if summaries else {}
    return Message("user", (Summary("\n".join(lines) or "[truncated]", facts),))
