"""Messages of small conversations, written by hand."""

from __future__ import annotations

import json
from typing import Any

from foldline import Message
from foldline.extend import Text, ToolCall, ToolResult


def user(text: str) -> Message:
    """What stands in the user's role."""
    return Message("user", (Text(text),))


def says(text: str) -> Message:
    """A reply without a call."""
    return Message("assistant", (Text(text),))


def runs(
    name: str, arguments: dict[str, Any] | str, answer: str = "ok", *, error: bool = False, id: str = "c"
) -> list[Message]:
    """A call and its answer."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return [
        Message("assistant", (ToolCall(id, name, text),)),
        Message("tool", (ToolResult(id, (Text(answer),), error),)),
    ]


def bash(command: str, answer: str = "", *, error: bool = False) -> list[Message]:
    """A command line and what it put out."""
    return runs("bash", {"command": command}, answer, error=error)
