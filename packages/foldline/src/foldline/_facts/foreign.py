"""The facts in a summary that another tool wrote as prose."""

from __future__ import annotations

import re
from typing import Literal

from foldline._facts.literals import without_span
from foldline._facts.speech import clean
from foldline._facts.texts import parted
from foldline._facts.types import Facts, File, Piece, Rule, Todo
from foldline._messages import replace
from foldline._patterns import pattern

Section = Literal["goal", "rule", "done", "state", "next", "decision", "context", "read", "modified", "skip"]

_LIMIT = 60_000
_LED = 40
"""Characters from which a line that leads in code says something without it."""

_HEADING = pattern(
    r"^(?:#{1,4}\s+(.+?)|(?:\d{1,2}\.\s+)?\*\*([^*\n]{3,60}?):?\*\*:?|\d{1,2}\.\s+([A-Z][^:\n]{3,60}):)\s*$"
)
_FILES = pattern(r"<(read|modified)-files>(.*?)</\1-files>", re.DOTALL)
_LINE_END = pattern(r"\n|\\n")
"""A fork of pi joins its paths with the escape, not with the character."""

_WRAPPER = pattern(
    r"</?(?:summary|analysis|context_summary|conversation-summary)>|^This session is being continued[^\n]*\n?"
    r"|^If you need specific details from before [^\n]*\n?|^(?:Please )?[Cc]ontinue the conversation from where we left[^\n]*\n?",
    re.MULTILINE,
)
"""What a client puts around a summary: it is no part of what is summed up."""
_ANALYSIS = pattern(r"<analysis>.*?</analysis>|^Analysis:\n.*?^Summary:\n", re.DOTALL | re.MULTILINE)
_BULLET = pattern(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[([ xX~>])\]\s+)?")
_RULE = pattern(r"[-=*_]+")
_TITLES: tuple[tuple[str, Section], ...] = (
    ("next step", "next"), ("pending", "next"), ("to do", "next"), ("todo", "next"), ("remaining", "next"), ("open item", "next"),
    ("in progress", "state"), ("current work", "state"), ("current state", "state"), ("current task", "state"), ("blocked", "state"),
    ("constraint", "rule"), ("preference", "rule"), ("rules", "rule"), ("instructions", "rule"),
    ("goal", "goal"), ("primary request", "goal"), ("intent", "goal"), ("objective", "goal"), ("original task", "goal"),
    ("done", "done"), ("completed", "done"), ("progress", "done"), ("accomplish", "done"), ("work done", "done"),
    ("decision", "decision"), ("error", "decision"), ("problem", "decision"), ("finding", "decision"), ("discover", "decision"),
    ("read-files", "read"), ("files read", "read"), ("modified", "modified"), ("files changed", "modified"),
    ("created", "modified"), ("new files", "modified"), ("context", "context"), ("technical", "context"), ("file", "context"),
    ("user messages", "context"), ("reference", "context"),
)  # fmt: skip


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
    text = _WRAPPER.sub("", _FILES.sub("", text))
    pieces: list[Piece] = []
    rules: list[Rule] = []
    todos: list[Todo] = []
    kind: Section = "context"
    level, part, heading, under = 0, 0, "", ""
    for line, depth, title in _lines(text):
        if title:
            named = _kind_of(title)
            if named or depth <= level or not level:
                kind, level = named or "context", depth
            heading, part = title.strip(" :*"), part + 1
            continue
        bare = _BULLET.sub("", line, count=1).strip()
        bullet = _BULLET.match(line)
        ticked = bullet[1] if bullet else None
        if (
            len(bare) < 2
            or _RULE.fullmatch(bare)
            or bare.startswith("```")
            or bare.lower().rstrip(".") in ("none", "(none)", "n/a")
        ):
            continue
        if kind in ("read", "modified"):
            path = bare.split("`")[1] if bare.count("`") >= 2 else bare.split(" ")[0].rstrip(":,")
            if "/" in path or "." in path:
                files.setdefault(path, File(path, kind, {kind: 1}))
        elif kind == "rule":
            rules.append(Rule(bare[:600], 0, "summary"))
        elif kind == "next" and ticked is not None:
            todos.append(Todo(bare[:300], "done" if ticked in "xX" else "pending"))
        if kind not in ("read", "modified", "rule", "skip"):
            item = bullet is not None
            over = f"{heading}: " if heading and not (item and under == heading) else ""
            under = heading if item else ""
            for place, each in enumerate(parted(f"{over}{bare}")):
                told = Piece(each, 0, part, "summary", "summary", open=kind in ("next", "state"), under=under)
                pieces.append(replace(told, item=item and place == 0))
            heading = under
    return Facts(files=tuple(files.values()), rules=tuple(rules), todos=tuple(todos), pieces=tuple(pieces), end=1)


def with_prose(facts: Facts, text: str) -> Facts:
    """The facts with what a model wrote of them, which later pages carry on beside them."""
    prose = facts_of_prose(text)
    at = max(0, facts.end - 1)
    return replace(facts, pieces=(*facts.pieces, *(replace(piece, at=at) for piece in prose.pieces)))


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
        depth = len(line) - len(line.lstrip("#")) if found[1] else 2
        lines.append((line, depth, found[1] or found[2] or found[3]))
    return lines


def _kind_of(title: str) -> Section | None:
    lowered = title.lower()
    return next((kind for cue, kind in _TITLES if cue in lowered), None)
