"""What readers of session files make of them, as values."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from foldline._fold import Receipt
from foldline._messages import Message, Value


class Fault(Value, frozen=True):
    """Something wrong in the file that was read around; `line` counts from 1."""

    line: int
    what: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}"


def receipt_in(noted: object, before: int = 0) -> Receipt:
    """The receipt that was noted; where none can be read, one that tells the tokens before the fold alone."""
    try:
        return msgspec.convert(noted, Receipt)
    except msgspec.ValidationError:
        return Receipt(before, 0)


class PastFold(Value, frozen=True):
    """A fold as the file records it, its receipt filled in as far as its writer left one."""

    id: str
    timestamp: str
    trigger: str
    layer: str
    receipt: Receipt
    summary: str = ""
    undone: bool = False
    ours: bool = True


def summarized(
    id: str,
    timestamp: str,
    before: int,
    round: int,
    text: str,
    *,
    trigger: str = "",
    after: int = 0,
    undone: bool = False,
) -> PastFold:
    """A fold with a summary that the agent itself made, the how manieth of its file; `before` and `after` in tokens."""
    return PastFold(id, timestamp, trigger, "summarize", Receipt(before, after, round=round), text, undone, ours=False)


class Sealed(Value, frozen=True):
    """A compaction that only its provider can read: the entries that hold it, with what it repeats, and the messages that it stands for."""

    ids: tuple[str, ...] = ()
    messages: tuple[Message, ...] = ()


class Reading(Value, frozen=True):
    """What a reader found in a session file.

    `entries` is the live context in order, as the next request would send it: behind the newest fold, on the active
    branch, with what the owner does not send left out. A reply carries in `usage` what its request was billed, each
    response once. `since` is the first entry whose bill was made behind the newest fold. `folded` are the messages
    that are in the file and no longer in the context, for recall. `stale` are entries that were billed in a folded
    context that an undo took back. `window` is what the file says of the model's context window, in tokens; 0 where it
    says nothing; `overhead` what the agent sends beside the entries, in tokens, where the reader knows it better than
    its format. `replaced` is the context that the newest fold took the place of, where the reader knows it as it was, and
    `restored` what the agent put beside its summary and wrote nowhere, in tokens, by the reader's reckoning. `sealed` is
    a compaction among the entries that only its provider can read, and `branch` the branch of git that the agent noted last.
    """

    agent: str
    id: str
    path: str
    entries: tuple[tuple[str, Message], ...]
    cwd: str = ""
    model: str = ""
    title: str = ""
    since: int = 0
    folds: tuple[PastFold, ...] = ()
    folded: tuple[tuple[str, Message], ...] = ()
    faults: tuple[Fault, ...] = ()
    stale: frozenset[str] = frozenset()
    window: int = 0
    overhead: int | None = None
    replaced: tuple[Message, ...] = ()
    restored: int = 0
    sealed: Sealed = Sealed()
    branch: str = ""


class Stored(NamedTuple):
    """One session of a file that may hold several, before it is read; `changed` is in seconds since 1970, 0 if unknown.

    `parent` is the id of the session that it works for.
    """

    id: str
    read: Callable[[], Reading]
    cwd: str = ""
    changed: float = 0.0
    title: str = ""
    parent: str = ""
