"""What other agents say in their reports, and the files that they say they changed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from foldline._facts.cues import changes_in
from foldline._facts.splitting import split
from foldline._facts.texts import passages
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

_LOOKS = pattern(r"\b(?:review|explor|analy[sz]|research|investigat|audit|inspect|histor|search|assess)", re.IGNORECASE)
"""How an agent is called, or its task, that only looks: what its report tells of files is not its work."""

_RESULT = pattern(r"<(?:task_)?(result|event|summary)>(.*?)</(?:task_)?\1>", re.DOTALL)
"""What a client's notice holds of what another agent said: its answer, else what it was about."""

_TAG = pattern(r"<([\w-]{1,40})>\s*(.*?)\s*(?:</\1>)?", re.DOTALL)
"""A notice that is nothing but a tag around a record."""

_SAID = pattern(r'"(?:[^"\\]|\\.){80,}(?:"|\Z)', re.DOTALL)
"""A text in a record, which may end before it does."""

_ESCAPED = {"n": "\n", "t": "\t", "r": ""}

_CALLED = ("description", "subagent_type", "agent_type", "name", "title")
"""The arguments that say in a few words what another agent is to do, or which one it is."""


def said_in_report(report: str) -> str:
    """What other agents said, without the client's notice or record around it; a record that holds no sentence says nothing."""
    noticed = _TAG.fullmatch(report)
    inside = noticed[2] if noticed else report
    if inside[:1] in ("{", "["):
        return "\n\n".join(_unescaped(text.strip('"')) for text in _SAID.findall(inside) if " " in text)
    return said_in_notice(report)


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
