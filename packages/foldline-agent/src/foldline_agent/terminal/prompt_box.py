"""Where the user writes: enter sends, ctrl+j or shift+enter begins a new line, tab completes a command."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.widgets import TextArea

EARLY = 0.3
"""Seconds in which a new line that was read is one typed before the screen was there: a terminal says enter so until then."""


class PromptBox(TextArea):
    """The user's next message."""

    @dataclass
    class Sent(Message):
        """The user sent a text."""

        text: str

    def __init__(self, commands: Sequence[str]) -> None:
        super().__init__(compact=True, id="prompt", placeholder="what is to be done?  /help tells the commands")
        self._commands = commands
        self._sent: list[str] = []
        self._back = 0
        self._there = 0.0

    def on_mount(self) -> None:
        """Notes since when keys are the user's to see."""
        self._there = time.monotonic()

    async def _on_key(self, event: events.Key) -> None:
        early = event.key == "ctrl+j" and event.time - self._there < EARLY
        handled = self._handle("enter" if early else event.key)
        if handled:
            event.prevent_default()
            event.stop()
        else:
            await super()._on_key(event)

    def _handle(self, key: str) -> bool:
        if key == "enter":
            self._send()
        elif key in ("ctrl+j", "shift+enter"):
            self.insert("\n")
        elif key == "tab" and self.fitting:
            self._write(f"/{self.fitting[0]} ")
        elif key in ("up", "down") and "\n" not in self.text:
            self._look_back(1 if key == "up" else -1)
        else:
            return False
        return True

    @property
    def fitting(self) -> list[str]:
        """The commands that begin with what is written so far."""
        word = self.text
        return [name for name in self._commands if word.startswith("/") and f"/{name}".startswith(word)]

    def begin_with(self, text: str) -> None:
        """Puts a text before what is written."""
        self._write("\n\n".join(filter(None, (text, self.text))))

    def _send(self) -> None:
        text = self.text.strip()
        if text:
            self._sent.append(text)
            self._back = 0
            self.clear()
            self.post_message(self.Sent(text))

    def _look_back(self, steps: int) -> None:
        self._back = max(0, min(len(self._sent), self._back + steps))
        self._write(self._sent[-self._back] if self._back else "")

    def _write(self, text: str) -> None:
        self.text = text
        self.move_cursor(self.document.end)
