"""A fold made while the agent works: begun below a mark, swapped in when the mark is reached."""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from foldline._engine.driving import Folding, arun, run
from foldline._errors import UnsafeEdit
from foldline._fold import Fold
from foldline._messages import replace
from foldline._view import View
from foldline._writers.asking import in_thread
from foldline._writers.draft import Summarizer

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future

    Work = Future[tuple[View, Fold]] | asyncio.Task[tuple[View, Fold]]


class Begun(NamedTuple):
    """A fold that is to be made while the agent works: in a thread, or in a task where the agent is awaited."""

    fold: Folding
    summarizer: Summarizer
    seconds: float | None
    announce: Callable[[], None] = lambda: None
    ours: bool = True
    """Whether a summarizer writes its summaries, and not the host."""

    def wait(self) -> Prepared:
        """The fold that a thread makes."""
        return Prepared(in_thread(lambda: run(self.fold, self.summarizer, self.seconds)), awaited=False)

    async def await_it(self) -> Prepared:
        """The fold that a task of this event loop makes."""
        import asyncio

        made = arun(self.fold, self.summarizer, self.seconds)
        return Prepared(asyncio.get_running_loop().create_task(made), awaited=True)


class Prepared:
    """A fold that is being made, in a thread or in a task, and how long the agent had to wait for it."""

    def __init__(self, work: Work, *, awaited: bool) -> None:
        self.patience: float | None = None
        """Seconds that it is waited for; None where that is until it is made."""
        self.late = False
        """Whether somebody waited for it, and not long enough."""
        self._work = work
        self._awaited = awaited
        self._waited = 0.0
        self._process = os.getpid()

    @property
    def ready(self) -> bool:
        """Whether the agent would not have to wait for it."""
        return self._work.done()

    @property
    def lost(self) -> bool:
        """Whether nobody makes it: this process was forked off the one that did."""
        return self._process != os.getpid() and not self.ready

    def wait(self) -> bool:
        """Waits until it is made; False where it is not by then.

        What is made by the event loop that would stand still is not waited for.
        """
        if self.lost or (self._awaited and not self.ready):
            return False
        began = time.perf_counter()
        if not self.ready:
            with suppress(TimeoutError):
                self._work.exception(self.patience)  # type: ignore[call-arg]
        return self._since(began)

    async def await_it(self) -> bool:
        """The same, awaited; a caller that is cancelled meanwhile leaves it to be made."""
        import asyncio

        if self.lost:
            return False
        began = time.perf_counter()
        work: Awaitable[Any] = self._work if isinstance(self._work, asyncio.Future) else asyncio.wrap_future(self._work)
        if not self.ready:
            await asyncio.wait((asyncio.ensure_future(work),), timeout=self.patience)
        return self._since(began)

    def _since(self, began: float) -> bool:
        self._waited += time.perf_counter() - began
        self.late = not self.ready
        return self.ready

    def swapped(self, view: View, overhead: int) -> tuple[View, Fold] | None:
        """A view with the fold in place, where all that it folds still stands in it; else None."""
        if not self.ready or self._work.cancelled() or self._work.exception() is not None:
            return None
        _, fold = self._work.result()
        return moved(fold, view, overhead, self._waited)

    def drop(self) -> None:
        """Gives it up; a thread that makes it runs to its end unheard."""
        self._work.cancel()


def moved(fold: Fold, view: View, overhead: int, waited: float) -> tuple[View, Fold] | None:
    """A fold on a view that has grown since it was begun, with its receipt's sizes as they are now; None where it does not stand.

    The ids of a view are hashes of each message and all before it, so a span that stands is the one that was read.
    """
    after = view
    try:
        for edit in fold.edits:
            after = after.apply(edit)
    except UnsafeEdit:
        return None
    if after.tokens >= view.tokens:
        return None
    first = min(view.index[id] for edit in fold.edits for id in edit.drop if id in view.index)
    receipt = replace(
        fold.receipt,
        tokens_before=view.tokens + overhead,
        tokens_after=after.tokens + overhead,
        cache_discarded=sum(entry.tokens for entry in view.entries[first:]),
        waited=waited,
    )
    return after, replace(fold, receipt=receipt)
