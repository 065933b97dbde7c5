"""A branch holds the lines of the old file up to a user message, and shows the model what it saw then."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from foldline import Edit, Fold, Layer, Message, Receipt, Session, SessionError, Summary, open_session
from foldline._cli.by_hand import branch as command
from foldline._desk.desk import Desk
from foldline._sessions.pi.branching import branch, lineage, points
from foldline.extend import Text, policy, prune_tool_outputs
from sessions import HEADER, Log, context, dumps, fold, long_log, pi_context

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
FILES = sorted([*CORPUS.glob("pi/*.jsonl"), *CORPUS.glob("made/pi/*.jsonl")])


def said(session: Session) -> list[str]:
    return [message.text for message in session.view().messages]


def lines(path: Path | str) -> list[bytes]:
    return Path(path).read_bytes().splitlines()


def until(path: Path, id: str) -> Session:
    """The session as it was when the message `id` had just been written."""
    kept = path.read_bytes().splitlines(keepends=True)
    at = max(i for i, line in enumerate(kept) if f'"id":"{id}"'.encode() in line.replace(b": ", b":"))
    was = path.with_name(f"until-{id}.jsonl")
    was.write_bytes(b"".join(kept[: at + 1]))
    return Session(was)


def example(*, v1: bool = False) -> tuple[Log, dict[str, str]]:
    """u1, a1, u2, a2, a fold that keeps two messages, u3, a3, u4, a4."""
    log = Log({key: value for key, value in HEADER.items() if not (v1 and key == "version")})
    ids = {}

    def turn(n: int) -> None:
        for role, say in (("u", log.user), ("a", log.reply)):
            place = f"e{len(log.lines)}"
            id = say(f"{role}{n}")
            ids[f"{role}{n}"] = place if v1 else id

    turn(1)
    turn(2)
    if v1:
        log.add("compaction", summary="SUM", firstKeptEntryIndex=3, tokensBefore=9)
    else:
        log.compaction(ids["u2"])
    turn(3)
    turn(4)
    return log, ids


@pytest.fixture(params=[False, True], ids=["v3", "v1"])
def old(request, tmp_path):
    log, ids = example(v1=request.param)
    return log.write(tmp_path / "old.jsonl"), ids


def test_a_branch_behind_a_fold_keeps_it(old):
    path, ids = old
    made = branch(Session(path), ids["u3"])
    new = Session(made.path)
    assert new.view().messages[0].summary.text == "SUM"
    assert said(new)[1:] == ["u2", "a2", "u3"]
    assert (made.folds, made.faults) == (1, ())
    assert pi_context(Path(made.path).read_bytes()) == context(new)


def test_a_branch_before_a_fold_undoes_it(old):
    path, ids = old
    made = branch(Session(path), ids["u2"])
    assert said(Session(made.path)) == ["u1", "a1", "u2"]
    assert made.folds == 0
    assert pi_context(Path(made.path).read_bytes()) == context(Session(made.path))


def test_the_lines_are_copied_and_the_old_file_stands(old):
    path, ids = old
    was = path.read_bytes()
    made = branch(Session(path), ids["u3"])
    assert path.read_bytes() == was
    assert lines(made.path)[1:] == lines(path)[1:7]
    header = json.loads(lines(made.path)[0])
    assert header["parentSession"] == str(path)
    assert header["id"] == made.id != Session(path).id
    assert header["cwd"] == "/tmp/demo"
    assert header.get("version") == json.loads(lines(path)[0]).get("version")


def test_it_is_named_as_pi_names_sessions(old):
    path, ids = old
    made = branch(Session(path), ids["u1"])
    stamp, _, id = Path(made.path).stem.partition("_")
    assert Path(made.path).parent == path.parent
    assert id == made.id
    assert stamp == json.loads(lines(made.path)[0])["timestamp"].replace(":", "-").replace(".", "-")
    assert Path(made.path).stat().st_size == len(Path(made.path).read_bytes())


def test_every_user_message_is_a_point_before_and_after_folds(old):
    path, ids = old
    found = points(Session(path))
    assert [(p.id, p.text, p.folds, p.live) for p in found] == [
        (ids["u1"], "u1", 0, False),
        (ids["u2"], "u2", 0, True),
        (ids["u3"], "u3", 1, True),
        (ids["u4"], "u4", 1, True),
    ]


def test_odd_bytes_are_copied_as_they_stand(tmp_path):
    log = Log()
    log.user("a")
    log.raw(
        b'{ "type" : "message", "id":"odd", "parentId":"00000001", "message":{"role":"user","content":"\\u00e9"}, "x": 1.0 }\r'
    )
    log.leaf = "odd"
    log.user("b")
    path = log.write(tmp_path / "old.jsonl")
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    made = branch(Session(path), log.leaf)
    assert Path(made.path).read_bytes().split(b"\n", 1)[1] == path.read_bytes().split(b"\n", 1)[1] + b"\n"


def test_only_the_way_to_the_message_is_copied(tmp_path):
    log = Log()
    first = log.user("a")
    log.reply("left")
    log.user("elsewhere")
    log.leaf = first
    log.reply("right")
    last = log.user("b")
    made = branch(Session(log.write(tmp_path / "old.jsonl")), last)
    assert said(Session(made.path)) == ["a", "right", "b"]
    assert made.records == 3


def test_labels_set_later_come_along(tmp_path):
    log = Log()
    first = log.user("a")
    log.reply("b")
    log.add("label", targetId=first, label="start")
    second = log.user("c")
    log.add("label", targetId=first, label="better")
    made = branch(Session(log.write(tmp_path / "old.jsonl")), second)
    new = [json.loads(line) for line in lines(made.path)]
    assert [r["label"] for r in new if r["type"] == "label"] == ["start", "better"]
    assert new[-1]["parentId"] == second
    assert said(Session(made.path)) == ["a", "b", "c"]


def test_a_damaged_line_is_left_out_and_reported(tmp_path):
    log = Log()
    log.user("a")
    log.raw(b'{"type":"message","id":"bad","parentId":"00000001","message":{"role":"assist')
    log.leaf = "bad"
    last = log.user("b")
    session = Session(log.write(tmp_path / "old.jsonl"))
    made = branch(session, last)
    assert [str(f) for f in made.faults] == ["line 3: damaged line, left out"]
    assert b"assist" not in Path(made.path).read_bytes()
    assert said(Session(made.path)) == said(session) == ["a", "b"]


def test_what_hangs_on_nothing_is_bridged_and_reported(tmp_path):
    log = Log()
    log.user("a")
    log.leaf = "gone"
    last = log.user("b")
    made = branch(Session(log.write(tmp_path / "old.jsonl")), last)
    assert "gone" in str(made.faults[0])
    assert said(Session(made.path)) == ["a", "b"]


def test_inside_an_undo_the_branch_stands(tmp_path):
    path = long_log(10).write(tmp_path / "old.jsonl")
    session = Session(path)
    fold(session)
    session.append(Message("user", (Text("later"),)))
    session.append(Message("assistant", (Text("reply"),)))
    session.append(Message("user", (Text("last"),)))
    session.undo()
    before = said(session)
    copies = [p for p in points(session) if p.text == "later" and p.live]
    made = branch(session, copies[0].id)
    assert said(Session(made.path)) == before[:-2]
    assert Session(made.path).faults == []


def asked(n: int) -> list[str]:
    return [f"Please fix the handler {i} in src/module_{i}.py, and do not touch settings_{i}.toml." for i in range(n)]


@pytest.mark.parametrize("layers", [["summarize"], ["prune"], ["summarize", "prune"], ["prune", "summarize"]])
def test_each_message_is_offered_once_whatever_was_folded_and_undone(tmp_path, layers):
    session = Session(long_log(10).write(tmp_path / "old.jsonl"))
    for n, layer in enumerate(layers):
        fold(session, layer=layer)
        session.append(Message("user", (Text(f"later {n}"),)))
        session.append(Message("assistant", (Text("reply"),)))
    later = [f"later {n}" for n, _ in enumerate(layers)]
    assert [p.text for p in points(session)] == [*asked(10), *later]
    for _ in layers:
        session.undo()
        assert [p.text for p in points(session)] == [*asked(10), *later]
    assert all(p.live for p in points(session))
    whole = said(session)
    for point in points(session):
        assert said(Session(branch(session, point.id).path)) == whole[: whole.index(point.text) + 1]


def test_what_a_fold_kept_as_copies_is_offered_from_before_it(tmp_path):
    session = Session(long_log(10).write(tmp_path / "old.jsonl"))
    whole = said(session)
    fold(session, layer="prune")
    found = points(session)
    assert {(p.folds, p.live) for p in found} == {(0, True)}
    assert said(Session(branch(session, found[-1].id).path)) == whole[: whole.index(found[-1].text) + 1]


def test_where_only_a_copy_is_there_the_copy_is_offered(tmp_path):
    session = Session(long_log(10).write(tmp_path / "old.jsonl"))
    fold(session, layer="prune")
    session.append(Message("user", (Text("later"),)))
    new = Session(branch(session, points(session)[-1].id).path)
    assert [p.text for p in points(new)] == [*asked(10), "later"]


@pytest.mark.parametrize(
    ("at", "why"), [("nowhere", "no message nowhere"), ("00000002", "is no user message"), ("s1", "no message s1")]
)
def test_what_is_no_user_message_is_refused_by_name(tmp_path, at, why):
    log, _ = example()
    session = Session(log.write(tmp_path / "old.jsonl"))
    with pytest.raises(SessionError, match=why):
        branch(session, at)
    assert os.listdir(tmp_path) == ["old.jsonl"]


def test_a_newer_version_is_refused(tmp_path):
    log = Log({**HEADER, "version": 9})
    id = log.user("a")
    with pytest.raises(SessionError, match="version 9"):
        branch(Session(log.write(tmp_path / "old.jsonl")), id)


# -- the law: at any message, the branch shows what the session showed then ---------------------------------------

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("step"), st.integers(0, 9)),
        st.tuples(st.just("fold"), st.integers(0, 9)),
        st.tuples(st.just("back"), st.integers(0, 99)),
        st.tuples(st.just("edit"), st.integers(0, 99)),
        st.tuples(st.just("damage"), st.integers(0, 9)),
    ),
    min_size=1,
    max_size=12,
)


def built(steps: list[tuple[str, int]]) -> tuple[Log, list[str]]:
    log = Log()
    ids = [log.user("the first")]
    asked = list(ids)
    for kind, n in steps:
        if kind == "step":
            new = log.step(n, size=2)
            ids += new
            asked.append(new[0])
        elif kind == "fold":
            log.compaction(ids[-1 - n % len(ids)], f"SUM {len(log.lines)}")
        elif kind == "back":
            log.leaf = ids[n % len(ids)]
        elif kind == "edit":
            log.edit(ids[n % len(ids)], None)
        else:
            log.raw(
                b'{"type":"mess'
                if n % 2
                else f'{{"type":"x","id":"d{len(log.lines)}","parentId":"{log.leaf}",'.encode()
            )
            log.leaf = log.leaf if n % 2 else f"d{len(log.lines) - 1}"
    return log, asked


@given(STEPS, st.integers(0, 99))
def test_at_any_message_the_branch_shows_what_the_session_showed_then(tmp_path_factory, steps, which):
    folder = tmp_path_factory.mktemp("branch")
    log, asked = built(steps)
    path = log.write(folder / "old.jsonl")
    at = asked[which % len(asked)]
    made = branch(Session(path), at)
    assert context(Session(made.path)) == context(until(path, at))
    copied = lines(made.path)[1:]
    assert [line for line in lines(path) if line in copied] == copied
    shutil.rmtree(folder)


@pytest.mark.skipif(not FILES, reason="the corpus is not here")
@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem[-12:])
def test_sessions_of_real_agents_branch_at_any_message(tmp_path, file):
    path = tmp_path / "old.jsonl"
    shutil.copyfile(file, path)
    session = Session(path)
    found = points(session)
    for point in {p.id: p for p in found[:: max(1, len(found) // 6)]}.values():
        made = branch(session, point.id)
        new = Session(made.path)
        if session.version > 1:
            assert context(new) == context(until(path, point.id))
        assert new.view().messages[-1].role == "user"
        assert points(new)[-1].text == point.text


# -- lineage ------------------------------------------------------------------------------------------------------


def test_the_lineage_holds_what_was_folded_and_nothing_twice(tmp_path):
    path = long_log(10, system=True).write(tmp_path / "old.jsonl")
    session = Session(path)
    before = [(id, message) for id, message, _ in lineage(session)]
    fold(session, layer="prune")
    fold(session)
    assert [(id, message) for id, message, _ in lineage(session)] == before


def test_a_fold_with_nothing_before_it_is_all_that_is_known(tmp_path):
    log = Log()
    log.compaction("none", "ALL")
    log.user("go on")
    told = lineage(Session(log.write(tmp_path / "s.jsonl")))
    assert [message.text for _, message, _ in told] == ["ALL", "go on"]


# -- the command --------------------------------------------------------------------------------------------------


def run(*arguments: str, input: str | None = None):
    return CliRunner().invoke(command, list(arguments), input=input)


def test_the_command_branches(old):
    path, ids = old
    done = run("--session", str(path), "--at", ids["u3"])
    assert (done.exit_code, "behind 1 fold" in done.stdout) == (0, True)
    assert said(Session(done.stdout.splitlines()[-1]))[-1] == "u3"


def test_the_command_speaks_json(old):
    path, ids = old
    told = json.loads(run("--session", str(path), "--at", ids["u2"], "--json").stdout)
    assert told["at"] == ids["u2"]
    assert said(Session(told["path"])) == ["u1", "a1", "u2"]


def test_without_a_terminal_the_id_is_asked_for_by_name(old):
    path, _ = old
    done = run("--session", str(path))
    assert done.exit_code == 2
    assert "--at" in done.stderr


def at_a_terminal(path: Path, typed: bytes) -> subprocess.CompletedProcess[str]:
    """The command as a user runs it who sits before it."""
    user, terminal = os.openpty()
    os.write(user, typed)
    code = "from foldline._cli.by_hand import branch; branch()"
    try:
        return subprocess.run(
            [sys.executable, "-c", code, "--session", str(path)], stdin=terminal, capture_output=True, text=True
        )
    finally:
        os.close(user)
        os.close(terminal)


def test_on_a_terminal_all_user_messages_are_offered(old):
    path, _ = old
    done = at_a_terminal(path, b"2\n")
    offered = done.stdout.splitlines()[:4]
    assert [line.split()[-1] for line in offered] == ["u1", "u2", "u3", "u4"]
    assert "folded" in offered[0]
    assert "after fold 1" in offered[2]
    assert said(Session(done.stdout.splitlines()[-1])) == ["u1", "a1", "u2"]


def test_a_session_without_user_messages_is_nothing_to_branch_from(tmp_path):
    log = Log()
    log.reply("hello")
    assert at_a_terminal(log.write(tmp_path / "s.jsonl"), b"1\n").returncode == 3


def test_sessions_of_other_agents_are_refused_by_name(tmp_path):
    path = tmp_path / "chat.json"
    path.write_bytes(dumps([{"role": "user", "content": "hi"}]))
    done = run("--session", str(path), "--at", "1")
    assert isinstance(done.exception, SessionError)
    assert "cannot be branched" in str(done.exception)


def test_a_fold_whose_originals_stayed_in_the_old_session_is_not_undone_in_the_branch(tmp_path):
    old = Session(long_log(version=2).write(tmp_path / "old.jsonl"))
    found = Desk(old)
    pruning = policy("pruning", [Layer("prune", 0.1, 0.05, (prune_tool_outputs(protect=0, minimum=0),))])
    found.plan(pruning).write()
    old.append(Message("user", (Text("one more thing"),)))
    new = Session(branch(old, points(old)[-1].id).path)
    before = Path(new.path).read_bytes()
    with pytest.raises(SessionError, match=r"what the fold replaced is in .*old\.jsonl"):
        new.undo()
    assert Path(new.path).read_bytes() == before
    assert context(Session(new.path)) == context(new)


# -- sessions of other agents ---------------------------------------------------------------------------------------

THEIRS = ("claude-code.jsonl", "claude-code-kept.jsonl", "codex.jsonl", "codex-local.jsonl")


@pytest.fixture(params=THEIRS)
def theirs(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copyfile(Path(__file__).parent / "transcripts" / request.param, tmp_path / request.param))


def test_a_session_of_another_agent_is_branched_in_its_own_records(theirs):
    session, was = open_session(theirs), theirs.read_bytes()
    found = session.points()
    assert found
    for point in found:
        made = session.branch(point.id)
        new = open_session(made.path)
        assert (new.agent, new.id, new.cwd) == (session.agent, made.id, session.cwd)
        assert new.id != session.id
        assert new.id in Path(made.path).name
        assert new.points()[-1].text == point.text
        assert point.text.splitlines()[-1] in new.context.entries[-1][1].text
        assert new.compactions == made.folds == point.folds
    assert theirs.read_bytes() == was


def test_a_branch_of_another_agents_session_from_before_a_fold_has_the_whole_history(theirs):
    session = open_session(theirs)
    last = session.points()[-1]
    before = session.branch(last.id)
    view = session.view()
    gone = [e.id for e in view.entries[: max(view.cut_points() - {len(view.entries)})] if e.message.role != "system"]
    edit = Edit(tuple(gone), (Message("user", (Summary("What was done."),)),), "test")
    after = view.apply(edit)
    session.fold(view, after, Fold("fold-1", "manual", "summarize", (edit,), None, Receipt(2, 1)), session.meter())
    assert "What was done." in said(open_session(theirs))
    point = next(p for p in open_session(theirs).points() if p.text == last.text)
    again = open_session(theirs).branch(point.id)
    assert open_session(again.path).view().messages == open_session(before.path).view().messages


@pytest.mark.parametrize("at", ["nowhere", "1"])
def test_what_is_no_user_message_of_another_agents_session_is_no_branch(theirs, at):
    files = sorted(theirs.parent.iterdir())
    with pytest.raises(SessionError, match="no user message"):
        open_session(theirs).branch(at)
    assert sorted(theirs.parent.iterdir()) == files


def headless(damage: bytes, tmp_path: Path) -> Path:
    """A rollout of Codex with something else in its header's place."""
    _, rest = (Path(__file__).parent / "transcripts" / "codex.jsonl").read_bytes().split(b"\n", 1)
    path = tmp_path / "rollout.jsonl"
    path.write_bytes(damage + rest)
    return path


@pytest.mark.parametrize("damage", [b"", b'{"type":"session_meta","payload":{"id":"0\n', b'{"type":"session_meta"}\n'])
def test_a_rollout_whose_header_cannot_be_read_is_not_branched(tmp_path, damage):
    path = headless(damage, tmp_path)
    session = open_session(path)
    with pytest.raises(SessionError, match="its header cannot be read"):
        session.branch(session.points()[-1].id)
    assert list(tmp_path.iterdir()) == [path]
