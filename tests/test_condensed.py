"""Sessions that their own agents condensed: where the summary stands, and what a fold by hand makes of what they left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from foldline import open_session
from foldline._desk.desk import Desk

Event = dict[str, Any]

SAID = "The shop counts its plums in a table of crates, one row for each, and checks the sum at night. "


def opened_by(task: str) -> list[Event]:
    """How a trajectory of OpenHands begins: the prompt, the task, and what it looks up for it, which is no message."""
    return [
        {"id": 0, "source": "environment", "observation": "agent_state_changed", "extras": {}, "content": ""},
        {"id": 1, "source": "agent", "action": "system", "args": {"content": "You are OpenHands.", "tools": []}},
        {"id": 2, "source": "user", "action": "message", "args": {"content": task}},
        {"id": 3, "source": "user", "action": "recall", "args": {"query": task}},
        {"id": 4, "source": "environment", "observation": "recall", "cause": 3, "content": "", "extras": {}},
    ]


def step(id: int, billed: int) -> list[Event]:
    call = {"tool_call_id": f"k{id}", "function_name": "execute_bash"}
    response = {
        "id": f"r{id}",
        "model": "claude-sonnet-4-5",
        "usage": {"prompt_tokens": billed, "completion_tokens": 50},
    }
    ran = {"command": f"cat crate_{id}.py", "thought": f"I read crate {id}. {SAID}"}
    return [
        {"id": id, "source": "agent", "action": "run", "args": ran, "tool_call_metadata": {**call, "model_response": response}},
        {"id": id + 1, "source": "agent", "observation": "run", "cause": id, "content": f"crate {id}: {SAID * 8}",
         "tool_call_metadata": call, "extras": {}},
    ]  # fmt: skip


def condensed(id: int, first: int, last: int, summary: str) -> Event:
    args = {
        "forgotten_events_start_id": first,
        "forgotten_events_end_id": last,
        "summary": summary,
        "summary_offset": 4,
    }
    return {"id": id, "source": "agent", "action": "condensation", "args": args}


def trajectory(path: Path, *, forgotten: int, kept: int, behind: int) -> Path:
    """Steps of two messages each: some that were forgotten, some that were kept, and some that came behind."""
    events = opened_by("Count the plums in every crate.")
    for n in range(forgotten + kept):
        events += step(len(events), 1_000 + 400 * n)
    events.append(condensed(len(events), 5, 4 + 2 * forgotten, "Crates were read."))
    for n in range(behind):
        events += step(len(events), 1_000 + 400 * (kept + n))
    path.write_text(json.dumps(events))
    return path


def test_the_summary_of_openhands_stands_where_what_it_forgot_stood(tmp_path: Path) -> None:
    """It counts events for the place, and not all of them are messages."""
    session = open_session(trajectory(tmp_path / "t.json", forgotten=3, kept=2, behind=1))
    roles = [(message.role, message.summary is not None) for message in session.context.messages]
    assert roles == [("system", False), ("user", False), ("user", True), *[("assistant", False), ("tool", False)] * 3]


def test_a_second_summary_of_openhands_takes_the_place_of_the_first(tmp_path: Path) -> None:
    events = json.loads(trajectory(tmp_path / "t.json", forgotten=3, kept=2, behind=1).read_text())
    events.append(condensed(len(events), 11, 12, "More crates were read."))
    (tmp_path / "t.json").write_text(json.dumps(events))
    said = open_session(tmp_path / "t.json").context.messages
    assert [message.summary.text for message in said if message.summary] == ["More crates were read."]
    assert [message.role for message in said[:5]] == ["system", "user", "user", "assistant", "tool"]


@pytest.mark.parametrize(("forgotten", "kept", "folds"), [(10, 40, True), (25, 25, True), (40, 3, False)])
def test_what_an_agent_left_when_it_condensed_is_folded_by_hand_unless_that_was_little(
    tmp_path: Path, forgotten: int, kept: int, folds: bool
) -> None:
    """A fold of what the last one kept would only forget, but of half of a session no summary told yet."""
    desk = Desk(open_session(trajectory(tmp_path / "t.json", forgotten=forgotten, kept=kept, behind=0)))
    plan = desk.asked(into="pi", dry=True)
    assert bool(plan.fold) is folds
    assert (plan.after.tokens < 0.6 * desk.view.tokens) is folds
