"""A reply as it is said: once more where the provider refused the request as too long, before anything of it came."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from typing import Any, TypeVar

Delta = TypeVar("Delta")


def streamed(
    ask: Callable[[Any], Iterable[Delta]], sent: Any, recovered: Callable[[Exception], Any]
) -> Iterator[Delta]:
    """The pieces of the reply to what is sent, or to what `recovered` makes of it, which raises what is no overflow again."""
    begun = False
    for again in (False, True):
        try:
            for delta in ask(sent):
                begun = True
                yield delta
            return
        except Exception as error:
            if begun or again:
                raise
            sent = recovered(error)


async def astreamed(
    ask: Callable[[Any], AsyncIterable[Delta]], sent: Any, recovered: Callable[[Exception], Any]
) -> AsyncIterator[Delta]:
    """The same, awaited."""
    begun = False
    for again in (False, True):
        try:
            async for delta in ask(sent):
                begun = True
                yield delta
            return
        except Exception as error:
            if begun or again:
                raise
            sent = recovered(error)
