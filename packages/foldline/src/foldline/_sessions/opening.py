"""From a path to the session that is meant: recognized by what the file says and not by its name."""

from __future__ import annotations

import os
from collections.abc import Sequence

from foldline._errors import SessionError
from foldline._sessions.file import SessionFile
from foldline._sessions.format import SessionFormat
from foldline._sessions.reading import Reading, Stored
from foldline._sessions.registry import format_named, format_of, head_of, names, sessions_in
from foldline._sessions.source import parted
from foldline._sessions.transcript import Transcript


def recognize(path: str | os.PathLike[str]) -> str | None:
    """The name of the format that a file's content is of, or None where it is none that is known."""
    known = format_of(parted(path)[0])
    return known.name if known else None


def open_session(path: str | os.PathLike[str], *, format: str | None = None, strict: bool = False) -> SessionFile:
    """The session in a file, of the format that its content shows or of the one named.

    Of a file that holds several it is the newest, or with `path#WHICH` the one of that id or number, counted from 1.
    Raises `SessionError` where the file is of no known format, or cannot be read as the one named.
    """
    place, which = parted(path)
    known = known_format(place, format)
    if known.open is not None and not which:
        return known.open(place, strict=strict)
    found = sessions_in(known, place, strict=strict)
    chosen = _chosen(found, which, os.fspath(path)) if which else found[-1]
    return Transcript(chosen.read(), overhead=known.overhead)


def read_all(path: str | os.PathLike[str], *, format: str | None = None, strict: bool = False) -> list[Reading]:
    """Every session in a file, in the file's order; logs of pi and OpenClaw are not read here."""
    place, _ = parted(path)
    return [each.read() for each in sessions_in(known_format(place, format), place, strict=strict)]


def session_in(path: str, id: str) -> SessionFile:
    """The session of that id in a file; the newest of the file where none has it."""
    known = known_format(path)
    found = sessions_in(known, path) if known.read_all else ()
    named = next((each for each in found if each.id == id), None)
    return Transcript(named.read(), overhead=known.overhead) if named else open_session(path)


def _chosen(found: Sequence[Stored], which: str, path: str) -> Stored:
    if which.isdecimal() and 1 <= int(which) <= len(found):
        return found[int(which) - 1]
    named = next((each for each in found if each.id == which), None)
    if named is None:
        raise SessionError(f"there are {len(found)} conversations in it", path=path)
    return named


def known_format(path: str, name: str | None = None) -> SessionFormat:
    """The format of a file, or the one named; raises `SessionError` where there is none."""
    if name is not None:
        return format_named(name, path)
    known = format_of(path)
    if known is None:
        raise SessionError(f"{_unknown(path)}; known are sessions of {', '.join(names())}", path=path)
    return known


def _unknown(path: str) -> str:
    """Why a path is of no known format."""
    if os.path.isdir(path):
        return "a folder that is no session; name a file in it"
    return "no session of a known format" if head_of(path) else "an empty file, no session"
