"""A fold made while the agent works: begun below a mark, swapped in when the mark is reached."""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any

from foldline.errors import UnsafeEdit
from foldline.fold import Fold
from foldline.messages import replace
from foldline.view import View

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future

    Work = Future[tuple[View, Fold]] | asyncio.Task[tuple[View, Fold]]


class Prepared:
    """A fold that is being made, in a thread or in a task, and how long the agent had to wait for it."""

    def __init__(self, work: Work, *, awaited: bool) -> None:
        self._work = work
        self._awaited = awaited
        self._waited = 0.0

    @property
    def ready(self) -> bool:
        """Whether the agent would not have to wait for it."""
        return self._work.done()

    def wait(self) -> bool:
        """Waits until it is made; False where that cannot be, since it is made by the event loop that would stand still."""
        if self._awaited and not self.ready:
            return False
        began = time.perf_counter()
        if not self.ready:
            self._work.exception()
        self._waited += time.perf_counter() - began
        return True

    async def await_it(self) -> None:
        """Waits until it is made; a caller that is cancelled meanwhile leaves it to be made."""
        import asyncio

        began = time.perf_counter()
        work: Awaitable[Any] = self._work if isinstance(self._work, asyncio.Future) else asyncio.wrap_future(self._work)
        if not self.ready:
            await asyncio.wait((asyncio.ensure_future(work),))
        self._waited += time.perf_counter() - began

    def swapped(self, view: View, overhead: int) -> tuple[View, Fold] | None:
        """A view with the fold in place, where all that it folds still stands in it; else None.

        The ids of a view are hashes of each message and all before it, so a span that stands is the one that was read.
        """
        if self._work.cancelled() or self._work.exception() is not None:
            return None
        _, fold = self._work.result()
        before = view
        try:
            for edit in fold.edits:
                view = view.apply(edit)
        except UnsafeEdit:
            return None
        return (view, _renewed(fold, before, view, overhead, self._waited)) if view.tokens < before.tokens else None

    def drop(self) -> None:
        """Gives it up; a thread that makes it runs to its end unheard."""
        self._work.cancel()


def in_thread(make: Callable[[], tuple[View, Fold]]) -> Prepared:
    """A fold made in a thread of its own, which does not keep the process alive."""
    from concurrent.futures import Future

    future: Future[tuple[View, Fold]] = Future()

    def work() -> None:
        try:
            made = make()
        except BaseException as error:  # noqa: BLE001
            if future.set_running_or_notify_cancel():
                future.set_exception(error)
        else:
            if future.set_running_or_notify_cancel():
                future.set_result(made)

    threading.Thread(target=work, name="foldline-prepare", daemon=True).start()
    return Prepared(future, awaited=False)


def in_task(made: Coroutine[Any, Any, tuple[View, Fold]]) -> Prepared:
    """A fold made in a task of the event loop that runs here."""
    import asyncio

    return Prepared(asyncio.get_running_loop().create_task(made), awaited=True)


def _renewed(fold: Fold, before: View, after: View, overhead: int, waited: float) -> Fold:
    """The fold with the receipt's sizes as they are now: the history has grown since it was begun."""
    first = min(before.index[id] for edit in fold.edits for id in edit.drop)
    receipt = replace(
        fold.receipt,
        tokens_before=before.tokens + overhead,
        tokens_after=after.tokens + overhead,
        cache_discarded=sum(entry.tokens for entry in before.entries[first:]),
        waited=waited,
    )
    return replace(fold, receipt=receipt)
