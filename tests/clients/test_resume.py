"""The real clients go on from what foldline wrote into their sessions, and from nothing else."""

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from client import CLAUDE, CODEX, GEMINI, QWEN, Home
from requests_sent import check_messages
from scripted_model import Reply, ScriptedModel

from foldline import Edit, Fold, Message, Receipt, Summary, View, open_session
from foldline._cli.commands import foldline
from foldline._handoff.new_session import write_new
from foldline._sessions.busy import opened_elsewhere
from foldline._sessions.writable import WritableTranscript
from foldline.extend import Text, ToolResult, replace

CLIENTS = [
    pytest.param(
        name, marks=pytest.mark.skipif(program is None, reason="CLIENT_PACKAGES does not hold it (see install.sh)")
    )
    for name, program in (("claude", CLAUDE), ("codex", CODEX), ("gemini", GEMINI), ("qwen", QWEN))
]
clients = pytest.mark.parametrize("client", CLIENTS)
branching = pytest.mark.parametrize("client", CLIENTS[:2])
"""Those whose sessions are branched, and written new."""

AGENTS = {"claude": "claude-code", "codex": "codex"}


class Talk:
    """One session of a client in a home of its own, of which each turn is a prompt, a command and an answer."""

    def __init__(self, client: str, folder: Path) -> None:
        self.client, self.home = client, Home(folder)
        self.turns = 0

    @property
    def path(self) -> Path:
        return self.home.sessions()[-1]

    def say(self, *options: str, command: str = "", prompt: str = "") -> str:
        """Runs one turn, and answers the last request of it as text."""
        self.turns += 1
        n = self.turns
        replies = [
            Reply(f"Looking {n}.", f"Thinking {n}.", (command or f"echo output-{n}", f"echo beside-{n}")),
            f"Answer {n}.",
        ]
        first = n == 1
        with ScriptedModel([f"<summary>{prompt}</summary>"] if prompt else replies) as model:
            said = prompt or f"Prompt {n}."
            if self.client == "claude":
                self.home.claude(model.url, said, *([] if first else ["--resume", self.path.stem]))
            elif self.client == "gemini":
                self.home.gemini(model.url, "-p", said, *([] if first else ["--resume", "latest"]))
            elif self.client == "qwen":
                self.home.qwen(model.url, "-p", said, *([] if first else ["--continue"]))
            else:
                self.home.codex(model.url, *options, *([] if first else ["resume", "--last"]), said)
        self.sent = model.requests[-1] if model.requests else {}
        return json.dumps(next((self.sent[key] for key in ("messages", "input", "contents") if key in self.sent), []))

    def resume(self, id: str) -> str:
        """Runs one turn in the session of that id, and answers its request as text."""
        self.turns += 1
        with ScriptedModel([f"Answer {self.turns}."]) as model:
            said = f"Prompt {self.turns}."
            if self.client == "claude":
                self.home.claude(model.url, said, "--resume", id)
            else:
                self.home.codex(model.url, "resume", id, said)
        self.sent = model.requests[-1]
        return json.dumps(self.sent.get("messages") or self.sent["input"])

    def session(self) -> WritableTranscript:
        session = open_session(self.path)
        assert isinstance(session, WritableTranscript)
        return session

    def fold(self, edit: Edit) -> View:
        session = self.session()
        before = session.view()
        after = before.apply(edit)
        fold = Fold("fold-1", "manual", "summarize", (edit,), None, Receipt(before.tokens, after.tokens))
        session.fold(before, after, fold, session.meter())
        return after

    def summarized(self, first: int, stop: int) -> Edit:
        """The edit by which the turns from the first prompt to another give way to a summary."""
        entries = self.session().view().entries
        start, end = (next(i for i, e in enumerate(entries) if f"Prompt {n}." in e.message.text) for n in (first, stop))
        gone = tuple(entry.id for entry in entries[start:end])
        return Edit(gone, (Message("user", (Summary("THE-SUMMARY of it all", {"round": 1}),)),), "test")


def shown(sent: str, turns: range) -> list[int]:
    """Which turns a request shows in full and once, none in part."""
    whole = []
    for n in turns:
        assert sent.count(f"Prompt {n}.") == sent.count(f"Answer {n}.") <= 1
        signs = [f"Prompt {n}." in sent, f"Looking {n}." in sent, f"output-{n}" in sent, f"Answer {n}." in sent]
        assert all(signs) or not any(signs), (n, signs)
        if all(signs):
            whole.append(n)
    return whole


@clients
def test_a_fold_is_gone_on_from_and_its_undoing_too(client: str, tmp_path: Path) -> None:
    talk = Talk(client, tmp_path)
    for _ in range(3):
        talk.say()
    was = talk.path.read_bytes()
    talk.fold(talk.summarized(1, 3))
    assert talk.path.read_bytes().startswith(was)

    sent = talk.say()
    assert shown(sent, range(1, 5)[:3]) == [3]
    assert sent.count("THE-SUMMARY of it all") == 1
    assert sent.index("THE-SUMMARY") < sent.index("Prompt 3.") < sent.index("Answer 3.") < sent.index("Prompt 4.")
    check_messages(talk.sent)

    session = talk.session()
    assert [m.text for _, m in session.context.entries if m.summary] == ["THE-SUMMARY of it all"]
    assert session.undo() == "fold-1"
    sent = talk.say()
    assert shown(sent, range(1, 5)) == [1, 2, 3, 4]
    assert "THE-SUMMARY" not in sent
    places = [sent.index(f"Prompt {n}.") for n in range(1, 6)]
    assert places == sorted(places)
    assert all(sent.count(f"Answer {n}.") == 1 for n in range(1, 5))
    check_messages(talk.sent)

    sent = talk.say()
    assert shown(sent, range(1, 6)) == [1, 2, 3, 4, 5]


@clients
def test_a_stub_is_gone_on_from(client: str, tmp_path: Path) -> None:
    talk = Talk(client, tmp_path)
    for _ in range(3):
        talk.say()
    entries = talk.session().view().entries
    entry = next(e for e in entries if any("output-2" in str(r.parts) for r in e.message.results))
    parts = tuple(
        replace(p, parts=(Text("[pruned: stub]"),)) if isinstance(p, ToolResult) else p for p in entry.message.parts
    )
    talk.fold(Edit((entry.id,), (replace(entry.message, parts=parts),), "test"))

    sent = talk.say()
    assert shown(sent.replace("[pruned: stub]", "output-2"), range(1, 4)) == [1, 2, 3]
    assert sent.count("[pruned: stub]") == sum(1 for _ in entry.message.results)
    assert "output-2\\n" not in sent.replace("echo output-2", "")
    check_messages(talk.sent)
    session = talk.session()
    live = next(id for id, m in session.context.entries if any("[pruned: stub]" in str(r.parts) for r in m.results))
    assert "output-2" in str(session.recall(live))


@branching
def test_a_branch_is_gone_on_from(client: str, tmp_path: Path) -> None:
    """The client resumes it by its id, with what stood there and nothing else; the old session stays as it was."""
    talk = Talk(client, tmp_path)
    for _ in range(4):
        talk.say()
    old = talk.path
    was = old.read_bytes()
    session = talk.session()
    points = [point for point in session.points() if "Prompt" in point.text]
    assert [point.text for point in points] == [f"Prompt {n}." for n in range(1, 5)]
    made = session.branch(points[2].id)
    sent = talk.resume(made.id)
    assert [sent.count(f"Prompt {n}.") for n in range(1, 6)] == [1, 1, 1, 0, 1]
    assert [sent.count(f"Answer {n}.") for n in range(1, 5)] == [1, 1, 0, 0]
    check_messages(talk.sent)
    assert old.read_bytes() == was
    assert [m.text for _, m in open_session(made.path).context.entries][-1] == "Answer 5."


@branching
def test_a_branch_behind_a_fold_keeps_it_and_one_before_it_does_not(client: str, tmp_path: Path) -> None:
    talk = Talk(client, tmp_path)
    for _ in range(2):
        talk.say()
    talk.fold(talk.summarized(1, 2))
    talk.say()
    session = talk.session()
    points = {point.text: point for point in session.points()}
    assert (points["Prompt 1."].live, points["Prompt 1."].folds) == (False, 0)
    assert (points["Prompt 3."].live, points["Prompt 3."].folds) == (True, 1)
    before, behind = session.branch(points["Prompt 2."].id), session.branch(points["Prompt 3."].id)
    assert (before.folds, behind.folds) == (0, 1)
    sent = talk.resume(before.id)
    assert [sent.count(said) for said in ("THE-SUMMARY", "Answer 1.", "Prompt 2.", "Answer 2.")] == [0, 1, 1, 0]
    check_messages(talk.sent)
    sent = talk.resume(behind.id)
    assert [sent.count(said) for said in ("THE-SUMMARY", "Answer 1.", "Prompt 3.", "Answer 3.")] == [1, 0, 1, 0]
    check_messages(talk.sent)


@pytest.mark.parametrize("source", ["claude", "codex"])
@branching
def test_a_new_session_is_gone_on_from(client: str, source: str, tmp_path: Path) -> None:
    """What was said in a session of either agent, with its calls and results, is what the other sends on."""
    if (CLAUDE if source == "claude" else CODEX) is None:
        pytest.skip("CLIENT_PACKAGES does not hold the agent that it comes from (see install.sh)")
    before = Talk(source, tmp_path / "old")
    for _ in range(2):
        before.say()
    talk = Talk(client, tmp_path / "new")
    talk.say()
    old, place = before.session(), str(talk.path.parent)
    new = write_new(old.view().messages, AGENTS[client], place, cwd=str(talk.home.project), model=old.model)
    talk.turns = 2
    sent = talk.resume(new.id)
    assert shown(sent, range(1, 3)) == [1, 2]
    assert sent.index("Answer 2.") < sent.index("Prompt 3.")
    check_messages(talk.sent)


@branching
def test_a_handoff_is_gone_on_from(client: str, tmp_path: Path) -> None:
    talk = Talk(client, tmp_path)
    talk.say()
    asked = ("session", "handoff", "Write THE-GOAL down.", "--yes", "--json", "--to", AGENTS[client])
    told = json.loads(talk.home.foldline(*asked, "--session", str(talk.path)))["written"]
    assert Path(told["path"]) in talk.home.sessions()
    sent = talk.resume(told["session"])
    assert sent.count("Write THE-GOAL down.") == 1
    assert sent.index("THE-GOAL") < sent.index("Prompt 2.")
    check_messages(talk.sent)


@clients
def test_two_folds_and_two_undoings(client: str, tmp_path: Path) -> None:
    talk = Talk(client, tmp_path)
    for _ in range(3):
        talk.say()
    talk.fold(talk.summarized(1, 2))
    talk.say()
    session = talk.session()
    before = session.view()
    after = before.apply(
        replace(talk.summarized(2, 4), into=(Message("user", (Summary("A SECOND one", {"round": 2}),)),))
    )
    session.fold(before, after, Fold("fold-2", "manual", "full", (talk.summarized(2, 4),)), session.meter())
    sent = talk.say()
    assert shown(sent, range(1, 5)) == [4]
    assert sent.index("THE-SUMMARY") < sent.index("A SECOND one") < sent.index("Prompt 4.")
    check_messages(talk.sent)
    session = talk.session()
    assert session.undo() == "fold-2"
    assert session.undo() == "fold-1"
    assert session.undo() is None
    assert shown(talk.say(), range(1, 6)) == [1, 2, 3, 4, 5]
    check_messages(talk.sent)


@clients
def test_a_fold_by_the_command_line_is_gone_on_from(client: str, tmp_path: Path) -> None:
    talk = Talk(client, tmp_path)
    for n in range(1, 5):
        talk.say(command=f"echo output-{n}; seq -s ' tables, ' 2000")
    was, whole = talk.path.read_bytes(), len(json.dumps(talk.sent))
    told = CliRunner().invoke(foldline, ["compact", "--yes", "--session", str(talk.path)])
    assert told.exit_code == 0, told.output
    assert talk.path.read_bytes().startswith(was)
    newest = talk.session().newest_fold
    assert newest is not None
    sent = talk.say()
    assert json.dumps(newest.summary)[1:-1] in sent
    assert len(json.dumps(talk.sent)) < whole
    assert "Prompt 5." in sent
    check_messages(talk.sent)
    undone = CliRunner().invoke(foldline, ["session", "undo", "--session", str(talk.path)])
    assert undone.exit_code == 0, undone.output
    assert shown(talk.say(), range(1, 6)) == [1, 2, 3, 4, 5]
    check_messages(talk.sent)


@pytest.mark.skipif(CLAUDE is None, reason="CLIENT_PACKAGES does not hold it (see install.sh)")
def test_claude_code_goes_on_from_a_file_of_which_it_reads_the_end(tmp_path: Path) -> None:
    """From 5 MB on Claude Code drops what stands before the newest boundary; an undoing does not lean on it."""
    talk = Talk("claude", tmp_path)
    for _ in range(3):
        talk.say()
    row = {"type": "progress", "uuid": "padding", "parentUuid": None, "data": "x" * 8_000_000}
    lines = talk.path.read_text().splitlines(keepends=True)
    talk.path.write_text("".join([*lines[:1], json.dumps(row) + "\n", *lines[1:]]))
    talk.fold(talk.summarized(1, 3))
    sent = talk.say()
    assert shown(sent, range(1, 4)) == [3]
    assert talk.session().undo() == "fold-1"
    assert shown(talk.say(), range(1, 5)) == [1, 2, 3, 4]
    check_messages(talk.sent)


@pytest.mark.skipif(CLAUDE is None, reason="CLIENT_PACKAGES does not hold it (see install.sh)")
def test_claude_code_hears_again_of_turns_that_it_left_out_behind_hooks(tmp_path: Path) -> None:
    """Up to 2.1.78 a prompt hung on the progress of a hook, and that on the call before it: the client leaves out what came between."""
    talk = Talk("claude", tmp_path)
    for n in range(1, 5):
        talk.say(command=f"echo output-{n}; seq -s ' tables, ' 2000")
    rows = [json.loads(line) for line in talk.path.read_text().splitlines()]
    called, made = "", []
    for row in rows:
        said = json.dumps(row["message"]["content"]) if row["type"] in ("user", "assistant") else ""
        called = called or (row["uuid"] if "tool_use" in said and row["type"] == "assistant" else "")
        if called and row["type"] == "user" and "Prompt " in said:
            hook = {"type": "progress", "uuid": f"hook-{len(made)}", "parentUuid": called, "isSidechain": False}
            made.append(hook | {"data": {"type": "hook_progress"}})
            row, called = row | {"parentUuid": hook["uuid"]}, ""
        made.append(row)
    talk.path.write_text("".join(f"{json.dumps(row)}\n" for row in made))
    assert "Answer 2." not in talk.say()
    told = CliRunner().invoke(foldline, ["compact", "--yes", "--session", str(talk.path)])
    assert told.exit_code == 0, told.output
    sent = talk.say()
    assert [n for n in range(1, 7) if f"Prompt {n}." in sent] == [1, 2, 3, 4, 5, 6]
    assert [n for n in range(1, 6) if f"Answer {n}." in sent] == [1, 2, 3, 4, 5]
    check_messages(talk.sent)


@pytest.mark.skipif(CLAUDE is None, reason="CLIENT_PACKAGES does not hold it (see install.sh)")
def test_a_compaction_of_claude_code_itself_is_undone(tmp_path: Path) -> None:
    talk = Talk("claude", tmp_path)
    for _ in range(3):
        talk.say()
    talk.turns -= 1
    talk.say(prompt="/compact")
    session = talk.session()
    (fold,) = session.folds()
    assert not fold.ours
    assert session.undo() == fold.id
    sent = talk.say()
    assert shown(sent, range(1, 4)) == [1, 2, 3]
    assert "being continued from a previous conversation" not in sent
    check_messages(talk.sent)


@pytest.mark.skipif(CODEX is None, reason="CLIENT_PACKAGES does not hold it (see install.sh)")
def test_compactions_of_codex_itself_are_undone(tmp_path: Path) -> None:
    talk = Talk("codex", tmp_path)
    for _ in range(3):
        talk.say()
    talk.say("-c", "model_auto_compact_token_limit=8000")
    session = talk.session()
    folds = session.folds()
    assert folds
    assert not any(fold.ours for fold in folds)
    for fold in reversed(folds):
        assert session.undo() == fold.id
    assert shown(talk.say(), range(1, 5)) == [1, 2, 3, 4]
    check_messages(talk.sent)


@clients
def test_a_session_at_work_is_seen(client: str, tmp_path: Path) -> None:
    talk = Talk(client, tmp_path)
    log = tmp_path / "seen"
    code = f"from foldline._sessions.busy import opened_elsewhere as o; print(o({str(tmp_path)!r} + '/link'))"
    find = f"ln -sf $(find {tmp_path}/home -name '*.jsonl' -path '*s/*' | tail -1) {tmp_path}/link"
    path = ":".join(filter(None, sys.path))
    (tmp_path / "look.sh").write_text(f'{find}\nPYTHONPATH={path} {sys.executable} -c "{code}" > {log}\n')
    talk.say(command=f"sh {tmp_path}/look.sh")
    own = 2 if client == "qwen" else 1  # Qwen Code starts itself once more
    assert len(json.loads(log.read_text())) == own
    assert opened_elsewhere(talk.path) == []
