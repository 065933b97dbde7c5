"""Files that look like a known format and are of another one, or of two: read whole, or refused with the place and the way out."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from foldline import Message, SessionError, open_session
from foldline._pairs import answers
from foldline._sessions.opening import recognize
from foldline.extend import Opaque, encode, text_of

Row = Mapping[str, Any]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def write(path: Path, rows: Iterable[Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def messages(path: Path) -> list[Message]:
    return [message for _, message in open_session(path).messages()]


# -- lists of messages whose rows say more than a role and a content ------------------------------------------------

DATED: list[Row] = [
    {"timestamp": "2026-01-01T00:00:00Z", "role": "user", "content": "Count the {plums}, [pears] and \"figs\"."},
    {"timestamp": "2026-01-01T00:00:01Z", "role": "assistant", "content": [], "model": "claude-opus-4-5"},
    {
        "timestamp": "2026-01-01T00:00:02Z",
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "k1", "name": "count", "input": {"what": "plums"}}],
        "model": "claude-opus-4-5",
    },
    {
        "timestamp": "2026-01-01T00:00:03Z",
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "k1", "content": "nine"}],
    },
]  # fmt: skip


@pytest.mark.parametrize("before", [{}, {"id": 7, "seen": True, "cost": 1.5e-3, "of": None}])
def test_messages_that_begin_with_what_stands_beside_them_are_a_list_of_messages(path: Path, before: Row) -> None:
    rows = [{**before, **row} for row in DATED]
    assert recognize(write(path, rows)) == "messages"
    said = messages(path)
    assert [message.role for message in said] == ["user", "assistant", "assistant", "user"]
    assert [call.id for message in said for call in message.calls] == ["k1"]
    assert [encode(message, "anthropic") for message in said] == rows
    path.write_text(json.dumps(rows, indent=1))
    assert [encode(message, "anthropic") for message in messages(path)] == rows


def test_the_model_that_replies_name_is_the_sessions(path: Path) -> None:
    assert open_session(write(path, DATED)).model == "claude-opus-4-5"


@pytest.mark.parametrize("row", [{"level": "info", "content": "role user"}, {"at": "1", "said": {"role": "user"}}])
def test_rows_of_something_else_that_only_name_a_role_are_no_messages(path: Path, row: Row) -> None:
    write(path, [row, {"role": "user"}])
    assert recognize(path) is None


# -- other agents' logs that look like pi's -------------------------------------------------------------------------

STREAM: list[Row] = [
    {"type": "init", "timestamp": "2026-01-01T00:00:00Z", "session_id": "g-1", "model": "gemini-3-pro"},
    {"type": "message", "timestamp": "2026-01-01T00:00:01Z", "role": "user", "content": "Count the plums."},
    {"type": "tool_use", "timestamp": "2026-01-01T00:00:02Z", "tool_name": "count", "tool_id": "k1", "parameters": {}},
    {"type": "tool_result", "timestamp": "2026-01-01T00:00:03Z", "tool_id": "k1", "status": "success"},
    {"type": "message", "timestamp": "2026-01-01T00:00:04Z", "role": "assistant", "content": "Nine.", "delta": True},
    {"type": "result", "timestamp": "2026-01-01T00:00:05Z", "status": "success", "stats": {"total_tokens": 12}},
]


@pytest.mark.parametrize("first", [0, 1])
def test_what_gemini_cli_streams_is_refused_by_what_it_leaves_out(path: Path, first: int) -> None:
    """A caller may have written the prompt before it."""
    rows = [STREAM[1], *STREAM] if first else STREAM
    with pytest.raises(
        SessionError, match=r"what `--output-format stream-json` prints leaves out .* ~/\.gemini/tmp"
    ) as caught:
        open_session(write(path, rows))
    assert (caught.value.path, caught.value.line) == (str(path), first + 1)


@pytest.mark.parametrize("kind", ["say", "ask"])
def test_what_an_editor_shows_of_a_task_of_cline_is_refused_by_what_it_leaves_out(path: Path, kind: str) -> None:
    shown = [
        {"ts": 1770000000000, "type": kind, kind: "text", "text": "fix the pool"},
        {"ts": 1770000000001, "type": "say"},
    ]
    path.write_text(json.dumps(shown))
    with pytest.raises(SessionError, match=r"what the editor shows .* api_conversation_history\.json beside it"):
        open_session(path)


def test_rows_of_type_message_without_a_message_in_them_are_no_log_of_pi(path: Path) -> None:
    write(path, STREAM[1:2] * 3)
    assert recognize(path) == "messages"
    assert [message.text for message in messages(path)] == ["Count the plums."] * 3
    with pytest.raises(SessionError, match="no log of pi or OpenClaw: of type 'message'"):
        open_session(path, format="pi")


HARNESS: list[Row] = [
    {"type": "session", "version": 0, "id": "d-1", "createdAt": 1786073817152, "cwd": "/srv/app"},
    {
        "type": "user/message",
        "seq": 0,
        "time": 1,
        "data": {"role": "user", "content": [{"type": "text", "text": "hi"}]},
    },
    {"type": "turn/start", "seq": 1, "time": 2, "data": {"turn": 1}},
]


@pytest.mark.parametrize("version", [0, 1, 3])
def test_records_of_another_harness_behind_such_a_header_are_refused_by_name(path: Path, version: int) -> None:
    header, *rest = HARNESS
    write(path, [{**header, "version": version}, *rest])
    with pytest.raises(SessionError, match=r"of type 'user/message' .* a list of its messages") as caught:
        open_session(path)
    assert (caught.value.path, caught.value.line) == (str(path), 2)


@pytest.mark.parametrize(
    "kind", ["session_info", "label", "custom", "model_change", "thinking_level_change", "novelty"]
)
@pytest.mark.parametrize("version", [1, 3])
def test_a_log_of_pi_in_which_nothing_was_said_yet_is_an_empty_session(path: Path, kind: str, version: int) -> None:
    write(path, [{**HARNESS[0], "version": version}, {"type": kind, "id": "1", "parentId": None}])
    assert messages(path) == []


# -- lists whose rows are of two formats, or of none ----------------------------------------------------------------

OPENAI_CALL: Row = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"id": "k1", "type": "function", "function": {"name": "count", "arguments": '{"what": "plums"}'}}],
}
OPENAI_RESULT: Row = {"role": "tool", "tool_call_id": "k1", "content": "nine"}
ANTHROPIC_CALL, ANTHROPIC_RESULT = DATED[2], DATED[3]
MIXED = [(OPENAI_CALL, ANTHROPIC_RESULT), (ANTHROPIC_CALL, OPENAI_RESULT)]


@pytest.mark.parametrize("pair", MIXED)
def test_a_call_that_another_formats_result_answers_has_it(path: Path, pair: tuple[Row, Row]) -> None:
    rows = [{"role": "user", "content": "Count the plums."}, *pair, {"role": "assistant", "content": "Nine."}]
    said = messages(write(path, rows))
    assert [(answer.call.name, text_of(answer.result)) for answer in answers(said) if answer.call] == [
        ("count", "nine")
    ]
    assert not [part for message in said for part in message.parts if isinstance(part, Opaque)]
    assert [encode(message, message.format) for message in said] == rows


@pytest.mark.parametrize("pair", MIXED)
@pytest.mark.parametrize("to", ["anthropic", "openai-chat"])
def test_a_list_of_two_formats_is_written_in_one(path: Path, pair: tuple[Row, Row], to: str) -> None:
    rows = [{"role": "user", "content": "Count the plums."}, *pair, {"role": "assistant", "content": "Nine."}]
    new = path.with_name("new.json")
    command = ["compact", "--yes", "--to", to, "--out", str(new), "--session", str(write(path, rows))]
    done = subprocess.run([sys.executable, "-m", "foldline", *command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    again = messages(new)
    assert {message.format for message in again} == {to}
    assert [(answer.call.name, text_of(answer.result)) for answer in answers(again) if answer.call] == [
        ("count", "nine")
    ]


EVENTS: list[Row] = [
    {"role": "user", "kind": "message", "content": "Count the plums.", "raw": {"type": "user.message"}},
    {"role": "agent", "kind": "tool_use", "tool": "count", "content": "{}", "raw": {"type": "agent.tool_use"}},
    {"role": "agent", "kind": "tool_result", "content": "nine", "raw": {"type": "agent.tool_result"}},
]


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        (EVENTS, "message 2 is of role 'agent'"),
        ([OPENAI_CALL, {"type": "tool_result", "output": "nine"}], "message 2 is of type 'tool_result'"),
    ],
)
def test_what_stands_among_messages_and_is_none_is_refused_and_not_left_out(
    path: Path, rows: list[Row], what: str
) -> None:
    with pytest.raises(SessionError, match=f"{what}, which openai-chat does not have; write") as caught:
        open_session(write(path, rows))
    assert caught.value.path == str(path)


def test_rows_that_say_no_role_are_read_around_and_told(path: Path) -> None:
    session = open_session(write(path, [DATED[0], {"cost": 3}, {}, *DATED[1:]]))
    assert len(session.context.entries) == len(DATED)
    assert [fault.what for fault in session.faults] == [f"message {n} has no role that a model knows" for n in (2, 3)]


def test_messages_may_begin_far_behind_the_start_of_a_file(tmp_path: Path) -> None:
    long = tmp_path / "run.traj.json"
    said = [{"role": "user", "content": "Fix the clock."}, {"role": "assistant", "content": "Done."}]
    long.write_text(json.dumps({"info": {"submission": '+{"messages": [{' * 9_000}, "messages": said}))
    assert [message.text for message in open_session(long).view().messages] == ["Fix the clock.", "Done."]
    long.write_text(json.dumps({"info": {"submission": '+{"messages": [{"role": ' * 9_000}}))
    with pytest.raises(SessionError, match="no session of a known format"):
        open_session(long)
