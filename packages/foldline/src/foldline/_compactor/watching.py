"""What an agent is seen doing that its owner should hear of: it goes in circles, or several share one compactor."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence

from foldline._compactor.codec import Item
from foldline._compactor.events import Interleaved, Looping, Rewound, Telling
from foldline._compactor.history import Rewrite
from foldline._messages import Message, text_of
from foldline._pairs import answers

REPEATS = 3
"""How often a call must bring the same result before the agent is said to go in circles."""

LOOKED_AT = 60
"""Messages, counted from the newest, in which repeated calls are looked for."""

REMEMBERED = 8
"""Places at which a conversation was left for another one that are remembered."""

RETURNS = 2
"""How often a conversation that was left must be taken up again before several are said to take turns; once may be an edit taken back."""


class Watch:
    """Watches one conversation, and tells of each thing once."""

    def __init__(self, tells: Telling) -> None:
        self._tells = tells
        self._looping: Looping | None = None
        self._left: deque[tuple[int, Item]] = deque(maxlen=REMEMBERED)
        """Where the conversation was left for another, and how it went on there."""
        self._returns = 0

    def look(self, messages: Sequence[Message]) -> None:
        """Looks whether the agent goes in circles, in the messages since the last fold."""
        looping = looping_in(messages)
        if looping is not None and looping != self._looping:
            self._tells.tell(looping)
        self._looping = looping or self._looping

    def rewritten(self, rewrite: Rewrite, items: Sequence[Item]) -> None:
        """Takes down that a history was rewritten, and looks whether it is one of several that take turns."""
        stands = rewrite.stands
        self._tells.tell(Rewound(stands))
        new, old = (said[stands] if stands < len(said) else None for said in (items, rewrite.before))
        back = new is not None and (stands, new) in self._left
        self._returns += back
        self._left.append((stands, old))
        if back and self._returns == RETURNS:
            self._tells.tell(Interleaved())

    def forget(self) -> None:
        """Forgets what was told of circles."""
        self._looping = None


def looping_in(messages: Sequence[Message]) -> Looping | None:
    """The call that the newest message answers, where the same call brought the same result several times before."""
    if not messages:
        return None
    recent = messages[-LOOKED_AT:]
    newest = {text_of(result) for result in messages[-1].results}
    if sum(text_of(result) in newest for message in recent for result in message.results) < REPEATS:
        return None
    made = [(a.at, (a.call.name, a.call.arguments, text_of(a.result))) for a in answers(recent) if a.call is not None]
    times = Counter(said for _, said in made)
    for at, said in made:
        if at == len(recent) - 1 and times[said] >= REPEATS:
            return Looping(*said[:2], times[said])
    return None
