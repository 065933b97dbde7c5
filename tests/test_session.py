"""A session shows what pi would show the model; folds and undos are appended, and read back as what they are."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from foldline import (
    CompactionError,
    Edit,
    Fold,
    Message,
    Receipt,
    Session,
    SessionError,
    Summary,
    UnsafeEdit,
    Usage,
    View,
)
from foldline._handoff.new_session import write_new
from foldline.extend import Text, ToolCall, ToolResult, replace, text_of
from sessions import (
    BRANCH,
    BY,
    HEADER,
    SUMMARY,
    SYSTEM,
    Log,
    Shown,
    context,
    fold,
    folded,
    ids,
    long_log,
    pi_context,
    shown_all,
    words,
)

OLD = {key: value for key, value in HEADER.items() if key != "version"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def said(text: str, role: str = "user") -> Shown:
    return [role, [{"type": "text", "text": text}]]


def opened(log: Log, path: Path) -> Session:
    """The session of a log, which shows what pi shows of it."""
    session = Session(log.write(path), strict=True)
    assert context(session) == pi_context(path.read_bytes())
    return session


def texts(session: Session) -> list[str]:
    return [message.text for message in session.view().messages]


# -- reading -----------------------------------------------------------------------------------------------------


def test_a_conversation(path):
    log = Log()
    log.user("one")
    log.reply("look", "c1", path="a.py", depth=2)
    log.result("c1", "long")
    log.reply("done")
    session = opened(log, path)
    user, call, result, reply = session.view().messages
    assert (user.role, user.text) == ("user", "one")
    assert [(c.id, c.name, json.loads(c.arguments)) for c in call.calls] == [
        ("c1", "read", {"path": "a.py", "depth": 2})
    ]
    assert [(r.call_id, r.name, text_of(r), r.error) for r in result.results] == [("c1", "read", "long", False)]
    assert (reply.role, reply.text) == ("assistant", "done")
    assert (session.id, session.version, session.faults) == ("s1", 3, [])


def test_entries_are_named_by_the_ids_of_the_file(path):
    log = Log()
    named = [log.user("one"), log.reply("first")]
    assert ids(opened(log, path)) == named


def test_version_1_has_no_ids_and_hangs_each_record_on_the_one_before(path):
    log = Log(OLD)
    log.user("one")
    log.reply("first")
    log.user("two")
    session = opened(log, path)
    assert (session.version, texts(session)) == (1, ["one", "first", "two"])


def test_version_1_takes_the_order_of_lines_over_ids(path):
    log = Log(OLD)
    log.linear = False
    log.user("one")
    log.reply("first")
    log.leaf = None
    log.user("two")
    assert texts(opened(log, path)) == ["one", "first", "two"]


@pytest.mark.parametrize(
    ("index", "kept"),
    [(0, []), (1, ["one", "first", "two"]), (2, ["first", "two"]), (3, ["two"]), (4, []), (5, []), (99, [])],
)
def test_version_1_counts_what_a_compaction_kept_from_the_header(path, index, kept):
    log = Log(OLD)
    log.user("one")
    log.reply("first")
    log.user("two")
    log.add("compaction", summary="SUM", firstKeptEntryIndex=index, tokensBefore=9)
    log.user("three")
    session = opened(log, path)
    assert [m.text for m in session.view().messages[1:]] == [*kept, "three"]


def test_version_1_counts_neither_blank_nor_damaged_lines(path):
    log = Log(OLD)
    log.user("one")
    log.raw(b"{damaged")
    log.raw(b"  ")
    log.reply("first")
    log.user("two")
    log.add("compaction", summary="SUM", firstKeptEntryIndex=3, tokensBefore=9)
    session = Session(log.write(path))
    assert texts(session)[1:] == ["two"]
    assert context(session) == pi_context(path.read_bytes())


def test_version_2_calls_custom_messages_hook_messages(path):
    log = Log({**HEADER, "version": 2})
    log.user("one")
    log.message("hookMessage", "hint", customType="x")
    assert texts(opened(log, path)) == ["one", "hint"]


def test_version_3_knows_no_hook_messages(path):
    log = Log()
    log.user("one")
    log.message("hookMessage", "hint", customType="x")
    assert texts(opened(log, path)) == ["one"]


def test_records_that_the_model_does_not_see_take_part_in_the_chain(path):
    log = Log()
    log.user("one")
    for kind in ("custom", "label", "session_info", "usage", "model_change", "thinking_level_change", "novelty"):
        log.add(kind, content="x", message={"role": "user", "content": "x"}, targetId="00000001")
    log.user("two")
    assert texts(opened(log, path)) == ["one", "two"]


def test_an_unknown_role_is_not_sent(path):
    log = Log()
    log.user("one")
    log.message("oracle", [{"type": "text", "text": "x"}])
    log.user("two")
    assert texts(opened(log, path)) == ["one", "two"]


@pytest.mark.parametrize("content", ["hint", "", [{"type": "text", "text": "hint"}], [], None])
@pytest.mark.parametrize("display", [True, False])
def test_a_custom_message_is_a_users(path, content, display):
    log = Log()
    log.user("one")
    log.add("custom_message", customType="ext", content=content, display=display)
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
    assert context(opened(log, path)) == [said("one"), ["user", blocks]]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "Ran `ls`\n```\na.py\n```"),
        ({"output": ""}, "Ran `ls`\n(no output)"),
        ({"exitCode": 2}, "Ran `ls`\n```\na.py\n```\n\nCommand exited with code 2"),
        ({"exitCode": None}, "Ran `ls`\n```\na.py\n```"),
        ({"exitCode": 130, "cancelled": True}, "Ran `ls`\n```\na.py\n```\n\n(command cancelled)"),
        ({"truncated": True}, "Ran `ls`\n```\na.py\n```"),
        (
            {"truncated": True, "fullOutputPath": "/tmp/full", "exitCode": 1, "output": ""},
            "Ran `ls`\n(no output)\n\nCommand exited with code 1\n\n[Output truncated. Full output: /tmp/full]",
        ),
    ],
)
def test_a_command_of_the_user_is_told_to_the_model(path, fields, text):
    log = Log()
    log.bash(**fields)
    assert texts(opened(log, path)) == [text]


def test_a_command_that_the_user_kept_from_the_model_is_not_told(path):
    log = Log()
    log.user("one")
    log.bash(excludeFromContext=True)
    assert texts(opened(log, path)) == ["one"]


def test_every_kind_of_content(path):
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    log = Log()
    log.message("user", "plain")
    log.message("user", [{"type": "text", "text": "see"}, image])
    log.message(
        "assistant",
        [
            {"type": "thinking", "thinking": "hm", "thinkingSignature": "sig"},
            {"type": "text", "text": "ok", "textSignature": "t"},
            {"type": "toolCall", "id": "c1", "name": "shot", "arguments": {}, "thoughtSignature": "s"},
        ],
    )
    log.message("toolResult", [image, {"type": "novel", "x": 1}], toolCallId="c1", toolName="shot", isError=True)
    log.message("user", None)
    log.message("assistant", [])
    opened(log, path)


def test_usage_excludes_cached_tokens(path):
    log = Log()
    log.user("one")
    usage = {"input": 5, "output": 2, "cacheRead": 7, "cacheWrite": 1, "totalTokens": 15, "cost": {}}
    log.message("assistant", "ok", usage=usage)
    log.message("assistant", "ok", usage={"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0})
    assert [m.usage for m in opened(log, path).view().messages] == [None, Usage(5, 2, 7, 1), None]


def test_the_model_that_answered_last(path):
    log = Log()
    log.add("model_change", provider="p", modelId="first")
    log.user("one")
    assert opened(log, path).model == "first"
    log.message("assistant", "hi", model="second")
    log.message("assistant", "echo", model="delivery-mirror")
    assert opened(log, path).model == "second"


def test_system_messages(path):
    log = Log()
    log.system()
    log.user("one")
    log.system({**SYSTEM, "sections": {"date": None}, "toolsAdded": [{"name": "read"}]})
    session = opened(log, path)
    assert [m.role for m in session.view().messages] == ["system", "user", "system"]
    assert [e.pinned for e in session.view().entries] == [True, False, True]


# -- branches ----------------------------------------------------------------------------------------------------


def test_the_newest_record_says_which_branch_is_live(path):
    log = Log()
    log.user("one")
    fork = log.reply("first")
    old = log.user("two")
    log.leaf = fork
    log.user("three")
    assert texts(opened(log, path)) == ["one", "first", "three"]
    log.leaf = old
    log.add("label", targetId=fork, label="here")
    assert texts(opened(log, path)) == ["one", "first", "two"]


def test_a_second_root(path):
    log = Log()
    log.user("one")
    log.leaf = None
    log.user("again")
    assert texts(opened(log, path)) == ["again"]


@pytest.mark.parametrize(("summary", "told"), [("LEFT", [said(BRANCH.format("LEFT"))]), ("", [])])
def test_the_summary_of_a_branch(path, summary, told):
    log = Log()
    fork = log.user("one")
    left = log.reply("first")
    log.leaf = fork
    log.add("branch_summary", fromId=left, summary=summary)
    log.user("two")
    assert context(opened(log, path)) == [said("one"), *told, said("two")]


def test_what_hangs_on_an_id_that_stands_twice_hangs_on_the_later_one(path):
    log = Log()
    log.user("one")
    log.add("message", id="twice", message={"role": "user", "content": "first"})
    log.add("message", id="twice", parentId="00000001", message={"role": "user", "content": "second"})
    log.user("two")
    assert texts(opened(log, path)) == ["one", "second", "two"]


# -- compactions -------------------------------------------------------------------------------------------------


def four() -> tuple[Log, list[str]]:
    log = Log()
    return log, [log.user("one"), log.reply("first"), log.user("two"), log.reply("second")]


@pytest.mark.parametrize(
    ("keeps", "kept"),
    [
        (0, ["one", "first", "two", "second"]), (2, ["two", "second"]), (3, ["second"]),
        ("itself", []), ("later", []), ("nowhere", []), (None, []),
    ],
)  # fmt: skip
def test_a_compaction_keeps_what_stands_from_its_first_kept_entry_on(path, keeps, kept):
    log, made = four()
    first = {"itself": "00000005", "later": "00000006"}.get(keeps, keeps) if not isinstance(keeps, int) else made[keeps]
    log.compaction(first)
    log.user("three")
    session = opened(log, path)
    assert session.view().messages[0].text == "SUM"
    assert context(session) == [said(SUMMARY.format("SUM")), *context(session)[1:-1], said("three")]
    assert [m.text for m in session.view().messages[1:-1]] == kept


def test_an_empty_summary_is_a_summary(path):
    log, made = four()
    log.compaction(made[2], "")
    assert texts(opened(log, path)) == ["", "two", "second"]


def test_the_newest_compaction_wins_and_may_reach_back_before_the_older_one(path):
    log, made = four()
    log.compaction(made[2], "SUM1")
    log.user("three")
    log.compaction(made[1], "SUM2")
    log.user("four")
    assert texts(opened(log, path)) == ["SUM2", "first", "two", "second", "three", "four"]


def test_a_compaction_on_another_branch_does_nothing(path):
    log, made = four()
    log.compaction(made[2])
    log.leaf = made[3]
    log.user("three")
    assert texts(opened(log, path)) == ["one", "first", "two", "second", "three"]


def test_a_compaction_brings_the_system_prompt_that_stood_then(path):
    log = Log()
    log.system()
    kept = log.user("one")
    log.system({**SYSTEM, "sections": {"date": "Tuesday"}})
    log.reply("first")
    log.compaction(kept, systemMessage={**SYSTEM, "sections": {"preamble": "You are pi.", "date": "Tuesday"}})
    log.system({**SYSTEM, "sections": {"date": "Friday"}})
    log.user("two")
    session = opened(log, path)
    assert [m.role for m in session.view().messages] == ["system", "user", "user", "assistant", "system", "user"]
    assert session.view().entries[0].pinned


# -- edits -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("replacement", [None, {"content": "short"}, {"content": [{"type": "text", "text": "short"}]}])
@pytest.mark.parametrize(
    "kind", ["user", "assistant", "toolResult", "custom", "custom_message", "bash", "branch", "system"]
)
def test_an_edit_replaces_what_may_be_replaced_and_drops_all_else(path, kind, replacement):
    log = Log()
    log.user("one")
    match kind:
        case "bash":
            target = log.bash()
        case "branch":
            target = log.add("branch_summary", fromId="00000001", summary="LEFT")
        case "system":
            target = log.system()
        case "custom_message":
            target = log.add("custom_message", customType="ext", content="hint", display=True)
        case _:
            target = log.message(kind, [{"type": "text", "text": "long"}], toolCallId="c", toolName="t", isError=False)
    log.edit(target, replacement)
    log.user("two")
    session = opened(log, path)
    if replacement is None:
        assert texts(session) == ["one", "two"]
    elif kind not in ("bash", "branch", "system"):
        assert "short" in str(context(session)[1])


def test_an_edit_of_a_reply_takes_its_calls_along(path):
    log = Log()
    log.user("one")
    target = log.reply("look", "c1")
    log.result("c1", "long")
    log.edit(target, {"content": "no call"})
    assert not list(opened(log, path).view().messages[1].calls)


def test_the_latest_edit_of_an_entry_wins(path):
    log, made = four()
    log.edit(made[1], None)
    log.edit(made[1], {"content": "back"})
    assert texts(opened(log, path)) == ["one", "back", "two", "second"]


def test_edits_that_are_void(path):
    log, made = four()
    log.edit("nowhere", None)
    log.leaf = made[3]
    log.edit(made[1], None)
    log.leaf = made[3]
    log.user("three")
    assert texts(opened(log, path)) == ["one", "first", "two", "second", "three"]


def test_an_edit_may_stand_before_its_target(path):
    log = Log()
    log.user("one")
    log.edit("00000003", None)
    log.user("two")
    assert texts(opened(log, path)) == ["one"]


def test_an_edit_that_was_folded_away_is_void(path):
    log = Log()
    log.user("one")
    target = log.user("two")
    log.edit(target, {"content": "short"})
    kept = log.reply("second")
    log.compaction(kept)
    assert texts(opened(log, path)) == ["SUM", "second"]
    log.leaf = kept
    log.compaction(target)
    assert texts(opened(log, path)) == ["SUM", "short", "second"]


@pytest.mark.parametrize("replacement", [None, {"content": "new"}])
def test_an_edit_may_drop_a_compaction_but_not_change_it(path, replacement):
    log, made = four()
    target = log.compaction(made[2], systemMessage=SYSTEM)
    log.edit(target, replacement)
    session = opened(log, path)
    assert [m.role for m in session.view().messages] == [
        *(["system", "user"] if replacement else []),
        "user",
        "assistant",
    ]


# -- any tree ----------------------------------------------------------------------------------------------------

KINDS = (
    "user", "user", "assistant", "call", "custom", "custom_message", "bash", "system", "branch_summary",
    "compaction", "edit_null", "edit_string", "edit_blocks", "label", "model_change", "custom_record", "novelty",
)  # fmt: skip
STEPS = st.tuples(st.sampled_from(KINDS), st.integers(0, 19), st.integers(-2, 6))


def tree(steps: list[tuple[str, int, int]]) -> Log:
    """A session of any shape; most records hang on the one before, and any record may be pointed at, future ones too."""
    log = Log()
    made: list[str | None] = [None]
    for n, (kind, parent, back) in enumerate(steps):
        if parent < 6:
            log.leaf = made[-1 - parent % len(made)]
        target = f"{max(1, n + 1 - back):08x}"
        block = [{"type": "text", "text": f"text {n}"}]
        match kind:
            case "user" | "assistant" | "custom":
                made.append(log.message(kind, block if back % 2 else f"text {n}"))
            case "call":
                made.append(log.reply(f"text {n}", f"c{n}"))
                log.lines.append({})  # ids follow the number of lines
                log.lines.pop()
                made.append(log.result(f"c{n}", f"output {n}"))
            case "custom_message":
                made.append(log.add(kind, customType="x", content=block if back % 2 else f"text {n}", display=True))
            case "bash":
                made.append(log.bash(output=f"text {n}", excludeFromContext=back == 3))
            case "system":
                made.append(log.system({**SYSTEM, "content": f"text {n}"}))
            case "branch_summary":
                made.append(log.add(kind, fromId=target, summary=f"text {n}" if back else ""))
            case "compaction":
                extra = {"systemMessage": {**SYSTEM, "content": f"text {n}"}} if back % 2 else {}
                made.append(log.compaction(target if back < 6 else None, f"text {n}", **extra))
            case "edit_null":
                made.append(log.edit(target, None))
            case "edit_string":
                made.append(log.edit(target, {"content": f"edit {n}"}))
            case "edit_blocks":
                made.append(log.edit(target, {"content": [{"type": "text", "text": f"edit {n}"}]}))
            case _:
                made.append(log.add("custom" if kind == "custom_record" else kind, targetId=target, data={}))
    return log


@given(st.lists(STEPS, min_size=1, max_size=25))
def test_any_tree_reads_as_pi_reads_it(steps):
    with tempfile.TemporaryDirectory() as folder:
        opened(tree(steps), Path(folder) / "s.jsonl")


@pytest.mark.parametrize("folds", [0, 1, 5])
def test_reading_the_tail_shows_what_reading_all_shows(path, folds):
    """A file of a few megabytes with folds in it, more than one read from its end takes."""
    session = opened(long_log(200), path)
    for n in range(folds):
        assert fold(session)[2]
        for word in ("go", "on"):
            session.append(Message("user", (Text(f"{word} {n} " * 20_000),)))
    assert context(Session(path)) == pi_context(path.read_bytes())


# -- appending ---------------------------------------------------------------------------------------------------


def test_a_new_session(path):
    session = Session.create(path, cwd="/tmp/demo")
    assert context(session) == []
    header = json.loads(path.read_bytes())
    assert (header["type"], header["version"], header["cwd"]) == ("session", 3, "/tmp/demo")
    assert session.id == header["id"]


def test_a_new_session_takes_no_files_place(path):
    path.write_text("mine")
    with pytest.raises(SessionError, match="there is a file already"):
        Session.create(path)
    assert path.read_text() == "mine"


@pytest.mark.parametrize("version", [1, 2, 3])
def test_what_is_appended_is_there(path, version):
    session = opened(long_log(1, version=version), path)
    before, was = context(session), path.read_bytes()
    added = [
        Message("user", (Text("look"),)),
        Message("assistant", (Text("I look"), ToolCall("c9", "read", '{"path": "a.py"}')), Usage(10, 5, 3, 0)),
        Message("tool", (ToolResult("c9", (Text("out"),), True, "read"),)),
    ]
    named = [session.append(message) for message in added]
    for again in (session, Session(path, strict=True)):
        assert ids(again)[-3:] == named
        assert [replace(m, format="") for m in again.view().messages[-3:]] == added
        assert [again.recall(id) for id in named] == again.view().messages[-3:]
    assert context(session) == [*before, *shown_all(added)] == pi_context(path.read_bytes())
    assert path.read_bytes().startswith(was)


@pytest.mark.parametrize("folds", [False, True])
def test_what_was_read_is_not_read_again_for_a_message_behind_it(path, folds):
    """A session costs what is appended to it, however long it is."""
    session = opened(long_log(100, version=3), path)
    if folds:
        fold(session)
        session.append(Message("assistant", (Text("done " * 60_000),)))
    was = session.context.messages
    session.append(Message("user", (Text("go on"),)))
    session.append(Message("assistant", (Text("gone on"),), Usage(7, 5)), model="openai:gpt-5.4", stop="stop")
    assert all(now is then for now, then in zip(session.context.messages, was))
    assert texts(session)[-2:] == ["go on", "gone on"]


APPENDED = st.sampled_from(
    [
        (Message("user", (Text("look"),)), ""),
        (Message("system", (Text("The time is new."),)), ""),
        (Message("assistant", (Text("I look"), ToolCall("c9", "read"))), "aborted"),
        (Message("assistant", (Text("I looked"),), Usage(40, 5)), "stop"),
        (Message("assistant", (Text("I looked long"),), Usage(90_000, 5)), "length"),
        (Message("tool", (ToolResult("c9", (Text("out"),), False, "read"),)), ""),
    ]
)


@settings(max_examples=25)
@given(st.lists(st.one_of(st.none(), APPENDED), max_size=8), st.sampled_from([1, 2, 3]))
def test_a_session_that_is_gone_on_with_is_as_one_that_is_opened_again(steps, version):
    with tempfile.TemporaryDirectory() as folder:
        session = opened(long_log(3, version=version), Path(folder) / "session.jsonl")
        for step in steps:
            if step is None:
                fold(session)
            else:
                session.append(step[0], model="openai:gpt-5.4", stop=step[1])
            again = Session(session.path)
            assert session.view().entries == again.view().entries
            assert session.meter().billed == again.meter().billed
            assert session.context.size() == again.context.size()
            assert session.faults == again.faults


def test_several_results_in_one_message_are_all_written(path):
    """Other formats answer parallel calls in one message; pi's takes one message for each answer."""
    session = Session.create(path)
    session.append(Message("user", (Text("go"),)))
    session.append(Message("assistant", (ToolCall("c1", "read"), ToolCall("c2", "read"))))
    results = (ToolResult("c1", (Text("one"),), False, "read"), ToolResult("c2", (Text("two"),), False, "read"))
    last = session.append(Message("user", (*results, Text("and go on"))))
    assert texts(session)[-1] == "and go on"
    assert [r.call_id for m in session.view().messages for r in m.results] == ["c1", "c2"]
    assert ids(session)[-1] == last


@pytest.mark.parametrize("text", ["\ud800 half a pair", "\u2028\u2029", "\x00\x1f", "é \U0001f600", '"\\'])
def test_any_text_comes_back(path, text):
    session = Session.create(path)
    session.append(Message("user", (Text(text),)))
    assert texts(session) == texts(Session(path)) == [text]
    assert path.read_bytes().count(b"\n") == 2


# -- folding and undoing -----------------------------------------------------------------------------------------

DIALECTS = {
    "v1": {"version": 1},
    "v2": {"version": 2},
    "v3": {},
    "edits": {"system": True},
}
LAYERS = [
    (dialect, layer) for dialect in DIALECTS for layer in ("summarize", "prune") if (dialect, layer) != ("v1", "prune")
]


def check_read_back(session: Session, after: View, path: Path) -> None:
    """A fold that was written is read as what was folded, by us (also from the whole file) and by pi."""
    assert words(context(session)) == words(shown_all(after.messages))
    assert words(pi_context(path.read_bytes())) == words(context(session))
    assert context(Session(path, strict=True)) == context(session)


@pytest.mark.parametrize(("dialect", "layer"), LAYERS)
def test_a_fold_is_read_back_and_can_be_undone(path, dialect, layer):
    log = long_log(**DIALECTS[dialect])
    session = opened(log, path)
    was, shown_before = path.read_bytes(), context(session)
    before, after, made = fold(session, layer=layer)
    assert after.tokens < before.tokens
    check_read_back(session, after, path)
    folded = path.read_bytes()
    assert folded.startswith(was)
    (past,) = session.folds()
    assert (past.id, past.trigger, past.layer, past.undone, past.ours) == (made.id, "manual", layer, False, True)
    assert past.receipt == made.receipt
    assert session.undo() == made.id
    assert context(session) == context(Session(path, strict=True)) == shown_before
    assert path.read_bytes().startswith(folded)
    assert [(f.id, f.undone) for f in session.folds()] == [(made.id, True)]
    assert session.undo() is None


@pytest.mark.parametrize("dialect", ["v2", "v3", "edits"])
def test_after_an_undo_pi_shows_what_it_showed_before(path, dialect):
    log = long_log(**DIALECTS[dialect])
    session = opened(log, path)
    before = pi_context(path.read_bytes())
    fold(session)
    session.undo()
    assert pi_context(path.read_bytes()) == before


def test_version_1_refuses_a_fold_that_it_cannot_say(path):
    session = opened(long_log(version=1), path)
    was = path.read_bytes()
    with pytest.raises(CompactionError, match="version 1"):
        fold(session, layer="prune")
    assert path.read_bytes() == was


@pytest.mark.parametrize(("dialect", "layer"), LAYERS)
def test_what_came_after_a_fold_stays_when_it_is_undone(path, dialect, layer):
    session = opened(long_log(**DIALECTS[dialect]), path)
    before = context(session)
    fold(session, layer=layer)
    later = [
        Message("user", (Text("go on"),)),
        Message("assistant", (Text("reading"), ToolCall("c9", "read", '{"path": "b.py"}')), Usage(10, 5)),
        Message("tool", (ToolResult("c9", (Text("out"),), False, "read"),)),
    ]
    for message in later:
        session.append(message)
    session.undo()
    assert context(session) == context(Session(path, strict=True)) == [*before, *shown_all(later)]
    if dialect != "v1":
        assert pi_context(path.read_bytes()) == context(session)


def billed_log(**dialect: Any) -> Log:
    """A session whose newest reply was billed."""
    log = long_log(**dialect)
    usage = {"input": 30_000, "output": 10, "cacheRead": 0, "cacheWrite": 0}
    log.message("assistant", "Everything is handled.", **BY, usage=usage)
    return log


@pytest.mark.parametrize(("dialect", "layer"), LAYERS)
def test_after_an_undo_the_bills_of_before_the_fold_count_again(path, dialect, layer):
    session = opened(billed_log(**DIALECTS[dialect]), path)
    before = session.context.size()
    assert before.basis == "billed + estimate"
    fold(session, layer=layer)
    assert session.context.size().basis == "estimate"
    session.undo()
    assert session.context.size() == before


@pytest.mark.parametrize("version", [1, 3])
def test_after_an_undo_the_bills_of_the_folded_context_do_not_count(path, version):
    session = opened(billed_log(version=version), path)
    asks, reply = Message("user", (Text("go on"),)), Message("assistant", (Text("done"),), Usage(9_000, 5))
    before = session.context.size().tokens
    fold(session)
    session.append(asks)
    session.append(reply)
    assert session.context.size().tokens == pytest.approx(9_000, abs=20)
    session.undo()
    assert session.context.size().basis == "billed + estimate"
    assert session.context.size().tokens == pytest.approx(before, abs=20)
    session.append(asks)
    session.append(replace(reply, usage=Usage(31_000, 5)))
    assert session.context.size().tokens == pytest.approx(31_000, abs=20)


@pytest.mark.parametrize("version", [1, 3])
def test_after_the_undo_of_a_second_fold_only_the_bills_behind_the_first_count(path, version):
    session = opened(billed_log(version=version), path)
    fold(session)
    for n in range(8):
        session.append(Message("user", (Text(f"go on with {n}: {'word ' * 2_000}"),)))
        session.append(Message("assistant", (Text("done"),), Usage(9_000 + n * 2_000, 5)))
    before = session.context.size()
    fold(session)
    session.undo()
    assert session.context.size() == before
    session.undo()
    assert session.context.size().tokens > 40_000


def test_edits_and_settings_that_came_after_a_fold_stay_when_it_is_undone(path):
    log = long_log(system=True)
    session = opened(log, path)
    kept = fold(session)[1].entries[-1].id
    grown = Log()
    grown.lines = [path.read_bytes()[:-1]]
    grown.leaf = json.loads(path.read_bytes().splitlines()[-1])["id"]
    grown.add("model_change", id="m1", provider="p", modelId="other")
    later = grown.add("message", id="m2", message={"role": "user", "content": "later"})
    grown.edit(kept, {"content": "changed"})
    grown.lines[-1]["id"] = grown.leaf = "m3"
    grown.edit(later, {"content": "changed too"})
    grown.lines[-1]["id"] = grown.leaf = "m4"
    session = opened(grown, path)
    assert texts(session)[-2:] == ["changed", "changed too"]
    session.undo()
    assert texts(session)[-2:] == ["changed", "changed too"]
    assert session.view().messages[1].text.startswith("Please fix the handler 0")
    assert session.model == "other"
    assert context(session) == pi_context(path.read_bytes())


@pytest.mark.parametrize(("dialect", "layers"), [
    ("v1", ("summarize", "summarize")), ("v3", ("summarize", "summarize")), ("edits", ("summarize", "summarize")),
    ("v3", ("prune", "summarize")), ("edits", ("prune", "summarize")),
    ("v3", ("summarize", "prune")), ("edits", ("summarize", "prune")),
])  # fmt: skip
def test_two_folds_are_undone_one_after_the_other(path, dialect, layers):
    session = opened(long_log(**DIALECTS[dialect]), path)
    contexts, made = [context(session)], []
    for n, layer in enumerate(layers):
        _, after, done = fold(session, layer=layer)
        assert done
        check_read_back(session, after, path)
        made.append(done.id)
        contexts.append(context(session))
        if n == 0:
            for turn in range(20, 40):
                for role, parts in (
                    ("user", (Text(f"turn {turn}: " + "and more of it " * 40),)),
                    ("assistant", (ToolCall(f"x{turn}", "read"),)),
                    ("tool", (ToolResult(f"x{turn}", (Text(f"line of {turn}\n" * 300),), False, "read"),)),
                ):
                    session.append(Message(role, parts))
                    contexts = [[*c, context(session)[-1]] for c in contexts]
    for fold_id, expected in zip(reversed(made), reversed(contexts[:-1])):
        assert session.undo() == fold_id
        assert words(context(session)) == words(expected)
        assert words(context(Session(path, strict=True))) == words(expected)
    assert session.undo() is None
    assert [(f.id, f.undone) for f in session.folds()] == [(id, True) for id in made]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_folding_and_undoing_may_alternate(path, dialect):
    session = opened(long_log(**DIALECTS[dialect]), path)
    before = context(session)
    for n in range(1, 4):
        assert fold(session)[2]
        assert context(session) != before
        session.undo()
        assert context(session) == before
        assert [f.undone for f in session.folds()] == [True] * n


def test_a_second_fold_keeps_the_facts_of_the_first(path):
    session = opened(long_log(), path)
    fold(session)
    first = session.view().messages[0].summary
    assert first
    assert first.facts["round"] == 1
    for n in range(40):
        session.append(Message("user", (Text(f"turn {n}: " + "and more of it " * 60),)))
    fold(session)
    second = session.view().messages[0].summary
    assert second
    assert second.facts["round"] == 2
    session.undo()
    assert session.view().messages[0].summary == first


@pytest.mark.parametrize("version", [1, 3])
def test_pis_own_compaction_can_be_undone(path, version):
    log = Log(OLD if version == 1 else HEADER)
    log.user("one")
    log.reply("first")
    kept = log.user("two")
    place = {"firstKeptEntryIndex": 3} if version == 1 else {"firstKeptEntryId": kept}
    log.add("compaction", summary="SUM", tokensBefore=9, details={"readFiles": [], "modifiedFiles": []}, **place)
    log.user("three")
    session = opened(log, path)
    (past,) = session.folds()
    assert (past.summary, past.ours, past.undone, past.receipt.tokens_before) == ("SUM", False, False, 9)
    assert session.undo() == past.id
    assert texts(session) == ["one", "first", "two", "three"]
    assert [(f.id, f.undone) for f in session.folds()] == [(past.id, True)]
    assert session.undo() is None


def test_folds_of_other_branches_are_history_too(path):
    log, made = four()
    log.compaction(made[2], "SUM1")
    log.leaf = made[3]
    log.user("three")
    log.compaction(made[3], "SUM2")
    session = opened(log, path)
    assert [f.summary for f in session.folds()] == ["SUM1", "SUM2"]


def test_an_empty_fold_writes_nothing(path):
    session = opened(long_log(1), path)
    was = path.read_bytes()
    view = session.view()
    session.fold(view, view, Fold(), session.meter())
    assert path.read_bytes() == was


def test_a_fold_of_an_older_view_is_refused(path):
    session = opened(long_log(), path)
    made = folded(session, layer="prune")
    session.append(Message("user", (Text("in between"),)))
    was = path.read_bytes()
    with pytest.raises(SessionError, match="not of the context as it stands"):
        session.fold(*made)
    assert path.read_bytes() == was


@pytest.mark.parametrize("dialect", ["v2", "v3", "edits"])
@pytest.mark.parametrize("layer", ["prune", "summarize"])
def test_all_that_was_folded_can_be_recalled(path, dialect, layer):
    session = opened(long_log(**DIALECTS[dialect]), path)
    was = {e.id: e.message for e in session.view().entries}
    fold(session, layer=layer)
    for again in (session, Session(path)):
        assert {id: again.recall(id) for id in was} == was
        assert again.recall("nowhere") is None
    if layer == "prune":
        stubs = [text_of(r) for m in session.view().messages for r in m.results]
        recalled = [
            session.recall(stub.rpartition("recall ")[2].rstrip("]")) for stub in stubs if stub.startswith("[pruned")
        ]
        assert len(recalled) >= 10
        assert all(m in was.values() for m in recalled)


def test_what_stands_on_another_branch_can_be_recalled(path):
    log, made = four()
    log.leaf = made[0]
    log.user("three")
    message = opened(log, path).recall(made[3])
    assert message is not None
    assert message.text == "second"


def test_unknown_records_and_keys_are_kept_when_a_message_is_copied(path):
    log = long_log(3)
    log.message("user", [{"type": "text", "text": "odd", "x": {"y": [1.5, None]}}], custom={"z": 1})
    log.lines[-1]["extra"] = True
    session = opened(log, path)
    fold(session, layer="prune")
    copy = json.loads(path.read_bytes().splitlines()[-1])
    assert copy["message"] == log.lines[-1]["message"]
    assert copy["extra"] is True


def test_what_a_copy_does_not_change_it_keeps_as_it_stood(path):
    """Arguments that are no JSON object are odd, and no business of a fold."""
    log = long_log(3)
    log.message("assistant", [{"type": "toolCall", "id": "c", "name": "t", "arguments": '{"broken'}])
    fold(opened_as_is(log, path), layer="prune")
    assert json.loads(path.read_bytes().splitlines()[-1])["message"] == log.lines[-1]["message"]


def opened_as_is(log: Log, path: Path) -> Session:
    return Session(log.write(path))


# -- any fold ----------------------------------------------------------------------------------------------------

PROPOSALS = st.lists(
    st.tuples(st.sampled_from(["stub", "drop", "sum", "lead"]), st.integers(0, 30), st.integers(1, 6)), max_size=4
)


def any_edits(view: View, proposals: list[tuple[str, int, int]]) -> tuple[View, list[Edit]]:
    """What is safe of the proposals: messages shortened or dropped, and spans that give way to a summary."""
    made: list[Edit] = []
    for n, (kind, start, length) in enumerate(proposals):
        start = 0 if kind == "lead" else start % max(1, len(view.entries))
        while kind == "lead" and start < len(view.entries) and view.entries[start].pinned:
            start += 1
        span = view.entries[start : start + (1 if kind == "stub" else length)]
        if not span:
            continue
        drop = tuple(entry.id for entry in span)
        into: tuple[Message, ...] = ()
        if kind == "stub":
            message = span[0].message
            parts = tuple(
                replace(p, parts=(Text(f"stub {n}"),)) if isinstance(p, ToolResult) else p
                for p in message.parts
                if isinstance(p, ToolCall | ToolResult)
            )
            into = (replace(message, parts=parts or (Text(f"stub {n}"),)),)
        elif kind != "drop":
            into = (Message("user", (Summary(f"summary {n}", {"n": n}),)),)
        edit = Edit(drop, into, "test")
        try:
            view = view.apply(edit)
        except UnsafeEdit:
            continue
        made.append(edit)
    return view, made


@given(st.lists(STEPS, min_size=1, max_size=20), st.lists(PROPOSALS, min_size=1, max_size=3), st.booleans())
@example([("edit_string", 0, -2), ("user", 0, 0), ("user", 0, 0)], [[("sum", 0, 1)]], False)
def test_any_fold_of_any_tree_is_read_back_and_can_be_undone(steps, folds, grows):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.jsonl"
        session = opened(tree(steps), path)
        contexts = []
        for n, proposals in enumerate(folds):
            before = session.view()
            after, edits = any_edits(before, proposals)
            if not edits or words(shown_all(after.messages)) == words(shown_all(before.messages)):
                continue
            contexts.append(context(session))
            made = Fold(f"f{n:07x}", "manual", "summarize", tuple(edits), None, Receipt(100, 50))
            session.fold(before, after, made, session.meter())
            check_read_back(session, after, path)
            if grows:
                session.append(Message("user", (Text(f"later {n}"),)))
                contexts = [[*c, said(f"later {n}")] for c in contexts]
        for expected in reversed(contexts):
            assert session.undo() is not None
            assert words(context(session)) == words(expected)
            assert words(pi_context(path.read_bytes())) == words(expected)


# -- pi's own lists of files -------------------------------------------------------------------------------------


def test_a_fold_lists_the_files_as_pi_lists_them_and_as_a_new_session_does(path, tmp_path):
    log = Log()
    for n in range(12):
        log.step(n)
        log.reply("", f"w{n}", path=f"src/made_{n}.py", content="x = 1\n")
        log.lines[-1]["message"]["content"][0]["name"] = "write"
        log.message("toolResult", [{"type": "text", "text": "ok"}], toolCallId=f"w{n}", toolName="write", isError=False)
    session = Session(log.write(path))
    _, after, _ = fold(session)
    details = details_in(path)
    assert "src/module_0.py" in details["readFiles"]
    assert "src/made_0.py" in details["modifiedFiles"]
    assert set(details["readFiles"]).isdisjoint(details["modifiedFiles"])
    written = write_new(after.messages, "pi", str(tmp_path / "new.jsonl"))
    beside = details_in(Path(written.path))
    assert {key: beside[key] for key in ("readFiles", "modifiedFiles")} == {
        key: details[key] for key in ("readFiles", "modifiedFiles")
    }


def details_in(path):
    """What stands beside the newest summary of a log."""
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    return next(record["details"] for record in reversed(records) if record["type"] == "compaction")
