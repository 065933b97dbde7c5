"""What other agents say in their reports, and the files that they say they changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from foldline._facts.cues import changes_in
from foldline._facts.patterns import rare
from foldline._facts.splitting import split
from foldline._facts.texts import passages, record_of
from foldline._facts.tool_calls import arguments_of
from foldline._messages import ToolCall
from foldline._patterns import pattern

_FILE = pattern(
    r"(?<![\w/.:@-])(?:~|\.{1,2})?/?(?:[\w@.+-]+/)+[\w@.+-]*\w\.[A-Za-z]\w{0,5}(?![\w/])|(?<=`)[\w.+-]+\.[a-z]\w{0,5}(?=`)"
)
_READ = 8_000
"""Characters of a report that are read."""

_PLACE = pattern(r"\b(?:in|from|to|at|of|across|by|with|for|inside|into|see)\b", re.IGNORECASE)
"""Between a verb and a file: something in the file was made or removed, and not the file."""

_HEADED = pattern(r"[`*)\s]*(?:--|[—–:-])\s")
"""Behind a file that heads what was done in it."""

_CITED = pattern(r":\d|#L\d")
"""Behind a file: a line of it is cited, as reviews do."""

_LOOKS = pattern(
    r"(?:\b|_)(?:(?:re)?review|explor|analy[sz]|research|investigat|audit|inspect|histor|search|assess)", re.IGNORECASE
)
"""How an agent is called, or its task, that only looks: what its report tells of files is not its work."""

_RESULT = pattern(r"<(?:task_)?(result|event|summary)>(.*?)</(?:task_)?\1>", re.DOTALL)
"""What a client's notice holds of what another agent said: its answer, else what it was about."""

_ENVELOPE = pattern(
    r"Message Type: [^\n]*\n(?:Task name: [^\n]*\n)?Sender: ([^\s]+)[^\n]*(?:\nPayload:)?\s*(.*)", re.DOTALL
)
"""How Codex hands on what another agent says: who it is, and the text."""

_LETTER = rare(
    r"<(?:agent|teammate)-message [^>\n]*?(?:from|teammate_id)=\"([^\"\n]{1,60})\"[^>\n]*>(.*?)</(?:agent|teammate)-message>",
    re.DOTALL,
)
"""The same of Claude Code, which says around it what such a message may not do."""

_FINISHED = rare(r"<summary>[^<\"\n]{0,20}\"([^<\"\n]{1,80})\"")
"""How a client's notice names the agent that ended, or its task."""

_TAG = pattern(r"<([\w-]{1,40})>\s*(.*?)\s*(?:</\1>)?", re.DOTALL)
"""A notice that is nothing but a tag around a record."""

_SAID = pattern(r'"(?:[^"\\]|\\.){80,}(?:"|\Z)', re.DOTALL)
"""A text in a record, which may end before it does."""

_ESCAPED = {"n": "\n", "t": "\t", "r": ""}

_MARKS = ("verdict", "validation", "severity", "priority")
"""What a record of findings says of each of them, beside its title."""

_NAME = 60
"""Characters by which another agent is named."""

_CALLED = ("description", "subagent_type", "agent_type", "task_name", "name", "title")
"""The arguments that say in a few words what another agent is to do, or which one it is."""


def said_in_report(report: str) -> str:
    """What other agents said, without the client's frame, notice or record around it; a record that holds no sentence says nothing."""
    framed = _framed(report)
    noticed = None if framed else _TAG.fullmatch(report)
    inside = (framed[2] if framed else noticed[2] if noticed else report).strip()
    if inside[:1] in ("{", "["):
        return _said_in_record(inside)
    return inside if framed else said_in_notice(report)


def named_in_report(report: str) -> str:
    """Who reports, as the client's frame or notice has it; empty where it does not say."""
    found = _framed(report) or (_FINISHED.search(report) if report.startswith("<") else None)
    return found[1].strip().rpartition("/")[2][:_NAME] if found else ""


def task_of(call: ToolCall) -> str:
    """What another agent is called for, in a few words, or which one it is; empty where the call does not say."""
    arguments = arguments_of(call)
    said = (arguments.get(key) for key in _CALLED) if isinstance(arguments, dict) else ()
    return next((each.strip() for each in said if isinstance(each, str) and 0 < len(each.strip()) <= _NAME), "")


def _framed(report: str) -> re.Match[str] | None:
    return _ENVELOPE.match(report) if report.startswith("Message Type: ") else _LETTER.search(report)


def _said_in_record(record: str) -> str:
    """The findings in a record by their titles, with what it says of each; where it has none, its longer texts."""
    titles = [*_titled(record_of(record))]
    texts = () if titles else (_unescaped(text.strip('"')) for text in _SAID.findall(record) if " " in text)
    return "\n".join(titles) or "\n\n".join(texts)


def _titled(value: Any) -> Iterator[str]:
    """What has a title in a record, as items of a list, and the longer texts beside it."""
    if isinstance(value, dict) and isinstance(title := value.get("title"), str):
        marks = [value[key] for key in _MARKS if isinstance(value.get(key), str)]
        yield f"- {', '.join(marks)}: {title}" if marks else f"- {title}"
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _titled(each)


def said_in_notice(notice: str) -> str:
    """What a client's notice says: what another agent answered, what a program printed, else what became of it."""
    held = {found[1]: found[2] for found in _RESULT.finditer(notice)} if notice.startswith("<") else {}
    return held.get("result") or held.get("event") or held.get("summary") or notice


def _unescaped(text: str) -> str:
    """A text out of a record that may have been cut, so that nobody can parse it as a whole."""
    return re.sub(r"\\(.)", lambda found: _ESCAPED.get(found[1], found[1]), text, flags=re.DOTALL).strip()


def only_looked(call: ToolCall) -> bool:
    """Whether another agent was called to look at something, and not to change it."""
    arguments = arguments_of(call)
    return isinstance(arguments, dict) and any(_LOOKS.search(str(arguments.get(key, ""))) for key in _CALLED)


def files_changed(report: str) -> Iterator[tuple[str, str]]:
    """What a report says was done to files: a verb as trails have it, and the path.

    Of a sentence the verb before a path counts, else its first one, else that of the heading over it. A file is created or
    deleted only where it is what the verb is said of.
    """
    for line in passages(report[:_READ]):
        for sentence in split(line.text):
            named = list(_FILE.finditer(sentence))
            own = changes_in(sentence) if named else []
            said = own or (changes_in(line.under)[:1] if named else [])
            for file in named if said else ():
                at, verb = [said[0], *(each for each in said if each[0] < file.start())][-1]
                if verb != "modified" and _CITED.match(sentence, file.end()):
                    continue
                inside = own and (_PLACE.search(sentence, at, file.start()) or _HEADED.match(sentence, file.end()))
                yield "modified" if inside else verb, file[0]
