"""How far the work is, as a page tells it that is read: what of the plan is done, and whether anything was changed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from foldline import Brief, Message
from foldline._facts.merging import settled
from foldline._facts.reading import facts_of
from foldline._facts.types import Facts
from foldline._page.extract import compose
from foldline.extend import SUMMARY_PREFIX, SUMMARY_SUFFIX
from talk import bash, runs, says, user

TASK = user("Let the ferry's timetable be read from the harbour's own files, and keep the old ones readable.")
ROOM = Brief(1_500)


def state_of(facts: Facts, brief: Brief = ROOM) -> list[str]:
    page = compose(brief, facts)
    body = page.split("## State\n")[1].split("\n## ")[0] if "## State\n" in page else ""
    return [line.removeprefix("- ") for line in body.strip().splitlines()]


def planned(*done: str, id: str = "p", left: Sequence[str] = ("Tell the harbour",)) -> list[Message]:
    todos = [{"content": each, "status": "completed"} for each in done]
    return runs("TodoWrite", {"todos": [*todos, *({"content": each, "status": "pending"} for each in left)]}, id=id)


def done_in(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if line.startswith("done of the plan")]


def test_what_is_done_of_a_plan_stands_before_what_is_open() -> None:
    lines = state_of(facts_of([TASK, *planned("Read the files", "Name the quays")]))
    assert lines[-2:] == ["done of the plan: Read the files; Name the quays", "[ ] Tell the harbour"]


def test_steps_that_are_numbered_are_told_so_too() -> None:
    made = [*runs("TaskCreate", {"subject": "Read the files"}, "Task #1 created", id="a"), *runs("TaskCreate", {"subject": "Tell the harbour"}, "Task #2 created", id="b")]  # fmt: skip
    done = runs("TaskUpdate", {"taskId": "1", "status": "completed"}, "Updated task #1 status", id="c")
    told = ["done of the plan: Read the files"]
    assert done_in(state_of(facts_of([TASK, *made, *done]))) == told
    assert done_in(state_of(settled(facts_of([TASK, *made]), facts_of(done)))) == told


@pytest.mark.parametrize(
    "messages",
    [
        planned("Read the files", left=()),
        planned(),
        [*planned("Paint the pier", left=("Sell the pier",)), *planned(id="q")],
        [*runs("TaskCreate", {"subject": "Paint the pier"}, "Task #1 created", id="a"), *runs("TaskUpdate", {"taskId": "1", "status": "completed"}, "Updated task #1 status", id="b"), says("The pier is painted."), user("Now the timetable, please."), *runs("TaskCreate", {"subject": "Tell the harbour"}, "Task #2 created", id="c")],
    ],
)  # fmt: skip
def test_nothing_is_told_of_a_plan_that_is_done_or_of_an_older_one(messages: Sequence[Message]) -> None:
    assert done_in(state_of(facts_of([TASK, *messages]))) == []


def test_of_many_steps_the_newest_are_told() -> None:
    steps = [f"Read the files of harbour {n} with all that its clerks wrote into them by hand" for n in range(12)]
    [line] = done_in(state_of(facts_of([TASK, *planned(*steps)])))
    assert line.startswith("done of the plan: … ")
    assert line.endswith(steps[-1])
    assert len(line) < 260


def test_it_is_no_step_where_a_page_comes_back_as_text() -> None:
    page = compose(ROOM, facts_of([TASK, *planned("Read the files")]))
    again = facts_of([user(f"{SUMMARY_PREFIX}{page}{SUMMARY_SUFFIX}"), *bash("ls", "rows.py")])
    assert not any("done of the plan" in piece.text for piece in again.pieces)
    assert [todo.text for todo in again.todos] == ["Tell the harbour"]


def test_a_page_that_fills_its_budget_has_the_open_ones_alone() -> None:
    assert done_in(state_of(facts_of([TASK, *planned("Read the files")]), Brief(1_500, fills="words"))) == []
