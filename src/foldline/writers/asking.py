"""Asks a summarizer, at once or awaited; whatever it raises is a failed summary, which never stops the agent."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from typing import Any

from foldline.errors import ConfigError, SummaryFailed
from foldline.messages import Summary
from foldline.page.extract import extract
from foldline.writers.accept import extracted
from foldline.writers.draft import Answer, Ask, Draft, Summarizer


def answer_to(ask: Ask, summarizer: Summarizer) -> Answer:
    """The answer to what a fold asks; a summarizer that must be awaited runs in an event loop of its own.

    Raises `ConfigError` where it must be awaited and an event loop runs here already, which would stand still.
    """
    answer = _asked(ask, summarizer)
    if not inspect.isawaitable(answer):
        return answer
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_awaited(answer))
    if inspect.iscoroutine(answer):
        answer.close()
    raise ConfigError("this summarizer is awaited: call the async method", path="summarizer")


async def await_answer(ask: Ask, summarizer: Summarizer) -> Answer:
    """The answer to what a fold asks, awaited where it must be."""
    answer = _asked(ask, summarizer)
    return await _awaited(answer) if inspect.isawaitable(answer) else answer


def _asked(ask: Ask, summarizer: Summarizer) -> Answer | Awaitable[Any]:
    """Extraction takes the facts that the fold has read already."""
    if summarizer is extract:
        return extracted(ask.brief, ask.facts)
    try:
        answer = summarizer(ask.brief, ask.messages)
    except Exception as cause:  # noqa: BLE001
        return _failed(cause)
    return answer if inspect.isawaitable(answer) else _as_answer(answer)


async def _awaited(answer: Awaitable[Any]) -> Answer:
    try:
        return _as_answer(await answer)
    except Exception as cause:  # noqa: BLE001
        return _failed(cause)


def _failed(cause: Exception) -> SummaryFailed:
    if isinstance(cause, SummaryFailed):
        return cause
    return SummaryFailed(f"{type(cause).__name__}: {cause}", cause=cause)


def _as_answer(answer: object) -> Answer:
    match answer:
        case Summary() | Draft():
            return answer
        case str():
            return Draft(answer)
        case _:
            return SummaryFailed(f"the summarizer gave a {type(answer).__name__}, not a text")
