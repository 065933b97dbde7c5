"""What a command failed with that has been run in another way since, or was mended, or that did not say why: a page that is read
tells that, once."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from foldline import Brief, Message
from foldline._facts.reading import facts_of
from foldline._page.extract import compose
from foldline.extend import extract
from talk import bash, runs, says, user

ASKED = user("Let the kiln's tests say how hot each firing was, please, and tell me which of them fail today.")
BROKEN = bash("kiln test all", "Process exited with code 1\nOutput:\nerror: cannot read the clock of this machine")
CAUSE = says("The suite stops at this machine's own clock, and not at the code of the kiln.")
PASSED = "Process exited with code 0\nOutput:\n12 passed"
WITH_CLOCK = bash("env KILN_CLOCK=none kiln test all", PASSED)
DONE = says(
    "All firings say how hot they were: 12 tests pass, none fails, and there was nothing to change in the kiln."
)


ROOM = Brief(2_000)


def told(*messages: Message, brief: Brief = ROOM) -> list[str]:
    page = compose(brief, facts_of([ASKED, *messages]))
    return [line for line in page.splitlines() if "cannot read the clock" in line]


LINE = (
    "- `kiln test all` → exit 1; error: cannot read the clock of this machine – the agent: The suite stops at this machine's own "
    "clock, and not at the code of the kiln; remedy: `KILN_CLOCK=none`"
)


def test_a_failure_is_told_with_how_the_command_has_been_run_since() -> None:
    assert told(*BROKEN, CAUSE, *WITH_CLOCK, DONE) == [LINE]


def test_it_is_told_once() -> None:
    assert told(*BROKEN, CAUSE, *WITH_CLOCK, *BROKEN, CAUSE, *WITH_CLOCK, DONE) == [LINE]


def test_what_is_not_allowed_and_what_was_missing_speak_for_themselves() -> None:
    asked = {"cmd": "kiln test all", "sandbox_permissions": "require_escalated"}
    [allowed] = told(*BROKEN, *runs("exec_command", asked, PASSED), DONE)
    assert allowed.endswith("; remedy: `sandbox_permissions=require_escalated`")
    [added] = told(*BROKEN, *bash("brew install clock"), *bash("kiln test all", PASSED), DONE)
    assert added.endswith("; remedy: `brew install clock`")


def test_what_is_installed_is_no_remedy_for_wrong_code() -> None:
    broke = bash("kiln test all", "Process exited with code 1\nOutput:\nTypeError: fire() cannot read the clock twice")
    assert told(*broke, *bash("pip install clock"), *bash("kiln test all", PASSED), DONE) == []


@pytest.mark.parametrize(
    "behind",
    [
        [CAUSE, *bash("kiln test all", PASSED)],
        [CAUSE, *WITH_CLOCK, *bash("kiln test all", PASSED)],
        [CAUSE, *bash("env KILN_CLOCK=none kiln test all", "Process exited with code 1\nOutput:\nerror: cannot read the clock of this machine"), *bash("kiln test all", PASSED)],
        WITH_CLOCK,
    ],
    ids=["passed as it was", "run again as before", "failed so as well", "nobody said why"],
)  # fmt: skip
def test_a_failure_that_is_over_is_not_told(behind: Sequence[Message]) -> None:
    assert told(*BROKEN, *behind, DONE) == []


def test_a_page_that_fills_its_budget_tells_no_remedy() -> None:
    lines = told(*BROKEN, CAUSE, *WITH_CLOCK, DONE, brief=Brief(2_000, fills="words"))
    assert not any("remedy" in line for line in lines)


def test_another_command_that_was_run_so_says_nothing_of_the_first() -> None:
    [line] = told(*BROKEN, CAUSE, *bash("env KILN_CLOCK=none kiln test glaze", PASSED), DONE)
    assert "remedy" not in line


MENDS = runs("edit", {"path": "src/clock.py", "oldText": "now()", "newText": "given()"})
MENDS_BY_COMMAND = bash("sed -i 's/now/given/' src/clock.py")
LOGS = runs("write", {"path": "notes/log.md", "content": "# Firings"}, id="log")


@pytest.mark.parametrize(
    ("behind", "told_of"),
    [
        (MENDS, "; mended in clock.py"),
        (MENDS_BY_COMMAND, "; mended since"),
        ([*MENDS, *LOGS], "; mended in clock.py, log.md"),
        ([*MENDS, *bash("sed -i 's/tide/tides/' harbour.py")], "; mended since"),
    ],
    ids=["by a tool", "by a command", "in one of two files", "in one file and what a command wrote"],
)
def test_a_check_that_failed_until_something_was_edited_is_told_with_that(
    behind: Sequence[Message], told_of: str
) -> None:
    [line] = told(*BROKEN, *behind, *bash("kiln test all", PASSED))
    assert line == f"- `kiln test all` → exit 1; error: cannot read the clock of this machine{told_of}"


def test_a_script_that_was_written_anew_is_none_that_was_mended() -> None:
    broken = bash(
        "python3 kiln.py", "Process exited with code 1\nOutput:\nTypeError: cannot read the clock of this machine"
    )
    anew = runs("write", {"path": "kiln.py", "content": "print(12)"})
    assert told(*broken, *anew, *bash("python3 kiln.py", PASSED), DONE) == []


def test_a_run_that_the_user_stopped_is_no_remedy() -> None:
    asked = {"cmd": "kiln test all", "sandbox_permissions": "require_escalated"}
    stopped = runs("exec_command", asked, "Wall time: 41.3 seconds\naborted by user")
    assert not any("remedy" in line for line in told(*BROKEN, *stopped))


def test_of_several_edited_files_those_are_named_that_the_failure_names() -> None:
    broken = bash("kiln test all", "Process exited with code 1\nOutput:\nsrc/clock.py:3: error: cannot read the clock")
    [line] = told(*broken, *MENDS, *LOGS, *bash("kiln test all", PASSED))
    assert line.endswith("; mended in clock.py")


def test_where_a_report_stands_behind_it_that_says_what_matters_of_it() -> None:
    assert told(*BROKEN, *MENDS, *bash("kiln test all", PASSED), DONE) == []


@pytest.mark.parametrize(
    ("command", "failed"),
    [
        ("git push origin main", "exited with code 1\nOutput:\nerror: cannot read the clock of this machine"),
        ("kiln test all", "exited with code 124\nOutput:\nerror: cannot read the clock: timed out"),
        ("python3 - <<'E'\nimport kiln\nE", "exited with code 1\nOutput:\nTypeError: cannot read the clock"),
    ],
    ids=["no check", "cut off", "given code"],
)
def test_what_an_edit_does_not_mend_is_not_told_with_it(command: str, failed: str) -> None:
    assert told(*bash(command, f"Process {failed}"), *MENDS, *bash(command, PASSED), DONE) == []


@pytest.mark.parametrize(
    ("behind", "told_of"),
    [
        ([], ["`./weigh_boxes.sh crate_12` → exit 1"]),
        (bash("./weigh_boxes.sh crate_12", "[Command finished with exit code 0]"), []),
        (
            bash("./weigh_boxes.sh crate_14", "[Command finished with exit code 1]"),
            ["`./weigh_boxes.sh crate_14` → exit 1"],
        ),
    ],
    ids=["since then not run", "passed since", "failed again"],
)
def test_a_script_that_failed_without_a_word_is_told_where_it_did_not_pass_since(
    behind: list[Message], told_of: list[str]
) -> None:
    failed = bash("./weigh_boxes.sh crate_12", "[Command finished with exit code 1]")
    page = compose(Brief(2_000), facts_of([user("Make a script that weighs a box."), *failed, *behind]))
    assert [line.removeprefix("- ") for line in page.splitlines() if "→ exit" in line] == told_of


def test_a_tool_that_never_did_what_it_should_is_told_also_where_the_report_does_not_speak_of_it() -> None:
    order = {"client": "cliente_9001", "item": "tile_88", "on": "2026-04-06 15:00"}
    failed = runs("register_order", order, "Error: '<' not supported between str and datetime")
    sorry = says("I am sorry. You are now being transferred to a colleague of mine.")
    asked = user("Please order tile_88 for cliente_9001.")
    page = compose(ROOM, facts_of([asked, *failed, sorry, user("And what does tile_12 cost?")]))
    assert "- register_order client=cliente_9001, item=tile_88" in page
    worked = runs("register_order", order, "order_1 is registered")
    page = compose(ROOM, facts_of([asked, *failed, *worked, sorry, user("And what does tile_12 cost?")]))
    assert "not supported" not in page


def test_an_option_that_none_of_the_runs_had_that_failed_is_how_it_is_done() -> None:
    address = "https://quay.example/watch?v=tide"
    failing = [
        m
        for given in ("-o tide.mp4", "--agent seagull", "--agent gull --retries 3")
        for m in bash(f"fetcher {given} '{address}'", "ERROR: HTTP Error 403: Forbidden\nexit code: 1", error=True)
    ]
    passed = bash(f"fetcher --client harbour '{address}'", "100% of 16.23MiB")
    told = extract(
        Brief(4_000), [user("Fetch the film of the tide."), *failing, *passed, says("The film is there.")]
    ).text
    assert "; remedy: `--client harbour`" in told
    alone = [user("Fetch the film of the tide."), *failing, says("It cannot be had.")]
    assert "remedy" not in extract(Brief(4_000), alone).text
