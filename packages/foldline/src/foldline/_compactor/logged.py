"""Folds that a compactor makes and stages that its host tells of, written into the session that holds the messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from foldline._errors import SessionError
from foldline._fold import Fold
from foldline._messages import replace
from foldline._stages import Course, Stage
from foldline._tokens.meter import Meter
from foldline._view import View, identity, opens_turn

if TYPE_CHECKING:
    from foldline._sessions.file import SessionFile


def log_fold(session: SessionFile, before: View, after: View, fold: Fold, meter: Meter) -> None:
    """Writes a fold of what a session shows, under the session's ids.

    Raises `SessionError` where it shows something else, or cannot be written.
    """
    entries = session.context.entries
    same = len(entries) == len(before.entries) and all(
        identity(entry.message) == identity(message) for entry, (_, message) in zip(before.entries, entries)
    )
    if not same:
        raise SessionError(
            "it shows other messages than those that were folded; nothing was written", path=session.path
        )
    names = {entry.id: id for entry, (id, _) in zip(before.entries, entries)}

    def named(view: View) -> View:
        return View(tuple(replace(e, id=names.get(e.id, e.id)) for e in view.entries), view.count, view.bound)

    edits = tuple(replace(edit, drop=tuple(names.get(id, id) for id in edit.drop)) for edit in fold.edits)
    kept = names.get(fold.first_kept, fold.first_kept) if fold.first_kept else None
    session.fold(named(before), named(after), replace(fold, edits=edits, first_kept=kept), meter)


def log_stages(session: SessionFile, course: Course, places: Sequence[int | None]) -> None:
    """Writes the stages of a conversation, where each begins by the id of the entry before it.

    `places` tells where what the session shows stands among all that was said. Raises `SessionError` where the session
    cannot hold them.
    """
    ids = [id for id, _ in session.context.entries]
    runs = [(_entry_before(place, places, ids), name) for place, name in course.runs]
    session.note_stages({"stages": msgspec.to_builtins(course.stages), "runs": runs})


def logged_stages(session: SessionFile) -> Course:
    """The stages that a session notes, each run from the user's first words behind the entry that it begins behind."""
    noted = session.noted_stages
    if not noted:
        return Course()
    entries = session.context.entries
    at = {id: place for place, (id, _) in enumerate(entries, 1)}
    try:
        stages = msgspec.convert(noted.get("stages"), tuple[Stage, ...])
        anchors = msgspec.convert(noted.get("runs"), tuple[tuple[str, str], ...])
    except msgspec.ValidationError:
        return Course()
    course, place = Course(stages), 0
    for id, name in anchors:
        place = max(place, at.get(id, place))
        ahead = (i for i in range(place, len(entries)) if opens_turn(entries[i][1]))
        course = course.run(name, next(ahead, len(entries)) if id in at else place)
    return course


def _entry_before(place: int, places: Sequence[int | None], ids: Sequence[str]) -> str:
    """The id of the entry behind which that begins which stands at a place; empty for the first one."""
    first = next((i for i, said in enumerate(places) if said is not None and said >= place), len(places))
    return ids[min(first, len(ids)) - 1] if first and ids else ""
