"""Commands that failed, and what is other since they pass: how they are run, for who goes on would run into it again, or what was
edited."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from foldline._clipping import cut
from foldline._facts.attempts import closes
from foldline._facts.folders import without_names
from foldline._facts.patterns import rare
from foldline._facts.shell import checks, family
from foldline._facts.standing import cause_of
from foldline._facts.told import CAUSE
from foldline._facts.types import BY_USER, Command, Facts, FailedCall, Piece
from foldline._messages import replace
from foldline._page.superfluous import command_of, fault_of, is_edit, led_to_report
from foldline._patterns import pattern

REMEDY = "; remedy: "
"""What stands between what a command failed with and how it has been run since."""

MENDED, SINCE = "; mended in ", "; mended since"
"""What stands between what a command failed with and the files that were edited until it passed; and where no file is named."""

_MOST_MENDED, _MOST_FILES = 6, 3
"""The newest failures that are told although edits mended them, and from how many files on none is named."""

_GIVEN_CODE = pattern(r"<<|\s-[ce]\b|[\w/]*python[\d.]* -(?:\s|$)")
"""How a command has the code in it that it runs: another code is another command."""

_CUT_OFF = rare(r"(?i)timed out|timeout|aborted|cancell?ed|interrupted|\bkilled\b")
"""How a failure says that a command did not come to its end."""

_SET = pattern(r"(?:^|[;&|] )(?:env )?((?:[A-Za-z_]\w*=\S+ )+)")
_ALLOWED = rare(r"\bsandbox_permissions=\w+")
_INSTALLS = pattern(r"(?:^|[;&|] )((?!git )[\w.-]+ (?:[\w-]+ )?(?:install|add) [^;&|]+)")
"""The variables that a command is run with, how Codex is asked to run it outside of its sandbox, and a step that installs something."""

_OF_CODE = pattern(
    r"\b(?:Type|Syntax|Name|Attribute|Assertion|Value|Key|Index|Indentation|Reference)Error\b|error(?:\[E| TS| CS)\d|\bassert",
    re.IGNORECASE,
)
"""How a failure says that code is wrong, which nothing that is installed mends."""

_WORD = re.compile(r"(?:\"[^\"]*\"|'[^']*'|[^\s\"'])+")
_TARGET = re.compile(r"[\"']?(?:https?://\S{6,}|[~/.]\S{11,})")
"""The words of a command, and one that names what it is to work on."""

_SEVERAL = 2
"""Failures on one target from which what was other about the run that passed is how it is done."""

_LATEST = 3
"""The latest failures of one attempt of which a remedy is looked for."""

_CAUSE = 240
"""Characters of what the agent said of a failure."""


_RUN = frozenset({"call", "change"})
"""What a run is told as that did not fail."""


class _Run(NamedTuple):
    """A run of a command: what it is an attempt at, and in which way it was run."""

    piece: Piece
    attempt: str
    way: frozenset[str]
    installs: tuple[str, ...]


def with_remedies(facts: Facts) -> Iterator[Piece]:
    """The pieces, of commands that failed the first of those with one remedy with that, and with what the agent made of the failure;
    and the newest of those that edits mended with the files."""
    found = (*_tried_otherwise(facts), *_remedied(facts.pieces))
    remedies = {(f.at, f.part): remedy for f, remedy in found}
    mended = dict([*_mended(facts)][-_MOST_MENDED:])
    told: set[str] = set()
    for i, piece in enumerate(facts.pieces):
        if i in mended:
            why = cause_of(facts, FailedCall(fault_of(piece), seen=piece.at))
            cause = f"{CAUSE}{cut(why, _CAUSE).rstrip('.')}" if why else ""
            yield replace(piece, text=f"{piece.text}{cause}{mended[i]}")
            continue
        remedy = remedies.get((piece.at, piece.part), "") if piece.kind == "failure" else ""
        new = bool(remedy) and remedy not in told
        why = cause_of(facts, FailedCall(fault_of(piece), seen=piece.at)) if new else ""
        if why or (new and _speaks_for_itself(remedy)):
            told.add(remedy)
            piece = replace(
                piece, text=f"{piece.text}{CAUSE if why else ''}{cut(why, _CAUSE).rstrip('.')}{REMEDY}{remedy}"
            )
        yield piece


def _speaks_for_itself(remedy: str) -> bool:
    """Whether a remedy says what was wrong without the agent's words: something was not allowed, or was not there."""
    return remedy.startswith("`--") or bool(_ALLOWED.search(remedy) or _INSTALLS.match(remedy.strip("`")))


def has_remedy(piece: Piece) -> bool:
    """Whether a piece tells what is other since a command passes that failed."""
    return piece.kind == "failure" and any(mark in piece.text for mark in (REMEDY, MENDED, SINCE))


def _mended(facts: Facts) -> Iterator[tuple[int, str]]:
    """The places of failures of checks and code that are closed by a later run, behind an edit, each with what tells that; not where
    a report stands behind them, which says what matters of it."""
    closed = {fault.seen: fault for fault in facts.faults if fault.resolved}
    reported = {*led_to_report(facts)} if closed else set()
    edits = [piece for piece in facts.pieces if piece.by == "tool" and is_edit(piece)] if closed else []
    for i, piece in enumerate(facts.pieces) if edits else ():
        if i not in reported and piece.kind == "failure" and piece.at in closed and _is_of_code(piece):
            attempt, key = family(command_of(piece)), closed[piece.at].key
            later = (p.at for p in facts.pieces[i + 1 :] if p.kind in _RUN and _is_run_of(attempt, p))
            newest = max((at for each, at in facts.passed.items() if closes(each, key)), default=-1)
            passed = next(later, newest)
            between = [edit for edit in edits if piece.at < edit.at < passed]
            files = dict.fromkeys(name for edit in between for name in _files_of(edit))
            known = all(map(_files_of, between))
            named = [name for name in files if name in fault_of(piece)] or ([*files] if known else [])
            if between and not _rewrote(attempt, files):
                yield i, f"{MENDED}{', '.join(named)}" if 0 < len(named) < _MOST_FILES else SINCE


def _is_of_code(failure: Piece) -> bool:
    """Whether it is code that failed, by what a check of it says, or as it was run."""
    command, fault = command_of(failure), fault_of(failure)
    of_code = checks(family(command)) or _OF_CODE.search(fault)
    return bool(failure.text.startswith("`") and fault and of_code) and not (
        _GIVEN_CODE.search(command) or _CUT_OFF.search(fault)
    )


def _is_run_of(attempt: str, call: Piece) -> bool:
    return call.text.startswith("`") and not call.text.endswith(BY_USER) and family(command_of(call)) == attempt


def _rewrote(attempt: str, files: Iterable[str]) -> bool:
    """Whether nothing was edited but the script that was run, which then tries something else; a test may be mended."""
    scripts = {word.rpartition("/")[2] for word in attempt.split()}
    return bool({*files}) and scripts.issuperset(files) and not checks(attempt)


def _files_of(edit: Piece) -> list[str]:
    """The names of the files that an edit by a tool names."""
    listed = "" if edit.text.startswith("`") else without_names(edit.text.partition(" ")[2])
    return [path.replace("\\", "/").rpartition("/")[2] for path in listed.split(", ") if path]


def _remedied(pieces: Sequence[Piece]) -> Iterator[tuple[Piece, str]]:
    """The commands that failed until they were run in another way, and what was other about it, where they are run so still: nothing
    was changed between, which may have mended it as well."""
    runs = [*_runs(pieces)]
    newest = {run.attempt: run for run in runs}
    edited = [piece.at for piece in pieces if piece.by == "tool" and is_edit(piece)]
    failed: dict[str, list[_Run]] = {}
    installed: list[tuple[int, str]] = []
    for run in runs:
        fails = run.piece.kind == "failure"
        installed += [(run.piece.at, each) for each in run.installs if not fails]
        for before in failed.get(run.attempt, [])[-_LATEST:]:
            new = sorted(run.way - before.way)
            parts = [each for at, each in installed if before.piece.at < at and _lacks(before.piece)]
            mended = bisect_right(edited, before.piece.at) < bisect_right(edited, run.piece.at)
            alike = not run.way.issuperset(before.way) or (fails and fault_of(run.piece) == fault_of(before.piece))
            alone = not mended or any(map(_ALLOWED.match, new))
            if (new or parts) and alone and not alike and newest[run.attempt].way.issuperset(new):
                failed[run.attempt].remove(before)
                yield before.piece, ", ".join(f"`{each}`" for each in (*parts, *new))
        if fails:
            failed.setdefault(run.attempt, []).append(run)
        elif " → " in run.piece.text:
            failed.pop(run.attempt, None)


def _tried_otherwise(facts: Facts) -> Iterator[tuple[Piece, str]]:
    """The commands that failed several times on one target until they were run with an option that none of them had, and that option."""
    told = {piece.at: piece for piece in reversed(facts.pieces) if piece.kind == "failure"}
    failed: dict[tuple[str, str], list[Command]] = {}
    for ran in sorted(facts.commands, key=lambda command: command.seen):
        words = _WORD.findall(ran.text)
        for target in dict.fromkeys(word.strip("'\"").partition("&")[0] for word in words if _TARGET.match(word)):
            known = failed.setdefault((family(ran.tried).partition(" ")[0], target), [])
            if ran.outcome not in ("", "ok"):
                known.append(ran)
                continue
            tried = {option for each in known for option in _options(each.text)}
            new = [option for option in _options(ran.text) if option not in tried]
            if len(known) >= _SEVERAL and new and known[0].seen in told:
                yield told[known[0].seen], ", ".join(f"`{each}`" for each in new)
            known.clear()


def _options(command: str) -> list[str]:
    """The options of a command, each with its value."""
    words = _WORD.findall(command)
    pairs = pairwise((*words, ""))
    return [
        f"{word} {value}"
        if "=" not in word and value and not value.startswith("-") and not _TARGET.match(value)
        else word
        for word, value in pairs
        if word.startswith("--")
    ]


def _lacks(failure: Piece) -> bool:
    """Whether a failure may be one of something that is not installed, and not of the code."""
    return _OF_CODE.search(fault_of(failure)) is None


def _runs(pieces: Sequence[Piece]) -> Iterator[_Run]:
    """The runs of commands that failed once, and of what installs something, in order."""
    asked: dict[tuple[int, int], set[str]] = {}
    for piece in pieces:
        if piece.kind == "given" and (found := _ALLOWED.search(piece.text)):
            asked.setdefault((piece.at, piece.part), set()).add(found[0])
    told = (p for p in pieces if p.by == "tool" and p.kind in (*_RUN, "failure") and p.text.startswith("`"))
    calls = [p for p in told if not p.text.endswith(BY_USER)]
    failed = {family(command_of(call)).partition(" ")[0] for call in calls if call.kind == "failure"}
    for call in calls if failed else ():
        command = command_of(call)
        installs = tuple(each.strip() for each in _INSTALLS.findall(command))
        if installs or any(program in command for program in failed):
            given = {each for found in _SET.findall(command) for each in found.split()}
            way = frozenset(given | asked.get((call.at, call.part), set()))
            yield _Run(call, family(command), way, installs)
