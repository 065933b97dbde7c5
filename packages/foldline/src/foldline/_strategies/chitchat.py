"""What the user says in passing gives way: "ok", "lanjut", "thanks"."""

from __future__ import annotations

from collections.abc import Iterator

from foldline._facts.chitchat import asks, said_in_passing
from foldline._messages import Message, Text
from foldline._strategies.strategy import Number, Strategy, never_summarizes, remembered
from foldline._view import Edit, View


@remembered
def strip_chitchat(*, shorter_than: Number = 15) -> Strategy:
    """Drops the user's messages of less than so many characters that agree, thank or greet, in the languages that are known.

    A question, a command, an answer to a question, the first and the last message stay, and so do pins and replies.
    """

    @never_summarizes
    def strategy(view: View, excess: int) -> Iterator[Edit]:
        begun = asked = False
        for entry in view.entries[:-1]:
            message = entry.message
            if begun and not asked and not entry.pinned and _is_chitchat(message, shorter_than):
                yield Edit((entry.id,), by="strip_chitchat")
            if message.role == "assistant" and message.text:
                asked = asks(message.text)
            begun = begun or message.role != "system"

    return strategy


def _is_chitchat(message: Message, shorter_than: int) -> bool:
    if message.role != "user" or not all(type(part) is Text and part.by in ("", "user") for part in message.parts):
        return False
    said = message.text.strip()
    return len(said) < shorter_than and said_in_passing(said)
