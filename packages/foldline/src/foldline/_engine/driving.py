"""Drives what waits for somebody, a fold for its summaries: by standing still, or awaited in an event loop."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, NamedTuple, Protocol, TypeVar

from foldline._fold import Fold
from foldline._view import View
from foldline._writers.asking import answer_to, await_answer
from foldline._writers.draft import Answer, Ask, Summarizer

Folding = Generator[Ask, Answer, tuple[View, Fold]]
"""A fold in the making: it yields an `Ask` for each summary, is sent the answer, and returns what was reached."""

Came = TypeVar("Came")
Made = TypeVar("Made", bound=tuple[Any, ...])
"""What steps lead to: a view, and what was done to it."""

Steps = Generator["Waiting", Any, Any]
"""What waits for somebody, step after step."""


class Waiting(Protocol):
    """What somebody has to wait for, standing still or awaiting it."""

    def wait(self) -> Any:
        """What came of it, waited for in this thread."""

    async def await_it(self) -> Any:
        """What came of it, while the event loop goes on."""


class Awaited(NamedTuple):
    """A summarizer's answer that is waited for, so many seconds at most."""

    ask: Ask
    summarizer: Summarizer
    seconds: float | None

    def wait(self) -> Answer:
        """The answer, or the failure of one that is late."""
        return answer_to(self.ask, self.summarizer, self.seconds)

    async def await_it(self) -> Answer:
        """The same, awaited."""
        return await await_answer(self.ask, self.summarizer, self.seconds)


class Doing(NamedTuple):
    """Something to be done, and awaited where it must be."""

    do: Callable[[], Any]

    def wait(self) -> Any:
        """What came of it."""
        return self.do()

    async def await_it(self) -> Any:
        """The same, awaited."""
        came = self.do()
        return await came if hasattr(came, "__await__") else came


def driven(steps: Generator[Waiting, Any, Came]) -> Came:
    """What comes of the steps, standing still where they wait; they are sent what came of it, or thrown what that raised."""
    go_on: Callable[[Any], Waiting] = steps.send
    answer: Any = None
    while True:
        try:
            waiting = go_on(answer)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        try:
            go_on, answer = steps.send, waiting.wait()
        except Exception as error:  # noqa: BLE001 - the steps say what becomes of it
            go_on, answer = steps.throw, error


async def adriven(steps: Generator[Waiting, Any, Came]) -> Came:
    """The same, awaiting what they wait for."""
    go_on: Callable[[Any], Waiting] = steps.send
    answer: Any = None
    while True:
        try:
            waiting = go_on(answer)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        try:
            go_on, answer = steps.send, await waiting.await_it()
        except Exception as error:  # noqa: BLE001 - as above
            go_on, answer = steps.throw, error


def asking(
    folding: Generator[Ask, Answer, Made],
    summarizer: Summarizer,
    seconds: float | None = None,
    announce: Callable[[], None] = lambda: None,
) -> Generator[Waiting, Any, Made]:
    """A fold, or steps towards one, whose summaries a summarizer writes, each within so many seconds.

    It is announced before it is made: before its first summary is asked for, or where none is, at its end.
    """
    answer: Answer | None = None
    while True:
        try:
            ask = next(folding) if answer is None else folding.send(answer)
        except StopIteration as stop:
            if answer is None and stop.value[1]:
                announce()
            return stop.value  # type: ignore[no-any-return]
        if answer is None:
            announce()
        answer = yield Awaited(ask, summarizer, seconds)


def run(folding: Generator[Ask, Answer, Made], summarizer: Summarizer, seconds: float | None = None) -> Made:
    """Drives a fold with a summarizer; one that must be awaited runs in an event loop of its own."""
    return driven(asking(folding, summarizer, seconds))


async def arun(folding: Folding, summarizer: Summarizer, seconds: float | None = None) -> tuple[View, Fold]:
    """Drives a fold with a summarizer that answers at once or is awaited."""
    return await adriven(asking(folding, summarizer, seconds))
