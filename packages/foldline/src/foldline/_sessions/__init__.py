"""Sessions of every agent: each format one declared object, each session one face, whatever wrote it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline._lazy import lazily

if TYPE_CHECKING:
    from foldline._sessions.context import Context
    from foldline._sessions.file import Branch, Point, SessionFile
    from foldline._sessions.finding import find
    from foldline._sessions.format import Row, SessionFormat, StoreFolder, Tail
    from foldline._sessions.opening import open_session, read_all, recognize
    from foldline._sessions.pi.log import Session
    from foldline._sessions.reading import Fault, PastFold, Reading, Stored
    from foldline._sessions.source import Source
    from foldline._sessions.transcript import Transcript

__all__ = [
    "Branch", "Context", "Fault", "PastFold", "Point", "Reading", "Row", "Session", "SessionFile", "SessionFormat", "Source",
    "StoreFolder", "Stored", "Tail", "Transcript", "find", "open_session", "read_all", "recognize",
]  # fmt: skip

__getattr__ = lazily(
    "foldline._sessions",
    {
        "_sessions.context": ("Context",),
        "_sessions.file": ("Branch", "Point", "SessionFile"),
        "_sessions.finding": ("find",),
        "_sessions.format": ("Row", "SessionFormat", "StoreFolder", "Tail"),
        "_sessions.opening": ("open_session", "read_all", "recognize"),
        "_sessions.pi.log": ("Session",),
        "_sessions.reading": ("Fault", "PastFold", "Reading", "Stored"),
        "_sessions.source": ("Source",),
        "_sessions.transcript": ("Transcript",),
    },
)
