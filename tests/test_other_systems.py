"""Systems without what POSIX has: everything is imported there, and a session is folded, read and undone as anywhere."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLE = Path(__file__).parents[1] / "samples" / "invoices.jsonl"

LACKING = """
import os, sys
for name in ("fcntl", "grp", "pty", "pwd", "readline", "resource", "termios", "tty"):
    sys.modules[name] = None
for name in ("O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "fchmod", "fdatasync", "fork", "geteuid", "getpgid", "killpg",
             "mkfifo", "pread", "pwrite", "sched_getaffinity", "setsid"):
    vars(os).pop(name, None)
os.supports_fd = set()
"""
"""What Windows lacks of the standard library."""

IMPORTS = """
import importlib, pkgutil, foldline
for module in pkgutil.walk_packages(foldline.__path__, "foldline."):
    if ".integrations." not in module.name and not module.name.startswith("foldline._cli.browser") and not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""

COMMAND = "from foldline._cli import main; main()"


def run(code: str, *words: str, lacking: bool = True) -> str:
    """What a program wrote to its standard output; it has to end well."""
    done = subprocess.run(
        [sys.executable, "-c", f"{LACKING if lacking else 'import sys'}\nsys.argv[1:] = {list(words)!r}\n{code}"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_everything_is_imported() -> None:
    run(IMPORTS)


def test_the_agent_holds_a_session_where_no_file_is_locked(tmp_path: Path) -> None:
    held = f"""
from foldline import Session
from foldline_agent.agent import Agent
from foldline_agent.asking import LanguageModel

Agent(Session.create({str(tmp_path / "s.jsonl")!r}), LanguageModel.named("test"))
"""
    run(held)


def test_a_command_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    ended = f"""
import asyncio
from pathlib import Path
from foldline_agent.tools import Bash, ToolFailed, bash

try:
    asyncio.run(bash(Bash("sleep 20", timeout=0.1), Path({str(tmp_path)!r})))
except ToolFailed as failed:
    print(failed)
"""
    assert "took more than 0.1 seconds and was ended" in run(ended)


def test_a_session_is_folded_and_undone(tmp_path: Path) -> None:
    here, there = (Path(shutil.copy(SAMPLE, tmp_path / name)) for name in ("here.jsonl", "there.jsonl"))
    folded = [
        json.loads(run(COMMAND, "compact", "--yes", "--json", "--session", str(path), lacking=lacking))
        for path, lacking in ((here, False), (there, True))
    ]
    assert folded[1]["written"]
    assert folded[0]["fold"]["receipt"]["tokens_after"] == folded[1]["fold"]["receipt"]["tokens_after"]
    run(COMMAND, "session", "undo", "--session", str(there))
    assert SAMPLE.read_bytes() == there.read_bytes()[: SAMPLE.stat().st_size]


@pytest.mark.parametrize("command", ["context status", "context inspect", "session list --all"])
def test_commands_that_read_tell_what_they_tell_elsewhere(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / ".pi" / "agent" / "sessions" / "--work--"
    store.mkdir(parents=True)
    path = shutil.copy(SAMPLE, store / "2026-06-01T00-00-00-000Z_invoices.jsonl")
    monkeypatch.setenv("HOME", str(tmp_path))
    words = [*command.split(), *([] if "list" in command else ["--session", str(path)]), "--json"]
    told = run(COMMAND, *words)
    assert str(path) in told
    assert told == run(COMMAND, *words, lacking=False)
