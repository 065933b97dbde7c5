"""Session files as the index reads them: whether they changed, what they say, and which of that are foldline's own words."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b

from foldline._messages import Message, Summary, ToolCall, text_of
from foldline._recall.answer import NOTE
from foldline._recall.search import ECHO, ORIGINAL, SUMMARY
from foldline._sessions.following import IndexedSession, Said
from foldline._sessions.format import SessionFormat
from foldline._sessions.opening import open_session
from foldline._sessions.registry import sessions_in
from foldline._strategies.tool_outputs import STUB


def stamp(path: str) -> str:
    """What changes when a file, or anything in a folder, does; empty where there is nothing."""
    if os.path.isdir(path):
        places = sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
        return blake2b("\n".join(map(_stamp, places)).encode(), digest_size=16).hexdigest()
    return " ".join(filter(None, (_stamp(path), _stamp(f"{path}-wal"))))


def _stamp(path: str) -> str:
    try:
        told = os.stat(path)
    except (OSError, ValueError):
        return ""
    return f"{told.st_ino}:{told.st_size}:{told.st_mtime_ns}"


def conversations(known: SessionFormat, path: str, agent: str = "") -> Iterator[IndexedSession]:
    """Every session in a file of a format, whole."""
    if known.read is None and known.read_all is None:
        session = open_session(path)
        yield IndexedSession(session.id, agent or session.agent, session.cwd, _untimed(session.messages()))
        return
    for each in sessions_in(known, path):
        reading = each.read()
        messages = _untimed((*reading.folded, *reading.entries))
        live = dict(reading.entries)
        yield IndexedSession(reading.id, reading.agent, reading.cwd, messages, each.changed, live.keys)


def _untimed(messages: Iterable[tuple[str, Message]]) -> Iterator[Said]:
    return ((id, "", message) for id, message in messages)


_NAMED = re.compile(r"(?:.*[_./-])?recall")
_COMMAND = re.compile(r"\bfoldline\s+(?:recall|context|session|compact)\b")


class OwnWords:
    """Tells foldline's own words in a conversation, message after message: an answer is known by the call before it."""

    def __init__(self) -> None:
        self._asked: set[str] = set()

    def __call__(self, message: Message) -> int:
        """Which of these a message is."""
        asked = {call.id for call in message.calls if _asks(call)}
        self._asked |= asked
        own = bool(asked)
        for result in message.results:
            text = text_of(result)
            own = own or result.call_id in self._asked or NOTE in text[:1_000] or text.startswith(STUB)
            self._asked.discard(result.call_id)
        if own:
            return ECHO
        return SUMMARY if any(type(part) is Summary for part in message.parts) else ORIGINAL


def _asks(call: ToolCall) -> bool:
    return _NAMED.fullmatch(call.name) is not None or _COMMAND.search(call.arguments) is not None
