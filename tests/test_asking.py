"""Which session is meant where none is named: that of the agent that asks, and not one that nobody has begun."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from foldline import Message, Session
from foldline._handoff.new_session import write_new
from foldline._sessions.finding import find_session
from foldline.extend import Text
from sessions import HEADER, Log

AS = """
import subprocess, sys
open("/proc/self/comm", "w").write(sys.argv[1])
sys.exit(subprocess.run([sys.executable, "-m", "foldline", *sys.argv[2:]]).returncode)
"""
"""A program of some name that runs a command of foldline's."""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    return tmp_path / "shop"


def claude(home: Path, cwd: Path, id: str, age: int) -> Path:
    about = {"sessionId": id, "cwd": str(cwd), "version": "2.1.0"}
    row = {"type": "user", "uuid": f"row-{id}", "parentUuid": None, **about}
    said = {"role": "user", "content": "count the plums"}
    return written(home / ".claude/projects/shop" / f"{id}.jsonl", [{**row, "message": said}], age)


def codex(home: Path, cwd: Path, id: str, age: int) -> Path:
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "count the plums"}]}
    rows = [
        {"type": "session_meta", "payload": {"id": id, "cwd": str(cwd)}},
        {"type": "response_item", "payload": said},
    ]
    return written(home / ".codex/sessions/2026/01/02" / f"rollout-{id}.jsonl", rows, age)


def pi(home: Path, cwd: Path, id: str, age: int) -> Path:
    log = Log({**HEADER, "id": id, "cwd": str(cwd)})
    log.user("count the plums")
    rows = [line for line in log.lines if isinstance(line, dict)]
    return written(home / ".pi/agent/sessions/--shop--" / f"{id}.jsonl", rows, age)


def written(path: Path, rows: list[dict[str, object]], age: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    os.utime(path, (1_700_000_000 - age, 1_700_000_000 - age))
    return path


def meant(home: Path, cwd: Path, *command: str, **environment: str) -> str:
    """The session that `context status` is of, where none is named."""
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    words = [sys.executable, *(command or ("-m", "foldline")), "context", "status", "--json"]
    env = {**kept, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), **environment}
    done = subprocess.run(words, env=env, cwd=cwd, capture_output=True, text=True, check=True)
    return str(json.loads(done.stdout)["path"])


def test_an_agent_says_which_session_it_is_in(tmp_path: Path, shop: Path) -> None:
    newest = pi(tmp_path, shop, "p1", 0)
    claude(tmp_path, shop, "c2", 1)
    asking = {
        "CLAUDE_CODE_SESSION_ID": claude(tmp_path, shop, "c1", 2),
        "CODEX_THREAD_ID": codex(tmp_path, shop, "x1", 3),
        "PI_SESSION_ID": pi(tmp_path, shop, "p2", 4),
    }
    assert meant(tmp_path, shop) == str(newest)
    for (variable, path), id in zip(asking.items(), ("c1", "x1", "p2")):
        assert meant(tmp_path, shop, **{variable: id}) == str(path)
    assert meant(tmp_path, tmp_path, CLAUDE_CODE_SESSION_ID="c1") == str(asking["CLAUDE_CODE_SESSION_ID"])
    assert meant(tmp_path, shop, CLAUDE_CODE_SESSION_ID="not-written-yet") == str(newest)


@pytest.mark.skipif(not Path("/proc/self/comm").exists(), reason="only Linux tells what runs")
def test_the_agent_that_started_the_command_is_the_one_that_asks(tmp_path: Path, shop: Path) -> None:
    newest = pi(tmp_path, shop, "p1", 0)
    older, begun = claude(tmp_path, shop, "c1", 1), codex(tmp_path, shop, "x1", 2)
    assert meant(tmp_path, shop, "-c", AS, "claude") == str(older)
    assert meant(tmp_path, shop, "-c", AS, "codex") == str(begun)
    assert meant(tmp_path, shop, "-c", AS, "make") == str(newest)
    assert meant(tmp_path, shop, "-c", AS, "opencode") == str(newest), "it has none here"
    assert meant(tmp_path, shop, "-c", AS, "codex", CLAUDE_CODE_SESSION_ID="c1") == str(begun), "Codex inside of Claude"


@pytest.mark.parametrize("format", ["pi", "claude-code", "codex"])
def test_a_draft_is_not_the_newest_until_somebody_goes_on_with_it(
    format: str, tmp_path: Path, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PI_CODING_AGENT_DIR", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    worked_on = pi(tmp_path, shop, "p1", 0)
    said = [Message("user", (Text("count the plums"),)), Message("assistant", (Text("There are three."),))]
    made = write_new(said, format, cwd=str(shop))
    assert find_session(None, cwd=str(shop)) == str(worked_on)
    if format == "pi":
        Session(made.path).append(Message("user", (Text("go on"),)))
    else:
        with open(made.path, "a") as file:
            file.write(json.dumps({"type": "user", "timestamp": "2099-01-01T00:00:00.000Z"}) + "\n")
    assert find_session(None, cwd=str(shop)) == made.path
