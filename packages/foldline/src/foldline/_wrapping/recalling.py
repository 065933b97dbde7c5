"""Calls of the recall tool in a reply, and what they are answered."""

from __future__ import annotations

from typing import Any

from foldline import _wires as wire
from foldline._compactor.compactor import Compactor
from foldline._messages import Message, Text, ToolCall, ToolResult
from foldline._recall.tool import NAME, handle, recall_tool
from foldline._wires.objects import as_data
from foldline._wrapping.sdk import Request

MOST = 4
"""How often in a row a model is answered; then its reply is handed out, whatever it calls."""

NOT_RUN = "Not run: only recall was answered. Call this again if it is still wanted."
"""What another call is answered that stands in one reply with a recall."""


def offering(request: Request) -> Request | None:
    """The request with the recall tool in it; None where it cannot be added."""
    fields = request.route.offer(request.fields, recall_tool(request.route.format))
    return None if fields is None else request._replace(fields=fields)


def exchange(reply: Any, request: Request, compactor: Compactor) -> list[Any]:
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
