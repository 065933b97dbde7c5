"""Messages that are objects of an agent framework's own, as one declared object: what one says, and how another one is made."""

from __future__ import annotations

from collections.abc import Callable
from operator import eq
from typing import Generic, TypeVar

from msgspec import Struct

from foldline._messages import Message

Native = TypeVar("Native")


class HostFormat(Struct, Generic[Native], frozen=True):
    """How a framework says a message: `Compactor(format=…)` takes lists of its messages and hands out such."""

    read: Callable[[Native], Message]
    """What one of its messages says."""

    made: Callable[[Message], Native]
    """One of its messages that says what a fold put into the history."""

    edited: Callable[[Native, Message, Message], Native]
    """A copy of one of its messages, given what that said and what it says now; all else of it stays as it is."""

    same: Callable[[Native, Native], bool] = eq
    """Whether two of its messages are alike: many frameworks make them anew for each call."""
