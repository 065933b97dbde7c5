"""The stages of a conversation as a session notes them: each run by the id of the entry that it begins behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from foldline._messages import Message
from foldline._sessions.values import Json
from foldline._stages import Course, Stage
from foldline._view import opens_turn


def noted(course: Course, places: Sequence[int | None], ids: Sequence[str]) -> Json:
    """What a session notes of a course; `places` tells where what it shows by these ids stands among all that was said."""
    runs = [(_entry_before(place, places, ids), name) for place, name in course.runs]
    return {"stages": msgspec.to_builtins(course.stages), "runs": runs}


def course_of(noted: Mapping[str, object], entries: Sequence[tuple[str, Message]]) -> Course:
    """The stages that were noted, each run from the user's first words behind the entry that it begins behind."""
    try:
        stages = msgspec.convert(noted.get("stages", ()), tuple[Stage, ...])
        anchors = msgspec.convert(noted.get("runs", ()), tuple[tuple[str, str], ...])
    except msgspec.ValidationError:
        return Course()
    at = {id: place for place, (id, _) in enumerate(entries, 1)}
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
