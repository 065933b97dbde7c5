"""The tool calls and outputs of the OpenAI Responses format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from foldline._messages import Media, Opaque, Part, Text, ToolCall, ToolResult
from foldline._wires.shape import BARE, Shape, content_in, content_out, extra_of, from_json, item_of, to_json, verbatim


def _calls(name: str, body: str) -> tuple[Shape, str]:
    return Shape(("type", "call_id", body), 3), name


CALLS: dict[str, tuple[Shape, str]] = {
    "function_call": (Shape(("type", "call_id", "name", "arguments"), 4), ""),
    "custom_tool_call": (Shape(("type", "call_id", "name", "input"), 4), ""),
    "local_shell_call": _calls("local_shell", "action"),
    "shell_call": _calls("shell", "action"),
    "apply_patch_call": _calls("apply_patch", "operation"),
    "computer_call": _calls("computer", "action"),
    "tool_search_call": _calls("tool_search", "arguments"),
    "program": _calls("program", "code"),
    "mcp_approval_request": (Shape(("type", "id", "name", "arguments"), 4), ""),
}
"""The shape of each kind of call, and the tool's name where the item states none.

The second key of a shape is the call's id, the last one its arguments.
"""

OUTPUTS: dict[str, Shape] = {
    "function_call_output": Shape(("type", "call_id", "output"), 3),
    "custom_tool_call_output": Shape(("type", "call_id", "output"), 3),
    "local_shell_call_output": Shape(("type", "id", "output"), 3),
    "shell_call_output": Shape(("type", "call_id", "output"), 3),
    "apply_patch_call_output": Shape(("type", "call_id", "output"), 2),
    "computer_call_output": Shape(("type", "call_id", "output"), 3),
    "tool_search_output": Shape(("type", "call_id", "tools"), 3),
    "program_output": Shape(("type", "call_id", "result"), 3),
    "mcp_approval_response": Shape(("type", "approval_request_id"), 2),
}
"""The shape of each kind of output: the second key is the id of its call, the third what the tool said."""

MCP = "mcp_call"
MCP_CALL = Shape(("type", "id", "name", "arguments", "output"), 4)
"""A call that OpenAI ran itself, with its output."""

_PLAIN_CALL, _PLAIN_OUTPUT = "function_call", "function_call_output"
_DATA = frozenset(("shell_call_output", "tool_search_output"))
"""Outputs that are lists of data, not of content parts; their JSON text stands in for them."""

JSON = "json"
"""The mark of a value that its JSON text stands for."""

ONE = "one"
"""The mark of an output that is a part itself and not a list of them."""

BLANK = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=="
)
"""One pixel: the output of a computer must be a screenshot, also where a fold put words in its place."""


# -- decode -------------------------------------------------------------------------------------------------------


def call_in(item: Mapping[str, object], kind: str) -> tuple[ToolCall, dict[str, object]] | None:
    """The call that an item says, and the extra of its message; None where it must stay as it is."""
    shape, fixed = CALLS[kind]
    id_key, body = shape.keys[1], shape.keys[-1]
    id, name = item.get(id_key), fixed or item.get("name")
    if not isinstance(id, str) or not isinstance(name, str) or body not in item:
        return None
    marks: dict[str, object] = {} if kind == _PLAIN_CALL else {"type": kind}
    arguments = item[body]
    if not isinstance(arguments, str):
        marks[body] = JSON
        if (arguments := to_json(arguments)) is None:
            return None
    return ToolCall(id, name, arguments), extra_of(item, shape, marks)


def output_in(
    item: Mapping[str, object], kind: str, part_in: Callable[[object], Text | Media | Opaque]
) -> tuple[ToolResult, dict[str, object]] | None:
    """The result that an item says, and the extra of its message; None where it must stay as it is."""
    shape = _output_shape(kind, item)
    call_id = item.get(shape.keys[1])
    if not isinstance(call_id, str):
        return None
    marks: dict[str, object] = {} if kind == _PLAIN_OUTPUT else {"type": kind}
    parts: tuple[Text | Media | Opaque, ...] = ()
    body = shape.keys[-1]
    if len(shape.keys) == 3 and body in item:
        parts, mark = _said_in(item[body], kind, part_in)
        if mark:
            marks[body] = mark
    return ToolResult(call_id, parts, item.get("status") == "failed"), extra_of(item, shape, marks)


def _output_shape(kind: str, keys: Mapping[str, object]) -> Shape:
    """The shape of an output; a local shell's names its call by either of two keys."""
    return OUTPUTS["function_call_output" if kind == "local_shell_call_output" and "call_id" in keys else kind]


def _said_in(
    value: object, kind: str, part_in: Callable[[object], Text | Media | Opaque]
) -> tuple[tuple[Text | Media | Opaque, ...], object]:
    if kind in _DATA and isinstance(value, list) and (text := to_json(value)) is not None:
        return (Text(text),), JSON
    if isinstance(value, dict):
        part = part_in(value)
        return (Opaque(verbatim(value)) if type(part) is Text else part,), ONE
    return content_in(value, part_in)


def mcp_in(item: Mapping[str, object]) -> tuple[tuple[ToolCall, ToolResult], dict[str, object]] | None:
    """The call and the result that an item says, and the extra of its message; None where it must stay as it is."""
    id, name, arguments, output = (item.get(key) for key in MCP_CALL.keys[1:])
    if not isinstance(id, str) or not isinstance(name, str) or not isinstance(arguments, str):
        return None
    marks: dict[str, object] = {"type": MCP}
    if not isinstance(output, str) and "output" in item:
        marks["output"] = {"is": output}
    parts = (Text(output),) if isinstance(output, str) else ()
    failed = item.get("error") is not None
    return (ToolCall(id, name, arguments), ToolResult(id, parts, failed, name)), extra_of(item, MCP_CALL, marks)


# -- encode -------------------------------------------------------------------------------------------------------


def call_out(call: ToolCall, extra: Mapping[str, object]) -> dict[str, object]:
    """The item that says a call in the shape of `extra`."""
    kind = extra.get("type")
    kind = kind if kind in CALLS else _PLAIN_CALL
    shape, _ = CALLS[kind]
    body = shape.keys[-1]
    arguments = from_json(call.arguments, call.arguments) if extra.get(body) == JSON else call.arguments
    values = {"type": kind, shape.keys[1]: call.id, "name": call.name, body: arguments}
    return item_of({key: values[key] for key in shape.keys}, extra, shape)


def output_out(
    result: ToolResult, extra: Mapping[str, object], part_out: Callable[[Part], object]
) -> dict[str, object]:
    """The item that says a result in the shape of `extra`."""
    kind = extra.get("type")
    kind = kind if kind in OUTPUTS else _PLAIN_OUTPUT
    shape = _output_shape(kind, extra)
    fields: dict[str, object] = {"type": kind, shape.keys[1]: result.call_id}
    void: dict[str, object] = {}
    if len(shape.keys) == 3:
        body = shape.keys[2]
        if result.parts or shape.always == 3:
            fields[body] = _said_out(result.parts, extra.get(body), kind, part_out)
        void = {body: ""}
    return item_of(fields, extra, shape, void)


def _said_out(parts: Sequence[Part], mark: object, kind: str, part_out: Callable[[Part], object]) -> object:
    part = parts[0] if len(parts) == 1 else None
    if mark in (ONE, BARE) and type(part) in (Media, Opaque):
        return verbatim(part.source)  # type: ignore[union-attr]
    if mark == JSON and type(part) is Text:
        return _data_out(part.text, kind)
    if kind == "computer_call_output" and mark == ONE and type(part) is Text:
        return {"type": "computer_screenshot", "image_url": BLANK}
    return content_out(parts, mark, part_out, "")


def _data_out(text: str, kind: str) -> list[object]:
    """The data that its JSON text stands for; words that a fold put there are what a shell printed, and no tools."""
    data = from_json(text, None)
    if isinstance(data, list):
        return data
    printed = {"stdout": text, "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
    return [printed] if kind == "shell_call_output" else []


def mcp_out(parts: Sequence[Part], extra: Mapping[str, object]) -> dict[str, object] | None:
    """The item that says a call with its result, or None where the parts are not that."""
    match parts:
        case [ToolCall(id, name, arguments), ToolResult(call_id, said)] if id == call_id:
            fields: dict[str, object] = {"type": MCP, "id": id, "name": name, "arguments": arguments}
            if said:
                fields["output"] = "\n".join(part.text for part in said if type(part) is Text)
            return item_of(fields, extra, MCP_CALL)
    return None
