"""Which sessions a question is about: one that is named, the newest of a directory, or all that are found."""

from __future__ import annotations

from typing import NamedTuple, TypeGuard

from foldline._recall.index import Index, Within, everywhere
from foldline._recall.recalled import Recalled, recalled
from foldline._recall.search import Hit
from foldline._sessions.asking import session_that_asks
from foldline._sessions.file import SessionFile
from foldline._sessions.finding import find_session, found_sessions
from foldline._sessions.opening import open_session, session_in
from foldline._sessions.source import parted


class Scope(NamedTuple):
    """The sessions to look in; `session` is the one that is meant, or the newest of the file meant, None where all are."""

    within: list[Within]
    session: SessionFile | None = None

    def search(self, index: Index, query: str, limit: int) -> list[Hit]:
        """The messages that fit a query best."""
        return index.search(query, self.within, limit=limit, only=self.session is not None)

    def recalled(self, index: Index, id: str) -> tuple[Recalled, SessionFile] | None:
        """The message of an id, of a call's id or of how one message's id begins, with the session that it is of.

        Where several sessions have it, it is of the one that changed last. Calls are looked for in one session only.
        """
        if self.session is not None and (found := recalled(self.session, id)):
            return found, self.session
        only = self.session is not None
        hits = index.find(id, self.within, only=only)
        if not hits:
            hits = index.begun(id, self.within, only=only)
            if len({hit.id for hit in hits}) > 1:
                return None
        for hit in hits:
            session = session_in(hit.path, hit.session)
            if found := recalled(session, hit.id):
                return found, session
        return None


def scope(session: str | None, *, cwd: str, whole: bool = False) -> Scope:
    """The session of that path or id, else that of the agent that asks, its newest of `cwd`; with `whole`, every one on this machine."""
    if whole:
        return Scope(everywhere(found_sessions()))
    path = find_session(session, cwd=cwd) if session else session_that_asks([cwd])
    return scope_of(open_session(path), path)


def scope_of(session: SessionFile, path: str = "") -> Scope:
    """One session that is open already, or all of the file that was named, where it holds several."""
    place, named = parted(path or session.path)
    _, one_of_several = parted(session.path)
    return Scope([Within(place, "" if one_of_several and not named else session.id, session.agent)], session)


def is_session(source: object) -> TypeGuard[SessionFile]:
    """Whether what remembers a conversation is a session in a file."""
    return isinstance(getattr(source, "path", None), str)
