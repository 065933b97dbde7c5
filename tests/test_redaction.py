"""`context export --redact`: keys, tokens and passwords are taken out, and what only looks like them stays."""

from __future__ import annotations

import html
import json
import random
import re
import string
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import msgspec
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from foldline._cli.export import export as export_command
from foldline._handoff.importing import read_state
from foldline._handoff.redaction import redacted
from foldline._handoff.state import Asked, Entity, Operation, Origin, State
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
    "max_tokens: 200000, input_token = 12k",
    "token: config.token1.value",
    "password: /run/secrets/database/pg1",
    "mkdir -p build2/output && mysql --version",
    "password = models.CharField(max_length=128)",
    "ids=0-FactCheck-Orca-Emdash+1-FactCheck-Parallel-Vibe+2-FactCheck-Intent-Conductor",
    "def test_the_document_holds_what_the_session_came_to_know(session):",
]


def asked(*texts: str) -> State:
    return State(exported="", source=Origin("pi", "s"), requests=tuple(Asked(text=text) for text in texts))


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


# -- wherever a part of it stands --------------------------------------------------------------------------------


def document(*texts: str, literals: tuple[str, ...] = (), commands: tuple[str, ...] = ()) -> State:
    """A state with texts in several of its fields."""
    requests = tuple(Asked(text=text) for text in texts)
    operations = tuple(Operation(command=command) for command in commands)
    entities = tuple(Entity(value=literal, line=f"it is {literal}") for literal in literals)
    return State(exported="", source=Origin("pi", "s"), requests=requests, operations=operations, entities=entities)


PASSWORDS = ["Tr0ub4dor&3!", "S3cr3t/with+signs=%", "p@ss:w0rd#19", 'quo"ted\\7back!', "swordfish!", "naïve-pässwort-9"]


@pytest.mark.parametrize("word", PASSWORDS)
@pytest.mark.parametrize(
    "shape",
    [
        lambda word: word,
        lambda word: word.upper() if not word.rstrip("!").isalpha() else word,
        lambda word: quote(word, safe=""),
        lambda word: quote(word, safe="").lower() if not word.rstrip("!").isalpha() else quote(word, safe=""),
        lambda word: json.dumps(word)[1:-1],
        lambda word: json.dumps(json.dumps(word))[3:-3],
        lambda word: re.sub(r"(\W)", r"\\\1", word),
        lambda word: html.escape(word),
        lambda word: word[:-1],
        lambda word: word[1:] if not word.rstrip("!").isalpha() else word,
        lambda word: f"https://app:{quote(word, safe='')}@host/x",
        lambda word: f"mysql -u root -p'{word}' shop",
    ],
    ids=[
        "as it is",
        "capitals",
        "url",
        "url, small",
        "json",
        "json twice",
        "shell",
        "html",
        "without its last",
        "without its first",
        "in an address",
        "in a command",
    ],
)
def test_a_password_goes_wherever_it_stands(word: str, shape: Callable[[str], str]) -> None:
    told = f"Log in with password='{word}' and go on."
    shaped = shape(word)
    state, counts = redacted(
        document(told, f"It said {shaped}, twice.", literals=(shaped,), commands=(f"echo {shaped} | login", shaped))
    )
    left = str(msgspec.to_builtins(state))
    assert counts
    for piece in (word, shaped, word[:-1], shaped[:-1]):
        assert piece not in left
    assert state.requests[0].text.startswith("Log in with password='[redacted: ")
    assert state.requests[0].text.endswith("' and go on.")
    assert state.requests[1].text.startswith("It said ")
    assert state.requests[1].text.endswith(", twice.")
    assert state.operations[0].command.endswith(" | login")


@pytest.mark.parametrize(
    "line",
    [
        "export DB_PASS={}",
        "mysql -u root -p{} shop",
        "mysqldump --password={} shop",
        "sshpass -p {} ssh host",
        "curl -u app:{} https://host/x",
        "redis-cli -a {} ping",
        "api_key: {}",
        "the token is set: ACCESS_TOKEN = '{}'",
        '{{"client_secret": "{}", "id": 3}}',
        "PGPASSWORD={} psql",
    ],
)
@pytest.mark.parametrize("word", ["9f8e7d6c5b4a39281706", "hunter2-and-more", "x7!Kq9z"])
def test_a_secret_is_known_by_the_command_or_the_name_before_it(line: str, word: str) -> None:
    state, _ = redacted(asked(line.format(word)))
    assert word not in state.requests[0].text
    assert "[redacted: " in state.requests[0].text


@pytest.mark.parametrize(
    "line",
    [
        "The password is {}, use it for the database.",
        "the password for staging is {}.",
        "Passwort: {}",
        "das Kennwort lautet {}",
        "la contraseña es {}",
        "le mot de passe est {}",
        "пароль: {}",
        "密码是 {}",
        "パスワードは {}",
        "비밀번호: {}",
    ],
)
def test_a_password_that_the_user_tells_in_words_goes(line: str) -> None:
    for word in ("Tr0ub4dor&3", "hunter2-and-more", "Sommer2024"):
        text = redacted(asked(line.format(word)))[0].requests[0].text
        assert text == line.format("[redacted: Secret Keyword]")


@pytest.mark.parametrize(
    "line",
    [
        "the password is base64 encoded",
        "The password is wrong!",
        "the password is required in step 2.",
        "the password is stored in /etc/app/db.conf and password is never logged",
        "Das Passwort: siehe docs/setup.md",
    ],
)
def test_what_is_said_of_a_password_stays(line: str) -> None:
    state = asked(line)
    assert redacted(state) == (state, {})


def test_a_cut_key_goes_and_the_head_of_a_private_key_stays_where_it_is_only_named() -> None:
    key = SECRETS["anthropic"]
    body = drawn(64)
    pem = f"-----BEGIN RSA PRIVATE {'KEY'}-----\n{body}\n-----END RSA PRIVATE {'KEY'}-----"
    named = f"grep for '-----BEGIN RSA PRIVATE {'KEY'}' first"
    state, _ = redacted(
        document(f"use {key}", pem, f"it began {key[:24]}… and ended …{key[-20:]}.", body[10:40], named)
    )
    texts = [request.text for request in state.requests]
    assert key[:24] not in texts[2]
    assert key[-20:] not in texts[2]
    assert body[12:30] not in texts[3]
    assert texts[4] == named


WORDS = [
    "the",
    "password",
    "token",
    "secret",
    "welcome",
    "correct",
    "horse",
    "battery",
    "shop",
    "order",
    "login",
    "summer",
    "database",
    "Sommer",
    "Password",
]


@given(
    st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join),
    st.sampled_from(["Password123!", "correct-horse-7", "Welcome!", "summer2024", "20241105", "database-shop-login-1"]),
)
def test_ordinary_words_stay(text: str, secret: str) -> None:
    state, _ = redacted(document(f"password='{secret}'", text, f"on 2024-11-06, 20241206 and 2024: {text}"))
    assert secret not in state.requests[0].text
    assert state.requests[1].text == text
    assert state.requests[2].text == f"on 2024-11-06, 20241206 and 2024: {text}"


def test_joined_words_of_what_was_taken_for_a_secret_stay() -> None:
    name = "TestCalculateUsage_GeminiStartOffset/offset_2_-_skips_first_message"
    state, _ = redacted(
        document(f"token='{name}'", "call CalculateUsage, then GeminiStartOffset, then skips_first_message")
    )
    assert state.requests[1].text == "call CalculateUsage, then GeminiStartOffset, then skips_first_message"
