"""A session format of somebody else, added by one file in a package of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import foldline
from foldline._sessions.registry import formats

SOURCE = str(Path(foldline.__file__).parent.parent)

PAGE = Path(__file__).parents[1] / "docs" / "session-format.md"
ACME = PAGE.read_text("utf-8").split("```python\n")[1].split("```")[0]
"""The file as the documentation shows it."""

TURNS = "".join(
    f"user\tPlease look at part {n} of the shop and tell me what it does.\n"
    f"agent\tPart {n} is about {'plums, pears and prices; ' * 60}and it works.\n"
    for n in range(60)
)


def package(folder: Path, name: str, code: str, *, value: str) -> None:
    """A package as an installer leaves it: one module, and beside it what it offers."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(code)
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[foldline.sessions]\n{name} = {value}\n")


@pytest.fixture
def session(tmp_path: Path) -> Path:
    package(tmp_path / "site", "acme_sessions", ACME, value="acme_sessions:FORMAT")
    path = tmp_path / ".acme" / "first.acme"
    path.parent.mkdir()
    path.write_text(f"acme 1 claude-sonnet-4-5 {tmp_path} 50000\n{TURNS}")
    return path


def run(home: Path, *words: str) -> CompletedProcess[str]:
    kept = {key: value for key, value in os.environ.items() if not key.endswith(("_DIR", "_HOME"))}
    paths = os.pathsep.join((SOURCE, str(home / "site")))
    env = {**kept, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "PYTHONPATH": paths}
    return subprocess.run(
        [sys.executable, "-m", "foldline", *words], capture_output=True, text=True, cwd=home, env=env, timeout=60
    )


def test_its_sessions_are_seen(session: Path, tmp_path: Path) -> None:
    done = run(tmp_path, "context", "status", "--json", "--session", str(session))
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["session"], told["model"], told["window"]) == ("first", "claude-sonnet-4-5", 50_000)
    assert told["tokens"] > 1_234


def test_its_sessions_are_found_listed_and_recalled(session: Path, tmp_path: Path) -> None:
    listed = json.loads(run(tmp_path, "session", "list", "--all", "--json").stdout)["sessions"]
    assert [(each["agent"], each["path"]) for each in listed] == [("acme", str(session))]
    said = "Please look at part 7 of the shop and tell me what it does."
    assert run(tmp_path, "recall", "acme-16", "--session", str(session)).stdout.strip() == said
    assert run(tmp_path, "recall", "acme-16", "--all").stdout.strip() == said
    assert "acme-16" in run(tmp_path, "recall", '"look at part 7 of"', "--session", str(session)).stdout


def test_a_fold_of_it_is_previewed_and_written_as_a_new_session(session: Path, tmp_path: Path) -> None:
    before = session.read_bytes()
    preview = run(tmp_path, "compact", "--dry-run", "--session", str(session))
    assert preview.returncode == 0, preview.stderr
    assert "Compaction Preview" in preview.stdout
    new = tmp_path / "new.json"
    done = run(tmp_path, "compact", "--yes", "--to", "anthropic", "--out", str(new), "--session", str(session))
    assert done.returncode == 0, done.stderr
    assert json.loads(new.read_text())
    assert session.read_bytes() == before


SEALING = f"""{ACME}
from foldline.extend import Sealed


def read_sealed(path, *, strict=False):
    whole = read(path, strict=strict)
    at = next(n for n, (_, message) in enumerate(whole.entries) if message.text.startswith("gAAA"))
    behind, live = whole.entries[:at], whole.entries[at:]
    told = Sealed((live[0][0],), tuple(message for _, message in behind))
    return Reading("acme", whole.id, path, live, whole.cwd, whole.model, folded=behind, window=whole.window, sealed=told)


FORMAT = SessionFormat("acme", recognizes, read_sealed)
"""
"""The same agent, whose provider compacts into what only it can read."""


def test_a_fold_tells_what_its_provider_sealed(session: Path, tmp_path: Path) -> None:
    (tmp_path / "site" / "acme_sessions.py").write_text(SEALING)
    asked = "Why does the pool run dry every night, and can you please mend it in db/pool.py?"
    session.write_text(
        f"acme 1 claude-sonnet-4-5 {tmp_path} 50000\nuser\t{asked}\nagent\tIt is mended.\nagent\tgAAA{'xyz' * 90}\n{TURNS}"
    )
    done = run(tmp_path, "compact", "--dry-run", "--session", str(session))
    assert done.returncode == 0, done.stderr
    assert asked in done.stdout


def test_where_nothing_is_worth_folding_it_is_written_as_it_is(session: Path, tmp_path: Path) -> None:
    session.write_text("".join(session.read_text().splitlines(keepends=True)[:3]))
    new = tmp_path / "new.json"
    command = ["compact", "--to", "anthropic", "--out", str(new), "--session", str(session)]
    preview = run(tmp_path, *command, "--dry-run")
    assert (preview.returncode, new.exists()) == (3, False)
    assert "nothing worth folding" in preview.stdout
    assert "written as it is" in preview.stdout
    done = run(tmp_path, *command, "--yes", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["written"], told["fold"], told["new"]["path"]) == (True, None, str(new))
    assert len(json.loads(new.read_text())) == told["new"]["messages"] == 2


def test_what_is_read_only_is_refused_before_anything_is_shown(session: Path, tmp_path: Path) -> None:
    for command in (["compact", "--yes"], ["session", "restore", "acme-2"], ["session", "branch", "--at", "acme-2"]):
        done = run(tmp_path, *command, "--session", str(session))
        assert (done.returncode, done.stdout) == (1, "")
        assert "sessions of acme" in done.stderr


def test_a_damaged_line_is_told_with_its_number(session: Path, tmp_path: Path) -> None:
    session.write_text(session.read_text().replace("agent\t", "agent ", 1))
    done = run(tmp_path, "context", "status", "--session", str(session))
    assert f"warning: {session}: line 3: a line without a speaker" in done.stderr
    assert run(tmp_path, "context", "status", "--strict", "--session", str(session)).returncode == 1


@pytest.mark.parametrize(
    ("code", "what"),
    [
        (
            "raise RuntimeError('no licence')",
            "broken_sessions (broken_sessions:FORMAT, of foldline.sessions) is left out: RuntimeError: no licence",
        ),
        (
            "FORMAT = 'acme'",
            "broken_sessions (broken_sessions:FORMAT, of foldline.sessions) is left out: it is a str, not a SessionFormat",
        ),
        (
            ACME.replace('SessionFormat("acme"', 'SessionFormat("codex"'),
            "a session format is left out: the name 'codex' is taken",
        ),
    ],
)
def test_a_package_that_fails_is_named_and_left_out(code: str, what: str, session: Path, tmp_path: Path) -> None:
    package(tmp_path / "site", "broken_sessions", code, value="broken_sessions:FORMAT")
    done = run(tmp_path, "context", "status", "--session", str(session))
    assert done.returncode == 0
    assert what in done.stderr


def test_every_format_of_ours_can_be_read_or_opened_and_has_a_name_of_its_own() -> None:
    ours = formats()
    assert len({known.name for known in ours}) == len(ours)
    assert all(known.read or known.read_all or known.open for known in ours)
