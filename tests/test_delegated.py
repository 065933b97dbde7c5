"""Agents that the agent started and that work beside it, until something says that they are done."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from foldline import Brief, Message
from foldline._facts.merging import merge, settled
from foldline._facts.reading import facts_of
from foldline._facts.types import Facts
from foldline._page.extract import compose
from foldline._page.state import state
from foldline.extend import SUMMARY_PREFIX, SUMMARY_SUFFIX, Text
from talk import runs, says, user

ASKED = [user("Have the sums reviewed by two others before I release them.")]
STARTED = runs("spawn_agent", {"agent_type": "reviewer", "task_name": "sums_review"}, '{"task_name":"/lead/sums_review"}')  # fmt: skip
BY_NUMBER = runs("spawn_agent", {"agent_type": "reviewer", "message": "Review the sums."}, '{"agent_id":"019d7d09-b449","nickname":"Ada"}', id="n")  # fmt: skip
RUNS = "runs still when seen last: `spawn_agent agent_type=reviewer, task_name=sums_review` (/lead/sums_review)"
RUNS_BY_NUMBER = (
    "runs still when seen last: `spawn_agent agent_type=reviewer, message=Review the sums.` (019d7d09-b449)"
)
NAMED, NUMBERED = "/lead/sums_review", "019d7d09-b449"


def heard(text: str) -> list[Message]:
    return [Message("user", (Text(text, by="peer"),))]


def answered(kind: str) -> list[Message]:
    return heard(f"Message Type: {kind}\nTask name: /lead\nSender: {NAMED}\nPayload:\nThe sums are right.")


def told(facts: Facts) -> list[str]:
    return [line for line in state(facts) if line.startswith("runs still")]


def listed(status: str) -> list[Message]:
    agents = f'{{"agents":[{{"agent_name":"/lead","agent_status":"running"}},{{"agent_name":"{NAMED}","agent_status":{status}}}]}}'
    return runs("list_agents", {}, agents, id="l")


@pytest.mark.parametrize(
    ("behind", "lines"),
    [
        ([], [RUNS]),
        (runs("wait_agent", {"timeout_ms": 30000}, '{"message":"Wait timed out.","timed_out":true}', id="w"), [RUNS]),
        (listed('"running"'), [RUNS]),
        (answered("MESSAGE"), [RUNS]),
        (answered("FINAL_ANSWER"), []),
        (listed('{"completed":"The sums are right."}'), []),
        (runs("close_agent", {"target": NAMED}, '{"previous_status":"running"}', id="w"), []),
        (runs("interrupt_agent", {"target": NAMED}, '{"previous_status":"running"}', id="w"), []),
        (runs("close_agent", {"target": "/lead/dates_review"}, '{"previous_status":"running"}', id="w"), [RUNS]),
    ],
)
def test_an_agent_that_was_started_runs_until_it_has_answered(behind: Sequence[Message], lines: Sequence[str]) -> None:
    before = [*ASKED, *STARTED]
    assert told(facts_of([*before, *behind])) == lines
    assert told(settled(facts_of(before), facts_of(behind))) == lines
    assert told(merge(facts_of(before), facts_of(behind))) == lines


@pytest.mark.parametrize(
    ("behind", "lines"),
    [
        (runs("wait_agent", {"targets": [NUMBERED]}, '{"status":{},"timed_out":true}', id="w"), [RUNS_BY_NUMBER]),
        (runs("wait_agent", {"targets": [NUMBERED]}, f'{{"status":{{"{NUMBERED}":{{"completed":"They are right."}}}},"timed_out":false}}', id="w"), []),
        (runs("wait", {"ids": [NUMBERED]}, f'{{"status":{{"{NUMBERED}":{{"errored":"No model."}}}},"timed_out":false}}', id="w"), []),
        (heard(f'<subagent_notification>\n{{"agent_path":"{NUMBERED}","status":{{"completed":"They are right."}}}}\n</subagent_notification>'), []),
        (heard(f'<subagent_notification>\n{{"agent_id":"{NUMBERED}","status":"shutdown"}}\n</subagent_notification>'), []),
        (heard(f'<subagent_notification>\n{{"agent_path":"{NUMBERED}","status":"running"}}\n</subagent_notification>'), [RUNS_BY_NUMBER]),
    ],
)  # fmt: skip
def test_one_that_has_a_number_as_well(behind: Sequence[Message], lines: Sequence[str]) -> None:
    before = [*ASKED, *BY_NUMBER]
    assert told(facts_of([*before, *behind])) == lines
    assert told(settled(facts_of(before), facts_of(behind))) == lines


TEAMED = runs("Agent", {"name": "sums", "prompt": "Review the sums."}, "Spawned successfully. (This is internal.)\nagent_id: sums@session-1\nname: sums\nThe agent is now running.", id="t")  # fmt: skip
IDLE = '<teammate-message teammate_id="{0}" color="green">\n{{"type":"idle_notification","from":"{0}","idleReason":"available"}}\n</teammate-message>'


@pytest.mark.parametrize(
    ("behind", "runs_still"),
    [
        ([], True),
        (heard(IDLE.format("dates")), True),
        (heard(IDLE.format("sums")), False),
        (heard('<agent-message from="sums">\nThe sums are right.\n</agent-message>'), False),
    ],
)
def test_one_of_a_team_runs_until_it_says_something(behind: Sequence[Message], runs_still: bool) -> None:
    before = [*ASKED, *TEAMED]
    assert bool(told(facts_of([*before, *behind]))) is runs_still
    assert bool(told(settled(facts_of(before), facts_of(behind)))) is runs_still
    assert "is now running" not in compose(Brief(1_500), facts_of([*before, *behind]))


def test_it_lasts_where_a_page_comes_back_as_text() -> None:
    page = compose(Brief(800), facts_of([*ASKED, *STARTED]))
    again = facts_of([user(f"{SUMMARY_PREFIX}{page}{SUMMARY_SUFFIX}"), *runs("bash", {"command": "ls"})])
    assert told(again) == [RUNS]


def test_who_is_at_work_is_told_by_the_state_alone() -> None:
    page = compose(Brief(1_500), facts_of([*ASKED, *STARTED, *listed('"running"')]))
    assert "agent_status" not in page
    assert page.count(NAMED) == 1


REFUSED = "Agents with the whole history have the type of their parent; omit agent_type, or fork no history."


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (("spawn_agent", {"agent_type": "reviewer", "fork_turns": "all", "task_name": "sums_review"}), REFUSED),
        (("wait_agent", {"timeout_ms": 12}), "timeout_ms must be at least 10000"),
    ],
)
def test_a_call_whose_arguments_were_refused_did_nothing(call: tuple[str, dict[str, str]], answer: str) -> None:
    refused = runs(*call, answer, id="r")
    page = compose(Brief(1_500), facts_of([*ASKED, *refused, *STARTED, says("I wait for the review.")]))
    assert answer not in page
    assert "fork_turns=all" not in page
    assert "spawn_agent" in page


def test_an_answer_that_only_names_an_argument_refuses_nothing() -> None:
    booked = runs("book_table", {"guest_name": "Ann"}, "Booked for guest_name Ann, table 7 at noon.")
    asked = runs("ask_desk", {"guest_name": "Ann"}, '{"guest_name": "Ann", "note": "must be at the desk at noon"}', id="d")  # fmt: skip
    page = compose(Brief(1_500), facts_of([*ASKED, *booked, *asked]))
    assert "table 7 at noon" in page
    assert "must be at the desk at noon" in page


LISTED = """All of them are written.

## Files created

| File | Lines | What |
|---|---|---|
| `mirrors.md` | 84 | what a mirror is |
| `locks.md` | 70 | who holds a lock |
"""
REPORTS = {
    LISTED: ["mirrors.md", "locks.md"],
    "Created a detailed plan at `docs/guide/plan.md`.": ["plan.md"],
    "Created `docs/guide/mirrors.md` and `docs/guide/locks.md`.": ["mirrors.md", "locks.md"],
}


@pytest.mark.parametrize(
    "where", ["in the folder C:\\shop\\desk\\docs\\guide\\", "under `C:\\shop\\desk\\docs\\guide\\`:"]
)
@pytest.mark.parametrize("report", REPORTS)
def test_files_of_another_agent_lie_where_it_was_told_to_work(report: str, where: str) -> None:
    task = f"Write the guide for the mirrors {where}\n\nIt has a page for each thing."
    sent = runs("agent", {"description": "Write the guide", "prompt": task}, report)
    files = {file.path: file.state for file in facts_of([user("Have the guide written."), *sent]).files}
    assert files == {f"C:/shop/desk/docs/guide/{name}": "created" for name in REPORTS[report]}


def test_files_of_another_agent_that_was_told_no_folder_are_told_as_it_names_them() -> None:
    sent = runs("agent", {"description": "Write the guide", "prompt": "Write it, see /srv/desk/docs/ too."}, LISTED)
    assert [file.path for file in facts_of([user("Have it written."), *sent]).files] == ["mirrors.md", "locks.md"]
