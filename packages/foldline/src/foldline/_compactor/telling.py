"""What a compactor tells its owner, and how it goes on where a function of somebody else raises."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from foldline._compactor.events import Event, Skipped
from foldline._messages import Message
from foldline._writers.secrets import without_keys


class Telling:
    """Tells events to a listener; what anybody's function raises is told instead of raised, once for each reason."""

    def __init__(self, listener: Callable[[Event], None] | None) -> None:
        self._listener = listener
        self._reasons: set[str] = set()
        self._untold: deque[str] = deque()
        self.wrong: list[str] = []
        """What the listener itself raised last."""

    def tell(self, event: Event) -> None:
        """Tells an event at once."""
        if self._listener is None:
            return
        try:
            self._listener(event)
        except Exception as error:  # noqa: BLE001
            self.wrong = [without_keys(f"on_event: {type(error).__name__}: {error}")]

    def skip(self, reason: str) -> None:
        """Takes down, in any thread, that something was left out, to be told when there is time."""
        reason = without_keys(reason)
        if reason not in self._reasons:
            self._reasons.add(reason)
            self._untold.append(reason)

    def catch_up(self) -> None:
        """Tells what was left out meanwhile."""
        while self._untold:
            self.tell(Skipped(self._untold.popleft()))

    def guarded(self, predicate: Callable[[Message], Any], name: str, *, otherwise: Any) -> Callable[[Message], Any]:
        """A predicate of somebody else, which answers `otherwise` where it raises."""

        def answer(message: Message) -> Any:
            try:
                return predicate(message)
            except Exception as error:  # noqa: BLE001
                self.skip(f"{name}: {type(error).__name__}: {error}")
                return otherwise

        return answer
