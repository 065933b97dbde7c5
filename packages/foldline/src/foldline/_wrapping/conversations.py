"""Which conversation a history belongs to: the one that it was named, or the one that it goes on from."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from foldline import _wires as wire
from foldline._compactor.compactor import REMINDERS, Compactor
from foldline._compactor.turns import Turnstile
from foldline._messages import Message
from foldline._view import identity
from foldline._wires.objects import as_data


class Aside(NamedTuple):
    """Items behind so many of a history's, the last of which says `behind`."""

    place: int
    behind: bytes
    items: tuple[Any, ...]


class Asides:
    """The asides of one conversation, by their places in the history of its owner."""

    def __init__(self, format: str, asides: Sequence[Aside] = ()) -> None:
        self._format = format
        self._asides = tuple(asides)

    def copy(self) -> Asides:
        """The same asides, for a conversation that parts from this one."""
        return Asides(self._format, self._asides)

    def add(self, history: Sequence[Any], items: Sequence[Any]) -> None:
        """Notes what was asked and told behind a history."""
        self._asides = (*self._asides, Aside(len(history), self._said(history[-1]), tuple(items)))

    def clear(self) -> None:
        """Forgets them all."""
        self._asides = ()

    def woven(self, history: Sequence[object]) -> list[Any]:
        """The history with each aside in its place, as far as that still stands."""
        woven: list[object] = []
        done = 0
        for place, behind, items in self._asides:
            if place <= len(history) and self._said(history[place - 1]) == behind:
                woven += (*history[done:place], *items)
                done = place
        return [*woven, *history[done:]]

    def _said(self, item: object) -> bytes:
        return identity(wire.decode(as_data([item])[0], self._format))


ALIKE = 64
"""Conversations with one beginning that are remembered."""

_named: ContextVar[Hashable] = ContextVar("foldline_conversation", default=None)


@contextmanager
def conversation(id: Hashable) -> Iterator[None]:
    """Says that what wrapped clients send inside of it is one conversation, whatever it begins with.

    It holds for the thread, or the task, that enters it, and for the tasks that are started in it.
    """
    token = _named.set(id)
    try:
        yield
    finally:
        _named.reset(token)


class ClientConversation:
    """One conversation that is sent through a client."""

    def __init__(self, compactor: Compactor, asides: Asides) -> None:
        self.compactor = compactor
        self.asides = asides
        self.sent: object = None
        """What was sent last, as it was handed out."""

    def bill(self, sent: object, reply: object) -> None:
        """Takes what a reply was billed, where nothing else was sent since."""
        if reply is not None and sent is self.sent:
            self.compactor.observe(reply)


class ClientConversations:
    """The conversations of a client; `most` are remembered, and what was used longest ago goes."""

    def __init__(self, make: Callable[[str, str], Compactor], most: int) -> None:
        self._make = make
        self._most = most
        self._held: OrderedDict[Hashable, list[ClientConversation]] = OrderedDict()
        self._turns = Turnstile()

    def of(self, model: str, format: str, items: Sequence[Any]) -> ClientConversation:
        """The conversation that a history belongs to, a new one where it goes on from none.

        Another model has a window of its own, and its own conversations. One that parted from an earlier one keeps the folds
        that stand on what they share. Raises `WireError` where the history cannot be read.
        """
        id = _named.get()
        if id is not None:
            with self._turns:
                named = self._held.get((model, format, None, id)) or [self._begun(model, format, ())]
                return self._kept((model, format, None, id), named[0])
        key = (model, format, _beginning(items, format))
        with self._turns:
            alike = list(self._held.get(key, ()))
        return self._kept(key, _gone_on(alike, items) or self._begun(model, format, alike))

    def _kept(self, key: Hashable, found: ClientConversation) -> ClientConversation:
        """Remembers a conversation as the one that was used last."""
        with self._turns:
            alike = self._held.get(key, ())
            self._held[key] = [found, *(each for each in alike if each is not found)][:ALIKE]
            self._held.move_to_end(key)
            while len(self._held) > 1 and sum(map(len, self._held.values())) > self._most:
                self._held.popitem(last=False)
            return found

    def _begun(self, model: str, format: str, alike: Sequence[ClientConversation]) -> ClientConversation:
        compactor, asides = self._make(model, format), Asides(format)
        if parent := next((each for each in alike if each.compactor.folds), None):
            compactor.load(parent.compactor.dump())
            asides = parent.asides.copy()
        return ClientConversation(compactor, asides)


def _gone_on(held: Sequence[ClientConversation], items: Sequence[object]) -> ClientConversation | None:
    """The conversation that a history goes on from, but for a few messages at its end; None where there is none."""
    best, least = None, REMINDERS + 1
    for each in held:
        lost = each.compactor.lost_in(each.asides.woven(items))
        if lost < least:
            best, least = each, lost
        if not lost:
            break
    return best


def _beginning(items: Sequence[object], format: str) -> bytes:
    """What a history begins with, besides the system's messages."""
    for place, item in enumerate(items):
        (data,) = as_data([item], place)
        message = data if isinstance(data, Message) else wire.decode(data, format, f"messages[{place}]")
        if message.role != "system":
            return identity(message)
    return b""
