"""What an agent asks that is about to compact: the fold it should make, which it writes into its own log."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from foldline import open_session
from foldline._cli.commands import foldline
from sessions import Log, context, long_log


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Asks as an agent does, in a home of its own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "FOLDLINE_CONFIG", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)

    def asked(agent: str, question: dict[str, Any] | str) -> dict[str, Any]:
        data = question if isinstance(question, str) else json.dumps(question)
        done = CliRunner().invoke(foldline, ["hook", agent], input=data)
        assert done.exit_code == 0
        return json.loads(done.stdout)

    return asked


def as_pi_writes(log: Log, answer: dict[str, Any]) -> None:
    log.compaction(answer["first_kept"], answer["summary"], details=answer["details"], fromHook=True)


def history() -> list[dict[str, Any]]:
    told = CliRunner().invoke(foldline, ["context", "history", "--json", "--session", "s.jsonl"])
    return json.loads(told.stdout)["folds"]


@pytest.mark.parametrize(("trigger", "noted"), [("auto", "threshold"), ("overflow", "overflow"), ("manual", "manual")])
def test_what_pi_writes_of_it_is_a_fold_of_ours(ask, tmp_path, monkeypatch, trigger, noted) -> None:
    monkeypatch.chdir(tmp_path)
    log = long_log(30)
    path = log.write(tmp_path / "s.jsonl")
    was, before = path.read_bytes(), context(open_session(path))

    answer = ask("pi", {"session": str(path), "trigger": trigger, "focus": "handler 3", "window": 20_000})
    assert path.read_bytes() == was
    assert answer["tokens_after"] < answer["tokens_before"]
    assert [*before][-len(answer["kept"]) :] == context(open_session(path))[-len(answer["kept"]) :]

    as_pi_writes(log, answer)
    log.write(path)
    session = open_session(path)
    assert [id for id, _ in session.context.entries][1:] == answer["kept"]
    (fold,) = history()
    assert (fold["id"], fold["trigger"], fold["ours"]) == (answer["fold"], noted, True)
    assert fold["receipt"]["instruction"] == "handler 3"
    assert session.undo() == answer["fold"]
    assert context(session) == before


def test_each_fold_by_itself_carries_on_what_the_one_before_it_knew(ask, tmp_path) -> None:
    log = long_log(20)
    path = log.write(tmp_path / "s.jsonl")
    as_pi_writes(log, ask("pi", {"session": str(path), "trigger": "auto", "window": 20_000}))
    for n in range(20, 40):
        log.step(n)
    log.write(path)
    answer = ask("pi", {"session": str(path), "trigger": "auto", "window": 20_000})
    facts = answer["details"]["foldline"]["facts"]
    assert (facts["round"], facts["automatic"]) == (2, 2)
    assert "src/module_3.py" in answer["details"]["readFiles"]


def claude_rows(turns: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []

    def add(kind: str, **more: Any) -> None:
        parent = rows[-1]["uuid"] if rows else None
        own = {"parentUuid": parent, "isSidechain": False, "sessionId": "s1", "cwd": "/p", "version": "2.1.330"}
        time = f"2026-01-01T00:{len(rows) // 60:02}:{len(rows) % 60:02}.000Z"
        rows.append({**own, "type": kind, "uuid": f"row-{len(rows)}", "timestamp": time, **more})

    for n in range(turns):
        add("user", message={"role": "user", "content": f"Fix handler {n}, never touch settings_{n}.toml."})
        call = {"type": "tool_use", "id": f"t{n}", "name": "Read", "input": {"file_path": f"src/module_{n}.py"}}
        add("assistant", message={"role": "assistant", "id": f"m{n}a", "model": "claude-sonnet-4-5", "content": [call]})
        text = "\n".join(f"def handler_{n}_{i}(request): return {n * i}" for i in range(60))
        result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": text}
        add("user", message={"role": "user", "content": [result]})
        said = [{"type": "text", "text": f"Handler {n} is fixed."}]
        add("assistant", message={"role": "assistant", "id": f"m{n}b", "model": "claude-sonnet-4-5", "content": said})
    return rows


def as_claude_code_writes(rows: list[dict[str, Any]], answer: dict[str, Any]) -> None:
    """A boundary, the summary in Claude Code's own words, and the kept rows once more, chained behind it; prompts keep their time."""
    kept = rows[next(i for i, row in enumerate(rows) if row["uuid"] in answer["kept"]) :]
    own = {"isSidechain": False, "sessionId": "s1", "cwd": "/p", "version": "2.1.330"}
    metadata = {"trigger": "auto", "preTokens": answer["tokens_before"], "postTokens": answer["tokens_after"]}
    boundary = {"type": "system", "subtype": "compact_boundary", "compactMetadata": metadata}
    start = "This session is being continued from a previous conversation that ran out of context. "
    text = f"{start}The summary below covers the earlier portion of the conversation.\n\n{answer['summary']}\n\nIf you need"
    summary = {"type": "user", "message": {"role": "user", "content": text}}
    parent = None
    for n, row in enumerate([boundary, summary, *kept]):
        uuid = f"again-{n}"
        typed = n > 1 and isinstance(row["message"]["content"], str)
        time = row["timestamp"] if typed else "2026-01-01T10:00:00.000Z"
        rows.append({**own, **row, "parentUuid": parent, "uuid": uuid, "timestamp": time})
        parent = uuid


def test_what_claude_code_writes_of_it_has_its_receipt_and_its_facts(ask, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = claude_rows(40)
    path = tmp_path / ".claude/projects/-p/s1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    answer = ask("claude-code", {"session": "s1", "trigger": "auto"})
    assert answer["path"] == str(path)
    assert answer["summary"].startswith(f"[fold {answer['fold']} by foldline]")

    as_claude_code_writes(rows, answer)
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    session = open_session(tmp_path / "s.jsonl")
    (summary,) = (message.summary for _, message in session.context.entries if message.summary)
    assert summary.facts["round"] == 1
    assert any(file["path"] == "src/module_3.py" for file in summary.facts["files"])
    (fold,) = history()
    assert (fold["trigger"], fold["ours"]) == ("threshold", True)
    quoted = path.with_name("s2.jsonl")
    quoted.write_text((tmp_path / "s.jsonl").read_text().replace("[fold ", "Before that: [fold "))
    assert [fold.ours for fold in open_session(quoted).folds()] == [False]
    assert fold["receipt"]["messages_folded"] == answer["receipt"]["messages_folded"]
    before = [message for _, message in open_session(path).context.entries]
    assert session.undo() == fold["id"]
    assert [message for _, message in session.context.entries] == before


def test_an_agent_is_answered_where_the_packages_of_the_command_line_are_not_installed(ask, tmp_path) -> None:
    question = {"session": str(long_log(30).write(tmp_path / "s.jsonl")), "trigger": "auto", "window": 20_000}
    beside = (
        "import sys; sys.modules |= dict.fromkeys(['click', 'rich', 'tomlkit']); from foldline._cli import main; main()"
    )
    program = [sys.executable, "-c", beside, "hook", "pi"]
    done = subprocess.run(program, input=json.dumps(question), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    answer, same = json.loads(done.stdout), ask("pi", question)
    assert [answer[key] for key in ("summary", "kept", "tokens_after")] == [
        same[key] for key in ("summary", "kept", "tokens_after")
    ]


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("", "FormatError"),
        ("[1]", "FormatError"),
        ("{}", "FormatError"),
        ('{"session": "s", "trigger": "tuesday"}', "FormatError"),
        ('{"session": "no-such-session"}', "SessionError"),
        ('{"session": "/"}', "SessionError"),
    ],
)
def test_whatever_is_wrong_is_said_and_the_agent_goes_on(ask, question: str, kind: str) -> None:
    answer = ask("pi", question)
    assert answer["error"]["kind"] == kind
    assert answer["error"]["message"]


def test_where_nothing_is_worth_folding_the_agent_goes_on(ask, tmp_path) -> None:
    log = Log()
    log.user("Hello")
    log.reply("Hello to you.")
    path = log.write(tmp_path / "s.jsonl")
    assert ask("pi", {"session": str(path)})["error"]["kind"] == "NothingToDo"


def test_switched_off_it_folds_when_asked_to_and_when_it_must(ask, tmp_path, monkeypatch) -> None:
    path = str(long_log(30).write(tmp_path / "s.jsonl"))
    monkeypatch.setenv("FOLDLINE_COMPACTION__AUTO_ENABLED", "off")
    assert ask("pi", {"session": path, "trigger": "auto"})["error"]["kind"] == "Off"
    for trigger in ("manual", "overflow"):
        assert "summary" in ask("pi", {"session": path, "trigger": trigger, "window": 20_000})


def test_at_the_limit_who_can_wait_waits_until_the_window_is_full(ask, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("FOLDLINE_COMPACTION__MAX_AUTO_COMPACTIONS", "1")
    log = long_log(20)
    path = log.write(tmp_path / "s.jsonl")
    question = {"session": str(path), "trigger": "auto", "window": 20_000, "waits": True}
    as_pi_writes(log, ask("pi", question))
    for n in range(20, 60):
        log.step(n)
    log.write(path)
    size = ask("pi", question)["tokens_before"]
    half_full = question | {"window": 2 * size}
    error = ask("pi", half_full)["error"]
    assert error["kind"] == "Limit"
    assert error["message"].startswith("limit of 1 automatic compactions reached")
    for served in ({"window": size}, {"trigger": "overflow"}, {"trigger": "manual"}, {"waits": False}):
        assert "summary" in ask("pi", half_full | served)


def test_a_policy_that_leaves_gaps_is_none_that_an_agent_can_write(ask, tmp_path, monkeypatch) -> None:
    path = str(long_log(30).write(tmp_path / "s.jsonl"))
    monkeypatch.setenv("FOLDLINE_POLICY", str(pruning(tmp_path)))
    assert ask("pi", {"session": path, "window": 20_000})["error"]["kind"] == "Unsayable"


def pruning(folder: Path) -> Path:
    path = folder / "pruning.toml"
    path.write_text(
        'description = "Prunes and does nothing else."\n[[layers]]\nname = "prune"\nat = 0.8\nto = 0.1\n'
        'strategies = [{ use = "prune_tool_outputs", protect = 500, minimum = 100 }]\n'
    )
    return path


# -- agents that choose the cut themselves, and agents that write no fold ------------------------------------------


def message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text}], "timestamp": 1}


def test_messages_without_a_session_are_summarized_and_carry_on_what_was_known(ask) -> None:
    first = [
        message("user", "Never touch settings.toml. Fix the parser."),
        message("assistant", "The parser is fixed."),
    ]
    answer = ask("openclaw", {"messages": first, "trigger": "auto"})
    assert "Never touch settings.toml." in answer["summary"]
    assert answer["receipt"]["messages_folded"] == 2
    later = [message("user", "Now the lexer."), message("assistant", "The lexer is fixed.")]
    answer = ask("openclaw", {"messages": later, "previous": answer["summary"], "trigger": "overflow"})
    assert "Never touch settings.toml." in answer["summary"]
    assert "Now the lexer." in answer["summary"]
    assert (answer["receipt"]["round"], answer["trigger"]) == (2, "overflow")


@pytest.mark.parametrize("question", [{"session": "s", "messages": [message("user", "x")]}, {"messages": []}])
def test_a_hook_is_asked_of_one_thing(ask, question) -> None:
    assert ask("openclaw", question)["error"]["kind"] == "FormatError"


@pytest.mark.parametrize("size", [0, -1, -4_000])
def test_a_summary_of_no_tokens_is_none_that_can_be_asked_for(ask, size) -> None:
    said = [message("user", "Never touch settings.toml. Fix the parser.")]
    error = ask("openclaw", {"messages": said, "max_tokens": size})["error"]
    assert error["kind"] == "FormatError"
    assert "max_tokens" in error["message"]


@pytest.mark.parametrize(("previous", "size"), [("", 1), ("", 2), ("## Goal\n- Internationalization", 5)])
def test_a_summary_that_would_tell_nothing_of_what_was_said_is_none(ask, previous: str, size: int) -> None:
    said = [] if previous else [message("user", "Internationalization of the parser.")]
    question = {"messages": [*said, message("assistant", "It is done.")], "previous": previous}
    error = ask("openclaw", {**question, "max_tokens": size})["error"]
    assert error == {"kind": "Unsayable", "message": f"within max_tokens {size} no word of what was said can be told"}
    assert "Internationalization" in ask("openclaw", {**question, "max_tokens": 100})["summary"]


def test_where_there_are_no_words_there_is_no_summary(ask) -> None:
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    answer = ask("openclaw", {"messages": [{"role": "user", "content": [image], "timestamp": 1}]})
    assert answer["error"]["kind"] == "Unsayable"


def opencode_session(folder: Path, turns: int) -> Path:
    """An exported session of opencode."""
    messages: list[dict[str, Any]] = []
    for n in range(turns):
        asked = {"id": f"msg_{n:03}a", "role": "user", "sessionID": "ses_1"}
        text = {"type": "text", "id": f"prt_{n:03}a", "text": f"Fix handler {n}, never touch settings_{n}.toml."}
        messages.append({"info": asked, "parts": [text]})
        output = "\n".join(f"def handler_{n}_{i}(request): return {n * i}" for i in range(60))
        state = {"status": "completed", "input": {"filePath": f"src/module_{n}.py"}, "output": output}
        tool = {"type": "tool", "id": f"prt_{n:03}b", "callID": f"call_{n}", "tool": "read", "state": state}
        said = {"type": "text", "id": f"prt_{n:03}c", "text": f"Handler {n} is fixed."}
        answer = {"id": f"msg_{n:03}b", "role": "assistant", "sessionID": "ses_1", "modelID": "scripted"}
        messages.append({"info": answer, "parts": [tool, said]})
    path = folder / "s.jsonl"
    path.write_text(json.dumps({"info": {"id": "ses_1", "directory": "/p"}, "messages": messages}))
    return path


def test_a_fold_that_an_agent_sends_without_writing_it_stands_until_it_is_undone(ask, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = opencode_session(tmp_path, 40)
    was, before = path.read_bytes(), open_session(path)
    answer = ask("opencode", {"session": str(path), "trigger": "auto", "window": 20_000})
    session = open_session(path)
    assert path.read_bytes() == was
    (lead, *kept) = [id for id, _ in session.context.entries]
    assert lead == answer["fold"]
    assert kept == answer["kept"]
    assert {id for id, _ in session.messages()} == {lead, *(id for id, _ in before.messages())}
    (fold,) = history()
    assert (fold["id"], fold["trigger"], fold["ours"], fold["undone"]) == (lead, "threshold", True, False)

    done = CliRunner().invoke(foldline, ["session", "undo", "--session", "s.jsonl"])
    assert done.exit_code == 0, done.output
    assert [id for id, _ in open_session(path).context.entries] == [id for id, _ in before.context.entries]
    assert [fold["undone"] for fold in history()] == [True]


def test_a_fold_stands_only_while_what_it_kept_is_there(ask, tmp_path) -> None:
    path = opencode_session(tmp_path, 40)
    ask("opencode", {"session": str(path), "trigger": "auto", "window": 20_000})
    opencode_session(tmp_path, 2)
    assert not any(message.summary for _, message in open_session(path).context.entries)
