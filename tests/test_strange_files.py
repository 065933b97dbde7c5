"""Files that look like a known format and are of another one, or of two: read whole, or refused with the place and the way out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from foldline import Message, SessionError, open_session
from foldline import _wires as wire
from foldline._sessions.opening import recognize

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
    assert [wire.encode(message, "anthropic") for message in said] == rows
    path.write_text(json.dumps(rows, indent=1))
    assert [wire.encode(message, "anthropic") for message in messages(path)] == rows


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
