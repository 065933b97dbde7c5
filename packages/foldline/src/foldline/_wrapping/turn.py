"""One request in its conversation: fitted, sent, sent again where it was too long, and its reply looked at."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from foldline import _wires as wire
from foldline._compactor.compactor import Compactor
from foldline._engine.driving import Doing, Steps
from foldline._errors import CannotFit, WireError
from foldline._messages import Message, Text, ToolCall, ToolResult
from foldline._overflow import read as read_overflow
from foldline._recall.tool import NAME, handle, recall_tool
from foldline._wires.objects import as_data
from foldline._wires.usage import stated
from foldline._wrapping.conversations import ClientConversation
from foldline._wrapping.sdk import Sending
from foldline._wrapping.streams import AwaitedPassing, Passing

MOST = 4
"""How often in a row a model is answered; then its reply is handed out, whatever it calls."""

NOT_RUN = "Not run: only recall was answered. Call this again if it is still wanted."
"""What another call is answered that stands in one reply with a recall."""


def offering(request: Sending) -> Sending | None:
    """The request with the recall tool in it; None where it cannot be added."""
    fields = request.route.offer(request.fields, recall_tool(request.route.format))
    return None if fields is None else request._replace(fields=fields)


def exchange(reply: Any, request: Sending, compactor: Compactor) -> list[Any]:
    """What a reply says that recalls, and the answers to it; nothing where it does not recall."""
    format = request.route.format
    said = as_data(request.route.said(reply))
    calls = [call for message in wire.decode_all(said, format) for call in message.calls]
    if not any(call.name == NAME for call in calls):
        return []
    results = [Message("tool", (_result(call, compactor),)) for call in calls]
    if format == "openai-chat" or wire.named(format).many_items:
        return [*said, *(wire.encode(each, format) for each in results)]
    together = Message("tool", tuple(result for each in results for result in each.results))
    return [*said, wire.encode(together, format)]


def _result(call: ToolCall, compactor: Compactor) -> ToolResult:
    recalls = call.name == NAME
    text = handle(call.arguments, source=compactor) if recalls else NOT_RUN
    return ToolResult(call.id, (Text(text),), error=not recalls, name=call.name)


ENDS = frozenset(("response.failed", "message_delta"))
"""The events by which a stream may say, in place of an error, that the window is full."""


class Turn:
    """A request and what becomes of it; `tell` hears what foldline could not do, and the request goes on without.

    Where `recalls` is true, the model was offered the recall tool.
    """

    def __init__(
        self, talk: ClientConversation, request: Sending, tell: Callable[[str], None], *, awaited: bool, recalls: bool
    ) -> None:
        self.talk = talk
        self.request = request
        self._tell = tell
        self._awaited = awaited
        self._recalls = recalls
        self._history = request.history or []
        self._sent: list[Any] = []
        self._recovers = True

    def steps(self) -> Steps:
        """The reply; one that recalls is answered, and the model asked again."""
        reply = yield from self._asked()
        if self.request.streams:
            return self._passing(reply)
        found = yield from self._read(reply)
        for _ in range(MOST if self._recalls else 0):
            if not self._answered(found):
                break
            reply = yield from self._asked()
            found = yield from self._read(reply)
        return reply

    def look(self, chunk: Any) -> None:
        """Looks for the bill in a chunk of a stream, and for why it ended."""
        try:
            if (usage := self.request.route.billed(chunk)) is not None:
                self.talk.bill(self._sent, {"usage": usage})
            if stated(chunk, "type") in ENDS:
                self._recovered(chunk)
        except Exception as error:  # noqa: BLE001 - it is handed on all the same
            self._tell(f"a stream was not read: {error}")

    def again(self, error: Exception) -> Steps:
        """The stream of the request sent again, where it was refused as too long; else raises the error."""
        if not self._recovered(error):
            raise error
        return self._stream((yield self._sending()))

    def learn(self, error: Exception) -> None:
        """Learns what a stream that broke off says of the window, for the next call."""
        self._recovered(error)

    # -- asked -----------------------------------------------------------------------------------------------------

    def _asked(self) -> Steps:
        """What comes of the request with its history within the window."""
        yield from self._fitted()
        try:
            reply = yield self._sending()
        except Exception as error:
            if not self._recovered(error):
                raise
        else:
            if self.request.streams or not self._recovered(reply):
                return reply
        return (yield self._sending())

    def _fitted(self) -> Steps:
        compactor = self.talk.compactor
        fit = compactor.afit if self._awaited else compactor.fit
        self._sent = self._history
        try:
            self._sent = self._whole()
            self._sent = yield Doing(partial(fit, self._sent, system=self._apart()))
        except CannotFit:
            raise
        except Exception as error:  # noqa: BLE001 - the request goes as it came
            self._tell(f"a history was not folded: {error}")
        self.talk.sent = self._sent

    def _whole(self) -> list[Any]:
        return self.talk.asides.woven(self._history)

    def _apart(self) -> Any:
        apart = self.request.route.apart(self.request.fields)
        try:
            return as_data([apart])[0] or ""
        except WireError:  # functions, which the library describes by itself
            return str(apart)

    def _sending(self) -> Doing:
        request = self.request.with_history(self._sent)
        return Doing(partial(request.send, request.fields))

    def _recovered(self, said: Any) -> bool:
        """Whether a shorter history stands in for one that was refused as too long, once."""
        if not self._recovers or read_overflow(said) is None:
            return False
        self._recovers = False
        try:
            self._sent = self.talk.compactor.recover(said, self._whole(), sent=self._sent)
            self.talk.sent = self._sent
        except Exception as error:  # noqa: BLE001 - the caller hears what the provider said
            self._tell(f"an overflow was not recovered: {error}")
            if isinstance(said, BaseException):
                said.add_note(f"foldline: {error}")
            return False
        return True

    # -- came of it ------------------------------------------------------------------------------------------------

    def _read(self, reply: Any) -> Steps:
        """What a whole reply says, its bill taken; None where it cannot be read."""
        if self.request.opened is None:
            return None
        try:
            found = yield Doing(partial(self.request.opened, reply))
            self.talk.bill(self._sent, found)
        except Exception as error:  # noqa: BLE001 - it is handed out all the same
            self._tell(f"a reply was not read: {error}")
            return None
        return found

    def _answered(self, reply: Any) -> bool:
        """Whether a reply recalled, and what it asked and was told stands behind the history now."""
        try:
            items = exchange(reply, self.request, self.talk.compactor) if reply is not None else []
            if items:
                self.talk.asides.add(self._history, items)
        except Exception as error:  # noqa: BLE001 - it is handed out as it came
            self._tell(f"a reply was not searched for recalls: {error}")
            return False
        return bool(items)

    def _passing(self, reply: Any) -> Any:
        """A reply whose stream is looked at as it passes."""
        passing = (AwaitedPassing if self._awaited else Passing)(self._stream(reply), self)
        if not (key := self.request.route.stream):
            return passing
        reply[key] = passing
        return reply

    def _stream(self, reply: Any) -> Any:
        key = self.request.route.stream
        return reply[key] if key else reply
