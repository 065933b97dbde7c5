"""What binds the agent at a call: rules that the user gave, steps of its plan that are open, failures that were not mended.

They are read without foldline's own eyes, so that what a policy keeps is not measured by what foldline looks for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from foldline import Message
from foldline.extend import text_of

SHORT = 12
"""Characters below which a line says nothing that could be missed."""

LONG = 400
"""Characters above which a line is a text that holds a rule among others, and no rule."""

_RULE = re.compile(
    r"\b(?:never|always|must|mustn't|do not|don't|from now on|under no circumstances"
    r"|nunca|siempre|jamais|toujours|niemals|niemand darf|auf keinen fall|sempre|jangan|selalu|harus)\b"
    r"|必须|不要|不得|禁止|请勿|绝不|必ず|しないで|してはいけない|반드시|하지 마|절대",
    re.IGNORECASE,
)

_WORDS = ("content", "step", "title", "text", "task", "description")
_OPEN = ("pending", "in_progress", "in-progress", "open", "todo", "not_started", "not-started")
"""The fields of a plan's step that hold its words, and the states of one that is open, as the tools of agents spell them."""


class Held(NamedTuple):
    """A text that binds, and the place of the message that said it."""

    place: int
    text: str


def lines_of(message: Message) -> list[str]:
    """The lines of a message that say something."""
    return [line for line in map(str.strip, message.text.splitlines()) if len(line) >= SHORT]


def rules(messages: Sequence[Message]) -> list[Held]:
    """The lines of the user's that say what always or never to do."""
    return [
        Held(place, line)
        for place, message in enumerate(messages)
        if message.speaker == "user"
        for line in lines_of(message)
        if len(line) <= LONG and _RULE.search(line)
    ]


def state(messages: Sequence[Message]) -> list[Held]:
    """The open steps of the newest plan, and the failures since the user's last message that no later try mended."""
    plans: dict[str, list[Held]] = {}
    failures: dict[tuple[str, str], Held] = {}
    calls: dict[str, tuple[str, str]] = {}
    for place, message in enumerate(messages):
        if message.speaker == "user":
            failures.clear()
        for call in message.calls:
            calls[call.id] = call.name, call.arguments
            if (steps := [*_steps(call.arguments)]) or call.name in plans:
                plans[call.name] = [Held(place, words) for words, open in steps if open]
        for result in message.results:
            if (call_of := calls.get(result.call_id)) is not None:
                failures.pop(call_of, None)
                last = text_of(result).strip().rpartition("\n")[2].strip()
                if result.error and SHORT <= len(last) <= LONG:
                    failures[call_of] = Held(place, last)
    return [*(held for steps in plans.values() for held in steps), *failures.values()]


def _steps(arguments: str) -> Iterator[tuple[str, bool]]:
    """The steps of a plan that a call writes, each with whether it is open."""
    if '"status"' not in arguments:
        return
    try:
        given: Any = json.loads(arguments)
    except (ValueError, RecursionError):
        return
    for listed in given.values() if isinstance(given, Mapping) else ():
        for step in listed if isinstance(listed, list) else ():
            if isinstance(step, Mapping) and isinstance(status := step.get("status"), str):
                words = next((w.strip() for key in _WORDS if isinstance(w := step.get(key), str)), "")
                if len(words) >= SHORT:
                    yield words, status.lower() in _OPEN
