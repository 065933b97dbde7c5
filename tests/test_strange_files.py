"""Files that look like a known format and are of another one, or of two: read whole, or refused with the place and the way out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from foldline import Message, open_session
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
