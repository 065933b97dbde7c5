"""What a session format says of itself: one object, declared in the format's own module."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

STRING = rb'"\s*:\s*("(?:[^"\\]|\\.){1,2000}")'
"""What follows a key whose value is a text."""

_PLAIN = re.compile(rb'"([^"\\\x00-\x1f]*)"')

if TYPE_CHECKING:
    from foldline._messages import Usage
    from foldline._sessions.file import SessionFile
    from foldline._sessions.following import Follower, ReadUpTo
    from foldline._sessions.reading import Reading, Stored


T = TypeVar("T", covariant=True)


class Opening(Protocol[T]):
    """Takes a file and answers what is in it."""

    def __call__(self, path: str, *, strict: bool = False) -> T:
        """Raises `SessionError` where there is no session, and where `strict` for anything wrong in the file."""


class Row(NamedTuple):
    """What one row of a file adds: its place in the tree, its bill or its content, and whether the context begins anew.

    It `answers` a call of the reply that a bill in a row of its own behind it is for.
    `window` is what it says of the model's context window, in tokens; 0 where it says nothing.
    """

    id: str | None = None
    parent: str | None = None
    usage: Usage | None = None
    model: str = ""
    content: bytes | memoryview = b""
    anew: bool = False
    window: int = 0
    answers: bool = False


class Tail(NamedTuple):
    """How the last rows of a file tell how full a session is, so that a list of many need not read them whole.

    `tell` says what a row adds, or None where it adds nothing; it raises `ValueError` for what is no row. `signs` is
    what a row that folds holds: a file without any has not been folded.
    """

    tell: Callable[[bytes], Row | None]
    signs: tuple[bytes, ...]


class About(NamedTuple):
    """What a session says of itself: its id, its working directory, its title, the id of the session it works for."""

    id: str
    cwd: str = ""
    title: str = ""
    parent: str = ""


class StoreFolder(NamedTuple):
    """A folder where an agent keeps sessions, and the pattern of the files below it, part by part."""

    folder: Path
    pattern: str


def later(module: str, name: str) -> Callable[..., Any]:
    """A function of this room by its module and its name, which is loaded when it is first called.

    Whoever looks for a file's format asks all of them, and needs the reader of one.
    """

    @cache
    def loaded() -> Callable[..., object]:
        function: Callable[..., object] = getattr(import_module(f"foldline._sessions.{module}"), name)
        return function

    return lambda *given, **named: loaded()(*given, **named)


def folder(environment: Mapping[str, str], variable: str, below_home: str) -> Path:
    """The folder that a variable names, else the one below the user's home."""
    return Path(environment.get(variable) or Path(environment.get("HOME") or Path.home()) / below_home)


def first_said(pattern: re.Pattern[bytes], data: bytes) -> str:
    """The first text that a pattern finds; empty where it finds none."""
    found = pattern.search(data)
    return said(found[1]) if found else ""


def last_said(data: bytes, key: bytes) -> str:
    """The newest text of that key in rows of JSON; empty where there is none."""
    if key not in data:
        return ""
    found = re.findall(rb'"' + key + STRING, data)
    return said(found[-1]) if found else ""


def said(literal: bytes) -> str:
    """What a string of JSON says; empty where it is none."""
    try:
        plain = _PLAIN.fullmatch(literal)
        return printable(plain[1].decode("utf-8", "surrogatepass") if plain else str(json.loads(literal)))
    except ValueError:
        return ""


def printable(text: str) -> str:
    """The text with a mark for what no file and no terminal takes: halves of characters."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


class SessionFormat(NamedTuple):
    """A session format: how a file of it is known, read, found, written, and who may be at work on it.

    A format has at least one of `read`, `read_all` and `open`. Packages offer one by an entry point of the group
    `foldline.sessions` that names it, as `my_package.my_agent:FORMAT`.
    """

    name: str
    """The agent's name, as every list shows it."""

    recognizes: Callable[[bytes, str], bool]
    """Whether a file that starts so is of the format; for a folder, the start is empty."""

    read: Opening[Reading] | None = None
    """The session in a file; of several, the newest."""

    read_all: Opening[Sequence[Stored]] | None = None
    """The sessions in a file that may hold several, in its order, the newest last; none is read before it is asked for."""

    open: Opening[SessionFile] | None = None
    """Given where sessions are folded in place; else they are read only."""

    stores: Callable[[Mapping[str, str]], Iterable[StoreFolder]] = lambda environment: ()
    """Where the agent keeps its sessions, by the environment."""

    overhead: int = 0
    """Tokens of system prompt and tool schemas in a usual request, where the file does not show them."""

    tail: Callable[[], Tail] | None = None

    busy: Callable[[str], Iterable[int]] = lambda path: ()
    """The processes that the agent itself lists as at work on a session."""

    about: Callable[[str, bytes, About], About] = lambda path, ends, about: about
    """What a path and the ends of its file tell of a session, beyond the first id and directory that stand there."""

    program: tuple[str, str] | None = None
    """The agent's command and the package that it comes in."""

    holds_open: bool = True
    """Whether it keeps the file of a session open; else a process of it in the session's directory may be at work on it."""

    says_session: str = ""
    """The variable in which it says to what it starts which session it is in."""

    lingers: str = ""
    """What keeps a session's file open once the session was closed, and how it is let go of."""

    follow: Callable[[str, ReadUpTo], Follower | None] | None = None
    """Reads on where an earlier reading stopped; None for a file that has to be read whole."""
