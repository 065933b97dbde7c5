"""How far the work is, as a page tells it that is read: what of the plan is done, and whether anything was changed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from foldline import Brief, Message
from foldline._facts.merging import from_data, merge, settled
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


def test_what_other_agents_did_of_a_plan_is_known_from_its_list() -> None:
    made = [*runs("TaskCreate", {"subject": "Read the files"}, "Task #1 created", id="a"), *runs("TaskCreate", {"subject": "Tell the harbour"}, "Task #2 created", id="b")]  # fmt: skip
    listed = runs("TaskList", {}, "#2 [pending] Tell the harbour (scout) [blocked by #1]\n#1 [completed] Read the files (reader)", id="c")  # fmt: skip
    lines = state_of(facts_of([TASK, *made, *listed]))
    assert lines[-2:] == ["done of the plan: Read the files", "[ ] Tell the harbour"]
    assert state_of(settled(facts_of([TASK, *made]), facts_of([*made[2:], *listed])))[-2:] == lines[-2:]


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


UNCOMMITTED, UNCHANGED = "not committed: src/quays.py", "the agent has changed nothing so far"
EDITED = runs("edit", {"path": "src/quays.py", "oldText": "a", "newText": "b"}, id="e")
READ = runs("read", {"path": "src/quays.py"}, "QUAYS = 3", id="r")
COMMITTED = bash("git commit -am 'Name the quays'", "[main 1a2b3c4] Name the quays\n 1 file changed")


def noted_in(*messages: Message) -> list[str]:
    goes_on = settled(facts_of([TASK, *messages]), facts_of([says("I read on.")]))
    behind = settled(facts_of([TASK]), facts_of([*messages, says("I read on.")]))
    told = [line for line in state_of(goes_on) if line in (UNCOMMITTED, UNCHANGED)]
    assert [line for line in state_of(behind) if line in (UNCOMMITTED, UNCHANGED)] == told
    return told


@pytest.mark.parametrize(
    "messages",
    [
        [*EDITED, *bash("git log --oneline -3", "")],
        [*bash("cd /srv/harbour && git log -3"), *bash("sed -i s/a/b/ src/quays.py"), *bash("pytest -q", "3 passed")],
        [*EDITED, *bash("git diff", "diff --git a/src/quays.py b/src/quays.py"), says("The quays have names.")],
        [user("Name the quays on a branch of their own."), *EDITED],
    ],
)  # fmt: skip
def test_changes_that_nobody_was_seen_to_commit_are_told_so(messages: Sequence[Message]) -> None:
    assert noted_in(*messages) == [UNCOMMITTED]


def test_where_a_branch_is_none_of_git_nothing_is_said_of_commits() -> None:
    asked = user("Compare the cells at the alpha/beta branch point, and resolve each branch of the tree.")
    assert noted_in(asked, *EDITED) == []


@pytest.mark.parametrize(
    "messages",
    [
        bash("git status --short", "fatal: not a git repository (or any of the parent directories): .git"),
        [user("Here is how quays are kept: db.add(quay) db.commit() db.refresh(quay)")],
    ],
)
def test_where_the_work_is_in_no_repository_nothing_is_said_of_commits(messages: Sequence[Message]) -> None:
    assert noted_in(*messages, *EDITED) == []


def test_the_folder_of_the_work_is_no_file_that_is_not_committed() -> None:
    made = [
        m for n in (1, 2, 3) for m in runs("write", {"path": f"/srv/harbour/quays/q{n}.py", "content": "x"}, id=f"{n}")
    ]
    messages = [TASK, *bash("git log -3"), *bash("cp -r drafts/ /srv/harbour/quays/"), *made]
    assert "not committed: q3.py, q2.py, q1.py" in state_of(settled(facts_of(messages), facts_of([says("I read on.")])))


@pytest.mark.parametrize(
    "messages",
    [
        [*EDITED, *COMMITTED],
        [*COMMITTED, *EDITED],
        [*EDITED, *bash("git status --short", " M src/quays.py")],
        [*bash("git switch -c quays", "Switched to a new branch 'quays'"), *EDITED],
        [*EDITED, *runs("git_commit", {"message": "Name the quays"}, "done", id="g")],
        [*EDITED, *COMMITTED[:1]],
        [*EDITED, *bash("git diff"), says("I changed src/quays.py and committed it as 1a2b3c4.")],
        [*bash("sed -i s/a/b/ src/quays.py"), *bash("git diff --stat", " src/quays.py | 2 +-")],
        EDITED,
        [*EDITED, *bash("pytest -q", "3 passed")],
        runs("edit", {"path": "/tmp/try.py", "oldText": "a", "newText": "b"}, id="t"),
    ],
)
def test_nothing_more_is_said_of_commits_where_something_tells_of_them_and_without_a_repository(
    messages: Sequence[Message],
) -> None:
    assert noted_in(*messages) == []


@pytest.mark.parametrize(
    "messages",
    [
        READ,
        [*READ, says("There are three quays.")],
        [*bash("rg -n QUAYS src", "src/quays.py:1:QUAYS = 3"), *runs("WebFetch", {"url": "https://a.example/", "prompt": "What is it?"}, "A harbour.", id="w")],
        [*planned("Read the files"), *READ],
        runs("exec", 'await tools.exec_command({cmd: "cat a.py"}); await tools.exec_command({cmd: "ls src"});', "QUAYS = 3", id="x"),
        runs("Agent", {"description": "Explore the harbour", "prompt": "Look."}, "There are three quays.", id="a") + READ,
        [*runs("spawn_agent", {"agent_type": "architect", "task_name": "quays_rereview"}, '{"task_name":"quays_rereview"}', id="s"), *runs("wait_agent", {"timeout_ms": 9}, "Wait timed out.", id="w"), *runs("send_message", {"target": "quays_rereview", "message": "And the boats?"}, "", id="m"), *READ],
        [*bash("sail --help | head -9", "usage: sail"), *READ],
    ],
)  # fmt: skip
def test_work_that_only_looked_changed_nothing(messages: Sequence[Message]) -> None:
    assert noted_in(*messages) == [UNCHANGED]


@pytest.mark.parametrize(
    "messages",
    [
        [says("There are three quays.")],
        [*READ, *bash("python3 rename.py", "")],
        [*READ, *bash("rg -n QUAYS src > quays.txt", "")],
        [*READ, *runs("harbour_call", {"quay": 3}, "done", id="h")],
        [*READ, *runs("Agent", {"description": "Name the quays", "prompt": "Name them."}, "They have names.", id="a")],
        [
            *READ,
            *runs(
                "exec", 'await tools.exec_command({cmd: "cat a.py"}); await tools.exec_command({cmd: sail});', id="x"
            ),
        ],
        [
            *READ,
            *runs(
                "exec",
                'await tools.exec_command({cmd: "cat a.py"}); await tools.mcp__quays__rename({quay: 3});',
                id="x",
            ),
        ],
        [*READ, *runs("update_quay", {"quay": 3}, "done", id="u")],
        [user(f"{SUMMARY_PREFIX}The quays were looked at.{SUMMARY_SUFFIX}"), *READ],
        [Message("assistant", EDITED[0].parts), *READ],
    ],
)
def test_what_may_have_changed_something_is_not_said_to_have_changed_nothing(messages: Sequence[Message]) -> None:
    assert UNCHANGED not in noted_in(*messages)


def test_what_changed_nothing_in_two_runs_changed_nothing_in_both() -> None:
    looked, edited = facts_of([TASK, *READ]), facts_of(EDITED)
    assert UNCHANGED in state_of(settled(merge(looked, facts_of(READ)), facts_of(READ)))
    assert UNCHANGED in state_of(settled(merge(from_data(looked.data()), facts_of(READ)), facts_of(READ)))
    assert UNCHANGED not in state_of(settled(merge(looked, edited), facts_of(READ)))
    assert UNCHANGED not in state_of(settled(merge(facts_of([TASK, *EDITED]), facts_of(READ)), facts_of(READ)))
    assert UNCHANGED not in state_of(settled(looked, edited))


WATCH = bash("cargo test -p harbour", "Process running with session ID 4117\nOutput:\n   Compiling harbour")
WATCHED = runs("write_stdin", {"session_id": 4117, "chars": ""}, "Process exited with code 0\nOutput:\ntest result: ok. 9 passed; 0 failed", id="w")  # fmt: skip


def test_what_ended_in_the_messages_below_is_not_told_as_running() -> None:
    lines = state_of(settled(facts_of([TASK, *WATCH]), facts_of([*WATCHED, says("All tests of the harbour pass.")])))
    assert not any("4117" in line for line in lines)


def test_what_runs_behind_them_still_is_told() -> None:
    waits = runs("write_stdin", {"session_id": 4117, "chars": ""}, "Process running with session ID 4117", id="w")
    lines = state_of(settled(facts_of([TASK, *WATCH]), facts_of(waits)))
    assert [line for line in lines if "4117" in line] == ["runs still when seen last: `cargo test -p harbour` (4117)"]


AGENT = runs("spawn_agent", {"message": "Look through the quays."}, '{"agent_id":"q-17","nickname":"Gull"}', id="g")
SERVER = bash("npm run dev", "Process running with session ID 5")
ELSE = [user("Now paint the pier, please."), says("The pier is painted."), user("And the boats as well, please."), says("They are painted.")]  # fmt: skip


ASKED_AFTER = bash("boats --readonly show quay-44.2", "Process running with session ID 6")


@pytest.mark.parametrize(("begun", "stays"), [(AGENT, False), (WATCH, False), (ASKED_AFTER, False), (SERVER, True)])
def test_what_nobody_asked_after_while_the_user_went_on_is_not_told_as_running(
    begun: Sequence[Message], stays: bool
) -> None:
    def runs_still(facts: Facts) -> bool:
        return any(line.startswith("runs still") for line in state_of(facts))

    before, behind = facts_of([TASK, *begun]), facts_of(ELSE)
    assert runs_still(before)
    assert runs_still(facts_of([TASK, *begun, *ELSE[:2]]))
    for facts in (facts_of([TASK, *begun, *ELSE]), merge(from_data(before.data()), behind), settled(before, behind)):
        assert runs_still(facts) == stays


def test_a_plan_that_stands_beside_each_call_is_the_plan_and_is_not_told_with_them() -> None:
    progress = "- [x] Read the quays\n- [ ] Count the boats\n- [ ] Tell the harbour"
    facts = facts_of([TASK, *runs("list_files", {"path": "src", "task_progress": progress}, "quays.py")])
    assert [(todo.text, todo.status) for todo in facts.todos] == [
        ("Read the quays", "done"),
        ("Count the boats", "pending"),
        ("Tell the harbour", "pending"),
    ]
    assert not [piece.text for piece in facts.pieces if "task_progress" in piece.text]
