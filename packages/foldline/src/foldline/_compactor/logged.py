"""Folds that a compactor makes and stages that its host tells of, written into the session that holds the messages."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from foldline._errors import SessionError
from foldline._fold import Fold
from foldline._messages import Message, replace
from foldline._sessions.stages import noted
from foldline._stages import Course
from foldline._tokens.meter import Meter
from foldline._view import View, identity

if TYPE_CHECKING:
    from foldline._sessions.file import SessionFile


def ids_in(session: SessionFile | None, newest: Sequence[Message]) -> list[str]:
    """The session's own ids of the newest messages, as a fold names them; none where it does not show these."""
    shown = session.context.entries[-len(newest) :] if session is not None else []
    same = len(shown) == len(newest) and all(identity(was) == identity(now) for (_, was), now in zip(shown, newest))
    return [id for id, _ in shown] if same else []


def shows(session: SessionFile, view: View) -> bool:
    """Whether a session shows the messages of a view."""
    entries = session.context.entries
    return len(entries) == len(view.entries) and all(
        identity(entry.message) == identity(message) for entry, (_, message) in zip(view.entries, entries)
    )


def log_fold(session: SessionFile, before: View, after: View, fold: Fold, meter: Meter) -> None:
    """Writes a fold of what a session shows, under the session's ids.

    Raises `SessionError` where it shows something else, or cannot be written.
    """
    entries = session.context.entries
    if not shows(session, before):
        raise SessionError(
            "it shows other messages than those that were folded; nothing was written", path=session.path
        )
    names = {entry.id: id for entry, (id, _) in zip(before.entries, entries)}

    def named(view: View) -> View:
        return View(tuple(replace(e, id=names.get(e.id, e.id)) for e in view.entries), view.count, view.bound)

    edits = tuple(replace(edit, drop=tuple(names.get(id, id) for id in edit.drop)) for edit in fold.edits)
    kept = names.get(fold.first_kept, fold.first_kept) if fold.first_kept else None
    session.fold(named(before), named(after), replace(fold, edits=edits, first_kept=kept), meter)


def last_written(session: SessionFile) -> float:
    """When the session was written last, in seconds since 1970; 0 where nobody knows."""
    try:
        return os.path.getmtime(session.path)
    except OSError:
        return 0.0


def log_stages(session: SessionFile, course: Course, places: Sequence[int | None]) -> None:
    """Writes the stages of a conversation; `places` tells where what the session shows stands among all that was said.

    Raises `SessionError` where the session cannot hold them.
    """
    session.note_stages(noted(course, places, [id for id, _ in session.context.entries]))
