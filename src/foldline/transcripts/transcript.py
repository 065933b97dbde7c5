"""A session of any agent, read: what the commands need to know of it, whatever wrote it."""

from __future__ import annotations

from collections.abc import Iterable

from foldline.errors import SessionError
from foldline.fold import Fold
from foldline.messages import Message, Value
from foldline.session import Context, Fault, PastFold
from foldline.tokens.meter import Meter
from foldline.tokens.overhead import usual_overhead
from foldline.view import View


class Reading(Value, frozen=True):
    """What a reader found in a session file.

    `entries` is the live context in order, as the next request would send it: behind the newest fold, on the active
    branch, with what the owner does not send left out. A reply carries in `usage` what its request was billed, each
    response once. `since` is the first entry whose bill was made behind the newest fold. `folded` are the messages
    that are in the file and no longer in the context, for recall. `stale` are entries that were billed in a folded
    context that an undo took back.
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


class Transcript:
    """A session of an agent that foldline reads and does not write; the same face as `Session`."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.agent, self.id, self.path = reading.agent, reading.id, reading.path
        self.cwd, self.model, self.faults = reading.cwd, reading.model, list(reading.faults)
        self.context = Context(
            reading.entries, since=reading.since, stale=reading.stale, overhead=usual_overhead(reading.agent)
        )

    def meter(self, family: str = "o200k") -> Meter:
        """A meter that learned from what the provider billed since the newest fold."""
        return self.context.meter(family)

    def view(self, meter: Meter | None = None) -> View:
        """What the model sees, sized by the meter."""
        return self.context.view(meter or self.meter())

    def folds(self) -> list[PastFold]:
        """Every fold in the file, oldest first."""
        return list(self.reading.folds)

    @property
    def newest_fold(self) -> PastFold | None:
        """The newest fold, or None."""
        return next((fold for fold in reversed(self.reading.folds) if not fold.undone), None)

    @property
    def compactions(self) -> int:
        """How many folds stand in the file."""
        return sum(1 for fold in self.reading.folds if not fold.undone)

    def messages(self) -> Iterable[tuple[str, Message]]:
        """Every message of the file with its id, folded ones first."""
        yield from self.reading.folded
        yield from self.reading.entries

    def recall(self, id: str) -> Message | None:
        """The message of an entry as it was written, whatever was folded since."""
        return next((message for known, message in self.messages() if known == id), None)

    def fold(self, before: View, after: View, fold: Fold, meter: Meter) -> None:
        """Refused: this agent's sessions are read only."""
        raise self.read_only()

    def undo(self) -> str | None:
        """Refused: this agent's sessions are read only."""
        raise self.read_only()

    def read_only(self) -> SessionError:
        """What refuses whoever would write to it."""
        way_out = (
            "`foldline compact --to FORMAT` writes it folded as a new file; its agent's own command folds it in place"
        )
        return SessionError(
            f"sessions of {self.agent} are read, not written; nothing was changed: {way_out}", path=self.path
        )
