"""What of the facts stands at their end: the errors that are open, and the files that the work left changed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from foldline._facts.folders import root_of
from foldline._facts.shell import family
from foldline._facts.types import Facts, Fault, File

NEWEST, NEWEST_SHARE = 24, 0.15
"""Messages, and the share of them, among the newest of which an error that nothing closed is taken to be open."""

_PASSING = re.compile(r"^/tmp/|(?:/|\.log)$")
_SCRIPT = re.compile(r"\.(?:py|[cm]?[jt]s|sh|rb|php|pl)$")


def open_faults(facts: Facts) -> Iterator[Fault]:
    """The errors of the newest turns that nothing closed or took the place of, oldest first."""
    asked = sorted([0, *(request.at for request in facts.requests)])[-2:][0]
    recent = max(asked, facts.end - max(NEWEST, int(facts.end * NEWEST_SHARE)))
    faults = [fault for fault in facts.faults if not fault.resolved and fault.seen >= recent]
    scripts = [(c.seen, _script(family(c.text))) for c in facts.commands if c.outcome == "ok"] if faults else []
    for fault in faults:
        tried = _script(fault.key)
        if not tried or all(seen <= fault.seen or done != tried for seen, done in scripts):
            yield fault


def base_of(facts: Facts) -> str:
    """The folder that most of the changed files share, else most of all; empty where none is."""
    changed = [file.path for file in facts.files if file.changed and not _PASSING.search(file.path)]
    return root_of(changed) or root_of([file.path for file in facts.files])


def changed_files(facts: Facts) -> list[File]:
    """The files that were created, changed, renamed or deleted, without those outside of the work that nobody keeps."""
    root = base_of(facts)
    return [file for file in facts.files if file.changed and not _PASSING.search(file.path.removeprefix(root))]


def _script(key: str) -> str:
    """The program of a script that was tried: another script that it ran later took the place of a try; empty for others."""
    program, *words = key.split() or [""]
    return program if words and program != "pytest" and _SCRIPT.search(words[0]) else ""
