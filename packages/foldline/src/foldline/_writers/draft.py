"""A summary on its way: what is asked of a summarizer, what it answers, and what that cost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from foldline._errors import SummaryFailed
from foldline._facts.types import Facts
from foldline._messages import Message, Summary, Usage, Value
from foldline._view import Brief


class Ask(Value, frozen=True):
    """What a fold waits for: a summary of the messages, within the brief."""

    brief: Brief
    messages: tuple[Message, ...]
    facts: Facts
    """What code knows of the messages."""


class Draft(Value, frozen=True):
    """What a summarizer wrote, before anybody has checked it."""

    text: str
    usage: Usage | None = None
    """What all calls for it were billed; None where no model was asked."""
    cost: float | None = None
    """In US dollars; None where no price is known."""
    model: str = ""
    """The model that wrote it."""
    instead: str = ""
    """What the model answered with where it wrote no text."""
    complete: bool = True
    """False where the reply was cut off by its length."""
    sections: tuple[str, ...] = ()
    """The headings that were asked for; a draft without them is faulty."""
    calls: int = 0
    """How many requests were sent for it."""
    shared: bool = False
    """Whether the request rode on the agent's conversation, which the provider had cached."""
    native: tuple[Message, ...] = ()
    """What the provider's own compaction puts in place of the messages, never to be edited; `text` is what it says."""
    before: tuple[str, ...] = ()
    """Why others that were asked before wrote nothing."""


Answer = Draft | Summary | SummaryFailed
Summarizer = Callable[[Brief, Sequence[Message]], "Draft | Summary | str | Awaitable[Draft | Summary | str]"]
"""Writes a summary of messages for a brief, at once or awaited."""


def both(a: Usage | None, b: Usage | None) -> Usage | None:
    """Two usages together."""
    if a is None or b is None:
        return a or b
    return Usage(a.input + b.input, a.output + b.output, a.cache_read + b.cache_read, a.cache_write + b.cache_write)
