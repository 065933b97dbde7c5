"""Sessions that are replayed out of a bucket, or of whatever else a URL leads to."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foldline import ConfigError, SessionError
from foldline_lab.replaying import replay, replayed, sessions_in
from test_replay import ASKED, MODEL, history, without_time, written


def test_without_fsspec_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['fsspec'] = None; sys.argv[0] = 'foldline'; import foldline.__main__"
    words = ["replay", "s3://team/sessions", "--model", MODEL]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        "foldline: s3://team/sessions: needs one more package: pip install 'foldline-lab[buckets]'\n"
    )


@pytest.fixture
def bucket() -> Iterator[Any]:
    """A bucket in memory with two sessions in it."""
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed: buckets are NOT tested here")
    memory = fsspec.filesystem("memory")
    for n in range(2):
        memory.pipe_file(f"/team/2026/{n}.json", json.dumps(history(4 + n)).encode())
    yield memory
    memory.rm("/team", recursive=True)


def test_a_bucket_is_replayed_as_a_folder_is(bucket: Any, tmp_path: Path) -> None:
    beside = [written(tmp_path, history(4 + n), f"{n}.json") for n in range(2)]
    there = sessions_in(["memory://team"])
    assert there == ["memory:///team/2026/0.json", "memory:///team/2026/1.json"]
    found = [replayed(path, ASKED) for path in there]
    assert [outcome.session for outcome in found] == there
    assert [run.session for outcome in found for run in outcome.runs] == [p for p in there for _ in found[0].runs]
    assert list(map(without_time, found)) == [without_time(replayed(path, ASKED)) for path in beside]


def test_what_was_replayed_of_a_bucket_is_not_done_again_unless_it_changed(bucket: Any, tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    paths = sessions_in(["memory://team"])
    first = list(replay(paths, ASKED, str(results)))
    assert list(replay(paths, ASKED, str(results))) == first
    bucket.pipe_file("/team/2026/0.json", json.dumps(history(9)).encode())
    again = list(replay(paths, ASKED, str(results)))
    assert [outcome in first for outcome in sorted(again, key=lambda each: each.session)] == [False, True]


@pytest.mark.parametrize(("url", "told"), [("memory://nowhere", "no such file"), ("nothing://x", "nothing")])
def test_a_url_that_leads_nowhere_is_named(bucket: Any, url: str, told: str) -> None:
    with pytest.raises((SessionError, ConfigError), match=rf"^{url}: .*{told}"):
        sessions_in([url])


def test_a_file_that_is_gone_when_its_turn_comes_is_left_out(bucket: Any, tmp_path: Path) -> None:
    beside = Path(written(tmp_path, history(4)))
    paths = sessions_in(["memory://team", str(beside)])
    bucket.rm("/team/2026/0.json")
    beside.unlink()
    first, second, third = replay(paths, ASKED)
    assert "memory:///team/2026/0.json: cannot be read" in first.fault
    assert second.runs
    assert str(beside) in third.fault
