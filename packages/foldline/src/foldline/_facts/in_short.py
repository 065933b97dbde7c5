"""A shell command in short: what it does and on what, without what stands around that."""

from __future__ import annotations

import re
from collections.abc import Set
from functools import lru_cache

from foldline._facts.patterns import rare
from foldline._facts.shell import ShellStep, steps_of
from foldline._patterns import pattern

_BESIDE = frozenset({"", "cd", "echo", "printf", "export", "set", "sleep", "true", "exit"})
"""Programs that say nothing of what a command is for."""

_SHORTENING = frozenset({"tail", "head", "cat"})
"""Programs that behind a pipe only shorten what is seen."""

_SILENCED = re.compile(r"(?:(?<!\s)\s+)?(?:2>&1|[12&]?>>?\s*/dev/null)(?=[\s;|&)]|$)")
_NEXT = re.compile(r"(?<![;{(|&\\\s])(?<!\bdo)(?<!\bthen)(?<!\belse)[ \t]*\n\s*(?=\S)")
"""Where a line of a compound command ends one of its steps."""

_JOINED = {"\n": "; ", ";": "; "}

_QUERY = rare(r"(?<=query=)'([^'{]*\{[^']*)'")
"""An argument that is a query of GraphQL."""

_FIELDS = 24
"""Characters that are told of what a query asks of what it names."""

_CHANGES = pattern(r"\s*mutation\b[^{]*\{\s*(?:\w+:\s*)?(\w+)")
"""A query that changes something, and what it does."""

_NAMED_IN_QUERY = pattern(r"\b\w+\((?=[^()]*(?:\"|\b(?:number|id): ?\d))[^(){}$]{1,60}\)")
"""What a query names by a number or in words, and not by a variable or as so many of a row."""


_SET = rare(
    r"(?<![^\s;&])(\w{1,60}=)\"?\$\((?:mktemp|pwd|date|dirname|basename|realpath|cd|git rev-parse)\b(?:[^()\n]|\([^()\n]*\)){0,200}\)[^\s;&|]*(?=[ \t]*(?:[;&\n]|\Z))"
)
"""A variable that takes a name for passing use, a folder or a time."""

_FOR_PASSING = rare(r"(?<![^\s;&])(\w{1,60})=(?:…|[\"']?/tmp/)")
_WRITERS = frozenset({"cat", "tee", "echo", "printf"})
"""Programs that put what they are given into files."""

_CODED = pattern(r"(?:perl|ruby|node|bun|deno|php|python[\d.]*|sed|awk|gawk|jq)\Z")
"""Programs that are given code among their arguments."""

_CODE = (80, 40, 16)
"""Characters of each piece of code that are told, the fewer the longer the command."""

_EDITS, _EDIT = re.compile(r"sed (?:-\w+ )*-\w*i"), 80
"""How `sed` edits a file by the code that it is given, and the characters that are told of that."""

_LONG = 140
"""Characters from which a command is long."""

_QUOTED = pattern(r"(?<![^\s=])(?:'([^']*)'|\"((?:[^\"\\]|\\.)*)\")", re.DOTALL)
"""A word of a command in quotation marks."""


@lru_cache(maxsize=1_024)
def in_short(command: str) -> str:
    """What a command does, without where it is run, what sets it up, its banners, its code, and what only shortens the output;
    loops and the like as they are, and of a query what it asks about."""
    asked = _QUERY.sub(_asked_about, _SILENCED.sub("", command))
    told = ""
    for most in _CODE:
        told = _told(asked, most)
        if len(told) <= _LONG:
            break
    return told or asked


def only_sets_up(command: str) -> bool:
    """Whether a command does nothing but set up what others need: a variable, a folder to be in, a text for passing use, a banner."""
    return not _told(command, _CODE[0])


@lru_cache(maxsize=1_024)
def _told(command: str, code: int) -> str:
    """The steps of a command that are told, with as many characters of code; none where it has no such."""
    command = _SET.sub(r"\1…", command.replace("\\\n", " "))
    told, left, passing = "", "", {f"${name}" for name in _FOR_PASSING.findall(command)}
    for step in steps_of(command):
        name = step.program[0]
        op = left if left and step.op == "|" else step.op
        joined = _JOINED.get(op, f" {op} ") if told else ""
        if step.compound:
            return f"{told}{joined}{_NEXT.sub('; ', command[step.start :].strip())}"
        beside = (name in _BESIDE and not step.outputs) or _passes(step, name, passing)
        if beside or (name in _SHORTENING and step.op == "|"):
            left = op if beside else left
            continue
        told += f"{joined}{_without_code(step.whole, name, code)}"
        left = ""
    return told


def _passes(step: ShellStep, name: str, passing: Set[str]) -> bool:
    """Whether a step only puts text into a file for passing use, for which the names in `passing` stand as well."""
    paths = [path.replace("{", "").replace("}", "") for _, path in step.outputs]
    into = all(path.startswith("/tmp/") or path.partition("/")[0] in passing for path in paths)
    return name in _WRITERS and bool(paths) and into


def _without_code(step: str, name: str, most: int) -> str:
    """A step without the code that its program is given, but for as many characters."""
    if not _CODED.match(name):
        return step
    edits = _EDITS.match(step) is not None

    def short(code: re.Match[str]) -> str:
        if len(code[0]) <= most and "\n" not in code[0]:
            return code[0]
        return f"'{code[0][1:].partition(chr(10))[0][:_EDIT]}…'" if edits else "'…'"

    return _QUOTED.sub(short, step)


def _asked_about(query: re.Match[str]) -> str:
    """A quoted query in short: what it changes, else what it names by a number or in words, and the first of what it asks of that."""
    if does := _CHANGES.match(query[1]):
        return f"'mutation {does[1]} …'"
    named = [*_NAMED_IN_QUERY.finditer(query[1])]
    if not named:
        return query[0]
    asks = " ".join(query[1][named[-1].end() :].split())
    fields = asks if len(asks) <= _FIELDS else asks[:_FIELDS].rpartition(" ")[0] + " …"
    told = " … ".join(" ".join(each[0].split()) for each in named)
    return f"'… {told} {fields}'"
