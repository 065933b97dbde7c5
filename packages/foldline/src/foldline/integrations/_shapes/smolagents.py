"""smolagents' chat messages: what the agent's memory says to its model, as texts of roles of its own."""

from __future__ import annotations

import json
from ast import literal_eval
from dataclasses import replace
from typing import Any

from smolagents.models import ChatMessage, MessageRole

from foldline import Message
from foldline.extend import HostFormat, Media, Opaque, Part, Text, ToolCall, ToolResult
from foldline.integrations._content import as_json, content_now, in_place, inside, words_of

CALLING = "Calling tools:\n"
"""How smolagents begins the text that says an agent's calls."""


def read(native: ChatMessage) -> Message:
    """What a message says. Calls and outputs are texts without ids here, and go together by their places."""
    role = str(getattr(native.role, "value", native.role))
    content = [native.content] if isinstance(native.content, str) else native.content or []
    parts = tuple(map(_part, content))
    if role == "tool-call":
        return Message("assistant", tuple(_calls(native)) or parts)
    if role == "tool-response":
        return Message("tool", (ToolResult("", inside(parts)),))
    known: Any = role
    return Message(known, parts)


def _part(item: Any) -> Part:
    if isinstance(item, str):
        return Text(item)
    if item.get("type") == "text":
        return Text(item["text"])
    if item.get("type") in ("image", "image_url"):
        return Media("image", {key: value for key, value in item.items() if isinstance(value, (str, dict))})
    return Opaque({"type": str(item.get("type")), "said": repr(item)})


def _calls(native: ChatMessage) -> list[ToolCall]:
    functions = [call["function"] for call in _said(native)]
    return [ToolCall("", str(each["name"]), as_json(each["arguments"])) for each in functions]


def _said(native: ChatMessage) -> list[dict[str, Any]]:
    """The calls that a text names; none where it cannot be read."""
    try:
        said: Any = next(iter(native.content or ()))
        calls = literal_eval(said["text"].removeprefix(CALLING))
        return calls if all({"name", "arguments"} <= {*call["function"]} for call in calls) else []
    except (ValueError, SyntaxError, TypeError, LookupError, StopIteration):
        return []


def made(message: Message) -> ChatMessage:
    """A message that says what a fold made."""
    return ChatMessage(MessageRole(message.role), [{"type": "text", "text": words_of(message)}])


def edited(native: ChatMessage, was: Message, now: Message) -> ChatMessage:
    """A copy that says what it says now."""
    if calls := _said(native):
        now_said = [json.loads(call.arguments) for call in now.calls]
        shown = [{**c, "function": {**c["function"], "arguments": said}} for c, said in zip(calls, now_said)]
        return replace(native, content=[_text(next(iter(native.content)), CALLING + str(shown))])
    (before, after) = ([part for r in m.results for part in r.parts] or m.parts for m in (was, now))
    stand = after if len(before) == len(after) else in_place(was, now)
    return replace(native, content=content_now(native.content or [], before, stand, _text))


def _text(item: Any, said: str) -> Any:
    return {**item, "text": said} if isinstance(item, dict) and "text" in item else {"type": "text", "text": said}


FORMAT: HostFormat[ChatMessage] = HostFormat(read, made, edited)
