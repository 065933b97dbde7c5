"""One call of a model by a framework: its messages folded, and sent again, once, where they were refused as too long."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from foldline import Compactor

Reply = TypeVar("Reply")
Sending = Callable[[list[Any]], Reply]


class SentAlready(list[Any]):
    """Messages that are folded already: some models answer one way of being asked by another way of their own."""


class Asking:
    """A call with the messages of one conversation.

    `kept` is called once something was folded or might have been, and `billed` answers what states the usage of a reply, or
    of a piece of one that is streamed.
    """

    def __init__(
        self,
        compactor: Compactor,
        messages: Sequence[Any],
        *,
        system: Any = None,
        kept: Callable[[], object],
        billed: Callable[[Any], Any],
    ) -> None:
        self._compactor = compactor
        self._messages = messages
        self._system = system
        self._kept = kept
        self._billed = billed

    def ask(self, send: Sending[Reply]) -> Reply:
        """The reply to what `send` is called with; raises what that raises, but for an overflow that is recovered from."""
        sent = self._handed(self._compactor.fit(self._messages, system=self._system))
        try:
            reply = send(sent)
        except Exception as error:  # noqa: BLE001 - what is no overflow is raised again
            reply = send(self._again(error))
        return self._observed(reply)

    async def aask(self, send: Sending[Awaitable[Reply]]) -> Reply:
        """The same, awaited."""
        sent = self._handed(await self._compactor.afit(self._messages, system=self._system))
        try:
            reply = await send(sent)
        except Exception as error:  # noqa: BLE001 - as above
            reply = await send(self._again(error))
        return self._observed(reply)

    def stream(self, send: Sending[Iterable[Reply]]) -> Iterator[Reply]:
        """The pieces of the reply as they come; it is asked for again only before the first of them came."""
        sent = self._handed(self._compactor.fit(self._messages, system=self._system))
        begun = False
        try:
            for piece in send(sent):
                begun = True
                yield self._observed(piece)
        except Exception as error:
            if begun:
                raise
            for piece in send(self._again(error)):
                yield self._observed(piece)

    async def astream(self, send: Sending[AsyncIterable[Reply]]) -> AsyncIterator[Reply]:
        """The same, awaited."""
        sent = self._handed(await self._compactor.afit(self._messages, system=self._system))
        begun = False
        try:
            async for piece in send(sent):
                begun = True
                yield self._observed(piece)
        except Exception as error:
            if begun:
                raise
            async for piece in send(self._again(error)):
                yield self._observed(piece)

    def _again(self, error: Exception) -> list[object]:
        return self._handed(self._compactor.recover(error, self._messages))

    def _handed(self, sent: list[object]) -> list[object]:
        self._kept()
        return SentAlready(sent)

    def _observed(self, reply: Reply) -> Reply:
        if (bill := self._billed(reply)) is not None:
            self._compactor.observe(bill)
        return reply


class Unchanged:
    """A call whose messages are sent as they are: they were folded already, or stand at the provider."""

    def __init__(self, messages: Any) -> None:
        self._messages = messages

    def ask(self, send: Callable[[Any], Reply]) -> Reply:
        """What `send` answers."""
        return send(self._messages)

    aask = stream = astream = ask
