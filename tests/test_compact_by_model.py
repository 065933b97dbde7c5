"""`foldline compact --model`: the receipt that it leaves, the settings, and a session that no failure changes."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from foldline import Brief, ConfigError, Message, SummaryFailed, Usage, open_session
from foldline._cli.commands import foldline
from foldline._desk.desk import Desk
from foldline.extend import Draft, preset
from providers import Provider, Reply, is_silent, says, status
from sessions import long_log
from test_model_summaries import CHINESE, GOOD, HOSTILE, STAYING
from test_writers import claude_rows, codex_rows

KEYS = {
    "OPENAI_API_KEY": "openai:demo-1",
    "ANTHROPIC_API_KEY": "anthropic:claude-haiku-4-5",
    "GOOGLE_API_KEY": "google:gemini-2.5-flash",
    "GEMINI_API_KEY": "google:gemini-2.5-flash",
    "OPENROUTER_API_KEY": "openrouter:anthropic/claude-haiku-4.5",
}
"""The variables that keys come from, and a model of each."""


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return long_log(12).write(tmp_path / "session.jsonl")


def surroundings(folder: Path, **more: str) -> dict[str, str]:
    """A home without settings or keys."""
    homes = {name: str(folder) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    return {**homes, "FOLDLINE_SUMMARY__RETRIES": "0", **more}


def run(session: Path, *arguments: str, **environment: str) -> Result:
    """A command on a session, without a terminal."""
    env = {**dict.fromkeys(KEYS), **surroundings(session.parent), **environment}
    return CliRunner().invoke(foldline, [*arguments, "--session", str(session)], env=env)


def by(provider: Provider, model: str = "demo-1") -> list[str]:
    url = provider.root if model.startswith(("anthropic", "google")) else provider.url
    return ["compact", "--yes", "--model", model, "--base-url", url]


def test_a_session_that_is_not_written_costs_no_call(tmp_path: Path) -> None:
    rows = [{"role": "user", "content": "Fix src/a.py."}]
    for n in range(12):
        rows += [{"role": "assistant", "content": f"Step {n}. " * 200}, {"role": "user", "content": f"Go on with {n}."}]
    session = tmp_path / "messages.json"
    session.write_text(json.dumps(rows))
    with Provider(says(GOOD)) as provider:
        done = run(session, *by(provider))
        assert (done.exit_code, provider.requests) == (1, [])
        assert "compact --to FORMAT" in str(done.exception)


# -- what it leaves -----------------------------------------------------------------------------------------------


def test_the_receipt_is_printed_and_stands_in_the_history(session: Path) -> None:
    with Provider(says(GOOD)) as provider:
        done = run(session, *by(provider, "anthropic:claude-haiku-4-5"), "--focus", "the handlers")
    assert done.exit_code == 0, done.stderr
    assert "the handlers" in provider.requests[0].material
    bill = "anthropic:claude-haiku-4-5, 1 call, 1,000 tokens in (400 cached), 50 out, $0.0009"
    assert re.search(r"Facts: +\d+ in view, \d+ of them added to the model's draft, \d+ only by recall", done.stdout)
    assert bill in done.stdout
    told = run(session, "context", "history", "--facts").stdout
    assert f"Model:     {bill}" in told
    assert re.search(r"Facts:     \d+ in view \(\d+ repaired\), \d+ only by recall", told)
    assert re.search(r"Waited:    \d+\.\d s", told)
    ids = re.findall(r"^ +([0-9a-f]{8}) +repaired +request: Please fix the handler (\d+)", told, re.MULTILINE)
    assert ids
    for id, number in ids:
        assert f"Please fix the handler {number} " in run(session, "recall", id).stdout
    (fold,) = json.loads(run(session, "context", "history", "--json").stdout)["folds"]
    assert fold["receipt"]["usage"] == {"input": 600, "output": 50, "cache_read": 400, "cache_write": 0}


def test_what_is_doubtful_in_a_draft_is_printed_and_stands_in_the_history(session: Path) -> None:
    doubt = "the summary is in Chinese, the conversation in English"
    with Provider(says(CHINESE)) as provider:
        done = run(session, *by(provider))
    assert done.exit_code == 0, done.stderr
    assert re.search(rf"Remark: +{doubt}", done.stdout)
    assert f"  Remark:    {doubt}\n" in run(session, "context", "history").stdout
    (fold,) = json.loads(run(session, "context", "history", "--json").stdout)["folds"]
    assert doubt in fold["receipt"]["remarks"]


def rows_of(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


LOGS = {
    "pi 0.73": long_log(12).bytes(),
    "pi 0.87": long_log(12, system=True).bytes(),
    "OpenClaw, version 1": long_log(12, version=1).bytes(),
    "Claude Code": rows_of(claude_rows(12)),
    "Codex": rows_of(codex_rows(12)),
}


@pytest.mark.parametrize("log", LOGS.values(), ids=list(LOGS))
def test_a_receipt_survives_in_every_log_that_is_written(tmp_path: Path, log: bytes) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(log.replace(b"change the parser.", b"change the parser, and never touch the lexer."))

    def writes(brief: Brief, messages: Sequence[Message]) -> Draft:
        return Draft(GOOD, usage=Usage(600, 50, 400, 7), cost=0.0123, model="demo-1", calls=3)

    found = Desk(open_session(path))
    planned = found.plan(preset("default"), "the parser", by=writes)
    planned.write()
    receipt = open_session(path).folds()[-1].receipt
    assert (receipt.usage, receipt.cost, receipt.calls) == (Usage(600, 50, 400, 7), 0.0123, 3)
    assert receipt.models == ("demo-1",)
    assert receipt.found_in.keys() >= set(receipt.repaired) > set()
    assert receipt == planned.fold.receipt


def test_a_dry_run_asks_no_model(session: Path) -> None:
    before = session.read_bytes()
    with Provider(says(GOOD)) as provider:
        done = run(session, *by(provider), "--dry-run")
    assert (done.exit_code, provider.requests) == (0, [])
    assert "demo-1, asked once this is folded" in done.stdout
    assert session.read_bytes() == before


def test_nothing_to_fold_is_found_before_a_model_is_asked(session: Path) -> None:
    short = session.with_name("short.jsonl")
    short.write_bytes(b"\n".join(session.read_bytes().splitlines()[:3]) + b"\n")
    with Provider(says(GOOD)) as provider:
        assert run(short, *by(provider)).exit_code == 3
    assert provider.requests == []


# -- settings and keys --------------------------------------------------------------------------------------------


def test_settings_name_the_model_and_a_flag_replaces_it(session: Path) -> None:
    with Provider(says(GOOD)) as provider:
        settings = {
            "model": "demo-2",
            "base_url": provider.url,
            "temperature": 0.7,
            "max_tokens": 777,
            "instructions": "Keep ticket numbers.",
        }
        file = session.with_name("settings.json")
        file.write_text(json.dumps({"summary": settings}))
        assert run(session, "compact", "--yes", FOLDLINE_CONFIG=str(file)).exit_code == 0
        (request,) = provider.requests
        assert (request.body["model"], request.body["temperature"]) == ("demo-2", 0.7)
        assert 777 in (request.body.get("max_tokens"), request.body.get("max_completion_tokens"))
        assert "Keep ticket numbers." in request.text
        run(session, "session", "undo")
        done = run(session, "compact", "--yes", "--model", "extract", FOLDLINE_CONFIG=str(file))
        assert (done.exit_code, len(provider.requests)) == (0, 1)


@pytest.mark.parametrize(("variable", "model"), KEYS.items())
def test_the_key_comes_from_the_environment(session: Path, variable: str, model: str) -> None:
    with Provider(says(GOOD)) as provider:
        assert run(session, *by(provider, model), **{variable: "sesame"}).exit_code == 0
    headers = provider.requests[0].headers
    given = [headers.get(name) for name in ("authorization", "x-api-key", "x-goog-api-key")]
    assert any("sesame" in (key or "") for key in given)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"api_key": "k"}, "api_key"),
        ({"timeout": 0}, "summary.timeout"),
        ({"retries": -1}, "summary.retries"),
        ({"temperature": 9}, "summary.temperature"),
        ({"max_tokens": 0}, "summary.max_tokens"),
        ({"model": ""}, "summary.model"),
        ({"fallbacks": ["demo-1"]}, "summary.fallbacks"),
    ],
)
def test_an_impossible_setting_is_named(session: Path, settings: dict[str, Any], named: str) -> None:
    file = session.with_name("settings.json")
    file.write_text(json.dumps({"summary": settings}))
    done = run(session, "compact", "--yes", FOLDLINE_CONFIG=str(file))
    assert isinstance(done.exception, ConfigError)
    assert named in str(done.exception)
    assert str(file) in str(done.exception)


@pytest.mark.parametrize(
    ("model", "way_out"),
    [
        ("openai:gpt-5-mini", "set OPENAI_API_KEY in the environment"),
        ("claude-haiku-4-5", "set ANTHROPIC_API_KEY in the environment"),
        ("gemini-2.5-flash", "set GOOGLE_API_KEY in the environment"),
        ("openrouter:openai/gpt-5-mini", "set OPENROUTER_API_KEY in the environment"),
        ("claude-sonet-4-5", "no model of this name is known (did you mean claude-sonnet-4-5?)"),
        ("nobodys-demo-1", "PROVIDER:NAME says whose it is"),
        ("nobody:demo-1", "Unknown provider: nobody; known are anthropic, openai,"),
    ],
)
def test_a_model_that_cannot_be_called_is_refused_with_the_way_out(session: Path, model: str, way_out: str) -> None:
    before = session.read_bytes()
    done = run(session, "compact", "--yes", "--model", model)
    assert isinstance(done.exception, ConfigError)
    assert way_out in str(done.exception)
    assert session.read_bytes() == before


def test_a_missing_key_is_told_and_extraction_takes_over_where_it_is_allowed(session: Path) -> None:
    done = run(session, "compact", "--yes", "--model", "openai:gpt-5-mini", "--fallback", "extract")
    assert done.exit_code == 0
    told = r"no summary by openai:gpt-5-mini: .*set OPENAI_API_KEY in the environment; extraction took its place"
    assert re.search(told, done.stderr)
    assert open_session(session).newest_fold is not None


def test_a_model_without_its_key_is_passed_over_where_extraction_is_allowed(session: Path) -> None:
    chain = ["--model", "anthropic:claude-haiku-4-5", "--fallback", "openai-chat:demo-1", "--fallback", "extract"]
    with Provider(says(GOOD)) as provider:
        keys = {"OPENAI_API_KEY": "sesame", "OPENAI_BASE_URL": provider.url}
        assert run(session, "compact", "--yes", *chain, **keys).exit_code == 0
    newest = open_session(session).newest_fold
    assert newest is not None
    assert newest.receipt.models == ("openai-chat:demo-1",)


def test_flags_that_belong_to_a_model_are_refused_without_one(session: Path) -> None:
    assert run(session, "compact", "--yes", "--base-url", "http://127.0.0.1:1/v1").exit_code == 2
    assert run(session, "compact", "--yes", "--model", "extract", "--fallback", "demo-1").exit_code == 2
    assert run(session, "compact", "--yes", "--native").exit_code == 2


# -- failures -----------------------------------------------------------------------------------------------------

FAILURES: dict[str, tuple[Reply, str]] = {**STAYING, **HOSTILE}


@pytest.mark.parametrize(("reply", "words"), FAILURES.values(), ids=list(FAILURES))
def test_after_a_failure_the_session_is_as_it_was(session: Path, reply: Reply, words: str) -> None:
    before = session.read_bytes()
    with Provider(reply) as provider:
        done = run(session, *by(provider), "--timeout", "0.5")
    assert isinstance(done.exception, SummaryFailed)
    assert re.search(words, str(done.exception))
    assert "nothing was written" in str(done.exception)
    assert session.read_bytes() == before


def test_a_connection_that_is_refused_leaves_the_session_as_it_was(session: Path) -> None:
    before = session.read_bytes()
    with Provider(says(GOOD)) as provider:
        asked = by(provider)
    done = run(session, *asked)
    assert isinstance(done.exception, SummaryFailed)
    assert session.read_bytes() == before


def test_what_was_spent_on_a_refused_draft_is_told(session: Path) -> None:
    with Provider(says(GOOD, stop="length")) as provider:
        done = run(session, *by(provider))
    assert "spent on it: demo-1, 2 calls, 2,000 tokens in (800 cached), 100 out" in str(done.exception)


def test_extraction_takes_over_where_it_is_named_as_the_last_resort_and_the_status_says_so(session: Path) -> None:
    with Provider(status(401)) as down, Provider(says(GOOD)) as up:
        done = run(session, *by(down), "--fallback", "demo-2", "--fallback", "extract")
        assert done.exit_code == 0
        assert re.search(r"no summary by demo-1, demo-2: .*401.*; extraction took its place", done.stderr)
        assert "HTTP 401: error 401; extraction took its place" in run(session, "context", "history").stdout
        state = r"compaction failing: demo-1: HTTP 401: .*, since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC"
        assert re.search(state, run(session, "context", "status").stdout)
        assert re.search(state, json.loads(run(session, "context", "status", "--json").stdout)["failing"])
        run(session, "session", "undo")
        assert run(session, *by(up)).exit_code == 0
    assert "failing" not in run(session, "context", "status").stdout


# -- as a user runs it --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 1)])
def test_on_a_terminal_a_person_is_asked_what_to_do_where_the_model_fails(
    session: Path, answer: str, code: int
) -> None:
    before = session.read_bytes()
    master, slave = pty.openpty()
    with Provider(status(402)) as provider:
        asked = [each for each in by(provider) if each != "--yes"]
        asking = child(session, *asked, stdin=slave, stdout=slave, stderr=subprocess.PIPE)
        os.write(master, f"y\n{answer}\n".encode())
        told = drained(asking, master, slave)
        assert asking.wait() == code
        assert asking.stderr is not None
        with asking.stderr as said:
            told += said.read()
    assert "demo-1, asked once this is folded" in told
    assert re.search(r"HTTP 402: .*\s+Fold with a summary by extraction instead\?", told)
    assert (session.read_bytes() == before) == (code == 1)


def drained(asking: subprocess.Popen[str], master: int, slave: int) -> str:
    """All that a child says to a terminal until it ends."""
    os.close(slave)
    told = b""
    try:
        while piece := os.read(master, 4096):
            told += piece
    except OSError:
        pass
    os.close(master)
    return told.decode(errors="replace")


def child(session: Path, *arguments: str, **more: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "foldline", *arguments, "--session", str(session)]
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "LANG")}
    env = {**kept, **surroundings(session.parent)}
    return subprocess.Popen(command, env=env, text=True, **{"stdin": subprocess.DEVNULL, **more})


def test_interrupted_while_a_model_is_asked_it_leaves_the_session_and_folds_it_the_next_time(session: Path) -> None:
    before, model = session.read_bytes(), "openai:demo[6k]"
    master, slave = pty.openpty()
    with Provider(is_silent, says(GOOD)) as provider:
        asking = child(session, *by(provider, model), stderr=slave)
        os.close(slave)
        told = ""
        while "Asking " not in told or not provider.requests:
            told += os.read(master, 4096).decode()
        asking.send_signal(signal.SIGINT)
        assert asking.wait(10) == 130
        assert re.search(r"Asking openai:demo\[6k\]: \d+ s", told)
        assert session.read_bytes() == before
        assert run(session, *by(provider, model)).exit_code == 0
    os.close(master)
    assert len(provider.requests) == 2
    assert "fix the handler 0 " in provider.requests[1].material


def test_a_failure_is_one_line_and_exit_code_1(session: Path) -> None:
    with Provider(status(402)) as provider:
        failing = child(session, *by(provider), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, err = failing.communicate()
    assert (failing.returncode, out) == (1, "")
    assert err == (
        "foldline: no summary by demo-1: demo-1: HTTP 402: error 402; nothing was written "
        "(the fallback extract would fold without a model)\n"
    )


def test_without_the_packages_for_models_the_way_out_is_named(session: Path) -> None:
    before = session.read_bytes()
    code = "import sys; sys.modules['pydantic_ai'] = None; from foldline._cli import main; main()"
    command = [sys.executable, "-c", code, "compact", "--yes", "--model", "demo-1", "--session", str(session)]
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "LANG")}
    done = subprocess.run(
        command, env={**kept, **surroundings(session.parent)}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "pip install 'foldline[llm]'" in done.stderr
    assert session.read_bytes() == before
