"""The one face of a session, whatever agent wrote it and whether or not it can be written to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from foldline._fold import Fold
from foldline._messages import Message, Value
from foldline._sessions.context import Context
from foldline._sessions.reading import Fault, PastFold
from foldline._tokens.meter import Meter
from foldline._view import View

Told = tuple[str, Message, Mapping[str, Any]]
"""A message with its id, and what foldline noted on the record that it came from."""


class Point(Value, frozen=True, omit_defaults=False):
    """A user message where a session can branch: `folds` stand before it, and `live` says whether the model sees it."""

    id: str
    text: str
    folds: int = 0
    live: bool = True


class Branch(Value, frozen=True, omit_defaults=False):
    """A session that was branched off: how many records it holds, and which faults of the old file were met."""

    session: str
    path: str
    id: str
    at: str
    records: int
    folds: int
    faults: tuple[Fault, ...] = ()


class SessionFile(Protocol):
    """One session of an agent, read.

    What changes the file, or makes another one beside it, raises `SessionError` where the agent's sessions are read
    only; `check_writable` raises it before anything is asked of a user or a model.
    """

    @property
    def agent(self) -> str:
        """The name of the agent that wrote it."""

    @property
    def id(self) -> str:
        """The session's own id."""

    @property
    def path(self) -> str:
        """Its file; where that holds several, with the session's number or id behind a `#`."""

    @property
    def cwd(self) -> str:
        """The directory that the agent worked in; empty where the file does not say."""

    @property
    def model(self) -> str:
        """The model that answered last; empty where the file names none."""

    @property
    def window(self) -> int:
        """What the file says of the model's context window, in tokens; 0 where it says nothing."""

    @property
    def faults(self) -> Sequence[Fault]:
        """What was wrong in the file and read around."""

    @property
    def context(self) -> Context:
        """The messages that the model sees, and what they weigh."""

    @property
    def newest_fold(self) -> PastFold | None:
        """The newest fold that stands, or None."""

    @property
    def compactions(self) -> int:
        """How many folds with a summary stand behind the context."""

    def meter(self, family: str = "o200k") -> Meter:
        """A meter that learned from what the provider billed."""

    def view(self, meter: Meter | None = None) -> View:
        """What the model sees, sized by the meter."""

    def messages(self) -> Iterable[tuple[str, Message]]:
        """Every message of the file with its id, whatever was folded since."""

    def lineage(self) -> list[Told]:
        """Every message from the first to the newest as it was written, without the branches that were left."""

    def recall(self, id: str) -> Message | None:
        """The message of an entry as it was written, whatever was folded since."""

    def folds(self) -> list[PastFold]:
        """Every fold in the file, oldest first; those that were undone, or that the agent left on another branch, are `undone`."""

    def check_writable(self) -> None:
        """Raises `SessionError` where the session is not folded in place."""

    def fold(self, before: View, after: View, fold: Fold, meter: Meter) -> None:
        """Writes a fold that made `after` of this session's view `before`; an empty fold writes nothing."""

    def note_stages(self, noted: Mapping[str, object]) -> None:
        """Notes the conversation's stages, which its context tells from then on."""

    def note_draft(self, ask: str, answer: Mapping[str, object]) -> None:
        """Notes a draft that was paid for, where there is a place for it; its context tells it until the next fold stands."""

    def undo(self) -> str | None:
        """Takes back the newest fold that stands and answers its id, or None where there is none."""

    def pin(self, id: str, pinned: bool = True) -> Message:
        """Pins a message of the live context, so that no fold touches it, or takes the pin off, and answers the message."""

    def points(self) -> list[Point]:
        """The user messages where the session can be branched, in order."""

    def branch(self, at: str) -> Branch:
        """A new session that ends with the user message `at`, beside this one, which is not touched."""
