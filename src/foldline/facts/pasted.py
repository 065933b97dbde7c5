"""What a user pasted and did not say: traces, logs, prompts, diffs, JSON and code bind nobody."""

from __future__ import annotations

import re

_OUTPUT = re.compile(
    r"\s{0,40}(?:"
    # traces and errors: frames, exceptions by their class, compilers with the place
    r"at (?:[^\n(]{1,160}\()?[^\s()]{1,200}:\d+:\d+\)?$|at [\w.$<>]{1,200}\([\w.]{1,80}:\d+\)$|\.\.\. \d+ more$|"
    r"File \"[^\"\n]+\", line \d|Traceback \(most recent|goroutine \d+ \[|npm (?:ERR!|error) |"
    r"(?:Uncaught |Caused by: )?(?:[\w.]{1,80}[a-z_](?:Error|Exception|Warning)|Error|ERROR|error|fatal|panic)"
    r"(?:\s?\[\w+\])?: |[^\s:(]{1,200}[:(]\d+[:,]\d+\)?:? (?:- )?(?:error|warning)\b|"
    # logs: a date with a time, a time with its fraction, a level in brackets
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d[.,]\d|\[(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\]|"
    # a shell's prompt, and the frames that terminal programs draw
    r"[\w.-]{1,40}@[\w.-]{1,60}[: ][^\s$#%]{0,80} ?[$#%] \S|[$➜❯] +\S|[│┃╭╰├└┌⎿]|"
    # diffs, JSON
    r"diff --git |@@ -\d|\+\+\+ [ab]/|--- [ab]/|"
    r"\{\s{0,40}\"|\[\s{0,40}[\"{]|\"[\w$.@/-]{1,80}\"\s?: ?(?:[\"{\[\d-]|true|false|null)|"
    # code, where it can be nothing else
    r"//|/\*|#include |import [^\n]{1,200} from ['\"]|(?:const|let|var) \w+(?:: [^=\n]{1,40})? = |[^\n]{0,300}=> \{$|"
    r"from [\w.]+ import (?:\(|\*|\w+(?: as \w+)?(?:, \w+(?: as \w+)?)*)$|class [A-Z]\w*(?:\([^)\n]*\))? ?[:{]$|"
    r"(?:async )?(?:def|function) \w+\([^\n]*[:{]$|(?:if|for|while|switch|catch) \([^\n]*\) \{$|"
    r"(?:[\w.$]{1,80} = )?(?:await |return |new ){0,2}[\w.$]{1,80}\([^\n]*\);$"
    r")"
)
"""A line that no one types as a sentence; what may be a rule's label, like `Warning:` or `Note:`, is none."""

_NUMBERED = re.compile(r"\s*\+ {1,6}\d{1,6}(?: |$)")
"""An added line of a diff with its number, as agents draw them."""

_FEWEST = 3
"""Numbered lines from which they are a diff; fewer may be a list."""

_LONGEST = 60
"""Lines over which a bracket is looked for that closes."""

_BULLET = re.compile(r"\s*(?:[-*•] |\d{1,3}[.)] )")


def without_output(text: str) -> str:
    """The text without the lines of pasted output.

    Beside lines that are output by themselves those are left out that go on with one, up to the next blank line: they
    are indented and no items of a list, or stand in brackets that output opened and closes.
    """
    lines = text.splitlines()
    numbered = sum(1 for line in lines if _NUMBERED.match(line)) >= _FEWEST
    typed: list[str] = []
    inside, closes = False, -1
    for at, line in enumerate(lines):
        if not line.strip():
            inside = False
        elif _OUTPUT.match(line) or (numbered and _NUMBERED.match(line)):
            inside = True
            closes = max(closes, _closing(lines, at))
            continue
        elif at <= closes or (inside and line[0] in " \t" and not _BULLET.match(line)):
            continue
        else:
            inside = False
        typed.append(line)
    return "\n".join(typed)


def _closing(lines: list[str], start: int) -> int:
    """The line of the paragraph that closes the brackets which one opens; that one itself where none does."""
    depth = 0
    for at in range(start, min(start + _LONGEST, len(lines))):
        line = lines[at]
        if not line.strip():
            break
        depth += line.count("{") + line.count("[") - line.count("}") - line.count("]")
        if depth <= 0:
            return at
    return start
