"""What a strict provider would refuse of what folds made of a recording, and would not of the recording itself.

It is judged without foldline's own eyes: by the messages alone, as chat completions or Anthropic's messages would have them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from foldline import Message
from foldline.extend import Text


class Provider:
    """A strict provider of a recording, which knows what is broken in that already."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._together = any(m.role == "user" and any(m.results) for m in messages)
        """Whether a user's message holds the results of a reply, all of them, as Anthropic has it."""
        self._known = Counter(self._faults(messages))

    def refuses(self, sent: Sequence[Message]) -> list[str]:
        """The rules that a request breaks and the recording does not."""
        return list((Counter(self._faults(sent)) - self._known).elements())

    def _faults(self, messages: Sequence[Message]) -> Iterator[str]:
        yield from self._unpaired(messages)
        for message in messages:
            if all(type(part) is Text and not part.text.strip() for part in message.parts):
                yield f"an empty message of {message.role}"
        if not self._together:  # Anthropic takes arguments as an object, whatever the model wrote
            calls = {call.id: call for message in messages for call in message.calls}
            yield from (f"broken JSON in {id}" for id, call in calls.items() if not _is_object(call.arguments))
        begins = next((message.speaker for message in messages if message.role != "system"), "")
        if begins != "user" and not (self._together and begins == "tool"):
            yield "the first message is not the user's"

    def _unpaired(self, messages: Sequence[Message]) -> Iterator[str]:
        """Results without a call right before them, and calls without a result right behind them."""
        called: list[str] = []
        open: Counter[str] = Counter()
        for message in messages:
            answers = [result.call_id for result in message.results]
            yield from (f"an orphan call or result: {id}" for id in answers if id not in called)
            open.subtract(id for id in answers if open[id] > 0)
            if not answers or message.role == "user" or self._together:
                yield from (f"an unanswered call or result: {id}" for id in open.elements())
                called = [call.id for call in message.calls]
                open = Counter(called)
        yield from (f"an unanswered call or result: {id}" for id in open.elements())


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
