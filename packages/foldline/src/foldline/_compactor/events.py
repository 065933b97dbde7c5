"""What a compactor tells its owner and asks before a fold, and how it goes on where somebody else's function raises."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TypeVar

from foldline import _telemetry as telemetry
from foldline._compactor.degradation import Risk
from foldline._fold import Fold
from foldline._messages import Value
from foldline._writers.secrets import without_keys


class FoldDue(Value, frozen=True):
    """The history fills the window up to a mark, and a fold is about to be made; sizes are tokens.

    `Folded` follows, unless no fold comes of it that is worth it.
    """

    tokens: int
    window: int


class Verdict(Value, frozen=True, forbid_unknown_fields=True):
    """What a host says to a fold that is about to be made: nothing, where all of it is empty."""

    veto: str = ""
    """Why the fold must not be made now; the history is handed out as it stands."""
    instructions: str = ""
    """What the summary must keep, beside what it keeps anyway."""
    summary: str = ""
    """A summary in place of the one that would be written; it is checked as any other, and goes through if it holds."""


class Folded(Value, frozen=True):
    """A fold was made and is what `fit` hands out from now on."""

    fold: Fold


class SummaryFellBack(Value, frozen=True):
    """The summarizer's draft was not installed; extraction took its place, or what the policy says."""

    reason: str


class Rewound(Value, frozen=True):
    """The history no longer starts like the one before; folds that do not stand on it are left out."""

    kept: int
    """How many messages of the earlier history still stand."""


class Looping(Value, frozen=True):
    """Since the last fold the agent makes the same call again and again, and gets the same result."""

    tool: str
    arguments: str
    times: int


class Interleaved(Value, frozen=True):
    """Several conversations take turns in one compactor, which undoes its folds each time: each needs its own (`Compactors`)."""


class Skipped(Value, frozen=True):
    """Somebody else's function raised, or a strategy proposed what is not safe; it was left out."""

    reason: str


Given = TypeVar("Given")
Answer = TypeVar("Answer")

Event = FoldDue | Folded | SummaryFellBack | Rewound | Looping | Risk | Interleaved | Skipped


class Telling:
    """Tells events to a listener and to the application's telemetry; `model` is the agent's.

    What anybody's function raises is told instead of raised, once for each reason.
    """

    def __init__(self, listener: Callable[[Event], None] | None, model: str = "") -> None:
        self._listener = listener
        self._model = model
        self._reasons: set[str] = set()
        self._untold: deque[str] = deque()
        self._wrong: dict[str, str] = {}

    @property
    def wrong(self) -> list[str]:
        """What went wrong last with each function of somebody else's."""
        return list(self._wrong.values())

    def tell(self, event: Event) -> None:
        """Tells an event at once."""
        for name, listener in (("telemetry", self._record), ("on_event", self._listener)):
            try:
                if listener is not None:
                    listener(event)
            except Exception as error:  # noqa: BLE001
                self._wrong[name] = without_keys(f"{name}: {type(error).__name__}: {error}")

    def _record(self, event: Event) -> None:
        match event:
            case Folded(fold=fold):
                telemetry.fold_made(fold, self._model)
            case SummaryFellBack(reason=reason) | Skipped(reason=reason):
                telemetry.log("events", f"{type(event).__name__}: {reason}", warns=True)
            case _:
                telemetry.log("events", type(event).__name__)

    def skip(self, reason: str) -> None:
        """Takes down, in any thread, what went wrong and was left out; a reason begins with whose it was, and a colon."""
        self._wrong[reason.partition(":")[0]] = without_keys(reason)
        self.put_off(reason)

    def put_off(self, reason: str) -> None:
        """Takes down, in any thread, that something was left out, to be told when there is time."""
        reason = without_keys(reason)
        if reason not in self._reasons:
            self._reasons.add(reason)
            self._untold.append(reason)

    def catch_up(self) -> None:
        """Tells what was left out meanwhile."""
        while self._untold:
            self.tell(Skipped(self._untold.popleft()))

    def guarded(
        self, function: Callable[[Given], Answer], name: str, *, otherwise: Answer
    ) -> Callable[[Given], Answer]:
        """A function of somebody else, which answers `otherwise` where it raises."""

        def answer(given: Given) -> Answer:
            try:
                return function(given)
            except Exception as error:  # noqa: BLE001
                self.skip(f"{name}: {type(error).__name__}: {error}")
                return otherwise

        return answer
