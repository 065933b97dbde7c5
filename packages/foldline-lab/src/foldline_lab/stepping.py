"""One recording gone through under one contender: before each recorded call, what the model would have been sent."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import msgspec

from foldline import CannotFit, Compactor, Event, Fold, Folded, Message, Policy, Usage
from foldline.extend import Request, bills
from foldline_lab.binding import Held, lines_of
from foldline_lab.recording import Recording
from foldline_lab.refusals import Provider
from foldline_lab.seen import Count, Seen

POINTS = 120
"""How many points of a context's growth are kept for a picture of it."""


class FoldMade(msgspec.Struct, frozen=True, array_like=True):
    """A fold of a replay: at which call, by which layer, and the request before and after it, in tokens."""

    call: int
    layer: str
    before: int
    after: int


class Run(msgspec.Struct, frozen=True):
    """What came of a session under a contender; sizes are tokens, costs US dollars for requests without replies."""

    session: str
    contender: str
    model: str
    window: int
    limit: int
    """The most that a request may take."""
    calls: int
    sent: int = 0
    cost: float | None = None
    best: float | None = None
    """What the same folds would have cost at the moments that are cheapest in hindsight."""
    folds: tuple[FoldMade, ...] = ()
    largest: int = 0
    over: int = 0
    """Requests over the limit, which a provider would refuse; those that could not be folded to fit among them."""
    refused: tuple[str, ...] = ()
    """Rules of providers that a request broke and the recording does not."""
    seconds: float = 0.0
    """What the contender took for all calls."""
    near: Count = Count()
    far: Count = Count()
    user: Count = Count()
    rules: Count = Count()
    state: Count = Count()
    fates: dict[str, int] = {}
    """Tokens of the recording by what became of them."""
    growth: tuple[tuple[int, ...], ...] = ()
    """The number of a call, and the tokens of each of `KINDS` that it was sent."""


def stepped(recording: Recording, provider: Provider, name: str, policy: Policy | None) -> tuple[Run, list[Request]]:
    """The recording under a policy, or as it is where there is none, and the requests that were made of it."""
    seen, steps = Seen(recording), Steps(recording, policy)
    refused: list[str] = []
    requests: list[Request] = []
    folds: list[FoldMade] = []
    near, far = [0, 0], [0, 0]
    rules = state = Count()
    growth: list[tuple[int, ...]] = []
    over = 0
    billing = bills(recording.model, iter(requests))
    costs: list[float | None] = []
    for number, at in enumerate(recording.calls):
        before = seen.tokens
        sent, fold = steps.fitted(at)
        same, parts = seen.take(sent, folded=fold is not None)
        requests.append(Request(seen.tokens, same, seen.head, parts))
        bill = next(billing)
        costs.append(bill.cost)
        steps.billed(bill.usage)
        over += seen.tokens > recording.budget.limit
        if fold:
            folds.append(FoldMade(number, fold.layer, max(before, fold.receipt.tokens_before), seen.tokens))
            refused += provider.refuses(sent)
        for need in recording.needs[number]:
            counts = far if need.far else near
            counts[0] += seen.knows(need)
            counts[1] += 1
        if (open := recording.states.get(number)) is not None:
            rules += seen.holds(rule for rule in recording.rules if rule.place < at)
            state += seen.holds(open)
        growth.append((number, *seen.kinds.values()))
    run = Run(
        recording.name,
        name,
        recording.model.name,
        recording.budget.window,
        recording.budget.limit,
        len(requests),
        sent=sum(request.tokens for request in requests),
        cost=None if None in costs else sum(cost or 0.0 for cost in costs),
        folds=tuple(folds),
        largest=max((request.tokens for request in requests), default=0),
        over=over,
        refused=tuple(refused),
        seconds=steps.seconds,
        near=Count(*near),
        far=Count(*far),
        user=seen.holds(_lines_of_the_user(recording)),
        rules=rules,
        state=state,
        fates=_fates(recording, steps),
        growth=tuple(growth[:: -(-len(growth) // POINTS) or 1]),
    )
    return run, requests


def _lines_of_the_user(recording: Recording) -> Iterator[Held]:
    """What the user had said at the last call, line by line."""
    for place, message in enumerate(recording.messages[: recording.calls[-1]] if recording.calls else ()):
        if message.speaker == "user":
            yield from (Held(place, line) for line in lines_of(message))


class Steps:
    """Gives a growing recording to a compactor of a policy, if there is one, and takes the time."""

    def __init__(self, recording: Recording, policy: Policy | None) -> None:
        self.recording = recording
        self.seconds = 0.0
        self.made: list[Fold] = []
        self.compactor: Compactor | None = None
        self._history: list[Message] = []
        if policy is not None:
            self.compactor = Compactor(
                recording.model,
                window=recording.budget.window,
                overhead=recording.overhead,
                policy=policy,
                on_event=self._hear,
            )

    def _hear(self, event: Event) -> None:
        if isinstance(event, Folded):
            self.made.append(event.fold)

    def fitted(self, at: int) -> tuple[list[Message], Fold | None]:
        """What is sent once so many messages are there, and the fold that was made for it."""
        self._history += self.recording.messages[len(self._history) : at]
        if self.compactor is None:
            return list(self._history), None
        made, began = len(self.made), time.perf_counter()
        try:
            sent = self.compactor.fit(self._history)
        except CannotFit:
            sent = list(self._history)
        self.seconds += time.perf_counter() - began
        return sent, self.made[-1] if len(self.made) > made else None

    def billed(self, usage: Usage) -> None:
        """Takes what the reply states: what the recording counts, as far as the cache holds it and not."""
        if self.compactor is not None:
            self.compactor.observe(usage)


FATES = ("word for word", "stub", "summary", "gone")
"""What may become of a message: it stands as it was, a piece of it does, a summary tells it, or nothing stands for it."""


NOTICE = "truncate"
"""The strategy whose summary says no more than how much is gone."""


def _fates(recording: Recording, steps: Steps) -> dict[str, int]:
    """Tokens of what was there for the last call, by what became of them."""
    found = dict.fromkeys(FATES, 0)
    last = recording.calls[-1] if recording.calls else 0
    fate = _edited(steps.made)
    ids = [id for id, _ in steps.compactor.messages()] if steps.compactor else []
    for at, tokens in enumerate(recording.tokens[:last]):
        found[fate.get(ids[at], FATES[0]) if ids else FATES[0]] += tokens
    return found


def _edited(folds: Sequence[Fold]) -> dict[str, str]:
    """What became of each message that folds edited, by its id."""
    fate: dict[str, str] = {}
    for fold in folds:
        into = [edit.into if isinstance(edit.into, tuple) else () for edit in fold.edits]
        told = any(m.summary for edit, made in zip(fold.edits, into) for m in made if edit.by != NOTICE)
        for edit, made in zip(fold.edits, into):
            stub = len(made) == 1 and not made[0].summary
            stands = told and edit.by != NOTICE
            fate.update(dict.fromkeys(edit.drop, "stub" if stub else "summary" if stands else "gone"))
    return fate
