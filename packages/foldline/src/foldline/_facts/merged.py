"""Pull requests that are over: merged or closed, by what was asked for and by what was answered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise
from types import MappingProxyType

from foldline._facts.patterns import rare
from foldline._patterns import pattern

_ENDS: Mapping[str, str] = MappingProxyType({"merged": "merged", "closed": "closed", "open": "", "reopened": ""})
"""What each state makes of a pull request; empty where it is open."""

_KINDS = ("pr", "mr")
_AT: Mapping[str, str] = MappingProxyType({"pr": "/pull/", "mr": "/merge_requests/"})
"""How the address goes on in front of the number."""

_SAID = rare(
    r"^[✓✔!] (?:\w+ and )?(?P<state>[Mm]erged|Closed|Reopened) pull request (?P<where>[\w./-]*)#(?P<number>\d+)",
    re.MULTILINE,
)
_STATE = rare(r'(?:^state:\s+|"state":\s?"|^)(MERGED|CLOSED|OPEN)\b', re.MULTILINE)
_TAKEN_IN = rare(r"^(?:[0-9a-f]{7,40} (?:\([^)\n]*\) )?| {4})Merge pull request #(\d+) from ", re.MULTILINE)
"""How a log shows the commit that took one in."""

_NEWEST = 3
"""The commits of a log that are looked at for such."""

_LATER = ("--auto", "--disable-auto")
"""How a merge is asked for that is not made now."""

SILENT = pattern(r"\W*(?:\([^()\n]*no output\))?\W*")
"""An answer that says nothing, which is how a merge ends that was made where nobody looks at a screen."""

_NUMBER = pattern(r"#?(\d+)")
_REPOSITORY = ("-R", "--repo")
_NAMED = pattern(r"[^-]\S*")


def ends(asked: Sequence[list[str]], answer: str) -> Iterator[tuple[str, str]]:
    """How pull requests stand behind calls, each by the end of its address; by nothing the one of the branch that is checked out."""
    calls = [args for args in asked if len(args) > 1 and args[0] in _KINDS]
    told = [*_SAID.finditer(answer)] if calls else []
    for found in told:
        yield f"{found['where']}/pull/{found['number']}", _ENDS[found["state"].lower()]
    if any(args[0] == "log" for args in asked):
        yield from ((f"/pull/{found[1]}", "merged") for found in islice(_TAKEN_IN.finditer(answer), _NEWEST))
    if len(calls) != 1 or told or (at := _address(calls[0])) is None:
        return
    [args] = calls
    if args[1] == "view" and (state := _STATE.search(answer)):
        yield at, _ENDS[state[1].lower()]
    elif args[1] == "merge" and not {*args} & {*_LATER} and SILENT.fullmatch(answer):
        yield at, "merged"


def _address(args: list[str]) -> str | None:
    """The end of the address of the pull request that a call names; empty where it names none, None where nobody can say which."""
    kind, _, *rest = args
    where = next((value for option, value in pairwise(rest) if option in _REPOSITORY), "")
    if address := next((each for each in rest if each.startswith("http")), ""):
        return address
    number = next((found[1] for each in rest if (found := _NUMBER.fullmatch(each))), "")
    if number:
        return f"{where}{_AT[kind]}{number}"
    unclear = where or any("$" in each for each in rest) or (rest and _NAMED.match(rest[0]))
    return None if unclear else ""
