"""Tool calls of agents that act by text: a fenced command, an XML element, an `Action:` line, a record of keys to be typed."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from foldline._facts.patterns import rare
from foldline._messages import ToolCall
from foldline._patterns import pattern

_FENCED = pattern(r"```[\w-]*\n(.*?)\n?```[ \t]*$", re.DOTALL | re.MULTILINE)
_TAGGED = pattern(r"^<command>\n(.*?)\n</command>$", re.DOTALL | re.MULTILINE)
_ELEMENT = pattern(r"<(\w+)>\s*((?:<(\w+)>.*?</\3>\s*)+)</\1>", re.DOTALL)
_CHILD = pattern(r"<(\w+)>(.*?)</\1>", re.DOTALL)
_FUNCTION = pattern(r"<function=(\w+)>(.*?)</function>", re.DOTALL)
_PARAMETER = pattern(r"<parameter=(\w+)>(.*?)</parameter>", re.DOTALL)
_ACTION = pattern(
    r"^(?:Action|ACTION): *([\w.-]+)(?:\[(.*)\]|\((.*)\)|(?:.*\n(?:Action Input|ACTION INPUT): *(.+)))?$", re.MULTILINE
)
_EDITOR = pattern(
    r"(?:(?P<tool>open|create) (?P<path>[^\s-]\S*)(?: \d+)?|edit(?: (?P<target>[^\s:]+))?(?: \d+:\d+)?\n(?P<text>.*?)\n?(?:end_of_edit)?)",
    re.DOTALL,
)
"""The commands of SWE-agent's editor: for the file that it names, and for the one that is open."""

_TYPED = pattern(r'"keystrokes"\s*:\s*("(?:[^"\\]|\\.)*")|<keystrokes[^<>\n]*>(.*?)</keystrokes>', re.DOTALL)
_SAYING = pattern(r'"analysis"\s*:\s*("(?:[^"\\]|\\.)*")|<analysis>(.*?)</analysis>', re.DOTALL)
_RECORD = rare(r'(?:```(?:json)?\s*)?\{\s*"(?:analysis|plan|commands)"|(?:```(?:xml)?\s*)?<response>')
"""What Terminus types, what it says with that, and how the record begins in which both stand."""

_SHELLS = frozenset({"shell", "bash", "sh", "run", "terminal", "execute"})


class Acting(NamedTuple):
    """What an agent says beside its call, and the call."""

    words: str
    call: ToolCall


def call_in(text: str) -> Acting | None:
    """The call that a reply of an agent makes which acts by text, the last one of several; None where it makes none."""
    text = text[:60_000]
    if (record := _RECORD.search(text)) and (typed := "".join(_strings(_TYPED, text))):
        words = (text[: record.start()], *_strings(_SAYING, text))
        return Acting("\n".join(filter(None, map(str.strip, words))), _call("bash", {"command": typed.strip()}))
    if found := _last(_FUNCTION, text):
        return _acting(text, found, found[1], {name: value.strip() for name, value in _PARAMETER.findall(found[2])})
    if found := _last(_TAGGED, text) or _last(_FENCED, text):
        return _acting(text, found, *_commanded(found[1].strip()))
    if found := _last(_ELEMENT, text):
        return _acting(text, found, found[1], {name: value.strip() for name, value in _CHILD.findall(found[2])})
    if found := _last(_ACTION, text):
        given = next(filter(None, found.groups()[1:]), "")
        return _acting(text, found, found[1], {"command" if found[1].lower() in _SHELLS else "input": given})
    return None


def _commanded(command: str) -> tuple[str, dict[str, str]]:
    """The tool that a command is for, with what it is given."""
    if not (found := _EDITOR.fullmatch(command)):
        return "bash", {"command": command}
    if path := found["path"]:
        return found["tool"], {"path": path}
    named = {"path": found["target"]} if found["target"] else {}
    return "edit", named | {"new_text": found["text"]}


def _strings(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    """What a pattern finds in JSON or in tags; of a string that is none as it stands."""
    for quoted, tagged in pattern.findall(text):
        try:
            yield json.loads(quoted, strict=False) if quoted else tagged
        except ValueError:
            yield quoted.strip('"')


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return next(iter(deque(pattern.finditer(text), maxlen=1)), None)


def _acting(text: str, found: re.Match[str], name: str, arguments: dict[str, str]) -> Acting:
    return Acting(f"{text[: found.start()]}\n{text[found.end() :]}".strip(), _call(name, arguments))


def _call(name: str, arguments: dict[str, str]) -> ToolCall:
    return ToolCall("", name, json.dumps(arguments))
