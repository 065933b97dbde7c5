"""How a tool call ended, read from what the tool answered."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import Any

from foldline._facts.answers import in_tags
from foldline._facts.cues import failing_keys
from foldline._facts.failed_tests import ALARMS, LOCATED, in_full, linted, test_and_why
from foldline._facts.patterns import rare
from foldline._facts.shell import checks, family, only_looks, status_lost
from foldline._facts.texts import fields, is_code
from foldline._facts.wrappers import JOB_ENDED
from foldline._messages import Text, ToolResult, Value, replace
from foldline._patterns import pattern

_EDGE = 3_000
_EXIT = rare(
    r"(?:return ?code|exit(?:ed)?(?: with)?(?: code| status)?|exit_?code|status code)[\"'>:= ]{1,4}(-?\d{1,3})\b",
    re.IGNORECASE,
)
_STRONG = rare(
    r"^[ \t]*(?:Traceback \(most recent call last\)|[\w.]*(?:Error|Exception)\b:? ?|error(?:\[\w+\])?:|npm ERR!|fatal:|panic:|FAILED\b|(?:--- )?FAIL:|E   \w|ERROR \S+\.py\b"
    r"|\*\* \(\w|PHP (?:Fatal|Parse) error: |In [\w./-]+\.php line \d+:|Cannot \w+ [\w ]{2,40}: )"
    r"|: error(?:\s\w+)?: |: Error - |@ error/\w|: command not found|: executable file not found|: No such file or directory|: Permission denied|error TS\d+",
    re.MULTILINE,
)
_VERDICT = re.compile(
    r"^(?:[ \t]*--- FAIL: .+|FAIL(?:ED)?(?:[ \t:].*)?|test result: FAILED.*|make(?:\[\d+\])?: \*\*\* .+|npm ERR! .+|\[[\w:.-]+\] ERROR task failed"
    r"|[ \t]*(?:=+ |Tests?:? +)?[1-9]\d* (?:failed|failing)\b.*|\d+ (?:tests?|examples?), [1-9]\d* failures?\b.*|. fail [1-9]\d*"
    r"|FAILURES!|Tests: \d+, .*\b(?:Failures|Errors): [1-9].*|[ \t]*[✗✕✖✘×⨯] +\S.*"
    r"|\[ERROR\] (?:Failed to execute goal| *[\w.$]+:\d+) .+|\S.* > \S.* FAILED|BUILD FAILED\b.*|Build FAILED\.|ninja: build stopped: .+"
    r"|CMake Error.*|error during build:\s*.+|Failed to (?:compile|type check)\.?|ERROR in \S.*|Found [1-9]\d* errors?\b.*"
    r"|ERROR \S+\.py\b.*|(?:=+ )?(?:\d+ \w+, )*[1-9]\d* errors? in \d.*)$",
    re.MULTILINE,
)
"""How a check itself says that it failed, which holds whatever the exit status is: behind a pipe that is another program's."""
_BROKE = rare(
    r"^(?:failed to solve: .+|npm error .+|g?make(?:\[\d+\])?: \*\*\* .+|ninja: build stopped: .+|CMake Error.*"
    r"|ERROR: (?:No matching distribution|Could not install|Failed to build|Cannot install).*|[ ×]*pip subprocess to .+ did not run successfully\.?)$",
    re.MULTILINE,
)
"""How a build, one of an image too, or an installation of packages says so, whatever command it is a part of."""

_NAMED = re.compile(
    r"--- FAIL: \S|FAILED [^\s(]|FAIL:? +\S|[✗✕✖✘×⨯] |\[ERROR\] [\w.$]+:\d|ERROR \S+\.py|\S.* > \S.* FAILED$"
)
"""A verdict that names what failed."""

_CALLED = rare(r"(?<=Command ').{40,}?(?=' (?:timed out after|returned non-zero|died with) )", re.DOTALL)
"""A command that a program called, between the words that tell how that ended."""

_VAGUE = pattern(
    r"task failed$|\[build failed\]$|^FAIL(?:ED)?$|\bcould not compile\b|^Failed to (?:compile|type check)|\baborting due to\b"
)
"""A verdict that says that something failed and not what."""

_LINTER = pattern(r"✖ \d+ problems?\b|Failed to compile\b|ERROR in \[eslint\]|Found \d+ errors?\b")
"""A verdict behind which a linter found something."""

_ASSERTED = pattern(r"^E\s|AssertionError|[Ee]xpected\b|\bFAILED\b")
"""How a test says what it expected."""

_PANIC = pattern(r"^(panic: .+)$", re.MULTILINE)

_BEFORE = 2_000
"""Characters before the first verdict of a check in which it says what is wrong."""

_NEAR = 600
"""Characters at the end of an output in which stands what it ended with."""

_TELLS = rare(
    r"(?=[\dToOP\[heAiFBH])(?:"  # what it begins with: few places of an output are tried further
    r"\b\d+ (?:passed|failed|failing|passing|errors?|warnings?|tests?|problems?|issues|files? changed|pass|fail)\b(?!/)|\bTests?:|^ok\b|\bOK\b|\bPASS\b|"
    r"^\[[\w./-]+ [0-9a-f]{7,}\]|https?://\S+/pull/\d+|error TS\d+|All checks passed|^installed \S+@\d|Found \d+|BUILD \w+|^HTTP/[\d.]+ \d{3}\b"
    r"|\b\d+/\d+ (?:pass(?:ed)?|correct|tests?|examples?)\b)|^[^\n:/]{2,60}: \d+/\d+$",
    re.MULTILINE,
)
_CHANGED = re.compile(r"\bfiles? changed\b")
"""What git counts, which says less of a check than what that says."""

_RAN_NONE = pattern(r"\b0 passed; 0 failed\b|^running \d+ tests?\b")
"""How a runner says that there was no test in one of several suites, and that it begins with one."""

_VERSION = re.compile(r"@\d")

_RAN_NOTHING = rare(r"^(?:=+ )?(?:no tests ran|\d+ deselected) in .*$", re.MULTILINE)
_COUNTED_TESTS = rare(r"\b\d+ (?:passed|failed|errors?)\b")
"""How pytest says that there is no test of a name: nothing failed."""

_RAN = rare(r"^(?:\S{1,80} \S{1,40}: )?Ran (\d{1,7}) tests? (?:across|in) ", re.MULTILINE)
_SOME_FAILED = rare(r"\b[1-9]\d* fail|\bFAILED\b|\(fail\)")
"""How a runner says how many tests there were, behind the name of a package and of its task, and how that one failed."""

_NONE_FAILED = rare(
    r"^[ \t]*0 fail$|^Ran \d+ tests? in [\d.]+s$(?=\s+OK\b)|^[ \t]*(?:=+ |Tests:? +)?\d+ pass(?:ed|ing)\b(?!.* error)|^OK \(\d+ tests?\b|^\d+ (?:tests?|examples?), 0 failures\b|^# fail 0$",
    re.MULTILINE,
)
"""How a runner says that all tests passed: bun, jest and vitest, pytest, mocha, PHPUnit, ExUnit and RSpec, node."""

_GRADED = rare(
    r"^[ \t]*(?P<target>[^\n:]{2,80}?)[ \t]*:[ \t]*\W{0,3}(?P<grade>PASS|FAIL)(?:ED)?\W{0,2}$"
    r"|^[ \t]*\[?(?P<first>PASS|FAIL)\]?:? +(?P<behind>[^\s/:]{2,80})$",
    re.MULTILINE,
)
"""How a program says of each of its targets whether it was met."""

_COUNTED = rare(r'"(passed|failed|total|errors|skipped)": ?(\d{1,7})\b')
"""How a record says how many tests there were, and how they ended."""

_MISSED_TOLD = 3
"""Targets that are told of those that were missed."""

_COUNTS = pattern(r"\d (?!m?s\b)[a-z]")
"""What a line holds that says how many of something there were."""

_SEVERAL, _NAMED_EACH = 2, 3
"""Lines from which such as begin alike are a list, of which the last one says nothing."""

_OF_TASK = pattern(r"^\[[\w:.-]+\] ")
"""The name of a task before a line that it put out."""

_FINISHED = rare(r"Finished")
"""How a program says that it is through, and nothing of what it found."""
_EMPTY = re.compile(
    r"^(?:Wall time|Chunk ID|Process exited|Original token count|Output:|Shell cwd was reset|</?\w+>|\W*)[^\n]{0,40}$"
)


_STATED = rare(
    r"^(?:Process exited with code|Exit code:?) (-?\d{1,3})$|\A<returncode>(-?\d{1,3})</|\A\{[^{}]{0,200}?\"exit_code\": ?(-?\d{1,3})\b",
    re.MULTILINE,
)
"""The exit status as a client states it before an output, which may speak of others."""

_HEAD = 600

_END = 1_500
"""Characters of an output's end, and of its beginning, in which stands why a call failed."""

_DONE_KEYS = ("ok", "success")
"""The keys under which a record says whether all went well."""

_LED_IN = pattern(r"\s*(\S[^\n]*)")
"""What stands below a line that leads it in."""

_LAST = 700
"""Characters of an output's end in which the line that tells most is looked for."""


class Outcome(Value, frozen=True, gc=False, omit_defaults=True):
    """How a call ended: whether it failed, its exit status, the line that says why, the line that tells most."""

    failed: bool = False
    exit: str = ""
    fault: str = ""
    note: str = ""


def edges(result: ToolResult, edge: int = _EDGE) -> str:
    """The words of a tool result; of a long one its head and tail."""
    texts = [in_tags(p.text) for p in result.parts if type(p) is Text]
    text = texts[0] if len(texts) == 1 else "\n".join(t[:edge] + t[-edge:] if len(t) > 2 * edge else t for t in texts)
    if len(text) <= 2 * edge:
        return text
    head, tail = text[:edge], text[-edge:]
    end = head.rfind("\n") + 1 or edge
    head = head if head.startswith('{"', end) else head[:end]  # an output in a record is one long line
    return head + "\n" + tail[tail.find("\n") + 1 :]


@lru_cache(maxsize=1_024)
def outcome(text: str, command: str, *, error: bool | None = None) -> Outcome:
    """How the call ended that `text` answers, by its client an `error` or not; only of a `command` may the words alone say so, where
    the client does not."""
    text = _CALLED.sub("…", JOB_ENDED.sub("", text))
    tried = bool(command) and not only_looks(command)
    check = tried and checks(family(command))
    status = _status(text) if command or error else ""
    end = _told(text, status, _NEAR, runs=bool(command), error=error)
    if tried and not end.failed and status_lost(command):
        near = _NEAR if check else len(text) - text.rstrip().rfind("\n")
        by_words = _told(text, "", near, runs=True, error=None)
        end = by_words if by_words.failed else end
    beside = end.note == "OK" or (_CHANGED.search(end.note) and "commit" not in command)
    if check and beside and (ran := _NONE_FAILED.search(text)):
        end = replace(end, note=_line(text, ran.start()).strip("= ")[:160])
    if check and end.failed and (none := _RAN_NOTHING.search(text[-_LAST:])) and not _COUNTED_TESTS.search(text):
        return replace(end, fault="", note=none[0].strip("= "))
    found = [*(_VERDICT.finditer(text) if check else ())]
    found = found or [*islice(_BROKE.finditer(text) if tried else (), 1)]
    verdicts = [" ".join(each[0].split())[:300] for each in found]
    if not verdicts:
        vague = end.failed and tried and _VAGUE.search(end.fault) is not None
        return replace(end, fault=_with_cause(end.fault, text, 0)) if vague else end
    vague = end.fault in verdicts and not _NAMED.match(end.fault)
    alarms = any(each.search(end.fault) for each in (*((ALARMS,) if check else ()), _STRONG, _ASSERTED))
    unclear = vague or not alarms or end.fault not in " ".join(text[-_END:].split())
    clear = "" if unclear else end.fault
    told = clear or next(filter(_NAMED.match, reversed(verdicts)), verdicts[-1])
    fault = in_full(_with_cause(told, text, max(0, found[0].start() - _BEFORE)), text)[:300]
    note = end.note if "fail" in end.note.lower() else fault[:160]
    return Outcome(True, end.exit if end.failed else "", fault, note)


def _with_cause(fault: str, text: str, since: int) -> str:
    """What a check failed with and why, where it says that it panicked, or a line of its output where something is wrong; what
    stands before `since` is another program's."""
    if test := test_and_why(fault, text, named=_NAMED.search(fault) is not None):
        return test[:300]
    if _LINTER.match(fault) and (found := linted(text[since:])):
        return found[:300]
    clear = _NAMED.search(fault) or (_STRONG.search(fault) and not _VAGUE.search(fault))
    located = None if clear else LOCATED.search(text, since)
    located = _PANIC.search(text) if fault.startswith("FAIL") and not located else located
    return " ".join(located[1].split())[:300] if located else fault


def _status(text: str) -> str:
    """The exit status that an answer states; empty where it states none."""
    rim = text if len(text) < 800 else text[:400] + "\n" + text[-400:]
    stated = _STATED.search(text[:_HEAD])
    codes = [next(filter(None, stated.groups()))] if stated else _EXIT.findall(rim)
    return codes[-1] if codes else ""


def _told(text: str, code: str, near: int, *, runs: bool, error: bool | None) -> Outcome:
    """How a call ended by its exit status, and where that is not told by what is said `near` the end, in characters."""
    if not runs and not error:
        return Outcome()
    tail = text[-_END:]
    passed = code == "0" or (not code and error is False)
    passed |= not code and not error and _passes(tail)
    strong = list(_STRONG.finditer(tail)) if not passed else []
    said = bool(strong) and len(tail) - strong[-1].start() < near
    failed = bool(error) or code not in ("", "0") or (not code and said)
    fault = _fault_line(tail, strong) or _fault_line(text[:_END], []) if failed else ""
    note = ""
    if runs:
        end = tail[-_LAST:]
        end = end if len(tail) <= _LAST else end.partition("\n")[2]  # a line that is cut in front tells nothing
        told = [_line(end, tell.start()) for tell in [*_TELLS.finditer(end)] or _FINISHED.finditer(end)]
        ran = (line for line in reversed(told) if not _RAN_NONE.search(line))
        note = (
            _grades(tail)
            or _counted(tail)
            or _all_ran(text)
            or _all_alike(_OF_TASK.sub("", next(ran, told[-1] if told else "")), text)
        )
    return Outcome(failed, code, fault, note.strip("= ")[:160])


def _grades(text: str) -> str:
    """Which targets a program says were missed, and how many were met; empty where it grades none."""
    graded = [*_GRADED.finditer(text)]
    missed = [each["target"] or each["behind"] for each in graded if "FAIL" in (each["grade"], each["first"])]
    met = len(graded) - len(missed)
    if len(graded) < _SEVERAL:
        return ""
    told = ", ".join(f"{target.strip()}: FAIL" for target in missed[:_MISSED_TOLD])
    more = f" and {len(missed) - _MISSED_TOLD} more" if len(missed) > _MISSED_TOLD else ""
    return "; ".join(filter(None, (f"{told}{more}", f"{met} PASS" if met else "")))


def _counted(text: str) -> str:
    """How many of something passed and failed, as a record says it; empty where none does."""
    counts = dict(_COUNTED.findall(text))
    return ", ".join(f"{key}: {n}" for key, n in counts.items()) if "passed" in counts and len(counts) > 1 else ""


def _passes(text: str) -> bool:
    """Whether tests say at the end that none failed: what stands before that as an error is what they tried."""
    said = _NONE_FAILED.search(text[-_LAST:])
    return said is not None and not _SOME_FAILED.search(text) and not _VERDICT.search(text)


def refused_in(record: Any) -> str:
    """What a record says where it tells that a call did not do what it should; empty where it does not."""
    if not isinstance(record, dict):
        return ""
    said = any(
        isinstance(value, str | dict) and value for key, value in record.items() if key.lower() in failing_keys()
    )
    failed = said or any(record.get(key) is False for key in _DONE_KEYS)
    return ", ".join(each.text for each in fields(record) if each.text)[:300] if failed else ""


def _all_ran(text: str) -> str:
    """How many tests several runs of a command ran together, where each says so and none that one failed; empty for one run."""
    ran = _RAN.findall(text)
    if len(ran) < _SEVERAL or _SOME_FAILED.search(text):
        return ""
    cut = len(text) > 2 * _EDGE - _LAST
    return f"Ran {'more than ' if cut else ''}{sum(map(int, ran))} tests in {'several' if cut else len(ran)} runs"


def _all_alike(line: str, text: str) -> str:
    """The line that tells most; of several that begin with the same word and count nothing themselves all, where they are few and name
    versions, else that word, and how many they are, or more than how many where not all of the output is there."""
    word = line.partition(" ")[0]
    if not word.isalpha() or _COUNTS.search(line):
        return line
    lines = re.findall(rf"^{word}[ \t].*", text, re.MULTILINE)
    alike = len(lines)
    if alike <= _NAMED_EACH and _VERSION.search(line):
        return "; ".join(" ".join(each.split()) for each in lines) or line
    more = "more than " if len(text) > 2 * _EDGE - _LAST else ""
    return line if alike < _SEVERAL else f"{word} ({more}{alike} such lines)"


def finds(fault: str) -> bool:
    """Whether a check's error tells what it found, and not that it could not be run so."""
    return any(found.search(fault) for found in (_VERDICT, _NAMED, LOCATED, _ASSERTED))


def alarming(text: str) -> bool:
    """Whether a text tells of something that went wrong."""
    return ALARMS.search(text) is not None


_FRAME = re.compile(r"^at \S.*:\d+:\d+\)?$|[\w.-]:\d+:\d+\)$")
"""A frame of a trace of JavaScript: where something went wrong, and not what."""


def _fault_line(text: str, strong: list[re.Match[str]]) -> str:
    """The line that says best why a call failed."""
    for found in reversed(strong):
        line = _line(text, found.start())
        if not line.startswith("Traceback"):
            return line[:300]
    weak = (_line(text, found.start()) for found in ALARMS.finditer(text))
    said = [line for line in weak if line and not (_EXIT.search(line) or _FRAME.search(line))]
    if said:
        return next((line for line in said if not is_code(line)), said[0])[:300]
    lines = [
        line for line in text.splitlines() if line.strip() and not _EMPTY.match(line.strip()) and not _EXIT.search(line)
    ]
    return " ".join(lines[-1].split())[:300] if 0 < len(lines) <= 4 else ""


def _line(text: str, position: int) -> str:
    start = text.rfind("\n", 0, position + 1) + 1 if text[position : position + 1] != "\n" else position + 1
    end = text.find("\n", start)
    line = " ".join(text[start : len(text) if end < 0 else end][:600].split())
    led_in = _LED_IN.match(text, end) if line.endswith(":") and end > 0 else None
    return f"{line} {led_in[1]}" if led_in else line
