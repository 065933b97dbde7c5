"""Which messages are foldline's own words: they quote others, and are told behind what they quote."""

from __future__ import annotations

import re

from foldline._messages import Message, Summary, ToolCall, text_of
from foldline._recall.answer import NOTE
from foldline._recall.search import ECHO, ORIGINAL, SUMMARY
from foldline._strategies.tool_outputs import STUB

_NAMED = re.compile(r"(?:.*[_./-])?recall")
_COMMAND = re.compile(r"\bfoldline\s+(?:recall|context|session|compact)\b")


class OwnWords:
    """Tells foldline's own words in a conversation, message after message: an answer is known by the call before it."""

    def __init__(self) -> None:
        self._asked: set[str] = set()

    def __call__(self, message: Message) -> int:
        """Which of these a message is."""
        asked = {call.id for call in message.calls if _asks(call)}
        self._asked |= asked
        own = bool(asked)
        for result in message.results:
            text = text_of(result)
            own = own or result.call_id in self._asked or NOTE in text[:1_000] or text.startswith(STUB)
            self._asked.discard(result.call_id)
        if own:
            return ECHO
        return SUMMARY if any(type(part) is Summary for part in message.parts) else ORIGINAL


def _asks(call: ToolCall) -> bool:
    return _NAMED.fullmatch(call.name) is not None or _COMMAND.search(call.arguments) is not None
