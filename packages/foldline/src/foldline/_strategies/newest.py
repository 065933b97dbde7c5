"""All but the newest messages give way, whatever is lost: the last step before a window overflows."""

from __future__ import annotations

from collections.abc import Iterator

from foldline._strategies.strategy import Number, Strategy, never_summarizes, remembered
from foldline._strategies.truncate import QUOTES, notice_of
from foldline._view import Edit, View


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
            yield Edit(tuple(entry.id for entry in gone), (notice_of(gone, *QUOTES[0]),), by="keep_newest")

    return strategy
