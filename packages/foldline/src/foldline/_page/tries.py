"""Scripts that the agent ran by themselves: what it made to try something is no part of the work, where its words say what came
out; what failed without a word is told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from foldline._facts.cues import announces
from foldline._facts.folders import without_names
from foldline._facts.shell import programs
from foldline._facts.types import Facts, File
from foldline._page.quoting import bare
from foldline._page.superfluous import fault_of, is_edit
from foldline._patterns import pattern

FEWEST = 3
"""Scripts of its own that the agent ran from which they are tries: a single one may be what was asked for."""

_RUNS = pattern(r"(?:python[\d.]*|bash|zsh|sh|node|deno|bun|tsx|ruby|perl|php)")
_SCRIPT = pattern(r"\S+\.(?:py|[cm]?[jt]s|sh|rb|php|pl)")
_RUN = frozenset({"call", "change", "failure"})
_AROUND = frozenset({"cd", "cat", "tee", "echo", "cp", "chmod", "mkdir", "head", "tail", "grep"})
"""Programs that stand around the run of a script."""


def tries(facts: Facts) -> set[str]:
    """The paths of such scripts, where there are several: made and not committed, run, and not named by the user; none where all that
    was changed was made, which may be the work itself."""
    latest = facts.latest
    if all(file.made or not file.changed for file in latest.files):
        return set()
    asked = "\n".join(request.text for request in latest.requests)
    own = [f for f in latest.files if f.made and not f.by and _SCRIPT.fullmatch(f.path) and _name(f.path) not in asked]
    lines = (piece.text for piece in latest.pieces if own and piece.by == "tool")
    ran = {script for line in lines for script in _scripts(_command(line))}
    found = {f.path for f in own if any(_is(f.path, script) for script in ran) and not _committed(f, facts)}
    return found if len(found) >= FEWEST else set()


def tried(facts: Facts) -> set[int]:
    """The places of what tells of tries where the agent says in words what came out: that they were written, also where they were run
    at once, runs behind which it says what it found, and failures that it went past without a word."""
    known = tries(facts)
    said = {p.at for p in facts.pieces if p.by == "agent" and not announces(bare(p))}
    if not (known and said):
        return set()
    ats = sorted({piece.at for piece in facts.pieces})
    spoken_of = {at for at, behind in pairwise(ats) if behind in said}
    runs = [p for p in facts.pieces if p.kind in _RUN and _runs(p.text, known)]
    newest = max((p.at for p in runs), default=-1)
    over = [p for p in facts.pieces if is_edit(p) and _writes(p.text, known)]
    over += (p for p in runs if p.kind == "change" or (p.kind == "call" and p.at in spoken_of))
    over += (p for p in runs if p.kind == "failure" and p.at < newest and p.at not in spoken_of)
    calls = {(piece.at, piece.part) for piece in over}
    return {i for i, p in enumerate(facts.pieces) if p.by == "tool" and (p.at, p.part) in calls}


def failed_silently(facts: Facts) -> set[int]:
    """The places of runs of scripts that failed and did not say why, the newest that are alike, where none passed since."""
    over: set[str] = set()
    found = set()
    for i, piece in reversed([*enumerate(facts.pieces)]):
        command = _command(piece.text) if piece.by == "tool" and piece.kind in _RUN else ""
        if scripts := "".join(_scripts(command)):
            if scripts not in over and piece.kind == "failure" and not fault_of(piece):
                found.add(i)
            over.add(scripts)
    return found


def _committed(file: File, facts: Facts) -> bool:
    """Whether a file was put into a commit as it is."""
    return any(file.changed_at <= each.settled and file.path not in each.left for each in facts.latest.repositories)


def _writes(told: str, known: Iterable[str]) -> bool:
    """Whether a line tells that such scripts were written, and nothing else."""
    named = without_names(told.partition(" ")[2]).split(", ")
    return all(any(_is(path, name) for path in known) for name in named)


def _runs(told: str, known: Iterable[str]) -> bool:
    """Whether a line tells of a command that runs such scripts, and does nothing else."""
    command = _command(told)
    scripts = [*_scripts(command)]
    alone = all(name in _AROUND or _RUNS.fullmatch(name) or _SCRIPT.fullmatch(name) for name, _, _ in programs(command))
    return bool(scripts) and alone and all(any(_is(path, script) for path in known) for script in scripts)


def _command(told: str) -> str:
    """The command that a line tells of; empty where it tells of none."""
    return told.partition("` → ")[0].strip("`") if told.startswith("`") else ""


def _scripts(command: str) -> Iterator[str]:
    """The scripts that a command runs by themselves."""
    for name, args, _ in programs(command) if _SCRIPT.search(command) else ():
        script = next((arg for arg in args if not arg.startswith("-")), "") if _RUNS.fullmatch(name) else name
        if _SCRIPT.fullmatch(script):
            yield script.removeprefix("./")


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _is(path: str, named: str) -> bool:
    """Whether a path is meant by a name, which may say less of where it is, or more."""
    return f"/{path}".endswith(f"/{named}") or f"/{named}".endswith(f"/{path}")
