"""Tool calls of agents that act by text: a fenced command, an XML element, an `Action:` line."""

from __future__ import annotations

import json
import re
from collections import deque
from typing import NamedTuple

from foldline._messages import ToolCall
from foldline._patterns import pattern

_FENCED = pattern(r"```[\w-]*\n(.*?)\n?```", re.DOTALL)
_ELEMENT = pattern(r"<(\w+)>\s*((?:<(\w+)>.*?</\3>\s*)+)</\1>", re.DOTALL)
_CHILD = pattern(r"<(\w+)>(.*?)</\1>", re.DOTALL)
_FUNCTION = pattern(r"<function=(\w+)>(.*?)</function>", re.DOTALL)
_PARAMETER = pattern(r"<parameter=(\w+)>(.*?)</parameter>", re.DOTALL)
_ACTION = pattern(
    r"^(?:Action|ACTION): *([\w.-]+)(?:\[(.*)\]|\((.*)\)|(?:.*\n(?:Action Input|ACTION INPUT): *(.+)))?$", re.MULTILINE
)
_SHELLS = frozenset({"shell", "bash", "sh", "run", "terminal", "execute"})


class Acting(NamedTuple):
    """What an agent says beside its call, and the call."""

    words: str
    call: ToolCall


def call_in(text: str) -> Acting | None:
    """The call that a reply of an agent makes which acts by text, the last one of several; None where it makes none."""
    text = text[:60_000]
    if found := _last(_FUNCTION, text):
        return _acting(text, found, found[1], {name: value.strip() for name, value in _PARAMETER.findall(found[2])})
    if found := _last(_FENCED, text):
        return _acting(text, found, "bash", {"command": found[1].strip()})
    if found := _last(_ELEMENT, text):
        return _acting(text, found, found[1], {name: value.strip() for name, value in _CHILD.findall(found[2])})
    if found := _last(_ACTION, text):
        given = next(filter(None, found.groups()[1:]), "")
        return _acting(text, found, found[1], {"command" if found[1].lower() in _SHELLS else "input": given})
    return None


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return next(iter(deque(pattern.finditer(text), maxlen=1)), None)


def _acting(text: str, found: re.Match[str], name: str, arguments: dict[str, str]) -> Acting:
    return Acting(f"{text[: found.start()]}\n{text[found.end() :]}".strip(), ToolCall("", name, json.dumps(arguments)))
