"""A session of any agent, read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from foldline._errors import SessionError
from foldline._fold import Fold
from foldline._messages import Message, Summary, replace
from foldline._sessions.context import Context
from foldline._sessions.file import Branch, Point, Told
from foldline._sessions.hooked import as_sent, with_receipts
from foldline._sessions.reading import PastFold, Reading
from foldline._tokens.meter import Meter
from foldline._view import View


class Transcript:
    """A session that foldline reads and does not write; `overhead` is the agent's usual one, in tokens."""

    def __init__(self, reading: Reading, *, overhead: int = 0) -> None:
        self.reading = reading = as_sent(with_receipts(reading))
        self.agent, self.id, self.path = reading.agent, reading.id, reading.path
        self.cwd, self.model, self.window = reading.cwd, reading.model, reading.window
        self.faults = list(reading.faults)
        if reading.overhead is not None:
            overhead = reading.overhead
        self.context = Context(
            reading.entries,
            since=reading.since,
            stale=reading.stale,
            overhead=overhead,
            replaced=reading.replaced,
            restored=reading.restored,
            sealed=reading.sealed,
            branch=reading.branch,
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

    def lineage(self) -> list[Told]:
        """The live context, and where folds took something from it, what they took in place of their summaries."""
        entries = list(self.reading.entries)
        if self.compactions and self.reading.folded:
            originals = dict(self.reading.folded)
            live = [(id, originals.pop(id, _without_summary(message))) for id, message in entries]
            entries = [*originals.items(), *((id, message) for id, message in live if message.parts)]
        return [(id, message, {}) for id, message in entries]

    def recall(self, id: str) -> Message | None:
        """The message of an entry as it was written, whatever was folded since."""
        return next((message for known, message in self.messages() if known == id), None)

    def check_writable(self) -> None:
        """Refused: this agent's sessions are read only."""
        way_out = "`foldline compact --to FORMAT` writes it folded as a new file; one of pi takes pins and edits"
        raise self._refused(f"are read, not written; nothing was changed: {way_out}")

    def fold(self, before: View, after: View, fold: Fold, meter: Meter) -> None:
        self.check_writable()

    def note_stages(self, noted: Mapping[str, object]) -> None:
        """Refused: this agent's sessions have no place for it."""
        raise self._refused("have no place for stages: keep what `Compactor.dump` says")

    def note_draft(self, ask: str, answer: Mapping[str, object]) -> None:
        """This agent's sessions have no place for it."""

    def undo(self) -> str | None:
        self.check_writable()
        return None

    def pin(self, id: str, pinned: bool = True) -> Message:
        """Refused: there is no place for pins in this agent's sessions."""
        raise self._refused("have no place for pins: `foldline compact --focus TEXT` keeps what TEXT is about")

    def points(self) -> list[Point]:
        """Refused: there is nothing to branch off."""
        raise self._refused("cannot be branched: `foldline session handoff GOAL` opens a new one with what GOAL needs")

    def branch(self, at: str) -> Branch:
        """Refused: there is nothing to branch off."""
        raise self._refused("cannot be branched: `foldline session handoff GOAL` opens a new one with what GOAL needs")

    def _refused(self, what: str) -> SessionError:
        return SessionError(f"sessions of {self.agent} {what}", path=self.path)


def _without_summary(message: Message) -> Message:
    if message.summary is None:
        return message
    return replace(message, parts=tuple(part for part in message.parts if not isinstance(part, Summary)))
