"""Words of the user that stand in a file, which the agent then read: long ones that a client put there, and a task of which only the file
is named."""

from __future__ import annotations

import re
from collections.abc import Sequence

from foldline._facts.answers import unframed
from foldline._facts.outcomes import edges
from foldline._facts.speakers import spans_of
from foldline._facts.speech import clean
from foldline._messages import Message
from foldline._patterns import pattern

_NAMED = pattern(r"^## ([^\n]*): (/[^\n]*/attachments/[^\n]+\.txt)[ \t]*$", re.MULTILINE)
"""How Codex names in a message what was pasted into it: how that begins, and the file that holds it."""

_FILE = re.compile(r"\.(?:md|txt)", re.IGNORECASE)
_ONLY = pattern(
    r"(?:(?:please )?(?:read|follow|do|solve|see)(?: and (?:do|solve|follow) it)?:? )?[`@]?(?P<path>[\w~./-]*\w\.(?:md|txt))`?\.?",
    re.IGNORECASE,
)
"""A request that says no more than in which file the task stands."""

_WORDS = 4
"""Words of how it begins by which it is found in what a call read, which may hold other files before it."""

_SHORT, _TEMPLATE = 120, 8_000
"""Characters of such a request, and of a template around it."""

_READ = 8_000
"""Characters that are read of such a file."""


def attached(messages: Sequence[Message]) -> dict[int, str]:
    """What the user pasted, by the number of the message whose client made a file of it; what was never read is not known."""
    named: dict[str, tuple[int, str]] = {}
    found: dict[int, str] = {}
    asked: dict[str, tuple[int, str]] = {}
    for at, message in enumerate(messages):
        if message.role == "user" and "/attachments/" in message.text:
            named.update((path, (at, title)) for title, path in _NAMED.findall(message.text))
        elif message.role == "user" and (path := _only_named(message.text)):
            named[path] = at, ""
        for call in message.calls if named else ():
            asked.update((call.id, to) for path, to in named.items() if path in call.arguments and to[0] not in found)
        for result in message.results if asked else ():
            if (to := asked.pop(result.call_id, None)) is not None and not result.error:
                found.setdefault(to[0], _from(to[1], unframed(clean(edges(result, _READ)))))
    return {at: text for at, text in found.items() if text}


def _only_named(text: str) -> str:
    """The file in which a task stands of which a message says no more; empty where it says more."""
    if len(text) > _TEMPLATE or not _FILE.search(text):
        return ""
    said = "\n".join(span.text for span in spans_of(text) if span.by == "user")
    found = _ONLY.fullmatch(said.strip()) if len(said) <= _SHORT else None
    return found["path"] if found else ""


def _from(title: str, text: str) -> str:
    """A text from where that begins which a title names; all of it where the title is not found."""
    words = title.rstrip("…").split(" ")[: -1 if title.endswith("…") else None][:_WORDS]
    begins = re.search(r"\s+".join(map(re.escape, words)), text) if words else None
    return text[begins.start() if begins else 0 :].strip()
