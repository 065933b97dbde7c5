"""What a session holds does not steer the terminal that shows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from foldline import Session
from foldline._cli.commands import foldline
from sessions import fold, long_log

RED = "\x1b[31mfailed\x1b[0m \x1b]0;owned\x07 \x9b2J at once \x08\x08"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    log = long_log(20)
    log.user(f"The build says {RED} so what is wrong in src/build.py?")
    return Path(log.write(tmp_path / "s.jsonl"))


COMMANDS = [
    ["session", "show"],
    ["context", "inspect"],
    ["context", "status"],
    ["compact", "--dry-run", "--focus", f"the {RED} build"],
    ["compact", "--yes", "--focus", f"the {RED} build"],
    ["recall", "build"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_escape_is_printed(path: Path, tmp_path: Path, command: list[str]) -> None:
    runner = CliRunner(env={"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)})
    done = runner.invoke(foldline, [*command, "--session", str(path)], color=True)
    assert done.exit_code == 0, done.output
    assert done.output.replace("\n", "").replace("\t", "").isprintable()


def test_a_summary_quotes_the_words_without_the_escapes(path: Path) -> None:
    session = Session(path)
    fold(session)
    summary = next(m.summary.text for _, m in Session(path).context.entries if m.summary)
    assert "\x1b" not in summary


def test_what_is_recalled_into_a_file_is_as_it_was_written(path: Path, tmp_path: Path) -> None:
    id = next(id for id, m in Session(path).context.entries if "The build says" in m.text)
    runner = CliRunner(env={"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)})
    assert RED in runner.invoke(foldline, ["recall", id, "--session", str(path)], color=True).output
