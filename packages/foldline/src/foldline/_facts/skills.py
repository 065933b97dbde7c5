"""The skills that an agent took up by reading their files, as agents do that are handed a list of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from foldline._facts.answers import unframed
from foldline._facts.speech import clean
from foldline._facts.tool_calls import read_action
from foldline._messages import Message, ToolCall, ToolResult, text_of
from foldline._patterns import pattern

_FILE = "/SKILL.md"
_OF_AGENTS = pattern(r"(?:^|/)\.[\w-]+/(?:.*/)?([\w:.-]+)/SKILL\.md")
"""The file of a skill below the folder of an agent; one that stands elsewhere may be what is worked on."""

_MATTER = re.compile(r"\A\s*---\n.*?\n---\n", re.DOTALL)
_NUMBERED = re.compile(r"^ *\d+(?:→|\t|: ?)", re.MULTILINE)
"""What stands before every skill, without which an answer only says why there is none, and before each line where a tool numbers them."""


class Skill(NamedTuple):
    """The name of a skill, and its words."""

    name: str
    body: str


class Skills:
    """The skills whose files are read and not written in a run of messages."""

    def __init__(self, messages: Iterable[Message]) -> None:
        calls = [call for message in messages for call in message.calls if _FILE in call.arguments.replace("\\", "/")]
        touched = [touch for call in calls for touch in read_action(call).touches]
        self._worked_on = {path for verb, path, _ in touched if verb != "read"}
        self._reading: dict[str, str] = {}
        self._known: set[str] = set()

    def call(self, call: ToolCall) -> None:
        """Follows a call, which may be one that shows the file of a skill."""
        self._reading.pop(call.id, None)
        if _FILE not in call.arguments.replace("\\", "/"):
            return
        match read_action(call).touches:
            case [("read", path, _), *_] if (found := _OF_AGENTS.search(path)) and path not in self._worked_on:
                self._reading[call.id] = found[1]

    def shown(self, result: ToolResult) -> Skill | None:
        """The skill that a result shows for the first time; None where it shows none."""
        name = self._reading.pop(result.call_id, "")
        if not name or name in self._known or result.error:
            return None
        text = _NUMBERED.sub("", unframed(clean(text_of(result))))
        matter = _MATTER.match(text)
        if matter is None:
            return None
        self._known.add(name)
        return Skill(name, text[matter.end() :].strip())
