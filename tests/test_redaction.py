"""`context export --redact`: keys, tokens and passwords are taken out, and what only looks like them stays."""

from __future__ import annotations

import random
import string
from pathlib import Path

import pytest
from click.testing import CliRunner

from foldline._cli.export import export as export_command
from foldline._handoff.importing import read_state
from foldline._handoff.redaction import redacted
from foldline._handoff.state import Asked, Operation, Source, State
from sessions import long_log

pytest.importorskip("detect_secrets")

LETTERS = string.ascii_letters + string.digits


def drawn(length: int, alphabet: str = LETTERS) -> str:
    return "".join(random.Random(length).choices(alphabet, k=length))


SECRETS = {
    "aws": "AKIA" + drawn(16, string.ascii_uppercase + string.digits),
    "github": "ghp_" + drawn(36),
    "github fine-grained": "github_pat_" + drawn(22) + "_" + drawn(59),
    "gitlab": "glpat-" + drawn(20),
    "openai": "sk-proj-" + drawn(74) + "T3BlbkFJ" + drawn(73),
    "anthropic": "sk-ant-api03-" + drawn(93) + "AA",
    "openrouter": "sk-or-v1-" + drawn(64, "0123456789abcdef"),
    "google": "AIza" + drawn(35),
    "groq": "gsk_" + drawn(52),
    "hugging face": "hf_" + drawn(34, string.ascii_letters),
    "slack": "xoxb-" + drawn(11, string.digits) + "-" + drawn(12, string.digits) + "-" + drawn(24),
    "stripe": "sk_live_" + drawn(24),
    "npm": "npm_" + drawn(36),
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + drawn(43),
}

PLAIN = [
    "commit 68ca4fc0a1b2c3d4e5f60718293a4b5c6d7e8f90",
    "see src/invoices/2024/Reports-Q3/summary_of_totals.py:120",
    "request 550e8400-e29b-41d4-a716-446655440000 failed",
    "password: see the docs",
    "api_key = os.environ['KEY']",
    "secret = get_secret()",
    "password = $DB_PASSWORD",
    "def test_the_document_holds_what_the_session_came_to_know(session):",
]


def asked(*texts: str) -> State:
    return State(exported="", source=Source("pi", "s"), requests=tuple(Asked(text=text) for text in texts))


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_a_key_goes_and_the_words_around_it_stay(secret: str) -> None:
    state, counts = redacted(asked(f"Use {secret} for the upload, then stop."))
    text = state.requests[0].text
    assert secret not in text
    assert text.startswith("Use [redacted: ")
    assert text.endswith("] for the upload, then stop.")
    assert sum(counts.values()) == 1


@pytest.mark.parametrize("line", ["DB_PASSWORD={} make run", 'login(user, password="{}")', "postgres://app:{}@db/prod"])
def test_a_password_is_known_by_where_it_stands(line: str) -> None:
    word = "correct-horse-7"
    state, _ = redacted(asked(line.format(word)))
    assert word not in state.requests[0].text


def test_a_private_key_goes_whole() -> None:
    key = f"-----BEGIN RSA PRIVATE {'KEY'}-----\n{drawn(64)}\n{drawn(40)}\n-----END RSA PRIVATE {'KEY'}-----"
    state, _ = redacted(asked(f"The key is\n{key}\nkeep it."))
    assert state.requests[0].text == "The key is\n[redacted: Private Key]\nkeep it."


def test_what_was_found_once_goes_everywhere() -> None:
    state = asked("export DB_PASSWORD=correct-horse-7")
    state, counts = redacted(
        State(
            exported="",
            source=state.source,
            requests=state.requests,
            operations=(Operation(command="psql -W correct-horse-7"),),
        )
    )
    assert "correct-horse-7" not in str(state)
    assert counts == {"Secret Keyword": 1}


@pytest.mark.parametrize("line", PLAIN)
def test_what_only_looks_like_one_stays(line: str) -> None:
    state = asked(line)
    assert redacted(state) == (state, {})


def test_the_command_says_what_it_took_out(tmp_path: Path) -> None:
    log = long_log(4)
    log.user(f"Upload with {SECRETS['github']} and never print it.")
    path, file = log.write(tmp_path / "s.jsonl"), tmp_path / "state.json"
    done = CliRunner().invoke(export_command, [str(file), "--redact", "--session", str(path)])
    assert done.exit_code == 0, done.output
    assert "GitHub" in done.output
    assert SECRETS["github"] not in file.read_text()
    assert "[redacted: GitHub Token]" in read_state(str(file)).requests[-1].text
