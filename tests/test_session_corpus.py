"""Sessions of real agents can be folded, recalled from and undone, and their bytes are never touched."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from foldline import CompactionError, Session
from sessions import context, fold, ids, pi_context, shown_all, words

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
FILES = sorted([*CORPUS.glob("pi/*.jsonl"), *CORPUS.glob("made/pi/*.jsonl")])

pytestmark = pytest.mark.skipif(not FILES, reason="the corpus is not here")


@pytest.fixture(params=FILES, ids=lambda path: path.stem[-12:])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    copy = tmp_path / "session.jsonl"
    shutil.copyfile(request.param, copy)
    return copy


def test_a_session_shows_what_pi_shows(path):
    session = Session(path)
    if not session.faults:
        assert context(session) == pi_context(path.read_bytes())
    assert context(session)[-len(pi_context(path.read_bytes())) :] == pi_context(path.read_bytes())


@pytest.mark.parametrize("layer", ["summarize", "prune"])
def test_a_session_is_folded_and_undone(path, layer):
    session = Session(path)
    was, before, faults = path.read_bytes(), context(session), session.faults
    recallable = {id: session.recall(id) for id in ids(session)[:: max(1, len(before) // 20)]}
    try:
        _, after, made = fold(session, layer=layer)
    except CompactionError:
        assert (session.version, layer) == (1, "prune")
        assert path.read_bytes() == was
        return
    assert words(context(session)) == words(shown_all(after.messages))
    assert context(Session(path)) == context(session)
    assert words(pi_context(path.read_bytes())) == words(context(session))
    assert {id: session.recall(id) for id in recallable} == recallable
    if made:
        assert session.folds()[-1].id == made.id
        assert session.undo() == made.id
    assert context(session) == context(Session(path)) == before
    assert session.faults == faults
    assert path.read_bytes().startswith(was)
