"""What a model is told when it writes a summary: the rules, and the conversation as fenced data."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Sequence
from pkgutil import get_data
from typing import NamedTuple

from foldline._facts.speech import clean
from foldline._messages import Media, Message, Part, Text, ToolCall, ToolResult, text_of
from foldline._tokens.estimate import estimate
from foldline._view import Brief
from foldline._wording import Wording

OUTPUT = 2_400
ARGUMENTS = 600
"""Characters of a tool's output, and of a call's arguments, that a model sees; what is longer keeps its head and tail."""

WORDS = 0.7
"""Words for each token: a little less than English has, since models count words badly."""

_SAID: dict[str, str] = tomllib.loads((get_data(__package__, "prompt.toml") or b"").decode())
"""What a model is told, in its words."""

SECTIONS = tuple(re.findall(r"(?m)^## (.+)$", _SAID["page"]))
"""The headings that a model's summary has; what code adds may bring others."""

RULES = "\n\n".join(_SAID[name] for name in ("task", "fenced", "page"))

_NOTE = re.compile(r"\n*\[folded: \d+ messages, [^\]\n]*\]\s*\Z")


class PromptParts(NamedTuple):
    """What stands before the material, and the headings that it asks for."""

    rules: str
    sections: tuple[str, ...] = ()


def asked(wording: Wording, instructions: str = "", prompt: str | None = None) -> PromptParts:
    """What is asked: our rules, a policy's prompt in their place, or the user's own; instructions are added."""
    if prompt is not None:
        return PromptParts(added(prompt, instructions))
    if wording.prompt is not None:
        return PromptParts(added(f"{wording.prompt}\n\n{_SAID['fenced']}", instructions), wording.sections)
    if wording.points is not None:
        return PromptParts(added(f"{_SAID['task']}\n\n{_SAID['fenced']}\n\n{form(wording)}", instructions))
    return PromptParts(added(RULES, instructions), SECTIONS)


def form(wording: Wording) -> str:
    """What a summary has to look like: a page with its headings, or a few points."""
    if wording.points is None:
        return _SAID["page"]
    least, most = wording.points
    return _SAID["points"].format(least=least, most=most)


def riding(
    brief: Brief, told: Sequence[Message], kept: Sequence[Message], instructions: str, prompt: str | None, language: str
) -> str:
    """What stands behind a conversation that is sent as it is, in place of the rules and the material.

    `told` is to be summarized; `kept`, the newest messages, stay beside the summary, which is to leave them out.
    """
    said = prompt if prompt is not None else brief.wording.prompt
    said = f"{_SAID['task']}\n\n{form(brief.wording)}" if said is None else said
    text = f"{_SAID['riding']}\n\n{said}"
    lines = [added(text, instructions), "", *([_SAID["update"]] if summary_in(told) else [])]
    if kept:
        begin = " ".join(kept[0].text.split())[:80]
        whence = f", from the {kept[0].role}'s that begins with “{begin}”" if begin else ""
        lines.append(f"The newest {len(kept)} messages before this one{whence} stay: leave out what only they say.")
    return clean("\n".join([*lines, *_wishes(brief, language)]))


def added(text: str, instructions: str) -> str:
    return f"{text}\n\nThe user of this library adds:\n{instructions.strip()}" if instructions.strip() else text


def request(brief: Brief, previous: str, told: Sequence[str], mark: str, *, language: str = "") -> str:
    """The material between its fences, and what is to be done with it; `told` stands under the same `mark`."""
    earlier = [f"#{mark} previous summary\n{previous.strip()}"] if previous.strip() else []
    lines = [f"=== {mark} ===", *earlier, *told, f"=== {mark} ===", ""]
    lines.append(_SAID["update"] if earlier else "Write the summary of this conversation.")
    return clean("\n".join([*lines, *_wishes(brief, language)]))


def _wishes(brief: Brief, language: str) -> Iterator[str]:
    """How long a summary may be, in which language, and what it must keep or avoid."""
    words = max(40, int((brief.max_tokens - brief.reserved) * WORDS))
    yield f"At most {words} words." + (f" Write in {language}." if language else "")
    if brief.focus:
        yield f"The user asks to keep above all: {' '.join(brief.focus.split())}"
    if brief.faults:
        yield from ("A first draft was refused. Avoid this:", *(f"- {fault}" for fault in brief.faults))


def fence(texts: Sequence[str]) -> str:
    """A random token that stands in none of the texts."""
    while True:
        mark = os.urandom(6).hex()
        if not any(mark in text for text in texts):
            return mark


def tell(messages: Sequence[Message], mark: str, most: int) -> list[str]:
    """Each message as text under a line with the mark, its number and its role; thinking is left out.

    A message that alone is over `most` tokens is named as such, and keeps its head and tail.
    """
    return [_told(i, message, mark, most) for i, message in enumerate(messages, 1)]


def summary_in(messages: Sequence[Message]) -> str:
    """The text of the newest summary among the messages, without the note that ends it; empty where there is none."""
    at = max((i for i, message in enumerate(messages) if message.summary), default=0)
    before = messages[max(at - 1, 0) : at]
    beside = [*(m for m in before if (s := m.summary) and s.source), *messages[at : at + 1]]
    found = "\n\n".join(s.text for message in beside if (s := message.summary) and s.text)
    return _NOTE.sub("", found)


def sampled(text: str, characters: int) -> str:
    """A text of at most about so many characters: two thirds from its head, one from its tail, and what is cut between."""
    if len(text) <= characters:
        return text
    head, tail = characters * 2 // 3, characters // 3
    return f"{text[:head]}\n… [{len(text) - head - tail:,} characters left out] …\n{text[-tail:]}"


def _told(number: int, message: Message, mark: str, most: int) -> str:
    body = "\n".join(filter(None, (_part(part) for part in message.parts)))
    size = estimate(body)
    head = f"#{mark} {number} {message.role}"
    if size > most:
        head += f" (too long to be shown whole: about {size:,} tokens, its head and tail follow)"
        body = sampled(body, most * 3)
    return f"{head}\n{body}"


def _part(part: Part) -> str:
    match part:
        case Text(text):
            return text
        case ToolCall(_, name, arguments):
            return f"[calls {name} {sampled(arguments, ARGUMENTS)}]"
        case ToolResult(name=name, error=error):
            answer = "failed" if error else "answered"
            return f"[{name or 'tool'} {answer}]\n{sampled(text_of(part), OUTPUT)}"
        case Media(kind):
            return f"[{kind}]"
        case _:
            return ""
