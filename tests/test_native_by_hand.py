"""`foldline compact --native`: where a provider's own compaction is written, and where ours is all that is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from providers import Provider, says, status
from test_compact_by_model import LOGS, by, run
from test_model_summaries import GOOD
from test_native import BLOCK, CLAUDE, GPT, SEALED, compacts, talk

MODELS = {CLAUDE: f"anthropic:{CLAUDE}", GPT: f"openai:{GPT}"}
FORMATS = {CLAUDE: "anthropic", GPT: "openai-responses"}
ON = {"FOLDLINE_SUMMARY__NATIVE": "on"}
TOOLS = [{"name": "read", "input_schema": {"type": "object"}}]
both = pytest.mark.parametrize("name", [CLAUDE, GPT])


def request_file(folder: Path, name: str) -> Path:
    """A request of an agent, in the provider's own format."""
    system, messages = ("system", "messages") if name == CLAUDE else ("instructions", "input")
    path = folder / "request.json"
    path.write_text(json.dumps({system: "You are an agent.", "tools": TOOLS, messages: talk(name, 60)}))
    return path


def compact(provider: Provider, session: Path, name: str, *more: str, **environment: str) -> Result:
    """The request folded into a new file."""
    new = ["--to", FORMATS[name], "--out", str(session.with_name("folded.json"))]
    return run(session, *by(provider, MODELS[name]), *new, *more, **environment)


def written(session: Path) -> list[Any]:
    document = json.loads(session.with_name("folded.json").read_text())
    return document["messages"] if isinstance(document, dict) else document


@both
def test_messages_of_the_provider_take_its_own_compaction(tmp_path: Path, name: str) -> None:
    session = request_file(tmp_path, name)
    with Provider(compacts) as provider:
        done = compact(provider, session, name, "--native")
    assert done.exit_code == 0, done.stderr
    assert done.stderr == ""
    assert f"{MODELS[name]}, 1 call" in done.stdout
    [request] = provider.requests
    if name == CLAUDE:
        assert written(session)[0] == {"role": "assistant", "content": [BLOCK]}
        assert (request.body["system"], request.body["tools"]) == ("You are an agent.", TOOLS)
        assert "anthropic-beta: compact-2026-09-04" in done.stdout
    else:
        assert SEALED in written(session)
        assert request.body["instructions"] == "You are an agent."
        assert "only its provider can read" in done.stdout


@both
def test_a_setting_allows_it_and_a_flag_forbids_it(tmp_path: Path, name: str) -> None:
    session = request_file(tmp_path, name)
    with Provider(compacts, says(GOOD)) as provider:
        assert compact(provider, session, name, **ON).exit_code == 0
        session.with_name("folded.json").unlink()
        assert compact(provider, session, name, "--no-native", **ON).exit_code == 0
    asked = ["stream" in request.body for request in provider.requests]
    assert asked == [False, True]
    assert "A stack was chosen" in json.dumps(written(session))


@pytest.mark.parametrize(("name", "maker"), [(CLAUDE, "ANTHROPIC"), (GPT, "OPENAI")])
def test_the_key_and_the_server_come_from_the_environment(tmp_path: Path, name: str, maker: str) -> None:
    session = request_file(tmp_path, name)
    new = ["--to", FORMATS[name], "--out", str(tmp_path / "folded.json"), "--native"]
    with Provider(compacts) as provider:
        url = provider.root if name == CLAUDE else provider.url
        environment = {f"{maker}_BASE_URL": url, f"{maker}_API_KEY": "sesame"}
        done = run(session, "compact", "--yes", "--model", MODELS[name], *new, **environment)
    assert done.exit_code == 0, done.stderr
    [request] = provider.requests
    assert "sesame" in request.headers.get("x-api-key", "") + request.headers.get("authorization", "")


@both
def test_after_a_refusal_the_model_writes_the_summary(tmp_path: Path, name: str) -> None:
    session = request_file(tmp_path, name)
    with Provider(status(404), says(GOOD)) as provider:
        done = compact(provider, session, name, "--native")
    assert done.exit_code == 0, done.stderr
    assert "HTTP 404" in done.stdout
    assert "A stack was chosen" in json.dumps(written(session))


@both
def test_where_both_fail_nothing_is_written_and_both_are_named(tmp_path: Path, name: str) -> None:
    session = request_file(tmp_path, name)
    with Provider(status(404), status(402)) as provider:
        done = compact(provider, session, name, "--native")
    assert done.exit_code != 0
    assert "HTTP 404" in str(done.exception)
    assert "HTTP 402" in str(done.exception)
    assert not session.with_name("folded.json").exists()


@pytest.mark.parametrize("log", LOGS.values(), ids=list(LOGS))
def test_a_session_that_is_folded_in_place_is_summarized_by_the_model(tmp_path: Path, log: bytes) -> None:
    session = tmp_path / "session.jsonl"
    with Provider(says(GOOD)) as provider:
        for flag, environment, told in (["--native"], {}, "only messages in the format anthropic"), ([], ON, ""):
            session.write_bytes(log)
            done = run(session, *by(provider, MODELS[CLAUDE]), *flag, **environment)
            assert done.exit_code == 0, done.stderr
            assert told in done.stderr
            assert bool(told) == bool(done.stderr)
    assert not any("compaction" in request.body for request in provider.requests)


@pytest.mark.parametrize(
    ("name", "model", "to", "why"),
    [
        (CLAUDE, MODELS[CLAUDE], "openai-chat", "only messages in the format anthropic"),
        (GPT, MODELS[CLAUDE], "anthropic", "the session's messages are in another format"),
        (CLAUDE, "anthropic:claude-haiku-4-5", "anthropic", "offers none"),
        (CLAUDE, CLAUDE, "anthropic", "offers none"),
    ],
    ids=["written elsewhere", "read elsewhere", "not offered", "a server of OpenAI's dialect"],
)
def test_what_could_not_hold_it_is_summarized_by_the_model(
    tmp_path: Path, name: str, model: str, to: str, why: str
) -> None:
    session = request_file(tmp_path, name)
    with Provider(says(GOOD)) as provider:
        url = provider.root if ":" in model else provider.url
        new = ["--model", model, "--base-url", url, "--to", to, "--out", str(tmp_path / "folded.json")]
        done = run(session, "compact", "--yes", *new, "--native")
    assert done.exit_code == 0, done.stderr
    assert why in done.stderr
    assert all("compaction" not in request.body for request in provider.requests)
    assert "A stack was chosen" in json.dumps(written(session))
