"""The tool calls of the OpenAI chat completions format."""

from __future__ import annotations

from typing import Any

from foldline._messages import ToolCall
from foldline._wires.shape import Shape, extra_of, from_json, item_of, to_json

CALL = {
    "function": Shape(("id", "type", "function"), 3),
    "custom": Shape(("id", "type", "custom"), 3),
}
BODY = {
    "function": Shape(("name", "arguments"), 2),
    "custom": Shape(("name", "input"), 2),
}

JSON = "json"
"""The mark of arguments that are a value instead of its JSON text."""


def call_in(item: Any) -> ToolCall | None:
    """The call that an item says, or None where it must stay as it is."""
    if type(item) is dict and tuple(item) == ("id", "type", "function"):
        id, kind, body = item.values()
        if kind == "function" and type(body) is dict and tuple(body) == ("name", "arguments"):
            name, arguments = body.values()
            if type(id) is str and type(name) is str and type(arguments) is str:
                return ToolCall(id, name, arguments)
    return _odd_call_in(item) if isinstance(item, dict) else None


def _odd_call_in(item: dict[str, Any]) -> ToolCall | None:
    kind = item.get("type", "function")
    body = item.get(kind) if kind in ("function", "custom") else None
    if not isinstance(body, dict) or not isinstance(name := body.get("name"), str):
        return None
    text = BODY[kind].keys[1]
    arguments, body_marks = body.get(text, "{}"), {}
    if not isinstance(arguments, str):
        if (arguments := to_json(arguments)) is None:
            return None
        body_marks = {text: JSON}
    marks: dict[str, Any] = {"type": "custom"} if kind == "custom" else {}
    if body_extra := extra_of(body, BODY[kind], body_marks):
        marks[kind] = body_extra
    id = item.get("id", "")
    if id is None:
        id, marks["id"] = "", {"is": None}
    if not isinstance(id, str):
        return None
    return ToolCall(id, name, arguments, extra_of(item, CALL[kind], marks))


def call_out(call: ToolCall) -> dict[str, Any]:
    """The item that says a call in the shape of its extra."""
    if not (extra := call.extra):
        return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
    kind = "custom" if extra.get("type") == "custom" else "function"
    text = BODY[kind].keys[1]
    body_extra = extra.get(kind) or {}
    arguments = from_json(call.arguments, call.arguments) if body_extra.get(text) == JSON else call.arguments
    body = item_of({"name": call.name, text: arguments}, body_extra, BODY[kind], {text: "{}"})
    return item_of({"id": call.id, "type": kind, kind: body}, extra, CALL[kind], {"id": "", "type": "function"})
