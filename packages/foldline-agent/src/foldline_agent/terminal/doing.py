"""What the agent is doing, for how long, and what waits behind it: a line that stands only while there is something to tell."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from rich.text import Text
from textual.widgets import Static


class Doing(Static):
    """Says that the agent is at work, so that silence is no riddle; `waiting` tells the messages that were not taken yet."""

    def __init__(self, waiting: Callable[[], Sequence[str]]) -> None:
        super().__init__(id="doing")
        self._waiting = waiting
        self._what = ""
        self._since = 0.0

    def on_mount(self) -> None:
        """Counts the seconds."""
        self.set_interval(1, self.tell)

    def begin(self, what: str) -> None:
        """Something else is done now; the seconds go on from where the whole began."""
        self._since = self._since if self._what else time.monotonic()
        self._what = what
        self.tell()

    def end(self) -> None:
        """Nothing is done any more."""
        self._what = ""
        self.tell()

    def tell(self) -> None:
        """Says it as it is now."""
        self.set_class(bool(self._what), "shown")
        if self._what:
            line = Text(f"{self._what} · {time.monotonic() - self._since:.0f} s · esc stops", no_wrap=True)
            for text in self._waiting():
                line.append(f"\nwaits: {' '.join(text.split())}", style="italic")
            line.overflow = "ellipsis"
            self.update(line)
