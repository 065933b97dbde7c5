"""A handoff opens a new session with what a goal needs of the old one."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from foldline import Session, open_session
from foldline._cli.handoff import handoff as command
from foldline._facts.reading import facts_of
from foldline._handoff.goal import BEHIND, draft, hand_off, scorer
from foldline.extend import estimate
from sessions import Log, context, dumps, fold, pi_context

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
FILES = sorted(path for path in CORPUS.glob("*/*") if path.is_file() and path.suffix != ".md")


def two_topics(path: Path) -> Session:
    log = Log()
    log.user("Add retry to the HTTP client in src/http/client.py. Never block the event loop.")
    log.reply("I read the HTTP client.", "c1", path="src/http/client.py")
    log.result("c1", "class Client: ...")
    log.reply("I decided that the retry uses exponential backoff because the server rate limits.")
    log.user("Now the invoice PDF: the total must be rounded half up in billing/invoice.py.")
    log.reply("I read the invoice.", "c2", path="billing/invoice.py")
    log.result("c2", "def total(): ...")
    log.reply("The cause of the wrong invoice total is float arithmetic; I decided to use Decimal.")
    for n in range(6):
        log.step(n, size=5)
    return Session(log.write(path))


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return two_topics(tmp_path / "old.jsonl")


def test_the_draft_holds_what_the_goal_needs(session):
    made = draft(session, "Write tests for the invoice total")
    assert made.text.startswith("Write tests for the invoice total\n")
    assert "billing/invoice.py" in made.files[0]
    assert not any("http/client.py" in file for file in made.files)
    assert "Decimal" in made.text
    assert "backoff" not in made.text
    assert session.id in made.text
    assert session.path in made.text


def test_the_old_session_is_named_so_that_a_shell_finds_it_from_anywhere(tmp_path, monkeypatch):
    place = tmp_path / "the user's sessions"
    place.mkdir()
    two_topics(place / "old.jsonl")
    monkeypatch.chdir(place)
    last = draft(Session("old.jsonl"), "the invoice total").text.splitlines()[-1]
    assert shlex.split(last)[-1] == str(place / "old.jsonl")


def test_constraints_stand_word_for_word_whatever_the_goal(session):
    made = draft(session, "Write tests for the invoice total")
    assert "Never block the event loop." in made.constraints
    assert "- Never block the event loop.\n" in made.text


def test_the_pointers_lead_to_messages_of_the_old_session(session):
    made = draft(session, "invoice total rounding")
    assert made.pointers
    for pointer in made.pointers:
        assert session.recall(pointer.id) is not None
        assert pointer.id in made.text
    assert "invoice" in session.recall(made.pointers[0].id).text.lower()


def test_what_was_folded_is_found_all_the_same(session):
    before = draft(session, "invoice total")
    fold(session)
    assert draft(session, "invoice total") == before


@pytest.mark.parametrize("tokens", [200, 500, 2_000])
def test_the_draft_keeps_to_its_size(session, tokens):
    made = draft(session, "Write tests for the invoice total", tokens=tokens)
    assert made.tokens == estimate(made.text) <= tokens


def test_a_goal_that_nothing_bears_on_still_gets_the_rules_and_the_last_decisions(session):
    made = draft(session, "zzz qqq")
    assert "Never block the event loop." in made.constraints
    assert made.pointers == ()
    assert "## Decisions" in made.text


def test_scripts_without_spaces_are_matched():
    score = scorer("修复登录错误", ["登录页面的错误已经找到", "把按钮改成蓝色", "fix the login"])
    assert score("登录页面的错误已经找到") > score("把按钮改成蓝色") == score("fix the login") == 0


def test_rare_words_weigh_more_than_common_ones():
    texts = ["the parser test", "the lexer test", "the printer test", "the parser"]
    score = scorer("parser test", texts)
    assert score("the parser") > score("the lexer test") > score("other") == 0


def test_the_new_session_opens_with_the_draft(session, tmp_path):
    was = Path(session.path).read_bytes()
    made = draft(session, "Write tests for the invoice total")
    written = hand_off(session, made.text, path=str(tmp_path / "new.jsonl"), cwd="/tmp/demo")
    new = Session(written.path)
    (message,) = new.view().messages
    assert message.role == "user"
    assert "".join(part.text for part in message.parts) == made.text, "pi shows them without a break of its own"
    assert new.header["parentSession"] == session.path
    assert pi_context(Path(written.path).read_bytes()) == context(new)
    assert Path(session.path).read_bytes() == was


def test_only_the_goal_is_the_users_request(session, tmp_path):
    made = draft(session, "Write tests for the invoice total")
    new = Session(hand_off(session, made.text, path=str(tmp_path / "new.jsonl")).path)
    facts = facts_of(new.view().messages)
    assert [r.text for r in facts.requests] == ["Write tests for the invoice total"]
    assert "Never block the event loop." in [c.text for c in facts.rules]


def test_a_draft_that_was_written_anew_is_all_the_users(session, tmp_path):
    new = Session(hand_off(session, "Something else.\n", path=str(tmp_path / "new.jsonl")).path)
    assert [m.text for m in new.view().messages] == ["Something else."]


@pytest.mark.skipif(not FILES, reason="the corpus is not here")
@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name[-24:])
def test_sessions_of_every_agent_hand_off(tmp_path, file):
    session = open_session(file)
    made = draft(session, "Fix the failing test and document the change in the README")
    assert made.tokens <= 2_000
    assert BEHIND in made.text
    known = {id for id, _ in session.messages()}
    assert all(pointer.id in known for pointer in made.pointers)
    assert hand_off(session, made.text, path=str(tmp_path / "new.jsonl")).messages == 1


# -- the command --------------------------------------------------------------------------------------------------


def run(*arguments: str):
    return CliRunner().invoke(command, list(arguments))


def test_the_command_writes_beside_the_old_session(session):
    done = run("invoice total", "--session", session.path)
    assert done.exit_code == 0
    new = Path(done.stdout.splitlines()[1])
    assert new.parent == Path(session.path).parent
    assert Session(new).view().messages[0].text.startswith("invoice total")


def test_print_writes_nothing(session):
    done = run("invoice total", "--print", "--session", session.path)
    assert done.stdout == run("invoice", "total", "--print", "--session", session.path).stdout
    assert done.stdout.startswith("invoice total")
    assert os.listdir(Path(session.path).parent) == ["old.jsonl"]
    told = json.loads(run("invoice total", "--print", "--json", "--session", session.path).stdout)
    assert told["draft"]["goal"] == "invoice total"


def test_the_command_speaks_json(session, tmp_path):
    done = run("invoice total", "--json", "--session", session.path, "--into", str(tmp_path / "new.jsonl"))
    told = json.loads(done.stdout)
    assert told["written"]["path"] == str(tmp_path / "new.jsonl")
    assert told["draft"]["files"]


def test_a_handoff_to_plain_messages(session, tmp_path):
    target = tmp_path / "chat.json"
    assert run("invoice", "--to", "openai-chat", "--session", session.path, "--into", str(target)).exit_code == 0
    assert json.loads(target.read_bytes())[0]["role"] == "user"


def test_a_session_of_another_agent_hands_off_to_pi(tmp_path):
    path = tmp_path / "chat.json"
    path.write_bytes(dumps([{"role": "user", "content": "Never use tabs in app.py."}]))
    done = run("format app.py", "--session", str(path), "--into", str(tmp_path / "new.jsonl"))
    assert done.exit_code == 0
    assert "Never use tabs in app.py." in Session(tmp_path / "new.jsonl").view().messages[0].text


def test_an_empty_goal_is_wrong_usage(session):
    assert run(" ", "--session", session.path).exit_code == 2


@pytest.mark.parametrize(
    ("editor", "code", "written"), [("sed -i 's/total/sum/'", 0, "invoice sum"), ("truncate -s 0", 3, "")]
)
def test_on_a_terminal_the_draft_is_edited_first(session, tmp_path, editor, code, written):
    user, terminal = os.openpty()
    target = tmp_path / "new.jsonl"
    program = "from foldline._cli.handoff import handoff; handoff()"
    done = subprocess.run(
        [sys.executable, "-c", program, "invoice total", "--session", session.path, "--into", str(target)],
        stdin=terminal,
        capture_output=True,
        text=True,
        env={**os.environ, "EDITOR": editor, "VISUAL": ""},
    )
    os.close(user)
    os.close(terminal)
    assert done.returncode == code, done.stderr
    assert target.exists() == bool(written)
    if written:
        assert Session(target).view().messages[0].text.startswith(written)
