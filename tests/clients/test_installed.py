"""foldline installed in the real agents: long sessions go on, below the window, without a model call for a summary."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from editor import Editor
from hosts import ClaudeCode, Codex, GeminiCli, Host, OlderClaudeCode, OlderPi, OpenClaw, OpenCode, Pi, QwenCode
from requests_sent import check_messages
from scripted_model import Reply, ScriptedModel, tokens

RULE = "STANDING-RULE: never touch the production data."
FIRST = "Prompt 1: find out which step puts out the most."

ABSENT = "CLIENT_PACKAGES does not hold it (see install.sh)"


def there(host: type[Host], *more: str) -> Any:
    return pytest.param(host, *more, id=host.__name__, marks=pytest.mark.skipif(not host.is_there(), reason=ABSENT))


FOLDING = [there(host) for host in (Pi, OlderPi, ClaudeCode, OpenCode)]
"""Those that foldline folds in by itself."""


def begun(host: type[Host], folder: Path) -> Host:
    """An agent with a session of one turn in which a rule was stated, and foldline installed behind it."""
    agent = host(folder)
    agent.say(f"{FIRST} {RULE}", agent.work(3))
    was = agent.files()
    agent.foldline("install", agent.name, "--yes")
    agent.foldline("uninstall", agent.name, "--yes")
    assert agent.files() == was
    agent.foldline("install", agent.name, "--yes")
    return agent


def check(model: ScriptedModel, agent: Host, prompt: str) -> None:
    """Every request is valid and below the window, and holds the rule and what the user said first and last."""
    assert model.requests
    for body in model.requests:
        check_messages(body)
        assert tokens(body) <= agent.window
        assert [said for said in (FIRST, RULE, prompt) if said not in json.dumps(body)] == []


def times(sent: str, prompt: str) -> int:
    """How often a request holds what the user said, besides the line of a page that names what stands below it."""
    named = (json.dumps(each)[1:-1] for each in (f"“{prompt}”", f'“"{prompt}"”'))
    return sent.count(prompt) - sum(map(sent.count, named))


def recalled(agent: Host, words: str) -> str:
    """What is found by words, whole."""
    session = str(agent.sessions()[-1])
    (first, *_) = json.loads(agent.foldline("recall", words, "--json", "--session", session))["hits"]
    return agent.foldline("recall", first["id"], "--session", session)


@pytest.mark.parametrize("host", FOLDING)
def test_a_session_of_many_windows_goes_on_without_a_model_call_for_a_summary(host: type[Host], tmp_path: Path) -> None:
    agent = begun(host, tmp_path)
    heard = 0
    for n in range(2, 11):
        model = agent.say(f"Prompt {n}.", agent.work(agent.steps_each), agent.window)
        check(model, agent, f"Prompt {n}.")
        assert not model.beside
        assert len(model.requests) == agent.steps_each + 1
        heard += agent.steps_each * 1_400
    assert heard > 5 * agent.window

    folds = agent.folds()
    assert len(folds) >= 3
    assert all(fold["ours"] and fold["trigger"] in ("threshold", "overflow") for fold in folds)
    assert all(fold["receipt"]["tokens_after"] < fold["receipt"]["tokens_before"] for fold in folds)

    session = str(agent.sessions()[-1])
    agent.foldline("session", "undo", "--session", session)
    assert agent.folds()[0]["undone"]
    model = agent.say("Prompt 11.", ["Answer 11."])
    sent = json.dumps(model.requests[-1])
    assert [times(sent, f"Prompt {n}.") for n in (10, 11)] == [1, 1]
    check_messages(model.requests[-1])

    written = [each["path"] for each in json.loads(agent.foldline("install", agent.name, "--json"))["changes"]]
    agent.foldline("uninstall", agent.name, "--yes")
    assert written
    assert not any(Path(path).exists() for path in written)
    assert not (agent.home / ".config/foldline").exists()


@pytest.mark.parametrize("host", FOLDING)
def test_what_was_folded_is_recalled_by_its_id_and_by_words(host: type[Host], tmp_path: Path) -> None:
    agent = begun(host, tmp_path)
    agent.say("Prompt 2.", agent.work(agent.steps_each), agent.window)
    agent.say("Prompt 3.", agent.work(agent.steps_each), agent.window)
    assert "step-2 row 77 is 161" in recalled(agent, "step-2 row 77")


WAITED_FOR = os.environ.get("HOOK_TIMEOUT_MS", "1500")
"""Milliseconds that the agents wait for foldline; by themselves they wait for 60,000, and for 10,000 where no model is asked."""

BROKEN = {
    "exits with 1": "exit 1",
    "answers garbage": "echo '{\"summary\": 3}'",
    "answers nothing": "cat >/dev/null",
    "hangs": "sleep 600",
    "is killed": "kill -9 $$",
}


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("host", [*FOLDING, there(OpenClaw)])
def test_a_broken_foldline_leaves_the_agent_to_its_own_compaction(host: type[Host], how: str, tmp_path: Path) -> None:
    agent = host(tmp_path)
    agent.configure("http://127.0.0.1:1")
    agent.foldline("install", agent.name, "--yes")
    agent.own["FOLDLINE_HOOK_TIMEOUT_MS"] = WAITED_FOR
    agent.put_in_place_of_foldline(f"#!/bin/sh\n{BROKEN[how]}\n")
    model = agent.say("Prompt 1.", agent.work(2 * agent.steps_each), agent.window)
    assert all(tokens(body) <= agent.window for body in model.requests)
    assert len(model.requests) == 2 * agent.steps_each + 1
    assert any("ITS-OWN-SUMMARY" in json.dumps(body) for body in model.requests)
    folds = agent.folds()
    assert folds
    assert not any(fold["ours"] for fold in folds)


@pytest.mark.parametrize("host", [there(ClaudeCode)])
def test_what_a_project_shares_is_a_marketplace_as_well(host: type[ClaudeCode], tmp_path: Path) -> None:
    agent = host(tmp_path)
    agent.foldline("install", agent.name, "--project", "--yes")
    shared = tmp_path / "shared"
    (agent.project / ".claude/skills/foldline").rename(shared)
    for words in (("marketplace", "add", str(shared)), ("install", "foldline@foldline")):
        agent.run([str(agent.program), "plugin", *words], {})
    model = agent.say(f"{FIRST} {RULE}", agent.work(2 * agent.steps_each), agent.window)
    check(model, agent, FIRST)
    assert not model.beside
    assert {fold["ours"] for fold in agent.folds()} == {True}


@pytest.mark.parametrize("host", [there(OlderClaudeCode)])
def test_where_a_version_is_too_old_doctor_says_so_and_a_fold_at_rest_holds(host: type[Host], tmp_path: Path) -> None:
    agent = begun(host, tmp_path)
    agent.say("Prompt 2.", agent.work(agent.steps_each))
    assert not agent.folds()
    agent.foldline("compact", "--yes", "--session", str(agent.sessions()[-1]))
    model = agent.say("Prompt 3.", ["Answer 3."])
    check(model, agent, "Prompt 3.")
    assert "step-2 row 200 " not in json.dumps(model.requests[-1])
    assert [fold["ours"] for fold in agent.folds()] == [True]
    agent.foldline("session", "undo", "--session", str(agent.sessions()[-1]))
    model = agent.say("Prompt 4.", ["Answer 4."])
    assert "step-2 row 200 " in json.dumps(model.requests[-1])
    check_messages(model.requests[-1])
    (agent.bin / "claude").symlink_to(str(OlderClaudeCode.program))
    (told,) = json.loads(agent.foldline("doctor", "--json"))["agents"]
    assert told["version"] == "2.1.148"
    assert ["2.1.287" in trouble["what"] for trouble in told["troubles"]] == [True]


@pytest.mark.parametrize("host", [there(Pi), there(OlderPi)])
def test_the_commands_in_pi(host: type[Pi], tmp_path: Path) -> None:
    agent = host(tmp_path)
    agent.say(f"{FIRST} {RULE}", agent.work(8))
    agent.foldline("install", "pi", "--yes")
    with ScriptedModel(["Answer 2."], agent.window) as model, agent.open(model.url) as say:
        assert f"/ {agent.window:,}" in json.dumps(say("/context"))
        folded = json.dumps(say("/fold the RULE"))
        assert '"setWidget"' in folded
        assert "messages folded" in folded
        assert "folds at 81 %" in folded
        assert "Undone: fold" in json.dumps(say("/undo-fold"))
        assert "Undone: fold" not in json.dumps(say("/undo-fold"))
        assert "step-2 row" in json.dumps(say("/recall step-2 row 7"))
        assert "auto off" in json.dumps(say("/autocompact off"))
        assert "folds at 81 %" in json.dumps(say("/autocompact on"))
        say("Prompt 2.")
        say("/handoff Write the report.")
        assert len(model.requests) == 1
        assert not model.beside
    assert len(agent.sessions()) == 2
    assert "Write the report." in agent.sessions()[-1].read_text()


@pytest.mark.parametrize("host", [there(Pi)])
def test_at_the_limit_pi_is_folded_when_its_window_is_full(host: type[Pi], tmp_path: Path) -> None:
    agent = host(tmp_path)
    agent.foldline("install", "pi", "--yes")
    agent.own["FOLDLINE_COMPACTION__MAX_AUTO_COMPACTIONS"] = "1"
    agent.reserve = 13_000
    model = agent.say(f"{FIRST} {RULE}", agent.work(4 * agent.steps_each), agent.window)
    check(model, agent, FIRST)
    assert not model.beside
    *later, first = [fold["receipt"]["tokens_before"] for fold in agent.folds()]
    assert later
    assert all(before > 0.75 * agent.window > first for before in later)


ONCE_ONLY = """#!/bin/sh
[ "$1" = hook ] || exec {foldline} "$@"
question=$(cat)
[ -e {noted} ] && exit 1
wc -l < "$(printf %s "$question" | sed 's/.*"session":"\\([^"]*\\)".*/\\1/')" > {noted}
printf %s "$question" | {foldline} "$@"
"""
"""A foldline that makes one fold and no other, and notes how many lines the session had then."""


@pytest.mark.parametrize("host", [there(Pi)])
def test_a_fold_that_was_made_ahead_of_the_mark_is_what_pi_takes_at_the_mark(host: type[Pi], tmp_path: Path) -> None:
    agent = host(tmp_path)
    agent.say(f"{FIRST} {RULE}", agent.work(3))
    agent.foldline("install", "pi", "--yes")
    noted = tmp_path / "noted"
    agent.put_in_place_of_foldline(ONCE_ONLY.format(foldline=f"{sys.executable} -m foldline", noted=noted))
    prompts = [f"Prompt {n}." for n in range(2, 12)]
    work = [reply for _ in prompts for reply in agent.work(2)]
    with ScriptedModel(work, agent.window) as model, agent.open(model.url) as say:
        for prompt in prompts:
            if '"compaction"' not in agent.sessions()[-1].read_text():
                say(prompt)
                said = prompt
    check(model, agent, RULE)
    assert not model.beside
    (fold,) = agent.folds()
    assert (fold["ours"], fold["trigger"]) == (True, "threshold")
    rows = [json.loads(line) for line in agent.sessions()[-1].read_text().splitlines()]
    (written,) = (at for at, row in enumerate(rows) if row["type"] == "compaction")
    assert written > int(noted.read_text())

    agent.foldline("session", "undo", "--session", str(agent.sessions()[-1]))
    model = agent.say("Prompt 0.", ["Answer 0."])
    sent = json.dumps(model.requests[-1])
    assert [times(sent, prompt) for prompt in prompts[: prompts.index(said) + 1]] == [1] * (prompts.index(said) + 1)
    check_messages(model.requests[-1])


BY_HAND = [there(host) for host in (OlderClaudeCode, Codex, GeminiCli, QwenCode)]
"""Those that let nobody else decide while they run."""


@pytest.mark.parametrize("host", BY_HAND)
def test_a_session_of_many_windows_goes_on_where_it_is_folded_between_two_runs(
    host: type[Host], tmp_path: Path
) -> None:
    agent = begun(host, tmp_path)
    was = agent.files()
    heard, n = 0, 1
    while heard < 5 * agent.window:
        n += 1
        assert n < 30
        model = agent.say(f"Prompt {n}.", agent.work(3, rows=900), agent.window)
        check(model, agent, f"Prompt {n}.")
        assert (len(model.requests), model.beside, model.refused) == (4, [], 0)
        heard += tokens(model.requests[-1]) - tokens(model.requests[0])
        agent.foldline("compact", "--yes", "--session", str(agent.sessions()[-1]))

    folds = agent.folds()
    assert len(folds) == n - 1
    assert all(fold["ours"] and fold["trigger"] == "manual" for fold in folds)
    agent.foldline("session", "undo", "--session", str(agent.sessions()[-1]))
    assert agent.folds()[0]["undone"]
    model = agent.say("Prompt 0.", ["Answer 0."])
    check_messages(model.requests[-1])
    sent = json.dumps(model.requests[-1])
    assert [times(sent, f"Prompt {each}.") for each in (n, 0)] == [1, 1]
    assert sent.count(f"step-{agent.steps} row 900 ") == 1

    agent.foldline("uninstall", agent.name, "--yes")
    now = agent.files()
    assert not any("foldline" in path for path in now)
    assert not any(b"foldline" in data for path, data in now.items() if path in was)


SERVED = [there(host) for host in (Codex, GeminiCli, QwenCode)]
"""Those that are given foldline's tools, and fold by themselves as before."""


@pytest.mark.parametrize("host", SERVED)
def test_an_agent_calls_the_tools_and_its_settings_are_as_before(host: type[Host], tmp_path: Path) -> None:
    agent = host(tmp_path)
    agent.say(f"{FIRST} {RULE}", agent.work(2))
    was = agent.files()[agent.settings_file]
    agent.foldline("install", agent.name, "--yes")
    assert agent.files()[agent.settings_file] != was

    call = Reply("Looking.", calls=((agent.recall, {"query": "step-2 row 77"}),))
    model = agent.say("Prompt 2.", [call, "Found it."])
    sent = json.dumps(model.requests[-1])
    assert "Quoted from earlier history" in sent
    assert "step-2 row" in sent[sent.index("Quoted from earlier history") :]
    check_messages(model.requests[-1])

    agent.foldline("uninstall", agent.name, "--yes")
    assert agent.without_port(agent.files()[agent.settings_file]) == agent.without_port(was)
    assert not (agent.home / ".config/foldline").exists()


@pytest.mark.parametrize(
    ("host", "recall"), [there(QwenCode, "mcp__foldline__recall"), there(OpenCode, "foldline_recall")]
)
def test_an_editor_gives_foldline_to_the_agent_that_runs_in_it(host: type[Host], recall: str, tmp_path: Path) -> None:
    agent = host(tmp_path)
    call = Reply("Looking.", calls=((recall, {"query": "step-2 row 77"}),))
    with ScriptedModel([*agent.work(2)[:-1], call, "Found it."]) as model, Editor.of(agent, model.url) as editor:
        editor.say("Prompt 1.")
    sent = json.dumps(model.requests[3])
    assert "Quoted from earlier history" in sent
    assert "step-2 row" in sent[sent.index("Quoted from earlier history") :]


@pytest.mark.parametrize("host", [there(OpenClaw)])
def test_foldline_writes_the_summary_where_the_agent_chooses_the_cut(host: type[Host], tmp_path: Path) -> None:
    agent = host(tmp_path)
    agent.say(f"{FIRST} {RULE}", agent.work(3))
    was = agent.files()[agent.settings_file]
    agent.foldline("install", agent.name, "--yes")
    heard, n = 0, 1
    while heard < 5 * agent.window:
        n += 1
        model = agent.say(f"Prompt {n}.", agent.work(13, rows=700), agent.window)
        assert not [body for body in model.beside if not body.get("tools")]
        check(model, agent, f"Prompt {n}.")
        heard += 13 * 4_000
    folds = agent.folds()
    assert len(folds) >= n - 1
    assert all(fold["ours"] and fold["receipt"]["messages_folded"] for fold in folds)
    assert "step-9 row 77 is 700" in recalled(agent, "step-9 row 77")
    agent.foldline("uninstall", agent.name, "--yes")
    assert not (agent.home / ".openclaw/extensions/foldline").exists()
    assert agent.without_port(agent.files()[agent.settings_file]) == agent.without_port(was)


NO_SERVER = {
    "exits with 1": "exit 1",
    "says garbage": "echo hello; cat >/dev/null",
    "hangs": "sleep 600",
    "is killed": "kill -9 $$",
}


@pytest.mark.parametrize("how", NO_SERVER)
@pytest.mark.parametrize("host", SERVED)
def test_an_agent_works_on_beside_a_broken_server(host: type[Host], how: str, tmp_path: Path) -> None:
    agent = host(tmp_path)
    agent.say(f"{FIRST} {RULE}", agent.work(1))
    agent.foldline("install", agent.name, "--yes")
    agent.put_in_place_of_foldline(f"#!/bin/sh\n{NO_SERVER[how]}\n")
    model = agent.say("Prompt 2.", agent.work(3))
    check(model, agent, "Prompt 2.")
    assert len(model.requests) == 4
