"""The tools that a request offers to its model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from foldline._wires.objects import as_data
from foldline._wrapping.sdk import Fields

_INSIDE = ("function", "toolSpec", "functionDeclarations", "function_declarations")
"""Where the declarations in a tool stand, if they are not the tool itself."""


def one_more(tools: Any, tool: dict[str, Any]) -> list[Any] | None:
    """The tools and another; None where one has its name, or is a function that the library calls itself."""
    known = list(tools) if isinstance(tools, (list, tuple)) else []
    if any(map(callable, known)) or {*_names(as_data(known))} & {*_names([tool])}:
        return None
    return [*known, tool]


def chosen_freely(choice: Any) -> bool:
    """Whether a model may call any tool, or none."""
    kind = choice.get("type") if isinstance(choice, dict) else choice
    return not isinstance(kind, str) or kind == "auto"


def with_tool(fields: Fields, tool: dict[str, Any]) -> Fields | None:
    """The request with one more of its `tools`."""
    if not chosen_freely(fields.get("tool_choice")) or fields.get("n") not in (None, 1):
        return None
    tools = one_more(fields.get("tools"), tool)
    return {**fields, "tools": tools} if tools else None


def _names(tools: list[Any]) -> Iterator[str]:
    for tool in tools:
        if isinstance(tool, Mapping):
            yield from (tool["name"],) if "name" in tool else ()
            for key in _INSIDE:
                inside = tool.get(key) or []
                yield from _names(inside if isinstance(inside, list) else [inside])
