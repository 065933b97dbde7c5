"""Files that were changed and are as they were again: an edit that was taken back, a file that git put back."""

from __future__ import annotations

import json

import pytest

from foldline import Message
from foldline._facts.merging import merge, settled
from foldline._facts.reading import facts_of
from foldline._facts.told import facts_of_page
from foldline._facts.types import Facts
from foldline._page.files import files
from foldline._page.state import state
from foldline.extend import Text, ToolCall, ToolResult

ROWS = "src/rows.py"


def called(tool: str, answer: str = "ok", **arguments: object) -> list[Message]:
    call = ToolCall(f"{tool}-{json.dumps(arguments)}", tool, json.dumps(arguments))
    return [Message("assistant", (call,)), Message("tool", (ToolResult(call.id, (Text(answer),)),))]


def edited(old: str, new: str, path: str = ROWS) -> list[Message]:
    return called("edit", path=path, old_string=old, new_string=new)


def ran(command: str, answer: str = "") -> list[Message]:
    return called("bash", answer, command=command)


def patched(*lines: str) -> list[Message]:
    return called(
        "apply_patch", input="\n".join(["*** Begin Patch", f"*** Update File: {ROWS}", *lines, "*** End Patch"])
    )


ASKED = [Message("user", (Text("Make the rows add up."),))]
BRANCH = ran("git switch -c sums")
COMMITTED = ran("git commit -am 'Add up'", "[sums 1a2b3c4] Add up\n 1 file changed")
CHANGED, BACK = edited("return a", "return a + b"), edited("return a + b", "return a")
PUT_BACK = f"put back: {ROWS}"


def told(facts: Facts) -> tuple[list[str], list[str]]:
    return files(facts, 1_000), [line for line in state(facts) if line.startswith("git: ")]


@pytest.mark.parametrize(
    "turn",
    [
        [*CHANGED, *BACK],
        [*CHANGED, *edited("first", "second"), *edited("second", "first"), *BACK],
        [*CHANGED, *edited("first", "second"), *BACK, *edited("second", "first")],
        [
            *patched("@@", " def rows():", "-  return a", "+  return b"),
            *patched("@@", " def rows():", "-  return b", "+  return a"),
        ],
        [*CHANGED, *ran(f"git checkout -- {ROWS}")],
        [*CHANGED, *ran(f"git checkout {ROWS}", "Updated 1 path from the index")],
        [*CHANGED, *ran(f"git checkout HEAD -- {ROWS}")],
        [*CHANGED, *ran(f"git restore {ROWS}")],
        [*CHANGED, *ran("git restore src/")],
        [*ran(f"sed -i s/a/b/ {ROWS} && pytest; git checkout -- {ROWS}", "1 failed")],
        [*ran(f"rm {ROWS}"), *ran(f"git checkout -- {ROWS}")],
    ],
)
def test_a_file_that_was_put_back_is_not_changed(turn: list[Message]) -> None:
    listed, git = told(facts_of([*ASKED, *BRANCH, *turn]))
    assert PUT_BACK in listed
    assert not any(line.startswith("changed") for line in listed)
    assert git == ["git: on branch sums"]


@pytest.mark.parametrize(
    "turn",
    [
        [*CHANGED, *edited("return a + b", "return b")],
        [*CHANGED, *CHANGED, *BACK],
        [*CHANGED, *ran(f"sed -i s/x/y/ {ROWS}"), *BACK],
        [*called("edit", path=ROWS, old_string="a", new_string="b", replace_all=True), *called("edit", path=ROWS, old_string="b", new_string="a", replace_all=True)],
        [*patched("@@", " def rows():", "+  total()"), *patched("@@", " def sums():", "-  total()")],
        [*CHANGED, *ran(f"git restore --staged {ROWS}")],
        [*CHANGED, *ran(f"git checkout main -- {ROWS}")],
        [*CHANGED, *ran(f"git checkout -- {ROWS}"), *CHANGED],
    ],
)  # fmt: skip
def test_a_file_of_which_not_all_was_taken_back_is_changed(turn: list[Message]) -> None:
    listed, git = told(facts_of([*ASKED, *BRANCH, *turn]))
    assert f"changed: {ROWS}" in listed
    assert not any(line.startswith("put back") for line in listed)
    assert git == [f"git: on branch sums; not committed: {ROWS}"]


@pytest.mark.parametrize("back", [edited("total", "sum"), ran(f"git checkout -- {ROWS}")])
def test_what_was_changed_since_the_commit_and_put_back_is_changed_as_it_was_committed(back: list[Message]) -> None:
    listed, git = told(facts_of([*ASKED, *CHANGED, *COMMITTED, *edited("sum", "total"), *back]))
    assert f"changed: {ROWS}" in listed
    assert git == ["git: on branch sums; last commit 1a2b3c4 “Add up”"]


def test_a_commit_that_is_taken_back_by_hand_is_a_change() -> None:
    listed, git = told(facts_of([*ASKED, *CHANGED, *COMMITTED, *BACK]))
    assert f"changed: {ROWS}" in listed
    assert git == [f"git: on branch sums; last commit 1a2b3c4 “Add up”; changed since: {ROWS}"]


def test_a_file_that_git_lists_as_changed_is_put_back_to_where_the_work_began() -> None:
    listed, _ = told(
        facts_of([*ASKED, *CHANGED, *ran("git status --short", f" M {ROWS}"), *ran(f"git restore {ROWS}")])
    )
    assert PUT_BACK in listed


@pytest.mark.parametrize("back", [BACK, ran(f"git checkout -- {ROWS}"), ran("git checkout -- src")])
def test_messages_behind_may_put_a_file_back(back: list[Message]) -> None:
    before = facts_of([*ASKED, *BRANCH, *CHANGED])
    for facts in (settled(before, facts_of(back)), merge(before, facts_of(back))):
        listed, git = told(facts)
        assert PUT_BACK in listed
        assert not any(line.startswith("changed") for line in listed)
        assert git == ["git: on branch sums"]


def test_what_comes_and_goes_behind_leaves_a_change_from_before() -> None:
    behind = [*edited("x", "y"), *edited("y", "x")]
    listed, git = told(settled(facts_of([*ASKED, *BRANCH, *CHANGED]), facts_of(behind)))
    assert f"changed: {ROWS}" in listed
    assert git == [f"git: on branch sums; not committed: {ROWS}"]


def test_a_folder_that_is_put_back_keeps_what_is_new_in_it() -> None:
    made = called("write", path="src/new.py", content="x = 1")
    listed, _ = told(facts_of([*ASKED, *CHANGED, *made, *ran("git checkout -- src/")]))
    assert "created: src/new.py" in listed


def test_a_new_file_that_is_put_back_to_what_was_staged_is_new() -> None:
    made = called("write", path="src/new.py", content="x = 1")
    staged = [*made, *ran("git add src/new.py"), *edited("1", "2", "src/new.py"), *ran("git checkout -- src/new.py")]
    listed, _ = told(facts_of([*ASKED, *staged]))
    assert listed == ["created: src/new.py"]


def test_a_page_that_comes_back_as_text_still_says_what_was_put_back() -> None:
    facts = facts_of_page(f"## Files\n- {PUT_BACK}\n\n[folded: 4 messages, a to b]")
    assert files(facts, 1_000) == [PUT_BACK]


def test_a_file_that_the_agent_never_changed_is_not_told_as_put_back() -> None:
    listed, _ = told(facts_of([*ASKED, *CHANGED, *ran("npm install && git checkout -- package-lock.json")]))
    assert listed == [f"changed: {ROWS}"]


LOOKED = called("read", "ROWS = 3", path=ROWS)
WRITTEN, AGAIN = (ran(f"cat > {ROWS} <<'EOF'\nROWS = {n}\nEOF") for n in (4, 5))
RESTORED = ran(f"git checkout {ROWS}", "Updated 1 path from the index")


@pytest.mark.parametrize(
    ("behind", "line"),
    [
        ([*WRITTEN, *RESTORED], PUT_BACK),
        ([*WRITTEN, *AGAIN, *RESTORED, *LOOKED], PUT_BACK),
        ([*WRITTEN, *RESTORED, *AGAIN, *RESTORED], PUT_BACK),
        ([*WRITTEN, *RESTORED, *AGAIN], f"changed: {ROWS}"),
        ([*WRITTEN, *RESTORED, *AGAIN, *LOOKED], f"changed: {ROWS}"),
        ([*WRITTEN, *COMMITTED, *AGAIN, *RESTORED], f"changed: {ROWS}"),
    ],
)
def test_a_file_that_was_read_before_the_fold_and_written_behind_it_was_not_made_there(
    behind: list[Message], line: str
) -> None:
    before = [*ASKED, *LOOKED]
    whole, two = facts_of([*before, *behind]), merge(facts_of(before), facts_of(behind))
    for facts in (whole, two, settled(facts_of(before), facts_of(behind))):
        assert line in told(facts.latest)[0]
