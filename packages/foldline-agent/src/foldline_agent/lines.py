"""Events as the JSON objects that pi tells of a session, so that what reads pi's reads these; what pi has no word for is our own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from foldline_agent import events
from foldline_agent.agent import Agent
from foldline_agent.events import Event

Line = dict[str, Any]


class Lines:
    """The lines of one run; messages are told as the session's file has them."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._running = False
        self._said: list[Line] = []
        self._reply: Line | None = None
        self._results: list[Line] = []

    def of(self, event: Event) -> Iterator[Line]:
        """What is told of an event."""
        match event:
            case events.RunStarted():
                self._running = True
                yield {"type": "agent_start"}
            case events.MessageTaken(id=id):
                yield from self._message(id)
            case events.ReplyStarted():
                yield from self._turn_ended()
                yield {"type": "turn_start"}
                yield {"type": "message_start", "message": {"role": "assistant", "content": []}}
            case events.TextDelta(text=text):
                yield _update("text_delta", text)
            case events.ThinkingDelta(text=text):
                yield _update("thinking_delta", text)
            case events.ReplyEnded(id=id):
                self._reply = self._kept(id) or {"role": "assistant", "content": []}
                yield {"type": "message_end", "message": self._reply}
            case events.RunEnded(end=end):
                yield from self._turn_ended()
                if self._running:
                    yield {"type": "agent_end", "messages": self._said, "willRetry": False, "end": end}
            case events.ToolStarted() | events.ConfirmationWanted() | events.ToolEnded():
                yield from self._of_tool(event)
            case _:
                yield from _of_fill(event)

    def settled(self) -> Iterator[Line]:
        """What is told once a run is over and the next may begin; nothing where none began."""
        if self._running:
            yield {"type": "agent_settled"}

    def _of_tool(self, event: events.ToolStarted | events.ConfirmationWanted | events.ToolEnded) -> Iterator[Line]:
        call = event.call
        named = {"toolCallId": call.id, "toolName": call.name}
        match event:
            case events.ToolStarted():
                yield {"type": "tool_execution_start", **named, "args": _arguments(call.arguments)}
            case events.ConfirmationWanted(about=about):
                asked = {"method": "confirm", "title": f"Allow {call.name}?", "message": about}
                yield {"type": "extension_ui_request", "id": call.id, **asked}
            case events.ToolEnded(id=id, result=result):
                content = [{"type": "text", "text": getattr(part, "text", "")} for part in result.parts]
                done = {"result": {"content": content, "details": {}}, "isError": result.error}
                yield {"type": "tool_execution_end", **named, **done}
                yield from self._message(id)
                self._results.append(self._said[-1])

    def _message(self, id: str) -> Iterator[Line]:
        message = self._kept(id)
        yield {"type": "message_start", "message": message}
        yield {"type": "message_end", "message": message}

    def _kept(self, id: str) -> Line:
        message: Line = self._agent.session.record(id).get("message", {})
        if message:
            self._said.append(message)
        return message

    def _turn_ended(self) -> Iterator[Line]:
        if self._reply is not None:
            yield {"type": "turn_end", "message": self._reply, "toolResults": self._results}
        self._reply, self._results = None, []


def compaction(event: events.FoldEnded) -> Line | None:
    """What came of a fold in pi's words, with foldline's receipt in the details; None where none was made."""
    if event.fold is None:
        return None
    receipt = event.fold.receipt
    return {
        "summary": event.summary,
        "firstKeptEntryId": event.first_kept,
        "tokensBefore": receipt.tokens_before,
        "estimatedTokensAfter": receipt.tokens_after,
        "details": {"receipt": msgspec.to_builtins(receipt)},
    }


def _of_fill(event: Event) -> Iterator[Line]:
    match event:
        case events.FoldStarted(reason=reason):
            yield {"type": "compaction_start", "reason": reason}
        case events.FoldEnded(reason=reason, aborted=aborted):
            ended = {"aborted": aborted, "willRetry": reason == "overflow" and event.fold is not None}
            yield {"type": "compaction_end", "reason": reason, "result": compaction(event), **ended}
        case events.FillChanged(tokens=tokens, window=window, error=error):
            percent = round(100 * tokens / window, 1)
            yield {
                "type": "context_usage",
                "tokens": tokens,
                "contextWindow": window,
                "percent": percent,
                "error": error,
            }
        case events.Noticed(text=text):
            yield {"type": "extension_ui_request", "id": "notice", "method": "notify", "message": text}
        case events.Failed(error=error):
            yield {"type": "error", "error": error}


def _update(kind: str, delta: str) -> Line:
    """A piece of a reply; pi's partial messages are left out, since the pieces add up to them."""
    return {"type": "message_update", "assistantMessageEvent": {"type": kind, "contentIndex": 0, "delta": delta}}


def _arguments(said: str) -> Any:
    try:
        return json.loads(said)
    except ValueError:
        return said
