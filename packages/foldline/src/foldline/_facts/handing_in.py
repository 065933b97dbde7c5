"""How a template around a task says that work is handed in: all of it, in its order, with its exact commands; and how answers look."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from foldline._clipping import cut
from foldline._facts.cues import says_when_done
from foldline._facts.speakers import tool_of
from foldline._facts.splitting import section_end, sentences
from foldline._facts.tool_calls import read_action
from foldline._messages import ToolCall
from foldline._patterns import pattern

_HEADING = pattern(r"(#{1,6})\s+(\S.*)")
_FENCE = pattern(r"\s*(?:```|~~~)")
_TAG = pattern(r"\s*</?[\w-]+>\s*$")
_ITEM, _SIGN = pattern(r"\s*(?:[-*•]|\d{1,3}[.)]) +"), pattern(r"^\s*(?:[-*•]|#{1,6}) +")

_MOST = 4_000
"""Characters of a section that is told as a whole; a longer one holds more than this."""

_TITLE = 56
"""Characters of a first line without a sign at its end that is the title of its paragraph."""

_LEADS = (":", "：")

_FORM = pattern(
    r"^((?![^\n]*\bexample)[^\n]{0,80}\b(?:format|respond|response|answer|reply)\b[^\n]{0,120}:)\s*\n+(\{\n.*?^\}|<(\w+)>\n.*?^</\3>)$",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
"""How a template says that each answer has to look, and the example of one."""

_MOST_FORM, _WORDS = 600, pattern(r'"[^"\n]{48,}"')
"""Characters of such an example that are told, and the texts in it of which only the place is."""


_HANDS_IN = frozenset(("submit", "mark_task_complete", "task_complete", "complete_task"))
_SENTINEL = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""The tools and commands of SWE-agent and of others, and what mini-swe-agent's command prints."""


class HandingIn(NamedTuple):
    """The title of a section that says it, its paragraphs as lines, and the text without it."""

    title: str
    steps: list[str]
    rest: str


def handing_in(template: str) -> HandingIn:
    """The section that begins with what is to be done once all is done; without steps where there is none."""
    lines = template.splitlines()
    for at, line in enumerate(lines):
        heading = _HEADING.match(line)
        if heading is None:
            continue
        end = section_end(lines, at + 1, len(heading[1]))
        body = "\n".join(lines[at + 1 : end])
        first = next(sentences(body[:_MOST]), None)
        if first and len(body) <= _MOST and says_when_done(first.text):
            return HandingIn(heading[2], [*_paragraphs(lines[at + 1 : end])], "\n".join((*lines[:at], *lines[end:])))
    return HandingIn("", [], template)


def hands_in(call: ToolCall) -> bool:
    """Whether with a call the agent hands its work in, which ends the session: what it says with that is its report."""
    command = read_action(call).command
    return tool_of(call) in _HANDS_IN or command.strip() in _HANDS_IN or _SENTINEL in command


def answer_form(template: str) -> str:
    """How each answer has to look, in a line; empty where the template has no example of one."""
    found = _FORM.search(template)
    example = " ".join(_WORDS.sub('"…"', found[2]).split()) if found else ""
    return cut(f"{found[1]} {example}", _MOST_FORM) if found else ""


def _paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """Paragraphs, each on one line; one that leads something in with the code or the list below it."""
    said, apart, listed = "", False, False
    for kind, text in _kinds(lines):
        if kind == "gap":
            apart = True
            continue
        led = listed or said.endswith(_LEADS)
        goes_on = kind == "code" or (led if kind == "item" else not (apart or listed))
        if said and not goes_on:
            yield said
            said = ""
        said = f"{said}; {text}" if listed and kind == "item" else _joined(said, text)
        apart, listed = False, kind == "item" and led
    if said:
        yield said


def _kinds(lines: Iterable[str]) -> Iterator[tuple[Literal["gap", "code", "item", "line"], str]]:
    """Lines without their bullets, each with what it is; tags and the signs around code are as blank ones."""
    fenced = False
    for line in lines:
        if _FENCE.match(line):
            fenced = not fenced
        if not line.strip() or _FENCE.match(line) or _TAG.match(line):
            yield "gap", ""
        elif fenced:
            yield "code", line.strip()
        else:
            yield "item" if _ITEM.match(line) else "line", _SIGN.sub("", line, count=1).strip()


def _joined(said: str, text: str) -> str:
    """A paragraph with one more of its lines."""
    titled = 0 < len(said) <= _TITLE and (said[-1].isalnum() or said[-1] == ")")
    return f"{said}: {text}" if titled else f"{said} {text}".strip()
