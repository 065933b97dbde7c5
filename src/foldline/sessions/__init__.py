"""Sessions of every agent: each format one declared object, each session one face, whatever wrote it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foldline.sessions.context import Context
    from foldline.sessions.file import Branch, Point, SessionFile
    from foldline.sessions.finding import find
    from foldline.sessions.format import Row, SessionFormat, StoreFolder, Tail
    from foldline.sessions.opening import open_session, read_all, recognize
    from foldline.sessions.pi.log import Session
    from foldline.sessions.reading import Fault, PastFold, Reading, Stored
    from foldline.sessions.source import Source
    from foldline.sessions.transcript import Transcript

_PLACES = {
    "context": ("Context",),
    "file": ("Branch", "Point", "SessionFile"),
    "finding": ("find",),
    "format": ("Row", "SessionFormat", "StoreFolder", "Tail"),
    "opening": ("open_session", "read_all", "recognize"),
    "pi.log": ("Session",),
    "reading": ("Fault", "PastFold", "Reading", "Stored"),
    "source": ("Source",),
    "transcript": ("Transcript",),
}

__all__ = [
    "Branch", "Context", "Fault", "PastFold", "Point", "Reading", "Row", "Session", "SessionFile", "SessionFormat", "Source",
    "StoreFolder", "Stored", "Tail", "Transcript", "find", "open_session", "read_all", "recognize",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Loads a public name when it is first used, so that a list of sessions does not wait for what reads them."""
    for module, offered in _PLACES.items():
        if name in offered:
            return getattr(import_module(f"foldline.sessions.{module}"), name)
    raise AttributeError(f"module 'foldline.sessions' has no attribute {name!r}")
