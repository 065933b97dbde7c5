"""Asks a summarizer, at once or awaited; whatever it raises is a failed summary, which never stops the agent."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from foldline._errors import SummaryFailed
from foldline._messages import Summary, replace
from foldline._telemetry import summary_asked
from foldline._view import Brief
from foldline._writers.draft import Answer, Ask, Draft, Summarizer
from foldline._writers.extraction import extract, extracted
from foldline._writers.repair import reserve
from foldline._writers.secrets import without_keys

if TYPE_CHECKING:
    from concurrent.futures import Future

Came = TypeVar("Came")


def answer_to(ask: Ask, summarizer: Summarizer, seconds: float | None = None) -> Answer:
    """The answer to what a fold asks; a summarizer that must be awaited runs in an event loop of its own.

    Where an event loop runs in this thread, or a number of `seconds` is all that it may take, the summarizer works in a
    thread of its own, which is left behind when they are over.
    """
    if summarizer is extract:
        return extracted(ask.brief, ask.facts, ask.messages)
    with summary_asked() as told:
        if seconds is None and not _in_loop():
            answer = _answered(ask, summarizer)
        else:
            try:
                answer = in_thread(lambda: _answered(ask, summarizer)).result(seconds)
            except TimeoutError:
                answer = _late(seconds)
        told(answer)
        return answer


async def await_answer(ask: Ask, summarizer: Summarizer, seconds: float | None = None) -> Answer:
    """The answer to what a fold asks, awaited where it must be; one that is not awaited keeps no event loop waiting."""
    if summarizer is extract:
        return extracted(ask.brief, ask.facts, ask.messages)
    with summary_asked() as told:
        answer = await _awaited_within(ask, summarizer, seconds)
        told(answer)
        return answer


async def _awaited_within(ask: Ask, summarizer: Summarizer, seconds: float | None) -> Answer:
    if seconds is None and not _in_loop():
        return await _awaited(ask, summarizer)
    import asyncio

    working = asyncio.ensure_future(_awaited(ask, summarizer))
    try:
        done, _ = await asyncio.wait((working,), timeout=seconds)
    except asyncio.CancelledError:
        working.cancel()
        raise
    if done:
        return working.result()
    working.cancel()
    return _late(seconds)


def in_thread(work: Callable[[], Came]) -> Future[Came]:
    """What comes of some work in a thread of its own, which does not keep the process alive."""
    import threading
    from concurrent.futures import Future
    from contextvars import copy_context

    future: Future[Came] = Future()
    context = copy_context()

    def run() -> None:
        try:
            came = context.run(work)
        except BaseException as error:  # noqa: BLE001
            if future.set_running_or_notify_cancel():
                future.set_exception(error)
        else:
            if future.set_running_or_notify_cancel():
                future.set_result(came)

    threading.Thread(target=run, name="foldline-summary", daemon=True).start()
    return future


def _answered(ask: Ask, summarizer: Summarizer) -> Answer:
    try:
        answer = summarizer(_brief(ask), ask.messages)
        if inspect.isawaitable(answer):
            import asyncio

            answer = asyncio.run(_result(answer))
        return _as_answer(answer, summarizer)
    except Exception as cause:  # noqa: BLE001
        return _failed(cause, summarizer)


def _brief(ask: Ask) -> Brief:
    """The brief of who is to write a draft: code keeps room in it for what it may have to add."""
    return ask.brief if ask.brief.wording.points else replace(ask.brief, reserved=reserve(ask.facts, ask.brief))


async def _awaited(ask: Ask, summarizer: Summarizer) -> Answer:
    """An asynchronous summarizer works in this event loop, any other in a thread."""
    try:
        if not _in_loop() or any(map(inspect.iscoroutinefunction, (summarizer, type(summarizer).__call__))):
            answer: object = summarizer(_brief(ask), ask.messages)
        else:
            import asyncio

            answer = await asyncio.wrap_future(in_thread(lambda: summarizer(_brief(ask), ask.messages)))
        return _as_answer(await answer if inspect.isawaitable(answer) else answer, summarizer)
    except Exception as cause:  # noqa: BLE001
        return _failed(cause, summarizer)


async def _result(answer: Awaitable[Any]) -> Any:
    return await answer


def _in_loop() -> bool:
    """Whether an event loop runs in this thread; where nobody has loaded asyncio none does."""
    if (asyncio := sys.modules.get("asyncio")) is None:
        return False
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _late(seconds: float | None) -> SummaryFailed:
    return SummaryFailed(f"the summarizer took more than {seconds:g} seconds and was left behind")


def _failed(cause: Exception, summarizer: Summarizer) -> SummaryFailed:
    if isinstance(cause, SummaryFailed):
        return SummaryFailed(without_keys(str(cause), _keys(summarizer)), cause=cause.cause)
    return SummaryFailed(without_keys(f"{type(cause).__name__}: {cause}", _keys(summarizer)), cause=cause)


def _keys(summarizer: object) -> list[str]:
    """The keys that a summarizer was given, and those of whoever writes in its place."""
    given = (getattr(each, "api_key", None) for each in (summarizer, *getattr(summarizer, "endpoints", ())))
    own = [key for key in given if isinstance(key, str)]
    others = (getattr(summarizer, name, None) for name in ("fallback", "fresh"))
    return own + [key for other in others if other is not None for key in _keys(other)]


def _as_answer(answer: object, summarizer: Summarizer) -> Answer:
    match answer:
        case Draft(before=before) if before:
            return replace(answer, before=tuple(without_keys(why, _keys(summarizer)) for why in before))
        case Summary() | Draft():
            return answer
        case str():
            return Draft(answer)
        case _:
            return SummaryFailed(f"the summarizer gave a {type(answer).__name__}, not a text")
