"""Sessions of every agent: one module for each format, recognized by what the file says and not by its name."""

from __future__ import annotations

import os
import re
from importlib import import_module
from typing import Protocol

from foldline.errors import SessionError
from foldline.session import Session
from foldline.transcripts.source import BOM, SQLITE, reason
from foldline.transcripts.transcript import Reading, Transcript

__all__ = ["FORMATS", "Reader", "Reading", "Transcript", "open_session", "read_all", "reader", "recognize"]


class Reader(Protocol):
    """A session format, as its module offers it; one whose files hold several conversations has `read_all` as well."""

    NAME: str

    def recognizes(self, head: bytes, path: str) -> bool:
        """Whether a file that starts so is of the format."""

    def read(self, path: str, *, strict: bool = False) -> Reading:
        """The session in the file, the newest where it holds several; raises `SessionError` where there is none."""


READERS = {
    "openclaw": "openclaw",
    "codex": "codex",
    "gemini-cli": "gemini_cli",
    "qwen-code": "qwen",
    "claude-code": "claude_code",
    "swe-agent": "swe_agent",
    "opencode": "opencode",
    "atif": "atif",
    "openhands": "openhands",
    "cline": "cline",
    "aider": "aider",
    "messages": "chat_arrays",
}
"""The module of each format, in the order in which they are asked; plain messages last, since others hold some too."""


def reader(name: str) -> Reader:
    """The reader of a format; its module is loaded when it is first asked."""
    module: Reader = import_module(f"foldline.transcripts.{READERS[name]}")
    return module


OWNERS = {"claude-code": "claude_writer", "codex": "codex_writer"}
"""The module of each agent whose sessions are folded in place, in its own records."""

LOGS = ("pi", "openclaw")
"""The formats that foldline writes as its own."""

FORMATS = tuple(dict.fromkeys((*LOGS, *READERS)))
"""The names that `open_session` takes."""

HEAD = 64 * 1024
"""Bytes at the start of a file that its format is recognized by."""

_LOG_START = re.compile(rb'\s*\{(?=[^\n]*"type"\s*:\s*"session")(?=[^\n]*"(?:id|timestamp|cwd)"\s*:)')
_LOG_ROW = re.compile(rb'[{,]\s*"type"\s*:\s*"(?:message|model_change|thinking_level_change|compaction)"')
_ITEM = re.compile(rb'[{,]\s*"type"\s*:\s*"(?:input_text|output_text|function_call|reasoning)"')
"""What items of OpenAI's responses say, which have rows of type "message" as well."""


def recognize(path: str | os.PathLike[str]) -> str | None:
    """The name of the format that a file's content is of, or None where it is none that is known."""
    path, _ = _place(path)
    head = _head(path)
    if _LOG_START.match(head):
        return LOGS[0]
    for name in READERS:
        if name == "messages" and _LOG_ROW.search(head) and not _ITEM.search(head):
            return LOGS[0]
        if reader(name).recognizes(head, path):
            return name
    return None


def open_session(
    path: str | os.PathLike[str], *, format: str | None = None, strict: bool = False
) -> Session | Transcript:
    """The session in a file, of the format that its content shows or of the one given.

    Of a file that holds several conversations it is the newest, or with `path#N` the N-th of them. Raises
    `SessionError` where the file is of no known format, or cannot be read as the one given.
    """
    place, number = _place(path)
    name = _format(place, format)
    if name in LOGS and not (name in READERS and _head(place).startswith(SQLITE)):
        return Session(place, strict=strict)
    if number is None and name in OWNERS:
        return _writable(place, name, strict)
    if number is None:
        return Transcript(reader(name).read(place, strict=strict))
    readings = _read_all(place, name, strict)
    if not 1 <= number <= len(readings):
        raise SessionError(f"there are {len(readings)} conversations in it", path=os.fspath(path))
    return Transcript(readings[number - 1])


def read_all(path: str | os.PathLike[str], *, format: str | None = None, strict: bool = False) -> list[Reading]:
    """Every conversation in a file, in the file's order; files of pi and OpenClaw's logs are not read here."""
    place, _ = _place(path)
    name = _format(place, format)
    if name not in READERS:
        raise SessionError(f"a log of {name} is opened, not read: it holds one session", path=place)
    return _read_all(place, name, strict)


def _writable(path: str, name: str, strict: bool) -> Transcript:
    from foldline.transcripts.writable import Owner, WritableTranscript

    owner: Owner = import_module(f"foldline.transcripts.{OWNERS[name]}")
    return WritableTranscript(owner, path, strict=strict)


def _read_all(path: str, name: str, strict: bool) -> list[Reading]:
    several = getattr(reader(name), "read_all", None)
    return several(path, strict=strict) if several else [reader(name).read(path, strict=strict)]


def _format(path: str, format: str | None) -> str:
    if format is not None and format not in FORMATS:
        raise SessionError(f"no such format: {format!r}; there are {', '.join(FORMATS)}", path=path)
    name = format or recognize(path)
    if name is None:
        raise SessionError(f"{_unknown(path)}; known are sessions of {', '.join(FORMATS)}", path=path)
    return name


def _unknown(path: str) -> str:
    """Why a path is of no known format."""
    if os.path.isdir(path):
        return "a folder that is no session; name a file in it"
    return "no session of a known format" if _head(path) else "an empty file, no session"


def _place(path: str | os.PathLike[str]) -> tuple[str, int | None]:
    """A path, and the number of a conversation in it where one is named behind a `#`."""
    whole = os.fspath(path)
    base, mark, number = whole.rpartition("#")
    if mark and number.isdecimal() and len(number) < 10 and not os.path.exists(whole):
        return base, int(number)
    return whole, None


def _head(path: str) -> bytes:
    """How a file starts; of a folder, nothing."""
    try:
        if os.path.isdir(path):
            return b""
        with open(path, "rb") as file:
            return file.read(HEAD).removeprefix(BOM)
    except (OSError, ValueError) as error:
        raise SessionError(f"cannot be read: {reason(error)}", path=path) from error
