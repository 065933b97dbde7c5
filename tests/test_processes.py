"""The processes that run: each system tells the same of them, Linux by its own files and the others through psutil."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from foldline._sessions import processes_elsewhere, processes_linux

SYSTEMS = [
    pytest.param(processes_linux, marks=pytest.mark.skipif(sys.platform != "linux", reason="this is not Linux")),
    pytest.param(processes_elsewhere, marks=pytest.mark.skipif(not processes_elsewhere.psutil, reason="no psutil")),
]

HOLDS = "import sys; a = open(sys.argv[1], 'ab'); b = open(sys.argv[2], 'rb'); print(flush=True); sys.stdin.read()"


@pytest.fixture
def at_work(tmp_path: Path) -> Iterator[int]:
    """A process that works in a directory, writes one file there and reads another."""
    (tmp_path / "read.jsonl").write_text("{}\n")
    command = [sys.executable, "-c", HOLDS, "written.jsonl", "read.jsonl"]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
        process.communicate()


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_process_is_known_by_its_words_its_directory_and_its_files(
    system: ModuleType, at_work: int, tmp_path: Path
) -> None:
    here = os.path.realpath(tmp_path)
    called = next(system.called(process) for process in system.running() if process == at_work)
    assert [*called[1][:3]] == [sys.executable, "-c", HOLDS]
    assert system.directory(at_work) == here
    assert system.writes(at_work, f"{here}/written.jsonl")
    assert not system.writes(at_work, f"{here}/read.jsonl")
    assert system.still_runs(at_work, None)


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_started_a_process_is_above_it_and_the_nearest_is_first(system: ModuleType, at_work: int) -> None:
    assert [*system.above(at_work)][:2] == [at_work, os.getpid()]


@pytest.mark.parametrize("system", SYSTEMS)
def test_of_a_process_that_is_gone_nothing_is_told(system: ModuleType) -> None:
    gone = 2**22 - 3
    assert not system.still_runs(gone, None)
    assert system.directory(gone) == ""
    assert not system.writes(gone, "/tmp/written.jsonl")
    assert [system.called(process) for process in system.above(gone)] == [("", ())]
