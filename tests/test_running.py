"""Sessions under a running agent: who is at work on one is seen, and a fold that the agent leaves behind is not counted."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from foldline import Compactor, Message, Session, SessionError, open_session
from foldline._cli.commands import foldline
from foldline._desk.desk import Desk
from foldline._desk.status import Status, status
from foldline._sessions.busy import opened_elsewhere, refuse_busy
from foldline._sessions.finding import find_session
from foldline.extend import Text, preset
from sessions import HEADER, Log

pytestmark = pytest.mark.skipif(not Path("/proc/self/comm").exists(), reason="only Linux tells what runs where")

NAMED = "import sys; open('/proc/self/comm', 'w').write(sys.argv[1]); print(flush=True); sys.stdin.read()"
SCRIPT = "import sys; print(flush=True); sys.stdin.read()"
HOLDS = "import sys; f = open(sys.argv[1], 'ab'); print(flush=True); sys.stdin.read()"


@contextmanager
def running(command: Sequence[str], cwd: Path) -> Iterator[int]:
    """A process that stays at work in a directory; it is so before its id is handed out."""
    with subprocess.Popen(command, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process.pid
        finally:
            process.communicate()


def named(comm: str) -> list[str]:
    return [sys.executable, "-c", NAMED, comm]


def by_node(folder: Path, script: str) -> list[str]:
    """A script as node runs it: this Python by node's name."""
    node, path = folder / "bin" / "node", folder / script
    node.parent.mkdir(exist_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not node.exists():
        node.symlink_to(sys.executable)
    path.write_text(SCRIPT)
    return [str(node), str(path)]


def pi_session(cwd: Path, turns: int = 12) -> Path:
    log = Log({**HEADER, "cwd": str(cwd)})
    for turn in range(turns):
        log.user(f"step {turn}: " + "look at the orders again and say what is wrong with them. " * 60)
        log.message("assistant", [{"type": "text", "text": f"done with {turn}. " * 200}], model="demo-1")
    return log.write(cwd / "session.jsonl")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    return tmp_path / "shop"


def test_a_pi_that_runs_in_the_sessions_directory_is_at_work_on_it(shop: Path, tmp_path: Path) -> None:
    path = pi_session(shop)
    assert opened_elsewhere(path) == []
    with running(named("pi"), shop) as pid:
        assert opened_elsewhere(path) == [pid]
    with running(named("pi"), tmp_path):
        assert opened_elsewhere(path) == []
    with running(named("pip"), shop):
        assert opened_elsewhere(path) == []
    assert opened_elsewhere(path) == []


@pytest.mark.parametrize(
    ("script", "seen"),
    [
        ("node_modules/@earendil-works/pi-coding-agent/dist/cli.js", True),
        ("bin/pi", True),
        ("pi/server.js", False),
        ("api.js", False),
    ],
)
def test_a_pi_that_node_runs_is_seen(script: str, seen: bool, shop: Path, tmp_path: Path) -> None:
    path = pi_session(shop)
    with running(by_node(tmp_path, script), shop) as pid:
        assert opened_elsewhere(path) == ([pid] if seen else [])


def test_a_directory_by_another_name_is_the_same(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(shop)
    path = pi_session(shop)
    path.write_text(path.read_text().replace(str(shop), str(tmp_path / "alias")))
    with running(named("pi"), shop) as pid:
        assert opened_elsewhere(path) == [pid]


def gemini_session(home: Path, cwd: Path) -> Path:
    """A chat of Gemini CLI, which notes beside its chats in which directory they are."""
    path = home / ".gemini" / "tmp" / "shop" / "chats" / "session-1.jsonl"
    path.parent.mkdir(parents=True)
    (path.parents[1] / ".project_root").write_text(str(cwd))
    said = {"id": "u", "type": "user", "content": [{"text": "look at the orders"}]}
    path.write_text("".join(json.dumps(row) + "\n" for row in ({"sessionId": "g1", "projectHash": "x"}, said)))
    return path


def qwen_session(home: Path, cwd: Path) -> Path:
    path = home / "q1.jsonl"
    said = {"role": "user", "parts": [{"text": "look at the orders"}]}
    row = {"uuid": "u", "parentUuid": None, "sessionId": "q1", "cwd": str(cwd), "type": "user", "message": said}
    path.write_text(json.dumps(row) + "\n")
    return path


@pytest.mark.parametrize(
    ("made", "program", "package"), [(gemini_session, "gemini", "gemini-cli"), (qwen_session, "qwen", "qwen-code")]
)
def test_those_that_open_a_file_for_each_row_are_at_work(
    made: Callable[[Path, Path], Path], program: str, package: str, shop: Path, tmp_path: Path
) -> None:
    path = made(tmp_path, shop)
    with running(by_node(tmp_path, f"node_modules/@vendor/{package}/cli.js"), shop) as pid:
        assert opened_elsewhere(path) == [pid]
    with running(by_node(tmp_path, f"bin/{program}"), tmp_path):
        assert opened_elsewhere(path) == []


def test_a_chat_of_gemini_is_found_by_its_directory(shop: Path, tmp_path: Path) -> None:
    path = gemini_session(tmp_path, shop)
    environment = {"HOME": str(tmp_path)}
    assert find_session(None, cwd=str(shop), environment=environment) == str(path)


def test_other_agents_sessions_are_not_pis(shop: Path) -> None:
    path = codex_session(shop)
    with running(named("pi"), shop):
        assert opened_elsewhere(path) == []


# -- what is said ------------------------------------------------------------------------------------------------


def codex_session(cwd: Path) -> Path:
    path = cwd / "rollout-x.jsonl"
    rows = [{"type": "session_meta", "payload": {"id": "x1", "cwd": str(cwd)}}]
    for turn in range(12):
        for role, kind in (("user", "input_text"), ("assistant", "output_text")):
            content = [{"type": kind, "text": f"step {turn} of the work on orders. " * 200}]
            rows.append({"type": "response_item", "payload": {"type": "message", "role": role, "content": content}})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def run(*words: str) -> Result:
    return CliRunner().invoke(foldline, list(words))


@pytest.mark.parametrize("words", [("compact", "--yes"), ("session", "undo")])
def test_nothing_is_written_under_a_running_pi(words: tuple[str, ...], shop: Path) -> None:
    path = pi_session(shop)
    was = path.read_bytes()
    with running(named("pi"), shop) as pid:
        told = run(*words, "--session", str(path))
    assert isinstance(told.exception, SessionError)
    assert f"process {pid}" in str(told.exception)
    assert path.read_bytes() == was


def test_force_says_what_will_happen(shop: Path) -> None:
    path = pi_session(shop)
    quiet = run("compact", "--yes", "--force", "--session", str(path))
    assert "process" not in quiet.stderr
    with running(named("pi"), shop) as pid:
        for words in (("session", "undo"), ("compact", "--yes")):
            told = run(*words, "--force", "--session", str(path))
            assert told.exit_code == 0
            assert f"process {pid}" in told.stderr
            assert "goes on from what it holds" in told.stderr


def test_a_rollout_that_codexs_daemon_holds_says_how_it_gets_free(shop: Path) -> None:
    path = codex_session(shop)
    waits = pytest.raises(SessionError, match=r"a minute after .*`codex app-server daemon stop`")
    with running([sys.executable, "-c", HOLDS, str(path)], shop), waits:
        refuse_busy(path)
    log = pi_session(shop)
    with running([sys.executable, "-c", HOLDS, str(log)], shop), pytest.raises(SessionError) as refused:
        refuse_busy(log)
    assert "app-server" not in str(refused.value)


# -- a fold that the agent left behind ---------------------------------------------------------------------------


def test_a_fold_off_the_live_branch_counts_for_nothing(shop: Path) -> None:
    """What an agent that ran through the fold says next hangs on the record that it knew."""
    path = pi_session(shop)
    last = json.loads(path.read_text().splitlines()[-1])
    run("compact", "--yes", "--session", str(path))
    assert of(path).compactions == 1
    said = {"role": "user", "content": "go on", "timestamp": 1}
    with path.open("a") as file:
        row = {"type": "message", "id": "next", "parentId": last["id"], "timestamp": last["timestamp"], "message": said}
        file.write(json.dumps(row) + "\n")
    told = of(path)
    assert (told.compactions, told.last_compaction, told.risk.level) == (0, "", "Low")
    assert [fold.undone for fold in open_session(path).folds()] == [True]
    assert "Total Compactions:   0" in run("context", "history", "--session", str(path)).stdout


def test_folds_behind_folds_count(shop: Path) -> None:
    path = pi_session(shop)
    for n in (1, 2, 3):
        assert run("compact", "--yes", "--session", str(path)).exit_code == 0
        session = Session(path)
        for _ in range(6):
            session.append(Message("user", (Text("and the orders of the next day, please. " * 400),)))
        assert of(path).compactions == n
        assert [fold.undone for fold in open_session(path).folds()] == [False] * n


def of(path: Path) -> Status:
    return status(Desk(open_session(path)), preset("default"))


# -- what folds by itself ----------------------------------------------------------------------------------------


def test_automatic_is_said_only_where_something_folds_by_itself(shop: Path) -> None:
    path = pi_session(shop)
    assert not of(path).auto_enabled
    assert "None here by foldline" in run("context", "status", "--session", str(path)).stdout
    run("compact", "--yes", "--session", str(path))
    assert not of(path).auto_enabled, "a fold by hand"

    session = Session(pi_session(shop))
    Compactor(window=12_000, reserve=0, session=session).fit(session.context.messages)
    assert [fold.trigger for fold in session.folds()] == ["threshold"]
    assert of(path).auto_enabled
    assert "Enabled (triggers at" in run("context", "status", "--session", str(path)).stdout
