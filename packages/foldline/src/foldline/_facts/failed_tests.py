"""Which test failed and why, as its runner says so in an output."""

from __future__ import annotations

import re
from collections.abc import Iterator

from foldline._facts.patterns import rare
from foldline._patterns import pattern

ALARMS = rare(
    r"\b(?:error|exception|failed|failure|fatal|cannot|can't|could not|not found|denied|refused|undefined|unexpected|invalid|missing|unused|"
    r"timed? ?out|rejected|abort(?:ed)?|conflict|unable to|no such|no (?:\w+ ){1,3}found)\b",
    re.IGNORECASE,
)
"""Words that tell of something that went wrong."""

LOCATED = pattern(
    r"^(?:\[[\w:.-]+\] )?[ \t]*(((?:\./)?[\w./-]+\.[a-z]\w{0,4})(?::\d+(?::\d+)?|:\[\d+,\d+\]|\(\d+,\d+\))(?::? +|\n(?=Type error: ))(?!INFO|DEBUG|PASS|\+0x)\S.+)$",
    re.MULTILINE,
)
"""A line of a compiler, a linter or a test that says where something is wrong, and what, behind the name of a task; Next.js says
what in the line below."""

_LINTED = rare(
    r"^(?:\[\d+\])?[ \t]+(?:Line (?P<line>\d{1,6}:\d{1,5}):|(?P<place>\d{1,6}:\d{1,5})[ \t]+error\b)[ \t]+(?P<what>\S.*?)(?:[ \t]{2,}\S+)?[ \t]*$",
    re.MULTILINE,
)
_LINTED_FILE = pattern(r"^(?:\[\d+\])?[ \t]*(?:\S*[/\\])?([^\s/\\]+\.\w{1,6})[ \t]*$", re.MULTILINE)
"""An error in the table that ESLint prints below the name of each file, also through create-react-app and behind the number of a
process."""

_MARKED = rare(
    r"^[ \t]*([✗✕✖✘×⨯] +\S.*|\S.* > \S.* FAILED)\n[ \t→]*(?=.*(?i:expect|assert|error|fail))(\S.*)$",
    re.MULTILINE,
)
"""A test that failed by its mark, and the line below that says why."""

_NUMBERED = rare(r"^[ \t]*(1\) \S.*)\n[ \t]*(\S.*)$", re.MULTILINE)
"""The first test that failed as runners number them, and the line below that says why."""

_RULED = pattern(r"FAIL: \w+ \([\w.]+\)")
_RAISED = pattern(r"^([\w.]*(?:Error|Exception|Failure)\b.*)$", re.MULTILINE)
"""A test that failed as `unittest` names it between two rules, and the last line of what it raised."""

_OF_PYTEST = pattern(r"(?:FAILED|ERROR) (\S+)")
_RAISED_BY_PYTEST = pattern(r"^E +((?:[\w.]*(?:Error|Exception|Failed|Warning|Exit)\b|assert ).*)$", re.MULTILINE)
"""A test as pytest sums it up, where the line has no room for what it raised, and the line of its section that says so."""

_BARE = re.compile(r"--- FAIL: \S+(?: \([\d.]+s\))?")
"""A test that failed, without why."""

_PACKAGE = re.compile(r"FAIL\s+\S+\s+[\d.]+s")
_FAILED_IN_GO = rare(r"^[ \t]*(--- FAIL: \S+ \([\d.]+s\))$", re.MULTILINE)
"""A package of Go of which a test failed, and the line that names the test."""

_DIFFERS = "+ actual - expected"
_DIFFERING = pattern(r"\+ actual - expected\s*\n((?:[ \t]*(?:[+\-.\[\]{}].*)?(?:\n|\Z)){1,40})")
"""How Node says that two values differ, and the lines below that."""

_BEHIND = 600
"""Characters behind the name of a test that failed in which is said why."""


def in_full(fault: str, text: str) -> str:
    """A fault whose line only says that two values differ, with the first lines in which they do."""
    if not fault.endswith(_DIFFERS) or not (found := _DIFFERING.search(text)):
        return fault
    lines = [" ".join(line.split()) for line in found[1].splitlines() if any(map(str.isalnum, line)) or "''" in line]
    ends = filter(None, (next((line for line in lines if line.startswith(sign)), "") for sign in "+-"))
    return f"{fault.removesuffix(_DIFFERS).rstrip()} {', '.join(ends)}"


def linted(text: str) -> str:
    """The first error that ESLint found, behind its file and its place, and how many more; empty where it found none."""
    found = [*_LINTED.finditer(text)]
    files = [each[1] for each in _LINTED_FILE.finditer(text, 0, found[0].start())] if found else []
    told = [*dict.fromkeys(f"{each['line'] or each['place']} {each['what']}" for each in found)]
    more = f" (and {len(told) - 1} more)" if len(told) > 1 else ""
    return f"{files[-1]}:{told[0]}{more}" if files else ""


def test_and_why(fault: str, text: str, *, named: bool) -> str:
    """The test that failed and why, where a runner tells both and `fault` is one of them; of one that tells no test `named` the first
    that it numbers; empty where there is none."""
    fault_why = next(_told(fault, text, named), None)
    return f"{fault_why[0]}{fault_why[1]}{' '.join(fault_why[2].split())}" if fault_why else ""


def _told(fault: str, text: str, named: bool) -> Iterator[tuple[str, str, str]]:
    """A test, what joins it to the reason, and that."""
    if _PACKAGE.fullmatch(fault) and (failed := _FAILED_IN_GO.search(text)):
        fault = failed[1]
    if _BARE.fullmatch(fault):
        yield from ((fault, ": ", why) for why in _at_its_place(fault, text))
        yield fault, "", ""
    if found := _OF_PYTEST.fullmatch(fault):
        yield from ((fault, " - ", why) for why in _raised_by(found[1], text))
    if _RULED.fullmatch(fault) and (raised := _RAISED.search(text, text.rfind(fault.split()[1]))):
        yield fault, ": ", raised[1]
    if not named and (numbered := _NUMBERED.search(text)):
        yield numbered[1], ": ", numbered[2]
    for marked in _MARKED.finditer(text):
        test, why = " ".join(marked[1].split()), " ".join(marked[2].split())
        if fault == test or fault.startswith(why):
            yield test, ": ", fault if fault != test else why


def _at_its_place(fault: str, text: str) -> Iterator[str]:
    """What a test of Go says in a line of its file, behind its name or before it."""
    at = text.rfind(fault.split()[2])
    told = [*LOCATED.finditer(text, at, at + _BEHIND), *reversed([*LOCATED.finditer(text, 0, at)])]
    yield from (found[1] for found in told if ALARMS.search(found[1]))
    yield from (found[1] for found in told if "test" in found[2])


def _raised_by(test: str, text: str) -> Iterator[str]:
    """What a test of pytest raised, by the section that is headed with its name or its file."""
    name = test.rpartition("::")[2].partition("[")[0]
    section = re.search(rf"^_+ .*{re.escape(name)}.* _+$", text, re.MULTILINE)
    if section and (raised := _RAISED_BY_PYTEST.search(text, section.end())):
        yield raised[1]
