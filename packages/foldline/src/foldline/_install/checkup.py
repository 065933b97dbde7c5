"""What `doctor` tells of an agent on this machine: what folds by itself, who folded last, what is wrong and what mends it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import islice
from pathlib import Path
from stat import S_ISDIR

from foldline._errors import ConfigError, FoldlineError
from foldline._install import manifest
from foldline._install.agents import Agent
from foldline._install.installing import to_install
from foldline._messages import Value
from foldline._sessions.finding import session_files
from foldline._sessions.opening import open_session

LOOKED_AT = 5
"""The newest sessions of an agent in which its newest fold is looked for."""

PATIENCE = 10.0
"""Seconds that an agent has to say its version."""

_ITS_OWN = "foldline had nothing to fold, failed, or was not asked; `foldline compact` folds between two runs"

_VERSION = re.compile(r"\d+(?:\.\d+)+")


class Trouble(Value, frozen=True, omit_defaults=False):
    """Something wrong, and the command that mends it; empty where none does."""

    what: str
    command: str


class NewestFold(Value, frozen=True, omit_defaults=False):
    """The newest fold in an agent's newest sessions: where and when, why, and who made it."""

    path: str
    timestamp: str
    trigger: str
    by: str


class Checkup(Value, frozen=True, omit_defaults=False):
    """What there is of an agent on this machine; `installed` is where foldline was put: "user", a project, or nowhere.

    Where its files are in place and its entry is not, it is not installed.
    """

    agent: str
    title: str
    program: str
    version: str
    installed: tuple[str, ...]
    automatic: str
    by_hand: str
    mcp: str
    newest_fold: NewestFold | None
    troubles: tuple[Trouble, ...]


def is_there(agent: Agent) -> bool:
    """Whether the agent is on this machine: its program or its folder, be it one that cannot be looked at."""
    if shutil.which(agent.program):
        return True
    try:
        return S_ISDIR(agent.home().stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def check(agent: Agent, project: str) -> Checkup:
    """An agent as it is now; `project` is the directory whose own settings count as well."""
    program = shutil.which(agent.program) or ""
    version = version_of(program) if program else ""
    known = manifest.read()
    written = [*known.of(agent.name, ""), *known.of(agent.name, project)]
    scopes = tuple(dict.fromkeys(each.project for each in written))
    entered = {each.project for each in written if each.inserted or not agent.entries}
    newest = newest_fold(agent)
    troubles = [*_not_in_place(agent, scopes), *_too_old(agent, version)]
    troubles = troubles or [*_folded_itself(agent, newest, [each.path for each in written])]
    return Checkup(
        agent=agent.name,
        title=agent.title,
        program=program,
        version=version,
        installed=tuple(scope or "user" for scope in scopes if scope in entered),
        automatic="" if troubles else agent.automatic,
        by_hand=(agent.commands if written else "") + agent.by_hand,
        mcp=agent.mcp if written else "",
        newest_fold=newest,
        troubles=tuple(troubles),
    )


def version_of(program: str) -> str:
    """The version of a program, by the package that it comes in, or as it says itself; empty where it says none."""
    for folder in islice(Path(os.path.realpath(program)).parents, 4):
        with suppress(OSError, ValueError):
            package = json.loads((folder / "package.json").read_text("utf-8"))
            if version := _version(str(package.get("version", ""))):
                return version
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(
            [program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE
        )
        return _version(done.stdout)
    return ""


def newest_fold(agent: Agent) -> NewestFold | None:
    """The newest fold that stands in the newest sessions of an agent."""
    paths = (file.path for file in session_files(os.environ) if file.agent == agent.name)
    found: list[NewestFold] = []
    for path in islice(paths, LOOKED_AT):
        with suppress(FoldlineError):
            if fold := open_session(path).newest_fold:
                by = "foldline" if fold.ours else agent.title
                found.append(NewestFold(path, fold.timestamp, fold.trigger, by))
    return max(found, key=lambda fold: fold.timestamp, default=None)


def _not_in_place(agent: Agent, scopes: Sequence[str]) -> Iterator[Trouble]:
    """What installing would find or change: all of it is to be done where nothing is installed."""
    for scope in scopes or ("",):
        again = f"foldline install {agent.name}" + (" --project" if scope else "")
        try:
            changes = to_install(agent, scope)
        except ConfigError as error:
            yield Trouble(str(error), "")
            continue
        for change in changes:
            if change.kept:
                yield Trouble(f"{change.path}: {change.kept.removeprefix('kept: ')}", "")
            elif scopes and change.before != change.after:
                what = "is missing" if change.before is None else "is of another version of foldline"
                yield Trouble(f"{change.path} {what}", again)
        if not scopes and not any(change.kept for change in changes):
            yield Trouble("foldline is not installed in it", again)


def _too_old(agent: Agent, version: str) -> Iterator[Trouble]:
    if version and tuple(map(int, version.split("."))) < agent.least:
        least = ".".join(map(str, agent.least))
        yield Trouble(f"version {version} compacts by itself all the same: foldline needs {least} or newer there", "")


def _folded_itself(agent: Agent, newest: NewestFold | None, paths: Sequence[str]) -> Iterator[Trouble]:
    """That the agent made the newest fold, although foldline was in place before."""
    if agent.automatic and newest and newest.by == agent.title:
        with suppress(ValueError):
            if datetime.fromisoformat(newest.timestamp).timestamp() > min(map(os.path.getmtime, paths)):
                yield Trouble(f"the newest fold was made by {agent.title} itself: {_ITS_OWN}", "")


def _version(text: str) -> str:
    found = _VERSION.search(text)
    return found.group() if found else ""
