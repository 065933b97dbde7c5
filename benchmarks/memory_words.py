"""What `memory` looks for: the texts of a message, and the literals in a text. Shares no code with what it measures."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from foldline.messages import Message, Summary, Text, Thinking, ToolCall, ToolResult

_TOKEN = re.compile(r"[A-Za-z0-9_~@$./:#-]{3,160}")
_QUOTED = re.compile(r"\"([^\"\n\\]{5,48})\"|'([^'\n\\]{5,48})'|`([^`\n\\]{5,48})`")
_PROSE = re.compile(r"[A-Za-z][A-Za-z ,-]*[A-Za-z.!?]")
_PATH = re.compile(r"(?=.*[A-Za-z]{2}).*\w/\w|/\w+/\w|~/\w")
_FILE = re.compile(r"[\w.-]+\.(?!\d)[A-Za-z][A-Za-z0-9]{0,4}")
_NUMBER = re.compile(r"\d{3,}(?:\.\d+)?|\d+\.\d+(?:\.\d+)*")
_NAME = re.compile(r"(?=.{5})(?:[A-Za-z0-9$]*_[A-Za-z0-9_$]+|[a-z]+[A-Z][A-Za-z0-9]*|[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*)")
_MIXED = re.compile(r"(?=.{6})(?=.*\d)(?=.*[a-z])[A-Za-z0-9-]+")
_KINDS = (_PATH, _FILE, _NUMBER, _NAME, _MIXED)


def literals(text: str, *, quoted: bool = False) -> set[str]:
    """The paths, file names, numbers and identifiers in a text, and with `quoted` what stands in quotes there."""
    found = {token.strip(".:-#$") for token in set(_TOKEN.findall(text))}
    words = {token for token in found if len(token) >= 3 and any(kind.fullmatch(token) for kind in _KINDS)}
    words |= {t for t in found if "/" in t and len(t) > 5 and _PATH.match(t)}
    if quoted:
        strings = ("".join(groups).strip() for groups in _QUOTED.findall(text))
        words |= {s for s in strings if len(s) >= 5 and " " in s and _PROSE.fullmatch(s)}
    return words


def stands(text: str, word: str) -> bool:
    """Whether a text holds a word, and not only inside of a longer one."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not (_joins(text[at - 1 : at]) and _joins(word[0])) and not (
            _joins(text[end : end + 1]) and _joins(word[-1])
        ):
            return True
        at = text.find(word, at + 1)
    return False


def _joins(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")


def texts(message: Message) -> Iterator[str]:
    """Everything in a message that a model reads."""
    for part in message.parts:
        match part:
            case Text(text) | Summary(text) | Thinking(text):
                yield text
            case ToolCall():
                yield part.name
                yield written(part)
            case ToolResult(parts=parts):
                yield from (p.text for p in parts if isinstance(p, Text))


def written(call: ToolCall) -> str:
    """What an agent wrote into the arguments of a call, as it stands there once JSON's own escapes are read."""
    try:
        value = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return call.arguments
    return "\n".join(_leaves(value))


def arguments(call: ToolCall) -> dict[str, Any]:
    """The arguments of a call by name; a text alone under the name ""."""
    try:
        value = json.loads(call.arguments)
    except (ValueError, RecursionError):
        value = call.arguments
    return value if isinstance(value, dict) else {"": value if isinstance(value, str) else call.arguments}


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)
