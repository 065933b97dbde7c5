"""One face for every session: whatever wrote the file, the same questions are answered, and the same ones refused."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

from foldline import Fold, Session, SessionError, SessionFile, open_session
from foldline._desk.desk import Desk
from foldline.extend import preset
from sessions import long_log

SAMPLES = Path(__file__).parent / "transcripts"
FILES = sorted(SAMPLES.iterdir())
FACE = [name for name in vars(SessionFile) if not name.startswith("_")]

WRITTEN = ("claude-code", "codex", "gemini-cli", "qwen-code")
"""Whose sessions are folded in place, beside logs."""

BRANCHED = ("claude-code", "codex")
"""Whose sessions are branched in place, beside logs."""

DOCUMENT = "gemini.json"
"""One of theirs that is only read: a document is not appended to."""

every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)


@every_file
def test_every_session_answers_what_the_face_asks(path: Path) -> None:
    session = open_session(path)
    assert [name for name in FACE if not hasattr(session, name)] == []
    assert session.agent
    assert session.id
    assert session.path.startswith(str(path))
    assert session.window >= 0
    listed = dict(session.messages())
    assert {id for id, _ in session.context.entries} <= listed.keys()
    for id, message in listed.items():
        assert session.recall(id) == message
    assert {id for id, _, _ in session.lineage()} <= listed.keys()
    assert [entry.id for entry in session.view().entries] == [id for id, _ in session.context.entries]


@every_file
def test_what_is_read_only_says_so_before_anything_is_done(path: Path) -> None:
    before, session = path.read_bytes(), open_session(path)
    if session.agent not in WRITTEN or path.name == DOCUMENT:
        desk = Desk(session)
        for refused in (
            session.check_writable,
            desk.check_writable,
            desk.undo,
            desk.plan(preset("default")).summarized,
            lambda: session.fold(desk.view, desk.view, Fold(), desk.meter),
        ):
            with pytest.raises(SessionError, match=f"sessions of {session.agent} are read, not written.*--to FORMAT"):
                refused()
    if session.agent not in BRANCHED:
        with pytest.raises(SessionError, match=f"sessions of {session.agent} cannot be branched"):
            session.branch(session.context.entries[0][0])
    assert path.read_bytes() == before


def test_a_log_has_the_face_and_is_folded_and_branched(tmp_path: Path) -> None:
    path = long_log().write(tmp_path / "s.jsonl")
    desk = Desk.open(str(path))
    assert isinstance(desk.session, Session)
    assert [name for name in FACE if not hasattr(desk.session, name)] == []
    planned = desk.plan(preset("default"))
    assert planned
    assert planned.summary
    planned.write()
    assert desk.session.newest_fold is not None
    branched = desk.session.branch(desk.session.points()[0].id)
    assert open_session(branched.path).id == branched.id
    assert desk.undo() == planned.fold.id
    assert json.loads(path.read_text().splitlines()[0])["id"] == desk.session.id


def test_the_face_has_the_same_calls_in_every_class_that_writes() -> None:
    from foldline._sessions.writable import WritableTranscript
    from foldline.extend import Transcript

    for name in ("fold", "undo", "branch", "points", "recall", "check_writable", "lineage", "view", "meter"):
        asked = list(inspect.signature(getattr(SessionFile, name)).parameters)
        for kind in (Session, Transcript, WritableTranscript):
            assert list(inspect.signature(getattr(kind, name)).parameters) == asked, (kind, name)
