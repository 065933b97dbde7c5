"""Every agent's session files: small ones with known answers, damaged ones, and real ones where they are at hand."""

from __future__ import annotations

import copy
import csv
import json
import random
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline import Message, Session, SessionError, Summary, Usage, open_session
from foldline._desk.desk import Desk
from foldline._sessions.opening import read_all, recognize
from foldline._sessions.registry import format_named, formats, names, stores
from foldline.extend import Media, Opaque, Reading, Text, Thinking, ToolCall, ToolResult, Transcript, text_of, weigh

SAMPLES = Path(__file__).parent / "transcripts"

READ = [known.name for known in formats() if known.read or known.read_all]
"""The formats whose files are read whole."""
CORPUS = Path(__file__).parents[2] / "shared" / "corpus"


def reading(name: str, **options: object) -> Reading:
    """The reading of a sample."""
    session = open_session(SAMPLES / name, **options)  # type: ignore[arg-type]
    assert isinstance(session, Transcript)
    return session.reading


def shown(message: Message) -> str:
    """A message in one line: its role, and what its parts say."""
    said = []
    for part in message.parts:
        match part:
            case Text(text):
                said.append(text)
            case Summary(text):
                said.append(f"<{text}>")
            case Thinking(text, _, data):
                said.append(f"({data or text})")
            case ToolCall(id, name):
                said.append(f"{name}:{id}")
            case ToolResult(id) as result:
                said.append(f"{'!' if result.error else '='}{id} {text_of(result)}")
            case Media(kind):
                said.append(f"[{kind}]")
            case Opaque():
                said.append("[…]")
    return f"{message.role}: {' | '.join(said)}"


def lines(entries: tuple[tuple[str, Message], ...]) -> list[str]:
    """Entries as `shown`."""
    return [shown(message) for _, message in entries]


def bills(session: Reading) -> dict[str, Usage]:
    """What the live replies were billed, by their ids."""
    return {id: message.usage for id, message in session.entries if message.usage}


# -- one format after the other ----------------------------------------------------------------------------------


def test_claude_code_reads_what_stands_behind_the_boundary() -> None:
    session = reading("claude-code.jsonl")
    assert lines(session.entries) == [
        "user: <This session is being continued. Summary: the parser prints.>",
        "user: Base directory for this skill: /skills/fast",
        "assistant: I go on.",
    ]
    assert bills(session) == {"a5": Usage(5, 0, 0, 400)}, "up to 2.1.40 the output is a placeholder"
    assert (session.since, session.cwd, session.model, session.title) == (
        0,
        "/srv/app",
        "claude-opus-4-5",
        "Speed up the parser",
    )
    assert [str(fault) for fault in session.faults] == ["line 17: not valid JSON"]


def test_claude_code_joins_the_rows_of_a_response_and_keeps_results_side_by_side() -> None:
    session = reading("claude-code.jsonl")
    assert lines(session.folded) == [
        "user: Make the parser faster.",
        "assistant: (Two files matter.) | Read:t1 | Read:t2",
        "user: =t1 print(1)",
        "user: =t2 print(2)",
        "assistant: A branch that was rewound.",
        "assistant: Both files print.",
    ]
    reply = session.folded[1][1]
    assert reply.usage == Usage(10, 0, 1000, 300)


def _hooked(*names: str) -> list[dict[str, Any]]:
    """Rows of a turn with hooks as 2.1.78 wrote them: the next prompt hangs on their progress, and that on the turn's first call."""
    rows: list[dict[str, Any]] = []
    before: str | None = None
    for n, name in enumerate(names):
        call = {"type": "tool_use", "id": f"c{n}", "name": "Bash", "input": {"command": "ls"}}
        result = {"type": "tool_result", "tool_use_id": f"c{n}", "content": f"files {n}"}
        made: list[tuple[str, Any]] = [
            ("user", name), ("assistant", [call]), ("user", [result]), ("assistant", [{"type": "text", "text": f"Done {n}."}]),
        ]  # fmt: skip
        for i, (kind, content) in enumerate(made):
            message = {"role": kind, "content": content, **({"id": f"m{n}-{i}"} if kind == "assistant" else {})}
            rows.append(
                {"type": kind, "uuid": f"{n}-{i}", "parentUuid": before, "isSidechain": False, "message": message}
            )
            before = f"{n}-{i}"
        before = f"{n}-1"
        for i in range(3):
            rows.append(
                {"type": "progress", "uuid": f"{n}-p{i}", "parentUuid": before, "data": {"type": "hook_progress"}}
            )
            before = f"{n}-p{i}"
        rows.append({"type": "system", "subtype": "stop_hook_summary", "uuid": f"{n}-s", "parentUuid": before})
        before = f"{n}-s"
    return rows


def _read_rows(rows: list[dict[str, Any]], path: Path) -> list[str]:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return lines(reading(str(path)).entries)


def test_claude_codes_prompts_behind_hooks_follow_on_all_of_the_turn_before(tmp_path: Path) -> None:
    rows = _hooked("one", "two", "three")
    found = "\n".join(_read_rows(rows, tmp_path / "s.jsonl"))
    assert [found.count(f"Done {n}.") for n in range(3)] == [1, 1, 1]
    assert (
        found.index("one") < found.index("Done 0.") < found.index("two") < found.index("Done 1.") < found.index("three")
    )


def test_claude_codes_prompt_that_was_edited_leaves_out_what_came_of_the_first(tmp_path: Path) -> None:
    rows = _hooked("one", "two", "three")
    edited = {"role": "user", "content": "two, but otherwise"}
    rows.append({"type": "user", "uuid": "e", "parentUuid": "0-s", "isSidechain": False, "message": edited})
    found = "\n".join(_read_rows(rows, tmp_path / "s.jsonl"))
    assert "Done 0." in found
    assert "otherwise" in found
    assert not any(left in found for left in ("Done 1.", "three", "Done 2."))


def test_claude_code_folds() -> None:
    (fold,) = reading("claude-code.jsonl").folds
    assert (fold.id, fold.trigger, fold.layer, fold.receipt.tokens_before) == ("b1", "threshold", "summarize", 1700)
    assert fold.summary.endswith("the parser prints.")
    assert not fold.undone
    assert not fold.ours


def test_claude_code_puts_what_was_kept_behind_the_summary() -> None:
    session = reading("claude-code-kept.jsonl")
    assert lines(session.entries) == [
        "system: You are an agent.",
        "user: <Summary: one file.>",
        "assistant: Bash:t2",
        "user: =t2 [Old tool result content cleared]",
        "assistant: Bash:t3",
        "user: =t3 1 2 9 README.md",
        "user: And count the words.",
        "assistant: Two words.",
    ]
    assert session.entries[session.since][0] == "a4", "bills made before the clearing say nothing"
    assert [(f.layer, f.trigger, f.receipt.tokens_before, f.receipt.tokens_after) for f in session.folds] == [
        ("summarize", "manual", 160, 60),
        ("prune", "threshold", 90, 70),
    ]
    assert lines(session.folded)[-1] == "user: =t2 # scratch\n<system-reminder>\n900 left\n</system-reminder>"
    assert lines(session.folded)[0] == "user: Look around. | <system-reminder>\nlinux\n</system-reminder>"
    assert Transcript(session).recall("r2") == session.folded[-1][1], "what was cleared can be recalled"


def test_codex_reads_what_replaced_the_history() -> None:
    session = reading("codex.jsonl")
    assert lines(session.entries) == [
        "system: You are Codex.",
        "system: Sandbox: none.",
        "user: Add a licence.",
        "assistant: […]",
        "user: Go on.",
        "assistant: Going.",
    ]
    assert bills(session) == {"23": Usage(300, 5, 0, 0)}
    assert (session.since, session.model, session.cwd, session.id) == (4, "gpt-5.5", "/srv/app", "c-1")
    (fold,) = session.folds
    assert (fold.receipt.tokens_before, fold.summary) == (1210, "")


def test_codex_bills_each_response_once_and_drops_what_was_rolled_back() -> None:
    session = reading("codex.jsonl")
    assert lines(session.folded) == [
        "system: Sandbox: none.",
        "user: <environment_context>linux</environment_context>",
        "user: Add a licence.",
        "assistant: (gAAAA) | exec_command:f1 | apply_patch:f2",
        "tool: =f1 README.md",
        "tool: =f2 Done",
        "assistant: Added.",
        "user: Now sing.",
        "assistant: La.",
    ]
    billed = [message.usage for _, message in session.folded if message.usage]
    assert billed == [Usage(400, 50, 600, 0), Usage(200, 10, 1000, 0)]


def test_codex_without_a_replacement_keeps_the_user_and_the_summary() -> None:
    session = reading("codex-local.jsonl")
    assert lines(session.entries) == [
        "user: Read it.",
        "user: <Another language model started to solve this problem and produced a summary: it was read.>",
    ]
    assert session.since == 2
    assert session.folds[0].receipt.tokens_before == 505, "the bill of the compaction itself is not the context's"
    assert lines(session.folded) == ["assistant: exec_command:f1", "tool: !f1 denied", "assistant: It was read."]


def test_gemini_chat() -> None:
    session = reading("gemini.json")
    assert lines(session.entries) == [
        "user: write hello",
        "assistant: write_file:w1 | write_file:w2",
        "user: =w1 written | !w2 denied",
        "assistant: Done.",
    ]
    assert bills(session) == {"3": Usage(8000, 63, 4000, 0), "4": Usage(12100, 5, 0, 0)}
    assert session.model == "gemini-2.5-flash"


def test_gemini_log_of_changes() -> None:
    session = reading("gemini.jsonl")
    assert lines(session.entries) == [
        "user: <session_context>linux</session_context>",
        "user: <<state_snapshot>one file</state_snapshot>>",
        "assistant: Got it. Thanks for the additional context!",
        "assistant: One file.",
        "user: which?",
        "assistant: a.txt",
    ]
    assert session.since == 4
    assert (session.folds[0].receipt.tokens_before, session.folds[0].id) == (124, "z")
    assert lines(session.folded) == [
        "user: list",
        "assistant: I look. | shell:k1",
        "user: =k1 a.txt",
        "user: a mistake",
    ]


def test_qwen_chat() -> None:
    session = reading("qwen.jsonl")
    assert lines(session.entries) == [
        "user: <<state_snapshot>a.txt</state_snapshot>>",
        "assistant: Got it.",
        "assistant: One file.",
    ]
    assert (session.since, session.cwd, session.model) == (2, "/srv/app", "qwen3-coder")
    (fold,) = session.folds
    assert (fold.trigger, fold.receipt.tokens_before, fold.receipt.tokens_after) == ("threshold", 140, 30)
    assert session.folded[1][1].usage == Usage(60, 5, 40, 0)


@pytest.mark.parametrize(
    ("said", "trigger"),
    [
        ("manual", "manual"),
        ("token_limit", "threshold"),
        ("payload_overflow", "overflow"),
        ("image_overflow", "overflow"),
    ],
)
def test_why_qwen_code_compressed_is_told_in_our_words(tmp_path: Path, said: str, trigger: str) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text((SAMPLES / "qwen.jsonl").read_text().replace("token_limit", said))
    assert [fold.trigger for fold in open_session(path).folds()] == [trigger]


def test_copilot_events() -> None:
    session = reading("copilot.jsonl")
    assert lines(session.entries) == [
        "system: You are an assistant.",
        "user: which files are there?",
        "user: <<overview>\nOne file.\n</overview>>",
        "user: count its words | <tagged_files>\n* /srv/app/a.txt (3 lines)\n</tagged_files> | [image]",
        "assistant: I count. | task:k3",
        "tool: =k3 Nine.",
        'user: <system_notification>\nAgent "explore" has finished.\n</system_notification>',
        "assistant: It has nine words.",
    ], "what a sub-agent said is its own, and what was said while it compacted stands behind the summary"
    assert (session.id, session.cwd, session.branch) == ("c-1", "/srv/app", "main")
    assert (session.model, session.window, session.since) == ("claude-sonnet-4.5", 128_000, 4)
    assert session.overhead == 2_100, "the tools as they were counted last; the prompt stands among the messages"
    (fold,) = session.folds
    assert (fold.trigger, fold.receipt.tokens_before, fold.receipt.tokens_after) == ("threshold", 3_500, 3_090)
    assert lines(session.folded) == [
        "assistant: (Look first.) | bash:k1 | view:k2",
        "tool: =k1 a.txt\n<shellId: 0 completed with exit code 0>",
        "tool: !k2 Path does not exist",
    ]


def copilot(path: Path, *events: tuple[str, dict[str, Any]]) -> Reading:
    """A session of Copilot with these events, each by its type and its data."""
    rows = (
        {"type": type, "data": data, "id": f"e{number}", "timestamp": "2026-05-01T10:00:00Z", "parentId": None}
        for number, (type, data) in enumerate((("session.start", {"sessionId": "c"}), *events))
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    session = open_session(path)
    assert isinstance(session, Transcript)
    return session.reading


def asks(*ids: str) -> tuple[str, dict[str, Any]]:
    """A reply of Copilot that calls a tool by each of these ids."""
    requests = [{"toolCallId": id, "name": "bash", "arguments": {}, "type": "function"} for id in ids]
    return "assistant.message", {"messageId": "m", "content": "", "reasoningText": "hm", "toolRequests": requests}


def answers(id: str, text: str) -> tuple[str, dict[str, Any]]:
    """What a tool answered in Copilot."""
    return "tool.execution_complete", {"toolCallId": id, "success": True, "result": {"content": text}}


@pytest.mark.parametrize("stop", ["abort", "session.resume"])
def test_calls_that_were_open_when_copilot_stopped_are_answered_and_no_reasoning_is_sent(
    tmp_path: Path, stop: str
) -> None:
    session = copilot(tmp_path / "c", asks("k1", "k2"), answers("k1", "a"), (stop, {}), answers("k2", "too late"))
    assert lines(session.entries) == [
        "assistant: bash:k1 | bash:k2",
        "tool: =k1 a",
        "tool: !k2 The execution of this tool, or a previous tool was interrupted.",
    ]


def test_a_reply_whose_calls_were_answered_while_copilot_compacted_stands_behind_the_summary(tmp_path: Path) -> None:
    begun, done = (
        ("session.compaction_start", {}),
        ("session.compaction_complete", {"success": True, "summaryContent": "S"}),
    )
    session = copilot(tmp_path / "c", answers("k0", "a"), asks("k1"), begun, answers("k1", "b"), done)
    assert lines(session.entries) == ["user: <S>", "assistant: (hm) | bash:k1", "tool: =k1 b"]
    session = copilot(
        tmp_path / "c", asks("k1"), answers("k1", "a"), done, asks("k1"), answers("k1", "b"), answers("k1", "c")
    )
    assert lines(session.entries[1:]) == ["assistant: (hm) | bash:k1", "tool: =k1 b"], "ids are given again behind it"
    failed = ("session.compaction_complete", {"success": False, "error": "rate limited"})
    session = copilot(tmp_path / "c", asks("k1"), begun, answers("k1", "b"), failed)
    assert (len(session.entries), session.folds) == (2, ()), "a compaction that failed folded nothing"


def test_of_many_messages_copilot_quotes_the_first_and_the_newest_beside_its_summary(tmp_path: Path) -> None:
    said = [("user.message", {"content": f"message {number}"}) for number in range(30)]
    done = ("session.compaction_complete", {"success": True, "summaryContent": "S"})
    session = copilot(tmp_path / "c", *said, done)
    kept = [*range(4), *range(14, 30)]
    assert lines(session.entries) == [*(f"user: message {number}" for number in kept), "user: <S>"]
    assert lines(session.folded) == [f"user: message {number}" for number in range(4, 14)]
    session = copilot(tmp_path / "c", ("user.message", {"content": "x" * 50_000}), done)
    assert len(session.entries[0][1].text) <= 30_000
    assert session.entries[0][1].text.endswith("...<truncated>...")


def test_a_call_whose_reply_cannot_be_read_is_told_by_its_start(tmp_path: Path) -> None:
    started = ("tool.execution_start", {"toolCallId": "k1", "toolName": "bash", "arguments": {"command": "ls"}})
    copilot(tmp_path / "c", ("user.message", {"content": "look"}), asks("k1"), started, answers("k1", "a.txt"))
    rows = (tmp_path / "c").read_text().splitlines(keepends=True)
    rows[2] = rows[2][:40] + "\n"
    (tmp_path / "c").write_text("".join(rows) + "\0" * 100)
    session = open_session(tmp_path / "c")
    assert lines(tuple(session.messages())) == ["user: look", "assistant: bash:k1", "tool: =k1 a.txt"]  # type: ignore[arg-type]
    assert [str(fault) for fault in session.faults] == ["line 3: not valid JSON", "line 6: not valid JSON"]
    with pytest.raises(SessionError, match="not valid JSON"):
        open_session(tmp_path / "c", strict=True)


def test_what_copilot_prints_as_it_goes_is_read_with_its_bills_and_without_its_pieces(tmp_path: Path) -> None:
    bill = {"model": "m", "inputTokens": 100, "outputTokens": 9, "cacheReadTokens": 40, "apiCallId": "r1"}
    rows = [
        {"type": "session.tools_updated", "data": {"model": "m"}, "ephemeral": True, "id": "1"},
        {"type": "user.message", "data": {"content": "hi"}, "id": "2"},
        {"type": "assistant.message_delta", "data": {"deltaContent": "hel"}, "ephemeral": True, "id": "3"},
        {"type": "assistant.message", "data": {"content": "let me see", "apiCallId": "r1"}, "id": "4"},
        {"type": "assistant.message", "data": {"content": "hello", "apiCallId": "r1"}, "id": "5"},
        {"type": "assistant.usage", "data": bill, "ephemeral": True, "id": "6"},
        {"type": "assistant.usage", "data": {**bill, "apiCallId": "r2"}, "ephemeral": True, "id": "7"},
        {"type": "result", "sessionId": "c-2", "exitCode": 0},
    ]
    (tmp_path / "out").write_text("".join(json.dumps(row) + "\n" for row in rows))
    session = open_session(tmp_path / "out")
    assert isinstance(session, Transcript)
    assert lines(session.reading.entries) == ["user: hi", "assistant: let me see | hello"]
    assert bills(session.reading) == {"4": Usage(60, 9, 40, 0)}


def test_what_newer_logs_of_copilot_say_of_the_bill_is_the_next_replys(tmp_path: Path) -> None:
    def billed(id: str) -> tuple[str, dict[str, Any]]:
        usage = {
            "inputTokens": 100,
            "outputTokens": 9,
            "cacheReadTokens": 40,
            "apiCallId": id,
            "maxPromptTokens": 22_000,
        }
        return "session.usage_record", {"usage": usage}

    def says(text: str, id: str) -> tuple[str, dict[str, Any]]:
        return "assistant.message", {"content": text, "apiCallId": id}

    events = (billed("r1"), says("one", "r1"), billed("r2"), says("of another request", "r3"), says("two", "r2"))
    session = copilot(tmp_path / "c", *events)
    assert bills(session) == {"e2": Usage(60, 9, 40, 0), "e5": Usage(60, 9, 40, 0)}
    assert session.window == 22_000


OPENCODE = [
    "user: <Nine words were counted.>",
    "assistant: (first look) | bash:k1 | read:k2",
    "tool: =k1 [Old tool result content cleared]",
    "tool: !k2 no such file",
    "user: and now?",
    "assistant: Done.",
]


def check_opencode(session: Reading) -> None:
    assert lines(session.entries) == OPENCODE
    assert session.since == 4
    assert bills(session) == {"msg_2": Usage(100, 15, 900, 0), "msg_6": Usage(50, 3, 0, 20)}
    assert (session.id, session.cwd, session.title, session.model) == ("ses_1", "/srv/app", "Count", "gpt-5.6")
    (fold,) = session.folds
    assert (fold.trigger, fold.receipt.tokens_before) == ("threshold", 1015)
    assert fold.timestamp == "2026-01-01T00:00:00.000Z"


def test_opencode_export() -> None:
    check_opencode(reading("opencode.json"))


def test_opencode_database(tmp_path: Path) -> None:
    document = json.loads((SAMPLES / "opencode.json").read_text())
    connection = sqlite3.connect(tmp_path / "opencode.db")
    connection.executescript(
        "create table session (id text, directory text, title text, time_updated integer, revert text);"
        "create table message (id text, session_id text, time_created integer, data text);"
        "create table part (id text, message_id text, session_id text, data text);"
        "insert into session values ('ses_0', '/', 'older', 1, null), ('ses_1', '/srv/app', 'Count', 2, null);"
    )
    for at, message in enumerate(document["messages"]):
        id = message["info"].pop("id")
        connection.execute("insert into message values (?, 'ses_1', ?, ?)", (id, at, json.dumps(message["info"])))
        for part in message["parts"]:
            row = (part.pop("id"), id, json.dumps(part))
            connection.execute("insert into part values (?, ?, 'ses_1', ?)", row)
    connection.commit()
    connection.close()
    session = open_session(tmp_path / "opencode.db")
    assert isinstance(session, Transcript)
    check_opencode(session.reading)
    assert [each.id for each in read_all(tmp_path / "opencode.db")] == ["ses_0", "ses_1"]
    assert open_session(f"{tmp_path}/opencode.db#1").id == "ses_0"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["opencode.db"], "nothing is put beside it"


def test_opencode_reverts(tmp_path: Path) -> None:
    document = json.loads((SAMPLES / "opencode.json").read_text())
    document["info"]["revert"] = {"messageID": "msg_3"}
    (tmp_path / "export.json").write_text(json.dumps(document))
    session = open_session(tmp_path / "export.json")
    assert isinstance(session, Transcript)
    assert lines(session.reading.entries) == ["user: count", *OPENCODE[1:4]]
    assert session.compactions == 0
    assert session.reading.folds[0].undone


def window_of(folder: Path, model: str, *events: tuple[str, int]) -> int:
    """The window of a session of opencode in which so many tokens were billed, each bill followed by what an event says."""
    messages: list[dict[str, object]] = []

    def add(role: str, part: dict[str, object], **info: object) -> None:
        id = f"msg_{len(messages)}"
        messages.append(
            {"info": {"id": id, "role": role, "sessionID": "s", **info}, "parts": [{"id": "p" + id, **part}]}
        )

    for event, billed in events:
        used = {"input": billed, "output": 100, "reasoning": 0, "cache": {"read": 0, "write": 0}}
        add("user", {"type": "text", "text": "count"})
        add("assistant", {"type": "text", "text": "Nine."}, modelID=model, tokens=used)
        if event != "goes on":
            add("user", {"type": "compaction", "auto": event != "is asked", "overflow": event == "is refused"})
            add("assistant", {"type": "text", "text": "Nine were counted."}, summary=True, modelID="another")
    path = folder / "export.json"
    path.write_text(json.dumps({"info": {"id": "s", "directory": "/"}, "messages": messages}))
    return Desk(open_session(path)).budget.window


def test_where_opencode_compacts_by_itself_tells_the_window_that_no_table_knows(tmp_path: Path) -> None:
    """It does once less is free than the reply may take, 32,000 at most."""
    table = window_of(tmp_path, "gpt-5.6-sol", ("goes on", 351_000))
    assert table > 500_000
    assert window_of(tmp_path, "gpt-5.6-sol", ("is asked", 351_000)) == table, "the user wanted it there"
    assert window_of(tmp_path, "gpt-5.6-sol", ("is refused", 351_000)) == table
    assert 351_000 < window_of(tmp_path, "gpt-5.6-sol", ("compacts", 351_000)) < 383_200
    assert 351_000 < window_of(tmp_path, "gpt-5.6-sol", ("compacts", 351_000), ("goes on", 40_000)) < 383_200
    assert 351_000 < window_of(tmp_path, "a-model-of-mine", ("compacts", 351_000)) < 383_200
    assert window_of(tmp_path, "gpt-5.6-sol", ("compacts", 1_200)) == table, "no model's window is as small"


def test_the_window_of_the_table_stands_where_opencode_compacts_at_its_end(tmp_path: Path) -> None:
    for billed in (169_000, 181_000, 195_000):
        assert window_of(tmp_path, "claude-sonnet-4-20250514", ("compacts", billed)) == 200_000


def openclaw_store(path: Path, events: list[dict[str, object]]) -> None:
    """A store with one session; its third event is compressed in a way that nothing can unpack."""
    connection = sqlite3.connect(path)
    connection.execute(
        "create table transcript_events (session_id text, seq integer, event_json text, created_at integer,"
        " event_zstd blob, event_utf8_bytes integer, navigation_json text)"
    )
    for seq, event in enumerate(events):
        packed = seq == 3
        row = (
            "s",
            seq,
            None if packed else json.dumps(event),
            1,
            b"\x28\xb5\x2f\xfd?" if packed else None,
            9 if packed else None,
        )
        outline = json.dumps({"model": {**event, "message": {**event["message"], "content": []}}}) if packed else None  # type: ignore[dict-item]
        connection.execute("insert into transcript_events values (?, ?, ?, ?, ?, ?, ?)", (*row, outline))
    connection.commit()
    connection.close()


EVENTS: list[dict[str, object]] = [
    {"type": "session", "version": 4, "id": "s", "cwd": "/srv/app"},
    {"type": "message", "id": "1", "parentId": None, "message": {"role": "user", "content": "list"}},
    {"type": "message", "id": "2", "parentId": "1", "message": {"role": "assistant", "model": "m", "usage": {"input": 9, "output": 1},
     "content": [{"type": "toolCall", "id": "k1", "name": "ls", "arguments": {}}]}},
    {"type": "message", "id": "3", "parentId": "2", "message": {"role": "toolResult", "toolCallId": "k1", "toolName": "ls",
     "content": [{"type": "text", "text": "a.py"}]}},
    {"type": "compaction", "id": "4", "parentId": "3", "summary": "listed", "firstKeptEntryId": "2", "tokensBefore": 20, "timestamp": ""},
    {"type": "message", "id": "5", "parentId": "4", "message": {"role": "user", "content": "go on"}},
]  # fmt: skip


def test_openclaw_store(tmp_path: Path) -> None:
    openclaw_store(tmp_path / "store.sqlite", EVENTS)
    session = open_session(tmp_path / "store.sqlite", format="openclaw")
    assert isinstance(session, Transcript)
    assert lines(session.reading.entries) == ["user: <listed>", "assistant: ls:k1", "tool: =k1 ", "user: go on"]
    assert lines(session.reading.folded) == ["user: list"]
    assert (session.model, session.cwd, session.compactions, session.reading.since) == ("m", "/srv/app", 1, 3)
    assert [fault.line for fault in session.faults] == [4]
    with pytest.raises(SessionError, match="only its outline"):
        open_session(tmp_path / "store.sqlite", strict=True)


def test_cline_history() -> None:
    session = reading("cline.json")
    assert [line.partition(":")[0] for line in lines(session.entries)] == ["user", "assistant", "user"]
    assert bills(session) == {"2": Usage(100, 9, 40, 0)}
    assert (session.cwd, session.model) == ("/srv/app", "claude-sonnet-4-5")


def test_what_cline_answers_in_words_are_the_results_of_its_calls(tmp_path: Path) -> None:
    used = [("c1", "read_file"), ("c2", "write_to_file"), ("c3", "read_file"), ("c4", "ask_followup_question")]
    saved = "The content was successfully saved to b.py."
    texts = [
        "[read_file for 'a.py'] Result:", "x = 1", "[write_to_file for 'b.py'] Result:\n" + saved +
        "\n\nHere is the full, updated content of the file that was saved:\n\n<final_file_content path=\"b.py\">\ny = 2\n</final_file_content>",
        "Tool [read_file] was not executed because a tool has already been used in this message.",
        "[ask_followup_question for 'Which?'] Result:", "<answer>\nthe second\n</answer>",
        "<environment_details>\n# Current Mode\n</environment_details>",
    ]  # fmt: skip
    history: list[dict[str, Any]] = [
        {"role": "user", "content": [{"type": "text", "text": "<task>\nstart\n</task>"}], "ts": 1700000000000},
        {"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": name, "input": {}} for id, name in used], "modelInfo": {"modelId": "m"}},
        {"role": "user", "content": [{"type": "text", "text": text} for text in texts]},
    ]  # fmt: skip
    path = tmp_path / "api_conversation_history.json"
    path.write_text(json.dumps(history), "utf-8")
    answers = open_session(path).context.entries[-1][1]
    assert [(r.call_id, text_of(r), r.error) for r in answers.results] == [
        ("c1", "x = 1", False),
        ("c2", saved, False),
        ("c3", texts[3], True),
    ]
    assert answers.text == "\n".join(texts[4:])


def test_what_roo_code_writes_over_an_answer_stands_with_it(tmp_path: Path) -> None:
    said = [
        "[read_file for 'mast.py'] Result:",
        "def hoist(): ...",
        "<environment_details>\nhere\n</environment_details>",
    ]
    asked = [
        "[switch_mode] Result:",
        "New instructions for task continuation:\n<user_message>\nNow the rope.\n</user_message>",
    ]
    rows = [
        {
            "role": "user",
            "content": [{"type": "text", "text": "<task>\nCount the masts.\n</task>"}],
            "ts": 1700000000000,
        },
        {"role": "assistant", "content": [{"type": "text", "text": "<read_file>\n<path>mast.py</path>\n</read_file>"}]},
        *({"role": "user", "content": [{"type": "text", "text": text} for text in texts]} for texts in (said, asked)),
    ]
    path = tmp_path / "api_conversation_history.json"
    path.write_text(json.dumps(rows))
    *_, answer, wanted = (message for _, message in open_session(path).context.entries)
    assert next(part.text for part in answer.parts if isinstance(part, Text)) == f"{said[0]}\n{said[1]}"
    assert [part.text for part in wanted.parts if isinstance(part, Text)] == asked


def test_roo_condenses_by_tags() -> None:
    session = reading("roo.json")
    assert lines(session.entries) == [
        "user: <Half is fixed.>",
        "user: go on",
        "assistant: an old truncation that was undone",
    ]
    assert lines(session.folded) == ["user: fix it", "assistant: I fixed half."]
    assert [fold.summary for fold in session.folds] == ["Half is fixed."]
    assert session.since == 1


def test_openhands_events() -> None:
    session = reading("openhands.json")
    assert lines(session.entries) == [
        "system: You are OpenHands. | […]",
        "user: run it",
        "user: <ls ran, pwd did not.>",
        "assistant: Done.",
    ]
    assert lines(session.folded) == [
        "assistant: (hm) | Two commands. | terminal:k1 | terminal:k2",
        "tool: =k1 a.py",
        "tool: !k2 timed out",
    ]
    assert session.since == 3


def test_openhands_output_holds_several_conversations() -> None:
    first, last = read_all(SAMPLES / "openhands-output.jsonl")
    assert lines(first.entries) == ["assistant: terminal:k1", "tool: =k1 opened"]
    assert bills(first) == {"e1": Usage(400, 20, 100, 0)}
    assert (first.id, first.model, last.id) == ("i-1", "gpt-4o", "i-2")
    assert reading("openhands-output.jsonl").id == "i-2"
    assert open_session(f"{SAMPLES}/openhands-output.jsonl#1").id == "i-1"
    with pytest.raises(SessionError, match="2 conversations"):
        open_session(f"{SAMPLES}/openhands-output.jsonl#3")


def test_openhands_folder(tmp_path: Path) -> None:
    events = json.loads((SAMPLES / "openhands.json").read_text())
    (tmp_path / "events").mkdir()
    for number, event in enumerate(events):
        (tmp_path / "events" / f"event-{number:05}.json").write_text(json.dumps(event))
    (tmp_path / "events" / "event-99999.json").write_text("{")
    session = open_session(tmp_path)
    assert isinstance(session, Transcript)
    assert session.reading.entries == reading("openhands.json").entries
    assert len(session.faults) == 1


def test_openhands_first_version() -> None:
    session = reading("openhands-v0.json")
    assert lines(session.entries) == [
        "system: You are OpenHands. | […]",
        "user: run it",
        "assistant: I list. | execute_bash:k1",
        "tool: =k1 a.py",
        "assistant: All done.",
    ]
    assert bills(session) == {"2": Usage(500, 30, 200, 0)}
    assert session.model == "claude-sonnet-4"


def test_what_openhands_first_version_knows_of_the_end_of_a_command_is_what_its_agent_reads(tmp_path: Path) -> None:
    events = json.loads((SAMPLES / "openhands-v0.json").read_text())
    events[3]["extras"] = {"metadata": {"exit_code": 1, "working_dir": "/app", "prefix": "", "suffix": "\n[The command completed with exit code 1.]"}}  # fmt: skip
    events[3] |= {"content": "", "message": "Command `ls` executed with exit code 1."}
    (tmp_path / "ends.json").write_text(json.dumps(events))
    session = open_session(tmp_path / "ends.json")
    assert isinstance(session, Transcript)
    assert text_of(next(session.reading.entries[3][1].results)).splitlines() == [
        "",
        "[The command completed with exit code 1.]",
        "[Current working directory: /app]",
        "[Command finished with exit code 1]",
    ]


def test_openhands_first_version_cut_what_it_sent(tmp_path: Path) -> None:
    events = json.loads((SAMPLES / "openhands-v0.json").read_text())
    events[3]["content"] = "x" * 40_000
    (tmp_path / "long.json").write_text(json.dumps(events))
    session = open_session(tmp_path / "long.json")
    assert isinstance(session, Transcript)
    assert 30_000 < len(text_of(next(session.reading.entries[3][1].results))) < 30_100
    assert len(text_of(next(session.reading.folded[0][1].results))) == 40_000


def test_swe_agent_trajectory() -> None:
    session = reading("swe-agent.traj")
    assert lines(session.entries) == [
        "system: You are a programmer.",
        "user: Fix the bug.",
        "assistant: I list. | bash:k1",
        "tool: =k1 a.py",
    ]


def test_mini_swe_agent_trajectory() -> None:
    session = reading("mini.traj.json")
    assert lines(session.entries)[2:] == ["assistant: I look. | bash:k1", "tool: =k1 a.py", "assistant: Fixed."]
    assert bills(session) == {"3": Usage(86, 12, 64, 0), "5": Usage(190, 3, 0, 0)}
    assert (session.agent, session.id, session.cwd, session.model) == (
        "mini-swe-agent",
        "bug-1",
        "/testbed",
        "deepseek-chat",
    )
    assert "extra" not in session.entries[2][1].extra


def test_observations_of_atif_that_name_no_call_answer_the_calls_of_their_step_in_order(tmp_path: Path) -> None:
    calls = [{"tool_call_id": f"bash_{n}", "function_name": "bash", "arguments": {"command": "pwd"}} for n in (1, 2)]
    results = [{"content": "/srv"}, {"content": "/srv"}, {"content": "No tool calls found in the response."}]
    step = {"step_id": 1, "source": "agent", "message": "", "tool_calls": calls, "observation": {"results": results}}
    path = tmp_path / "trajectory.json"
    path.write_text(json.dumps({"schema_version": "ATIF-v1.7", "steps": [step]}), "utf-8")
    _, *answers = [message for _, message in open_session(path).context.entries]
    assert [[result.call_id for result in message.results] for message in answers] == [["bash_1"], ["bash_2"], []]


def test_what_harbor_writes_of_a_call_alone_is_nothing_that_an_agent_said(tmp_path: Path) -> None:
    call = {"tool_call_id": "toolu_1", "function_name": "Read", "arguments": {"file_path": "a.py"}}
    said = ["Executed Read toolu_1", "Executed Read"]
    steps = [{"step_id": n, "source": "agent", "message": each, "tool_calls": [call]} for n, each in enumerate(said)]
    path = tmp_path / "trajectory.json"
    path.write_text(json.dumps({"schema_version": "ATIF-v1.2", "steps": steps}), "utf-8")
    assert lines(open_session(path).context.entries) == [
        "assistant: Read:toolu_1",
        "assistant: Executed Read | Read:toolu_1",
    ]


def test_a_result_that_has_a_step_of_its_own_is_nothing_that_an_agent_said(tmp_path: Path) -> None:
    call = {"tool_call_id": "tool-1", "function_name": "exec", "arguments": {"command": "ls"}}
    steps = [
        {"step_id": 1, "source": "user", "message": "To Oslo."},
        {"step_id": 2, "source": "agent", "message": "I look.", "tool_calls": [call]},
        {
            "step_id": 3,
            "source": "agent",
            "message": "oslo.md",
            "observation": {"results": [{"content": "oslo.md"}]},
            "extra": {"openclaw_role": "toolResult", "tool_call_id": "tool-1"},
        },
    ]
    path = tmp_path / "trajectory.json"
    path.write_text(json.dumps({"schema_version": "ATIF-v1.6", "steps": steps}), "utf-8")
    told = ["user: To Oslo.", "assistant: I look. | exec:tool-1", "tool: =tool-1 oslo.md"]
    assert lines(open_session(path).context.entries) == told


def test_a_thought_that_stands_as_the_message_as_well_is_nothing_that_was_said(tmp_path: Path) -> None:
    steps = [{"step_id": 1, "source": "agent", "message": "To Oslo then.", "reasoning_content": "To Oslo then."}]
    path = tmp_path / "trajectory.json"
    path.write_text(json.dumps({"schema_version": "ATIF-v1.6", "steps": steps}), "utf-8")
    assert lines(open_session(path).context.entries) == ["assistant: (To Oslo then.)"]


def test_what_another_agent_of_a_session_said_is_not_the_agents(tmp_path: Path) -> None:
    steps = [
        {"step_id": 1, "source": "agent", "message": "Hello! I search files.", "extra": {"is_sidechain": True}},
        {"step_id": 2, "source": "user", "message": "To Oslo.", "extra": {"is_sidechain": False}},
        {"step_id": 3, "source": "agent", "message": "Booked."},
    ]
    path = tmp_path / "trajectory.json"
    path.write_text(json.dumps({"schema_version": "ATIF-v1.6", "steps": steps}), "utf-8")
    assert lines(open_session(path).context.entries) == ["user: To Oslo.", "assistant: Booked."]
    path.write_text(json.dumps({"schema_version": "ATIF-v1.6", "steps": steps[:1]}), "utf-8")
    assert lines(open_session(path).context.entries) == ["assistant: Hello! I search files."]


def test_atif_trajectory() -> None:
    session = reading("atif.json")
    assert lines(session.entries) == [
        "system: […]",
        "system: You book.",
        "user: To Oslo.",
        "assistant: (hm) | I search. | search:k1",
        "tool: =k1 one flight",
        "assistant: Booked.",
    ]
    assert bills(session) == {"3": Usage(60, 8, 30, 0)}


def test_aider_history() -> None:
    first, last = read_all(SAMPLES / "aider.md")
    assert lines(first.entries) == ["user: What is in README?", "assistant: A heading and\n\n# one word"]
    assert bills(first) == {"9": Usage(2100, 18, 1000, 0)}
    assert lines(last.entries) == ["user: first line\nsecond line", "assistant: Understood."]
    assert (first.model, last.model) == ("openai/gpt-5.1", "claude-sonnet-4-5")
    assert open_session(SAMPLES / "aider.md").id == "2026-01-01 11:00:00"


def test_messages_that_stand_within_one_of_their_role_are_read(tmp_path: Path) -> None:
    rows = [{"role": role, "message": {"content": [{"type": "text", "text": text}]}} for role, text in (("user", "To Oslo."), ("assistant", "Booked."))]  # fmt: skip
    path = tmp_path / "transcript.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    assert lines(open_session(path).context.entries) == ["user: To Oslo.", "assistant: Booked."]


def test_a_chat_of_gemini_whose_keys_are_sorted_is_known(tmp_path: Path) -> None:
    said = [{"content": [{"text": "To Oslo."}], "id": "a", "timestamp": "2026-03-24T20:13:00Z", "type": "user"}]
    info = {"content": "An update is there.", "id": "i", "timestamp": "2026-03-24T20:12:25Z", "type": "info"}
    chat = {"kind": "main", "lastUpdated": "2026-03-24T20:15:06Z", "messages": [info, *said], "projectHash": "f0", "sessionId": "s1"}  # fmt: skip
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(chat, indent=2), "utf-8")
    session = open_session(path)
    assert (session.agent, session.id) == ("gemini-cli", "s1")
    assert lines(session.context.entries) == ["user: To Oslo."]


def test_what_an_older_qwen_code_answered_in_a_chat_of_geminis_is_read(tmp_path: Path) -> None:
    path = tmp_path / "session-2025-11-05T01-40-98d9c5b4.json"
    path.write_text((SAMPLES / "gemini.json").read_text("utf-8").replace('"type": "gemini"', '"type": "qwen"'), "utf-8")
    session = reading(str(path))
    assert lines(session.entries) == lines(reading("gemini.json").entries)
    assert session.model == "gemini-2.5-flash"


def test_plain_lists_of_messages() -> None:
    session = reading("openai.json")
    assert lines(session.entries) == ["system: Be brief.", "user: hi", "assistant: ls:k1", "tool: =k1 a.py"]
    assert bills(session) == {"3": Usage(20, 4, 0, 0)}
    session = reading("anthropic.json")
    assert lines(session.entries) == ["system: Be brief. | […]", "user: hi", "assistant: ls:k1", "user: =k1 a.py"]
    assert {message.format for _, message in session.entries[1:]} == {"anthropic"}
    first, last = read_all(SAMPLES / "tau.json")
    assert (lines(first.entries), last.id) == (["system: Policy.", "user: hello"], "8")


# -- which format? -----------------------------------------------------------------------------------------------

OF = {
    "claude-code.jsonl": "claude-code",
    "claude-code-kept.jsonl": "claude-code",
    "codex.jsonl": "codex",
    "codex-local.jsonl": "codex",
    "gemini.json": "gemini-cli",
    "gemini.jsonl": "gemini-cli",
    "qwen.jsonl": "qwen-code",
    "copilot.jsonl": "copilot-cli",
    "opencode.json": "opencode",
    "cline.json": "cline",
    "roo.json": "cline",
    "openhands.json": "openhands",
    "openhands-output.jsonl": "openhands",
    "openhands-v0.json": "openhands",
    "swe-agent.traj": "swe-agent",
    "mini.traj.json": "swe-agent",
    "atif.json": "atif",
    "aider.md": "aider",
    "openai.json": "messages",
    "anthropic.json": "messages",
    "tau.json": "messages",
}


@pytest.mark.parametrize("name", OF)
def test_content_tells_the_format_and_not_the_name(name: str, tmp_path: Path) -> None:
    shutil.copy(SAMPLES / name, tmp_path / "anything")
    assert recognize(tmp_path / "anything") == OF[name]
    head = (SAMPLES / name).read_bytes()
    assert format_named(OF[name]).recognizes(head, str(SAMPLES / name))
    (tmp_path / "marked").write_bytes(b"\xef\xbb\xbf" + head)
    assert recognize(tmp_path / "marked") == OF[name]
    assert read_all(tmp_path / "marked")[0].entries == read_all(SAMPLES / name)[0].entries


def test_results_that_hold_another_format_do_not_mislead(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (SAMPLES / "claude-code-kept.jsonl").read_text().splitlines()]
    rows[5]["toolUseResult"] = {"parts": [{"$set": {}}], "kind": "x", "cells": (SAMPLES / "qwen.jsonl").read_text()}
    path = tmp_path / "session"
    path.write_text("\n".join(map(json.dumps, rows)))
    assert recognize(path) == "claude-code"


def test_every_sample_has_its_format() -> None:
    assert {path.name for path in SAMPLES.iterdir()} == OF.keys()
    assert {*OF.values(), "openclaw"} == {*READ}
    assert [format_named(name).name for name in names()] == names()


def test_a_log_of_pi_is_a_session(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    Session.create(path).append(Message("user", (Text("hello"),)))
    assert isinstance(open_session(path), Session)
    assert isinstance(open_session(path, format="openclaw"), Session)
    bare = path.read_bytes().splitlines(keepends=True)[1]
    path.write_bytes(bare)
    assert isinstance(open_session(path), Session), "without a header too"
    with pytest.raises(SessionError, match="opened, not read"):
        read_all(path)


def test_what_is_no_session_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Dear diary.")
    with pytest.raises(SessionError, match=r"known are sessions of pi, openclaw, codex"):
        open_session(path)
    with pytest.raises(SessionError, match="no such format: 'word'; there are pi, "):
        open_session(path, format="word")
    with pytest.raises(SessionError, match="cannot be read"):
        open_session(tmp_path / "absent")
    path.write_bytes(b"")
    for format in (None, *names()):
        with pytest.raises(SessionError):
            open_session(path, format=format)
        with pytest.raises(SessionError):
            open_session(tmp_path, format=format)


def test_stores_follow_the_environment() -> None:
    named = {
        agent: str(folder) for agent, folder, _ in stores({"HOME": "/h", "CODEX_HOME": "/c", "CLAUDE_CONFIG_DIR": "/k"})
    }
    assert named["codex"] == "/c/sessions"
    assert named["claude-code"] == "/k/projects"
    assert named["opencode"] == "/h/.local/share/opencode"
    assert named.keys() <= set(names())


def test_a_transcript_is_not_written() -> None:
    session = open_session(SAMPLES / "gemini.json")
    with pytest.raises(SessionError, match="read, not written"):
        session.undo()


# -- damage ------------------------------------------------------------------------------------------------------


def attempts(path: Path, format: str | None) -> Iterator[Reading]:
    """What can be read of a file, by all ways there are; anything but `SessionError` comes through."""
    for strict in (False, True):
        try:
            yield from read_all(path, format=format, strict=strict)
        except SessionError:
            continue


def check_sane(found: Reading) -> None:
    ids = [id for id, _ in found.entries]
    assert len(set(ids)) == len(ids)
    assert 0 <= found.since <= len(ids)


@pytest.mark.parametrize("name", OF)
def test_cut_short_anywhere(name: str, tmp_path: Path) -> None:
    data = (SAMPLES / name).read_bytes()
    cut = tmp_path / "cut"
    for at in random.Random(name).sample(range(len(data)), min(200, len(data))):
        cut.write_bytes(data[:at])
        for format in (None, OF[name]):
            for found in attempts(cut, format):
                check_sane(found)


@pytest.mark.parametrize("make", ["opencode", "openclaw"])
def test_databases_cut_short_anywhere(make: str, tmp_path: Path) -> None:
    store = tmp_path / "store"
    if make == "openclaw":
        openclaw_store(store, EVENTS)
    else:
        test_opencode_database(tmp_path)
        store = tmp_path / "opencode.db"
    data = store.read_bytes()
    cut = tmp_path / "cut"
    for at in random.Random(make).sample(range(len(data)), 200):
        cut.write_bytes(data[:at])
        for format in (None, make):
            if format != "openclaw" or at >= 16:
                for found in attempts(cut, format):
                    check_sane(found)


ODD = [None, True, -1, 10**30, 1.5, float("nan"), "", "\ud800", [], {}, [None], {"type": 1}, [[[]]]]


@pytest.mark.parametrize("name", [name for name in OF if name != "aider.md"])
def test_values_of_every_wrong_type(name: str, tmp_path: Path) -> None:
    """Each value in a sample in turn gives way to values of other types, or is missing."""
    text = (SAMPLES / name).read_text()
    lined = name.endswith(".jsonl")
    documents = (
        [json.loads(line) for line in text.splitlines() if line.startswith("{")] if lined else [json.loads(text)]
    )
    dice = random.Random(name)
    odd = tmp_path / "odd"
    for _ in range(150):
        changed = json.loads(json.dumps(documents))
        for _ in range(dice.choice((1, 1, 1, 4))):
            disturb(changed if lined else changed[0], dice)
        odd.write_text("\n".join(json.dumps(each) for each in changed) if lined else json.dumps(changed[0]))
        for found in attempts(odd, OF[name]):
            check_sane(found)


def disturb(value: object, dice: random.Random) -> None:
    """Walks down to a random place and changes what stands there."""
    while isinstance(value, dict | list) and value:
        key = dice.choice(list(value) if isinstance(value, dict) else range(len(value)))  # type: ignore[arg-type]
        below = value[key]
        if not isinstance(below, dict | list) or not below or dice.random() < 0.1:
            if dice.random() < 0.2:
                del value[key]
            else:
                value[key] = copy.deepcopy(dice.choice(ODD))
            return
        value = below


@given(st.sampled_from(sorted(OF)), st.binary(max_size=200), st.integers(0, 10**6))
def test_junk_in_the_middle(tmp_path_factory: pytest.TempPathFactory, name: str, junk: bytes, at: int) -> None:
    data = (SAMPLES / name).read_bytes()
    at %= len(data)
    path = tmp_path_factory.getbasetemp() / "junk"
    path.write_bytes(data[:at] + junk + data[at + len(junk) :])
    for found in attempts(path, OF[name]):
        check_sane(found)


@given(st.sampled_from([None, *READ]), st.binary(max_size=400))
def test_nothing_but_junk(tmp_path_factory: pytest.TempPathFactory, format: str | None, junk: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "nothing"
    path.write_bytes(junk)
    for found in attempts(path, format):
        check_sane(found)


# -- real files --------------------------------------------------------------------------------------------------


def manifest() -> list[dict[str, str]]:
    """The rows of the corpus, none where it is absent."""
    path = CORPUS / "MANIFEST.tsv"
    if not path.exists():
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def counted(readings: list[Reading], agent: str) -> int:
    """Messages as the corpus counts them: what the agent's own records are, not what is sent."""
    messages = [message for each in readings for _, message in (*each.folded, *each.entries)]
    if agent == "codex":
        spoken = [m for m in messages if m.role != "assistant" or m.summary]
        replies = (part for m in messages if m.role == "assistant" for part in m.parts)
        return len(spoken) + sum(1 for part in replies if type(part) is Text)
    if agent in ("gemini-cli", "atif"):
        messages = [m for m in messages if not any(m.results) and not (agent == "atif" and type(m.parts[0]) is Opaque)]
    return len(messages)


EXTRA = {
    "entire-02-06554e6": 2,  # outputs of local commands, sent as the user's words
    "entirecontext-03-6d81f86": 1,  # reminders that stand between no two messages
    "entirecontext-04-8c906ef": 5,  # three local commands, two runs of reminders
    "entirecontext-07-f357623": 16,  # runs of reminders, a local command, and two messages of a rewound branch
    "communique-01-0aba31d": 1,  # the instructions in the header
    "communique-02-723b971": 1,
    "entirecontext-01-105ce37": 5,  # the instructions, and four messages of other agents
    "hk-01-0537ac1": 29,  # the instructions, and 28 messages that two compactions repeat
    "hk-02-4f73117": 1,
    "entire-01-114fcee": -1,  # a note of the program to the user
    "entire-02-5031c97": -1,
    "mini-01-148f379": -1,  # the last record says how the run ended and is no message
    "mini-02-225eb4e": -1,
}


@pytest.mark.parametrize("row", manifest(), ids=lambda row: row["path"])
def test_the_corpus_is_read_as_its_manifest_says(row: dict[str, str]) -> None:
    path = CORPUS / row["path"]
    if row["format"] == "pi":
        assert isinstance(open_session(path), Session)
        return
    readings = read_all(path)
    for each in readings:
        check_sane(each)
    extra = EXTRA.get(path.name.split(".")[0], 0)
    assert counted(readings, readings[0].agent) == int(row["messages"]) + extra
    entries = [message for each in readings for _, message in (*each.folded, *each.entries)]
    assert sum(len(list(message.calls)) for message in entries) == int(row["tool_calls"])
    assert any(message.usage for message in entries) == (row["has_usage"] == "y")
    assert any(each.folds for each in readings) == (row["has_compaction_records"] == "y")
    names = row["models"].split(",")
    assert names == ["-"] or all(any(name in each.model for name in names) for each in readings if each.model)


MADE = sorted(path for path in (CORPUS / "made").rglob("*") if path.is_file() and path.name != "README.md")


@pytest.mark.parametrize("path", MADE, ids=lambda path: path.name[-30:])
def test_what_real_clients_wrote_is_read(path: Path) -> None:
    session = open_session(path)
    if isinstance(session, Transcript):
        for each in read_all(path):
            check_sane(each)
            assert not [fault for fault in each.faults if "compressed" not in fault.what]
        assert session.view().tokens > 0
    assert session.meter() is not None


BILLED = [row for row in manifest() if row["has_usage"] == "y" and row["format"] != "pi"]


@pytest.mark.parametrize("row", BILLED, ids=lambda row: row["path"])
def test_bills_grow_with_what_is_seen(row: dict[str, str]) -> None:
    """A bill that hung on the wrong reply would not go with the size of what stands before it."""
    session = open_session(CORPUS / row["path"])
    meter = session.meter()
    points: list[tuple[float, float]] = []
    seen = 0
    for at, (_, message) in enumerate(session.context.entries):
        if message.usage and at >= session.context.since:
            points.append((seen, message.usage.prompt))
        seen += meter.weigh(message)
    if len(points) < 5:
        pytest.skip("too few bills to say anything")
    assert correlation(points) > (0.75 if "communique-02" in row["path"] else 0.99)


def correlation(points: list[tuple[float, float]]) -> float:
    n = len(points)
    x, y = sum(p[0] for p in points) / n, sum(p[1] for p in points) / n
    both = sum((a - x) * (b - y) for a, b in points)
    return float(both / (sum((a - x) ** 2 for a, _ in points) * sum((b - y) ** 2 for _, b in points)) ** 0.5)


def test_where_nothing_was_billed_the_agents_usual_overhead_counts(tmp_path):
    path = tmp_path / "session.jsonl"
    records = [json.loads(line) for line in (SAMPLES / "claude-code-kept.jsonl").read_text().splitlines()]
    for record in records:
        if isinstance(message := record.get("message"), dict):
            message.pop("usage", None)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    session = open_session(path)
    shown = sum(weigh(message, "claude3") for _, message in session.context.entries)
    assert session.context.size("claude3").tokens == shown + format_named("claude-code").overhead


def test_what_is_no_session_is_told_apart(tmp_path):
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "words.txt").write_text("hello\n")
    for name, said in ((".", "folder"), ("empty.jsonl", "empty"), ("words.txt", "no session of a known format")):
        with pytest.raises(SessionError, match=said):
            open_session(tmp_path / name)
