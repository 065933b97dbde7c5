"""Does the steps of a call one after the other, standing still or awaiting each."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

Steps = Generator[Callable[[], Any], Any, Any]
"""A call in the making: it yields what is to be done, is sent what came of it or thrown what it raised, and returns a reply."""


def run(steps: Steps) -> Any:
    """What comes of the steps."""
    try:
        doing = next(steps)
        while True:
            try:
                came = doing()
            except Exception as error:  # noqa: BLE001 - the steps say what becomes of it
                doing = steps.throw(error)
            else:
                doing = steps.send(came)
    except StopIteration as stop:
        return stop.value


async def arun(steps: Steps) -> Any:
    """What comes of the steps, each awaited where it must be."""
    try:
        doing = next(steps)
        while True:
            try:
                came = doing()
                if hasattr(came, "__await__"):
                    came = await came
            except Exception as error:  # noqa: BLE001 - as above
                doing = steps.throw(error)
            else:
                doing = steps.send(came)
    except StopIteration as stop:
        return stop.value
