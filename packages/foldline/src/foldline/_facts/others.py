"""What other agents say in their reports, and the files that they say they changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from foldline._clipping import one_line
from foldline._facts.cues import changes_in
from foldline._facts.patterns import rare
from foldline._facts.splitting import split
from foldline._facts.texts import passages, record_of
from foldline._facts.tool_calls import DELEGATING, arguments_of, withheld, words_of
from foldline._facts.wrappers import ADDRESSED, SENDER
from foldline._messages import ToolCall
from foldline._patterns import pattern

_EXAMPLE = re.compile(r"(?:[a-zA-Z]|foo|bar|baz)\.\w+")
"""A name that stands for any file."""

_FILE = pattern(
    r"(?<![\w/.:@-])(?:~|\.{1,2})?/?(?:[\w@.+-]+/)+[\w@.+-]*\w\.[A-Za-z]\w{0,5}(?![\w/])|(?<=`)[\w.+-]+\.[a-z]\w{0,5}(?=`)"
)
_READ = 8_000
"""Characters of a report that are read."""

_PLACE = pattern(r"\b(?:in|from|to|of|across|by|with|for|inside|into|see)\b", re.IGNORECASE)
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

_HEADED_BY = pattern(
    r"\[(?:from (?:the )?)?(?:(?:sub-?)?agent\b[ :]*)?([\w .-]{0,30}?)(?: agent)?(?: (?:→|->) [^\]\n]*)?(?:,[^\]\n]*)?\][ \t]*\n",
    re.IGNORECASE,
)
"""How hosts put the sender into a line over a report, in brackets."""

_RECORD = pattern(r"[\[{]\s*(?:[\"\[{\]}]|\Z)")
"""How a record begins, which may end before it does."""

_FINISHED = rare(r"<summary>[^<\"\n]{0,20}\"([^<\"\n]{1,80})\"")
"""How a client's notice names the agent that ended, or its task."""

_ENDED = pattern(
    r"\A(?:Subagent '?[\w -]{1,60}'? finished\.?\s*\n(?:Termination Reason:\s*[^\n]*\n)?\s*|\[new_task completed\] )Result:\s*",
    re.IGNORECASE,
)
"""How Gemini CLI and Roo Code begin what they hand on of an agent that ended."""

_TAG = pattern(r"<([\w-]{1,40})((?:\s[^<>\n]*)?)>\s*(.*?)\s*(?:</\1>)?", re.DOTALL)
"""A notice that is nothing but a tag around a record, or a report around which the sender stands in one."""

_SAID = pattern(r'"(?:[^"\\]|\\.){80,}(?:"|\Z)', re.DOTALL)
"""A text in a record, which may end before it does."""

_ESCAPED = {"n": "\n", "t": "\t", "r": ""}

_MARKS = ("verdict", "validation", "severity", "priority")
"""What a record of findings says of each of them, beside its title."""

_TITLES = ("title", "issue", "finding", "problem")
_FIXES = ("fix", "recommendation", "suggestion")
"""What a record calls a finding, and what it says is to be done about it."""

_CONCLUDING = ("verdict", "conclusion", "summary")
"""What a record says in a sentence beside its findings."""

_NAME = 60
"""Characters by which another agent is named."""

_CALLED = ("description", "subagent_type", "agent_type", "task_name", "name", "title")
"""The arguments that say in a few words what another agent is to do, or which one it is."""

_WHICH = ("subagent_type", "agent_type", "agent", "agent_name", "target")
_SHORTLY, ASSIGNING = ("description", "title", "task_name", "name", "id"), ("prompt", "message", "assignment")
"""The arguments that say which agent is asked, in a few words for what, and at length."""

_WRITES_TO = frozenset({"send", "message"})
"""Words in the name of a tool that writes to an agent which was called before."""

_ASKING = 90
"""Characters that are told of what it is asked at length."""

_NOTICES = pattern(r"\AStarted \d+ background|^Output: agent://", re.MULTILINE)
"""How a client says that agents were started, and that they are done: it says nothing of what they found."""

_ANSWER_OF = pattern(r"agent://([\w.@-]{1,60})")
"""Where a client keeps the answer of another agent, by its name."""


def said_in_report(report: str) -> str:
    """What other agents said, without the client's frame, notice or record around it; a record that holds no sentence says nothing."""
    report = _ENDED.sub("", report)
    if ADDRESSED.match(report):
        report = _HEADED_BY.sub("", report, count=1)
    framed = _framed(report)
    noticed = None if framed else _TAG.fullmatch(report)
    inside = (framed[2] if framed else noticed[3] if noticed else report).strip()
    if _RECORD.match(inside):
        return _said_in_record(inside)
    return inside if framed or (noticed and noticed[2]) else said_in_notice(report)


def named_in_report(report: str) -> str:
    """Who reports, as the client's frame or notice has it; empty where it does not say."""
    found = _framed(report) or (_FINISHED.search(report) if report.startswith("<") else None)
    found = found or (_HEADED_BY.match(report) if ADDRESSED.match(report) else None)
    if not found and (tag := _TAG.fullmatch(report)):
        found = SENDER.search(tag[2])
    return found[1].strip().rpartition("/")[2][:_NAME] if found else ""


def task_of(call: ToolCall) -> str:
    """What another agent is called for, in a few words, or which one it is; empty where the call does not say."""
    arguments = arguments_of(call)
    said = (arguments.get(key) for key in _CALLED) if isinstance(arguments, dict) else ()
    return next((each.strip() for each in said if isinstance(each, str) and 0 < len(each.strip()) <= _NAME), "")


def asked_of(call: ToolCall) -> str:
    """Whom a call asks, and for what, in a line; empty where it asks no other agent."""
    arguments, words = arguments_of(call), words_of(call.name)
    if not isinstance(arguments, dict) or not (words & DELEGATING or (words >= _WRITES_TO and "target" in arguments)):
        return ""
    tasks = arguments.get("tasks")
    each = [task for task in tasks if isinstance(task, dict)] if isinstance(tasks, list) else []
    if not each and not any(arguments.get(key) for key in ASSIGNING):
        return ""
    who = _first(arguments, _WHICH).rpartition("/")[2]
    wanted = "; ".join(filter(None, map(_wanted, each or [arguments])))
    return f"asked {f'agent {who}' if who else 'another agent'}{f': {wanted}' if wanted else ''}"


def _wanted(task: Mapping[str, Any]) -> str:
    """What another agent is to do, in a few words where its task has them."""
    said = _first(task, ASSIGNING)
    return _first(task, _SHORTLY) or ("" if withheld(said) else one_line(said, _ASKING))


def _first(arguments: Mapping[str, Any], keys: Iterable[str]) -> str:
    return next((each.strip() for key in keys if isinstance(each := arguments.get(key), str) and each.strip()), "")


def answer_of(call: ToolCall) -> str:
    """The agent whose answer a call reads where its client keeps it; empty for others."""
    found = _ANSWER_OF.search(call.arguments[:_READ]) if "agent://" in call.arguments[:_READ] else None
    return found[1] if found else ""


def is_notice(answer: str) -> bool:
    """Whether a client answers for other agents, and only says where they stand."""
    return _NOTICES.search(answer[:_READ]) is not None


def _framed(report: str) -> re.Match[str] | None:
    return _ENVELOPE.match(report) if report.startswith("Message Type: ") else _LETTER.search(report)


def _said_in_record(record: str) -> str:
    """The findings in a record by their titles, with what it says of each; where it has none, its longer texts."""
    value = record_of(record)
    if titles := [*_titled(value)]:
        return "\n".join([*_concluded(value), *titles])
    return "\n\n".join(_unescaped(text.strip('"')) for text in _SAID.findall(record) if " " in text)


def _concluded(record: Any) -> Iterator[str]:
    """What a record says beside its findings came out."""
    for key in _CONCLUDING:
        said = record.get(key) if isinstance(record, dict) else None
        if isinstance(said, str) and said:
            yield f"{key.capitalize()}: {said}"


def _titled(value: Any) -> Iterator[str]:
    """What has a title in a record, as items of a list, each with what is to be done about it."""
    if isinstance(value, dict) and (title := _first(value, _TITLES)):
        marks = ", ".join(value[key] for key in _MARKS if isinstance(value.get(key), str))
        place, fix = _first(value, ("location",)), _first(value, _FIXES)
        yield f"- {f'{marks}: ' if marks else ''}{title}{f' ({place})' if place else ''}{f' → {fix}' if fix else ''}"
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
        told = line.text.removeprefix(f"{line.under}: ") if line.item and line.under else line.text
        for sentence in split(told):
            named = [each for each in _FILE.finditer(sentence) if not _EXAMPLE.fullmatch(each[0])]
            own = changes_in(sentence) if named else []
            said = own or (changes_in(line.under)[:1] if named else [])
            for file in named if said else ():
                at, verb = [said[0], *(each for each in said if each[0] < file.start())][-1]
                if verb != "modified" and _CITED.match(sentence, file.end()):
                    continue
                inside = own and (_PLACE.search(sentence, at, file.start()) or _HEADED.match(sentence, file.end()))
                yield "modified" if inside else verb, file[0]
