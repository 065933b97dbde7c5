"""What a strict provider would refuse of what folds made of a recording, and would not of the recording itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from foldline import Message
from foldline.extend import encode
from foldline_lab import provider_rules as rules


class Provider:
    """A strict provider of a recording, which knows what is broken in that already; it writes each message once."""

    def __init__(self, messages: Sequence[Message]) -> None:
        results_by_user = any(m.role == "user" and any(True for _ in m.results) for m in messages)
        self._format = "anthropic" if results_by_user else "openai-chat"
        self._items: dict[int, tuple[Message, Any]] = {}
        self._known = self._faults(messages)

    def refuses(self, sent: Sequence[Message]) -> list[str]:
        """The rules that a request breaks and the recording does not."""
        return list((self._faults(sent) - self._known).elements())

    def _faults(self, messages: Sequence[Message]) -> Counter[str]:
        items = [self._written(message) for message in messages]
        said = [f"a {what} call or result: {id}" for what, id in rules.pairing_faults(items).elements()]
        said += [f"an empty message of {role}" for role in rules.empty_faults(items).elements()]
        said += [f"broken JSON in {id}" for id in rules.broken(items)]
        said += ["the first message is not the user's"] if rules.first_speaker(items) != "user" else []
        return Counter(said)

    def _written(self, message: Message) -> Any:
        """The provider's item; the message is kept with it, so that no other one takes its place in memory."""
        if id(message) not in self._items:
            self._items[id(message)] = message, encode(message, self._format)
        return self._items[id(message)][1]
