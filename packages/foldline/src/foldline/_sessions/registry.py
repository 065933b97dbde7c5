"""Every session format that is known: our own modules, and what installed packages offer."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

from foldline._errors import SessionError
from foldline._offered import offered
from foldline._sessions.descriptors import open_plain
from foldline._sessions.format import SessionFormat
from foldline._sessions.reading import Stored
from foldline._sessions.source import BOM, reason

GROUP = "foldline.sessions"
"""The entry points by which packages offer formats."""

OURS = (
    "pi", "openclaw", "codex", "gemini_cli", "qwen", "claude_code", "copilot", "swe_agent", "opencode", "atif", "openhands", "cline",
    "aider",
)  # fmt: skip
"""Our modules, in the order in which they are asked; each declares its `FORMAT`."""

LOOSE = ("pi:HEADLESS", "chat_arrays")
"""Those asked behind everybody else, since what they know a file by stands in files of others, too."""

HEAD = 64 * 1024
"""Bytes at the start of a file that its format is recognized by."""


def formats() -> list[SessionFormat]:
    """Every format, each name once, in the order in which they are asked."""
    found: dict[str, SessionFormat] = {}
    for known in _in_order():
        found.setdefault(known.name, known)
    return list(found.values())


def names() -> list[str]:
    """The names of all formats."""
    return [known.name for known in formats()]


def format_named(name: str, path: str = "") -> SessionFormat:
    """The format of that name; raises `SessionError` for one that there is not."""
    if known := _named(name):
        return known
    raise SessionError(f"no such format: {name!r}; there are {', '.join(names())}", path=path)


@cache
def _named(name: str) -> SessionFormat | None:
    return next((known for known in _in_order() if known.name == name), None)


def stores(environment: Mapping[str, str] = os.environ) -> list[tuple[str, Path, str]]:
    """Where agents keep their sessions: the agent's name, a folder, and the pattern of the files below it."""
    return [(known.name, *store) for known in formats() for store in known.stores(environment)]


def format_of(path: str) -> SessionFormat | None:
    """The format that a file's content is of, or None where it is none that is known."""
    head = head_of(path)
    return next((known for known in _in_order() if _recognizes(known, head, path)), None)


def head_of(path: str) -> bytes:
    """How a file starts; of a folder, nothing."""
    try:
        if os.path.isdir(path):
            return b""
        with open(open_plain(path), "rb") as file:
            return file.read(HEAD).removeprefix(BOM)
    except (OSError, ValueError) as error:
        raise SessionError(f"cannot be read: {reason(error)}", path=path) from error


def sessions_in(known: SessionFormat, path: str, *, strict: bool = False) -> Sequence[Stored]:
    """The sessions in a file, the newest last; raises `SessionError` where there is none, or it is opened, not read."""
    if known.read_all is not None:
        return known.read_all(path, strict=strict)
    if known.read is None:
        raise SessionError(f"a log of {known.name} is opened, not read: it holds one session", path=path)
    reading = known.read(path, strict=strict)
    return [Stored(reading.id, lambda: reading, reading.cwd)]


def _in_order() -> Iterator[SessionFormat]:
    yield from map(_ours, OURS)
    yield from _theirs()
    yield from map(_ours, LOOSE)


@cache
def _ours(module: str) -> SessionFormat:
    place, _, name = module.partition(":")
    declared: SessionFormat = getattr(import_module(f"foldline._sessions.{place}"), name or "FORMAT")
    return declared


@cache
def _theirs() -> tuple[SessionFormat, ...]:
    """The formats of installed packages; one by a name that is taken is left out with a warning."""
    taken = {_ours(module).name for module in (*OURS, *LOOSE)}
    found: dict[str, SessionFormat] = {}
    for declared in offered(GROUP, SessionFormat).values():
        if declared.name in taken or declared.name in found:
            warnings.warn(f"a session format is left out: the name {declared.name!r} is taken", stacklevel=2)
        else:
            found[declared.name] = declared
    return tuple(found.values())


def _recognizes(known: SessionFormat, head: bytes, path: str) -> bool:
    try:
        return known.recognizes(head, path)
    except Exception as error:
        if known not in _theirs():
            raise
        warnings.warn(f"the session format {known.name!r} failed on {path}: {error!r}", stacklevel=2)
        return False
