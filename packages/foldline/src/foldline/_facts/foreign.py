"""The facts in a summary that another tool wrote as prose."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from foldline._facts.literals import without_span
from foldline._facts.rules import rules_in
from foldline._facts.speech import clean
from foldline._facts.texts import Nesting, parted
from foldline._facts.types import Facts, File, FileState, Piece, Rule, Section, Todo
from foldline._messages import replace
from foldline._patterns import pattern

_Kind = Section | Literal["read", "modified"]

_LIMIT = 60_000
_LED = 40
"""Characters from which a line that leads in code says something without it."""

_HEADING = pattern(
    r"^(?:#{1,4}\s+(.+?)|(?:\d{1,2}\.\s+)?\*\*([^*\n]{3,60}?):?\*\*:?|\d{1,2}\.\s+([A-Z][^:\n]{3,60}):|([A-Z][A-Z_]{3,40}):|<(overview|history|[a-z]+(?:_[a-z]+)+)>)\s*$"
)
_FILES = pattern(r"<(read|modified)-files>(.*?)</\1-files>", re.DOTALL)
_LINE_END = pattern(r"\n|\\n")
"""A fork of pi joins its paths with the escape, not with the character."""

_WRAPPER = pattern(
    r"</?(?:summary|analysis|context_summary|conversation-summary)>|^</?[A-Z_]{4,40}>[ \t]*$|^</(?:overview|history|[a-z]+(?:_[a-z]+)+)>[ \t]*$|^<checkpoint_title>.*$|^This session is being continued[^\n]*\n?"
    r"|^Summary:[ \t]*$|^If you need specific details from before [^\n]*\n?|^(?:Please )?[Cc]ontinue the conversation from where (?:we|it) left[^\n]*\n?",
    re.MULTILINE,
)
"""What a client puts around a summary: it is no part of what is summed up."""
_ANALYSIS = pattern(r"<analysis>.*?</analysis>|^Analysis:\n.*?^Summary:\n", re.DOTALL | re.MULTILINE)
_BULLET = pattern(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[([ xX~>])\]\s+)?")
_STATES: dict[str, FileState] = {
    "new": "created", "created": "created", "modified": "modified", "edited": "modified", "updated": "modified",
    "changed": "modified", "deleted": "deleted", "removed": "deleted", "read": "read",
}  # fmt: skip
_MARKED = re.compile(
    rf"\s*[-*] [`*]{{1,3}}(?P<path>[^\s`*]*[/.][^\s`*]+)[`*]{{1,4}} \((?P<how>{'|'.join(_STATES)})\b", re.IGNORECASE
)
"""How Claude Code names a file in its summaries, with what was done to it."""

_RULED = 600
"""Characters that are told of a rule."""

_QUOTED = pattern(r"[\"“](.{1,200})[\"”]")
"""A short message as a summary lists it; a long one has lost its lines there."""

_END = "end"
"""A heading behind all others, below which nothing stands."""

_PATH = pattern(r"[`*]*\S*[/.]\S*[`*]*")
_RULE = pattern(r"[-=*_]+")
_OPEN = pattern(
    r"(?i)(?:remaining|pending|next|still (?:needs|to do)|to ?do|in progress|early progress|current)(?: (?:work|steps?|tasks?|items?|updates?|changes?))?:"
)
"""How a line begins that says of itself what was open."""

_GIT = pattern(
    r"(?i)(?:(?:current|working|active|feature|local|git|latest|last|newest|recent|merged|open) ){0,3}"
    r"(?:branch|head|commits?|git (?:state|status)|working (?:tree|copy|directory)|prs|pull requests|version[_ ]control(?:[_ ]status)?)(?: (?:on|in|to|merged|made|so far)\b[^:\n]{0,24})?:"
)
"""How one begins that says where a repository stood."""

_TITLES: tuple[tuple[str, _Kind], ...] = (
    ("next step", "next"), ("pending", "next"), ("to do", "next"), ("todo", "next"), ("remaining", "next"), ("open item", "next"),
    ("in progress", "state"), ("early progress", "state"), ("current work", "state"), ("current state", "state"), ("current task", "state"), ("blocked", "state"),
    ("constraint", "rule"), ("preference", "rule"), ("rules", "rule"), ("instructions", "rule"),
    ("goal", "goal"), ("primary request", "goal"), ("intent", "goal"), ("objective", "goal"), ("original task", "goal"),
    ("original request", "goal"),
    ("done", "done"), ("completed", "done"), ("progress", "done"), ("accomplish", "done"), ("work done", "done"),
    ("decision", "decision"), ("error", "decision"), ("problem", "decision"), ("finding", "decision"), ("discover", "decision"),
    ("read-files", "read"), ("files read", "read"), ("modified", "modified"), ("files changed", "modified"),
    ("created", "modified"), ("new files", "modified"), ("context", "context"), ("technical", "context"), ("file", "files"),
    ("user messages", "messages"), ("reference", "context"),
)  # fmt: skip


class _Section(NamedTuple):
    """What stands below one heading; `over` are the headings over it without words of their own."""

    title: str
    kind: _Kind
    level: int
    lines: list[str]
    over: str = ""


def facts_of_prose(text: str) -> Facts:
    """What a foreign summary says, line by line as it stands, with its files, rules and open steps; none of it is a request."""
    text = _ANALYSIS.sub("", clean(text[:_LIMIT]))
    files: dict[str, File] = {}
    for found in _FILES.finditer(text):
        state: Literal["read", "modified"] = "read" if found[1] == "read" else "modified"
        for line in map(str.strip, _LINE_END.split(found[2])):
            if line and not line.startswith("…"):
                path = without_span(line)
                files[path] = File(path, state, {state: 1})
    pieces: list[Piece] = []
    rules: list[Rule] = []
    todos: list[Todo] = []
    for part, section in enumerate(_sections(_WRAPPER.sub("", _FILES.sub("", text)))):
        kind, said = section.kind, [*map(_bare, section.lines)]
        if kind == "read" or kind == "modified":
            paths = (each.split("`")[1] if each.count("`") >= 2 else each.split(" ")[0].rstrip(":,") for each in said)
            files = {path: File(path, kind, {kind: 1}) for path in paths if "/" in path or "." in path} | files
            continue
        if kind == "files":
            files = dict(_marked(section.lines)) | files
        rules += (Rule(text, 0, "summary") for text in _rules(kind, said))
        if kind == "next":
            bullets = zip(said, map(_BULLET.match, section.lines))
            steps = ((each, bullet[1]) for each, bullet in bullets if bullet and bullet[1])
            todos += [Todo(each[:300], "done" if box in "xX" else "pending") for each, box in steps]
        if kind != "rule":
            pieces += _told(section, kind, part)
    return Facts(files=tuple(files.values()), rules=tuple(rules), todos=tuple(todos), pieces=tuple(pieces), end=1)


_UNTICKED = "[ ] "
"""What stands before an item that is not done in a list of others that are."""


def _marked(lines: Iterable[str]) -> Iterator[tuple[str, File]]:
    """The files of which the lines say beside their names how they were left."""
    for found in filter(None, map(_MARKED.match, lines)):
        state = _STATES[found["how"].lower()]
        yield found["path"], File(found["path"], state, {state: 1})


def with_prose(facts: Facts, text: str) -> Facts:
    """The facts with what a model wrote of them, which later pages carry on beside them."""
    prose = facts_of_prose(text)
    at = max(0, facts.end - 1)
    return replace(facts, pieces=(*facts.pieces, *(replace(piece, at=at) for piece in prose.pieces)))


def _told(section: _Section, kind: Section, part: int) -> Iterator[Piece]:
    """The lines of a section as pieces, each item as far in as it stood; the first one has the heading before its words, which
    leads in its items where no other line stands between."""
    nested, title, lead = Nesting(), section.title, f"{section.title}: " if section.title else ""
    under, inside = title, -1
    for line in _saying(section.lines):
        bare, indent, bullet = _bare(line), len(line) - len(line.lstrip()), _BULLET.match(line)
        item = bullet is not None
        bare = f"{_UNTICKED}{bare}" if bullet and bullet[1] == " " and kind != "next" else bare
        goes_on = not item and 0 <= inside < indent
        if item:
            nested.entered(indent)
            inside = indent
        elif not goes_on:
            under, inside = "", -1
        words = bare.replace("*", "")
        mark: Section = "next" if _OPEN.match(words) else "git" if _GIT.match(words) else kind
        for place, each in enumerate(parted(f"{lead}{bare}")):
            told = Piece(each, 0, part, "summary", "summary", open=mark in ("next", "state"), section=mark)
            if place or goes_on:
                yield told
            else:
                over, led = section.over if lead else "", under if item else title
                yield replace(told, item=item, begins=True, depth=nested.depth if item else 0, over=over, under=led)
        lead = ""


def _saying(lines: Sequence[str]) -> Iterator[str]:
    """The lines but for items that lead in what is not told of them: code, mostly."""
    for line, below in zip(lines, [*lines[1:], ""]):
        deeper = len(below) - len(below.lstrip()) > len(line) - len(line.lstrip())
        if deeper or not (_BULLET.match(line) and line.rstrip(" *").endswith(":")):
            yield line


def _bare(line: str) -> str:
    """The words of a line without the signs of its list."""
    return _BULLET.sub("", line, count=1).strip()


def _sections(text: str) -> Iterator[_Section]:
    """The sections that say something; one whose heading names no kind is of that of the heading over it."""
    above: list[_Section] = []
    passed: list[_Section] = []
    section = _Section("", "context", 0, [])
    for line, level, title in (*_lines(text), ("", 0, _END)):
        if not title:
            section.lines.extend([line] if _says(_bare(line)) else ())
            continue
        if section.lines:
            yield section._replace(over="\n".join(each.title for each in passed if each is not section))
            passed.clear()
        above = [each for each in above if each.level < level]
        passed = [each for each in passed if each.level < level]
        kind = _kind_of(title) or (above[-1].kind if above else "context")
        section = _Section(title.strip(" :*"), kind, level, [])
        above.append(section)
        passed.append(section)


def _rules(kind: Section, said: Iterable[str]) -> Iterator[str]:
    """The rules in the lines of a section: all of one of rules, and what lasts of the user's short messages where they are quoted."""
    if kind == "rule":
        yield from (each[:_RULED] for each in said)
    elif kind == "messages":
        typed = (found[1] for found in map(_QUOTED.search, said) if found)
        yield from (text for each in typed for text, lasts in rules_in(each) if lasts == "standing")


def _says(bare: str) -> bool:
    """Whether a line holds more than signs, and than the word that there is nothing."""
    nothing = bare.lower().rstrip(".") in ("none", "(none)", "n/a")
    return len(bare) >= 2 and not (nothing or _RULE.fullmatch(bare) or bare.startswith("```"))


def _lines(text: str) -> list[tuple[str, int, str]]:
    """Each line with the depth and words of the heading that it is, if it is one; code stands in its file, and what led it in
    says by itself what was done, or nothing."""
    lines: list[tuple[str, int, str]] = []
    fenced = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
            if fenced and lines and lines[-1][0].endswith(":") and not lines[-1][2]:
                led = lines.pop()[0].rstrip(" :")
                lines += [(led, 0, "")] if len(led.strip()) >= _LED else []
            continue
        if fenced or not line.strip():
            continue
        found = _HEADING.match(line.strip()) if len(line) < 120 else None
        if found is None:
            lines.append((line, 0, ""))
            continue
        depth = len(line) - len(line.lstrip("#")) if found[1] else 3 if line[0].isspace() else 2
        lines.append((line, depth, found[1] or found[2] or found[3] or found[4] or found[5].replace("_", " ")))
    return lines


def _kind_of(title: str) -> _Kind | None:
    """What the section below a title tells; that of a file is the file's."""
    if _PATH.fullmatch(title):
        return None
    lowered = title.lower().replace("_", " ")
    return next((kind for cue, kind in _TITLES if cue in lowered), None)
