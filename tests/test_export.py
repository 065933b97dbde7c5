"""What a session came to know leaves it as one document, and opens a new session anywhere."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from foldline import FormatError, Message, Session, SessionError, Summary, open_session
from foldline._cli.export import export as export_command
from foldline._cli.export import import_ as import_command
from foldline._facts.reading import facts_of
from foldline._handoff.exporting import export, write_state
from foldline._handoff.importing import import_state, read_state
from foldline._handoff.new_session import FORMATS, write_new
from foldline._handoff.state import State, decode, encode, facts_in, schema
from foldline._wires import FORMATS as WIRES
from foldline.extend import Media, Opaque, Text, Thinking, ToolCall, ToolResult, view_of
from sessions import Log, context, dumps, fold, long_log, pi_context

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
FILES = sorted(
    path for path in [*CORPUS.glob("*/*"), *CORPUS.glob("made/*/*")] if path.is_file() and path.suffix != ".md"
)
SCHEMA = Path(__file__).parents[1] / "docs" / "export.schema.json"


def worked(path: Path, turns: int = 8) -> Session:
    log = long_log(turns)
    call = log.message(
        "assistant",
        [
            {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "pytest -q tests/test_a.py"}},
            {"type": "toolCall", "id": "c2", "name": "edit", "arguments": {"path": "src/module_1.py", "edits": []}},
        ],
    )
    assert call
    log.result("c1", "E   AssertionError: 1 != 2\n1 failed, 3 passed")
    log.result("c2", "ok")
    log.user("Never touch the migrations folder, and use port 8123.")
    return Session(log.write(path))


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return worked(tmp_path / "old.jsonl")


def test_the_document_holds_what_the_session_came_to_know(session):
    state = export(session)
    assert state.requests[-1].text == "Never touch the migrations folder, and use port 8123."
    assert "Never touch the migrations folder, and use port 8123." in [c.text for c in state.constraints]
    assert {f.path: f.state for f in state.files}["src/module_1.py"] == "modified"
    assert any(o.command.startswith("pytest") and "failed" in o.outcome + o.note for o in state.operations)
    assert any("decided" in d.text for d in state.decisions)
    assert "8123" in [e.value for e in state.entities] + [f.text for f in state.findings]
    assert "migrations" in state.summary
    assert state.source.session == session.id
    assert state.source.model == "demo-1"
    assert state.tokens.context > 0


def test_every_fact_names_the_entry_that_it_stands_in(session):
    state = export(session)
    for request in state.requests:
        assert session.recall(request.id).text == request.text
    for rule in state.constraints:
        assert rule.text in session.recall(rule.id).text


def test_a_fold_takes_nothing_from_the_document(session):
    before = export(session)
    fold(session)
    after = export(session)
    for kind in ("requests", "constraints", "files", "decisions", "operations"):
        assert getattr(after, kind) == getattr(before, kind)
    assert after.tokens.context < before.tokens.context
    assert after.source.folds == 1


def test_the_schema_is_published():
    assert json.loads(SCHEMA.read_text("utf-8")) == schema(), "run scripts/make_schema.py"


def test_the_document_keeps_to_the_schema(session):
    """Each key that the schema names is there and no other, all the way down."""
    definitions = schema()["$defs"]

    def check(value, said):
        said = definitions[said["$ref"].rpartition("/")[2]] if "$ref" in said else said
        if said.get("type") == "object" and "properties" in said:
            assert said["additionalProperties"] is False
            assert value.keys() == said["properties"].keys()
            for key, inner in value.items():
                check(inner, said["properties"][key])
        elif said.get("type") == "array":
            for inner in value:
                check(inner, said["items"])
        elif "enum" in said:
            assert value in said["enum"]

    check(json.loads(encode(export(session))), schema())


# -- the law: what goes out comes in again ------------------------------------------------------------------------

ASKS = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=60)
    | st.sampled_from(
        ["Never use tabs.", "请不要修改 config.toml。", "Fix src/a.py; it must not print.", "절대 push 하지 마세요."]
    ),
    min_size=1,
    max_size=8,
)


@given(ASKS, st.sampled_from(["", "fold"]))
def test_the_round_trip_keeps_the_words_the_rules_and_the_files(tmp_path_factory, asks, folded):
    folder = tmp_path_factory.mktemp("trip")
    log = Log()
    for n, ask in enumerate(asks):
        log.user(ask)
        log.reply("I will look.", f"c{n}", path=f"src/file_{n}.py")
        log.result(f"c{n}", "x = 1\n" * 40)
    session = Session(log.write(folder / "old.jsonl"))
    if folded:
        fold(session)
    state = export(session)
    write_state(state, str(folder / "state.json"))
    new = Session(import_state(read_state(str(folder / "state.json")), path=str(folder / "new.jsonl")).path)
    again = export(new)
    for kind in (
        "requests",
        "constraints",
        "files",
        "decisions",
        "operations",
        "errors",
        "findings",
        "entities",
        "open_work",
        "next_steps",
    ):
        assert getattr(again, kind) == getattr(state, kind)
    assert again.earlier == (state.source,)
    shutil.rmtree(folder)


def test_the_opening_message_shows_rules_words_and_files(session, tmp_path):
    state = export(session)
    new = Session(import_state(state, path=str(tmp_path / "new.jsonl"), cwd="/somewhere").path)
    (message,) = new.view().messages
    assert message.role == "user"
    for rule in state.constraints:
        assert rule.text in message.text
    for file in state.files:
        assert file.path in message.text
    assert session.id in message.text
    assert new.header["cwd"] == "/somewhere"
    assert pi_context(Path(new.path).read_bytes()) == context(new)


def test_the_facts_behind_the_state_live_on_in_later_folds(session, tmp_path):
    state = export(session)
    new = Session(import_state(state, path=str(tmp_path / "new.jsonl")).path)
    facts = facts_of(new.view().messages)
    assert [r.text for r in facts.requests] == [r.text for r in state.requests]
    assert {c.text for c in facts.rules} == {c.text for c in state.constraints}
    assert {c.by for c in facts.rules} == {c.by for c in state.constraints}
    assert {f.path for f in state.files} <= {f.path for f in facts.files}


def test_work_goes_on_and_is_exported_with_what_came_before(session, tmp_path):
    state = export(session)
    new = Session(import_state(state, path=str(tmp_path / "new.jsonl")).path)
    id = new.append(Message("user", (Text("Only use British spelling."),)))
    again = export(new)
    assert [r.text for r in again.requests] == [*(r.text for r in state.requests), "Only use British spelling."]
    assert again.requests[-1].id == id
    assert again.requests[-1].at >= again.source.carried > again.requests[0].at
    assert [r.at for r in again.requests] == sorted(r.at for r in again.requests)


@pytest.mark.parametrize("format", FORMATS)
def test_the_state_opens_a_session_in_every_format(session, tmp_path, format):
    written = import_state(export(session), format, str(tmp_path / "new.json"))
    view = open_session(written.path).view()
    assert [m.role for m in view.messages] == ["user"]
    assert "Never touch the migrations folder, and use port 8123." in view.messages[0].text


def test_the_opening_message_keeps_to_its_size(session):
    from foldline._handoff.importing import opening
    from foldline.extend import estimate

    for size in (400, 1_000, 4_000):
        assert estimate(opening(export(session), size)) <= size


# -- bad documents ------------------------------------------------------------------------------------------------


def broken(state: State, change) -> bytes:
    document = json.loads(encode(state))
    change(document)
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (lambda d: d["files"][0].update(state="burnt"), r"files\[0\]\.state"),
        (lambda d: d["requests"][1].update(surprise=1), r"requests\[1\]\.surprise"),
        (lambda d: d["requests"][0].pop("text"), r"requests\[0\]\.text"),
        (lambda d: d.update(extra=1), "extra"),
        (lambda d: d["tokens"].update(context="many"), r"tokens\.context"),
        (lambda d: d.update(version=2), "version"),
        (lambda d: d.update(format="other"), "format"),
        (lambda d: d.pop("source"), "source"),
    ],
)
def test_a_wrong_key_is_named(session, tmp_path, change, key):
    path = tmp_path / "state.json"
    path.write_bytes(broken(export(session), change))
    with pytest.raises(FormatError, match=rf"state\.json: {key}: "):
        read_state(str(path))


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"\xff\xfe", b"{", b"[" * 100_000, b'{"format": 7}'])
def test_what_is_no_document_is_refused(tmp_path, data):
    path = tmp_path / "state.json"
    path.write_bytes(data)
    with pytest.raises(FormatError):
        read_state(str(path))


def test_a_document_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(FormatError, match="cannot be read"):
        read_state(str(tmp_path / "nowhere.json"))


def test_nothing_takes_the_place_of_a_file(session, tmp_path):
    taken = tmp_path / "taken"
    taken.write_text("mine")
    state = export(session)
    for write in (
        lambda: write_state(state, str(taken)),
        lambda: import_state(state, path=str(taken)),
        lambda: write_new(session.view().messages, "openai-chat", str(taken)),
    ):
        with pytest.raises(SessionError, match="already"):
            write()
    assert taken.read_text() == "mine"


@pytest.mark.skipif(not FILES, reason="the corpus is not here")
@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name[-24:])
def test_sessions_of_every_agent_are_exported(file):
    state = export(open_session(file))
    data = encode(state)
    assert decode(data) == state
    assert len(data) < 2_000_000
    assert facts_in(state).requests == facts_in(decode(data)).requests


# -- a folded view as a new session -------------------------------------------------------------------------------

PIXEL = "iVBORw0KGgo="
ANTHROPIC_IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
OPENAI_IMAGE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
PI_IMAGE = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
IMAGES = {
    "anthropic": ANTHROPIC_IMAGE,
    "openai-chat": OPENAI_IMAGE,
    "openai-responses": {"type": "input_image", "image_url": OPENAI_IMAGE["image_url"]["url"]},
    "gemini": {"inlineData": {"mimeType": PI_IMAGE["mimeType"], "data": PI_IMAGE["data"]}},
    "bedrock-converse": {"image": {"format": "png", "source": {"bytes": PI_IMAGE["data"]}}},
    "pi": PI_IMAGE,
}
IMAGES |= {"claude-code": IMAGES["anthropic"], "codex": IMAGES["openai-responses"]}
AGENTS = ("pi", "claude-code", "codex")
"""Those that have a system prompt of their own."""

FOREIGN = [
    Message("system", (Text("You are an agent."), Opaque([{"name": "read"}]))),
    Message("user", (Summary("Earlier: a.py was fixed.", {"round": 2}),)),
    Message("user", (Text("Look at this."), Media("image", ANTHROPIC_IMAGE)), format="anthropic"),
    Message(
        "assistant",
        (Thinking("hm", "sig"), Text("I look."), ToolCall("a|1", "read", '{"path": "a.py"}'), ToolCall("b", "ls")),
        format="anthropic",
    ),
    Message(
        "user",
        (ToolResult("a|1", (Text("x = 1"),)), ToolResult("b", (Text("no"),), error=True), Text("And hurry.")),
        format="anthropic",
    ),
    Message("assistant", (Thinking("only thinking", "sig"),), format="anthropic"),
    Message("assistant", (Text("Done."),), format="anthropic"),
]


@pytest.mark.parametrize("format", FORMATS)
def test_a_view_of_another_agent_is_written_in_every_format(tmp_path, format):
    view = view_of(FOREIGN, lambda message: 1)
    written = write_new(view.messages, format, str(tmp_path / "new"), model="m", agent="claude-code")
    new = open_session(written.path).view().messages
    words = "\n".join(m.text for m in new)
    assert all(
        said in words for said in ("Earlier: a.py was fixed.", "Look at this.", "I look.", "And hurry.", "Done.")
    )
    calls = [c for m in new for c in m.calls]
    results = [r for m in new for r in m.results]
    assert [(c.name, json.loads(c.arguments)) for c in calls] == [("read", {"path": "a.py"}), ("ls", {})]
    assert [r.call_id for r in results] == [c.id for c in calls]
    assert ("You are an agent." in words) == (format not in AGENTS)
    own = format in ("anthropic", "claude-code")
    assert ("thinking" in written.left_out) != own
    assert [p.source for m in new for p in m.parts if isinstance(p, Media)] == [IMAGES[format]]


def test_tool_results_stand_as_each_provider_wants_them(tmp_path):
    view = view_of(FOREIGN, lambda message: 1)
    items = json.loads(Path(write_new(view.messages, "openai-chat", str(tmp_path / "o.json")).path).read_bytes())
    assert [i["role"] for i in items] == ["system", "user", "user", "assistant", "tool", "tool", "user", "assistant"]
    split = [WIRES["openai-chat"].decode(item) for item in items]
    document = json.loads(Path(write_new(split, "anthropic", str(tmp_path / "a.json")).path).read_bytes())
    assert document["system"].startswith("You are an agent.")
    answer = next(
        m for m in document["messages"] if isinstance(m["content"], list) and "tool_use_id" in m["content"][0]
    )
    assert [block["type"] for block in answer["content"]] == ["tool_result", "tool_result", "text"]


def test_a_summary_at_the_head_is_a_compaction_with_its_facts(tmp_path):
    written = write_new(FOREIGN, "pi", str(tmp_path / "new.jsonl"))
    session = Session(written.path)
    assert session.view().messages[0].summary == Summary("Earlier: a.py was fixed.", {"round": 2})
    assert session.faults == []
    assert pi_context(Path(written.path).read_bytes()) == context(session)


def test_the_source_is_never_touched(tmp_path):
    session = worked(tmp_path / "old.jsonl")
    was = Path(session.path).read_bytes()
    for format in FORMATS:
        write_new(session.view().messages, format, str(tmp_path / f"new-{format}"))
    assert Path(session.path).read_bytes() == was


def test_what_is_bound_for_pi_goes_where_pi_looks(tmp_path, monkeypatch):
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "pi"))
    written = write_new(FOREIGN, "pi", cwd="/home/me/my.project")
    assert Path(written.path).parent == tmp_path / "pi" / "sessions" / "--home-me-my.project--"
    assert Path(written.path).name.endswith(f"_{written.id}.jsonl")


@pytest.mark.skipif(not FILES, reason="the corpus is not here")
@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name[-24:])
def test_sessions_of_every_agent_are_written_in_every_format(tmp_path, file):
    old = open_session(file)
    view = old.view()
    calls = sum(1 for m in view.messages for _ in m.calls)
    for format in FORMATS:
        written = write_new(view.messages, format, str(tmp_path / format), model=old.model)
        new = open_session(written.path)
        assert new.faults == []
        assert sum(1 for m in new.view().messages for _ in m.calls) == calls


# -- the commands -------------------------------------------------------------------------------------------------


def run(command, *arguments: str):
    return CliRunner().invoke(command, list(arguments))


def test_the_commands_carry_a_session_over(session, tmp_path, monkeypatch):
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "pi"))
    done = run(export_command, str(tmp_path / "state.json"), "--session", session.path)
    assert done.exit_code == 0
    assert "Constraints" in done.stdout
    done = run(import_command, str(tmp_path / "state.json"), "--json")
    told = json.loads(done.stdout)
    assert "migrations" in Session(told["path"]).view().messages[0].text
    assert (tmp_path / "pi") in Path(told["path"]).parents


def test_export_speaks_json(session, tmp_path):
    done = run(export_command, str(tmp_path / "state.json"), "--session", session.path, "--json")
    told = json.loads(done.stdout)
    assert told["bytes"] == (tmp_path / "state.json").stat().st_size
    assert told["facts"]["files"] == len(export(session).files)


def test_a_dash_is_standard_output_and_standard_input(session, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for more in ((), ("--json",), ("--redact",)):
        told = run(export_command, "-", "--session", session.path, *more)
        state = decode(told.stdout_bytes)
        assert (told.exit_code, state.requests) == (0, export(session).requests)
    assert "Constraints" in run(export_command, "-", "--session", session.path).stderr
    assert not (tmp_path / "-").exists()
    done = CliRunner().invoke(import_command, ["-", "--into", str(tmp_path / "new"), "--json"], input=told.stdout)
    assert "migrations" in Session(json.loads(done.stdout)["path"]).view().messages[0].text


def test_a_file_may_be_called_dash(session, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(export_command, "./-", "--session", session.path).exit_code == 0
    assert run(import_command, "./-", "--into", str(tmp_path / "new")).exit_code == 0


@pytest.mark.parametrize("said", ["", "{}", "no document"])
def test_what_comes_in_and_is_no_document_is_refused(tmp_path, said):
    done = CliRunner().invoke(import_command, ["-", "--into", str(tmp_path / "new")], input=said)
    assert isinstance(done.exception, FormatError)
    assert "standard input" in str(done.exception)


def test_import_into_a_named_file_of_another_format(session, tmp_path):
    write_state(export(session), str(tmp_path / "state.json"))
    target = tmp_path / "chat.json"
    done = run(import_command, str(tmp_path / "state.json"), "--to", "anthropic", "--into", str(target))
    assert done.exit_code == 0
    assert json.loads(target.read_bytes())[0]["role"] == "user"


def test_an_empty_session_is_nothing_to_export(tmp_path):
    session = Session.create(tmp_path / "s.jsonl")
    done = run(export_command, str(tmp_path / "state.json"), "--session", session.path)
    assert done.exit_code == 3
    done = run(export_command, str(tmp_path / "state.json"), "--session", session.path, "--json")
    told = json.loads(done.stdout)
    assert (done.exit_code, told["path"], told["file"]) == (3, session.path, None)
    assert not (tmp_path / "state.json").exists()


def test_a_plain_list_of_messages_is_exported(tmp_path):
    path = tmp_path / "chat.json"
    path.write_bytes(dumps([{"role": "user", "content": "Always answer in French."}]))
    state = export(open_session(path))
    assert [c.text for c in state.constraints] == ["Always answer in French."]
    assert msgspec.to_builtins(state.source)["agent"] == "messages"


def test_the_summary_that_a_new_session_begins_with_is_not_undone(session, tmp_path):
    fold(session)
    written = write_new(session.view().messages, "pi", str(tmp_path / "new"), model="m", agent="claude-code")
    opened = Session(written.path)
    was, shown = Path(written.path).read_bytes(), opened.view().messages
    with pytest.raises(SessionError, match="begins with its summary"):
        opened.undo()
    assert Path(written.path).read_bytes() == was
    assert Session(written.path).view().messages == shown
