"""In a turn that no report closed the page tells how each thing came out that the agent tried, where the next came out otherwise."""

from __future__ import annotations

from collections.abc import Sequence

from foldline import Brief, Message
from foldline.extend import Text, extract
from talk import bash, says, user

ASKED = user("The kiln counts each firing twice. Please find out why, and mend it.")
REPORT = says("Each firing was counted where it began and where it ended; only its end counts now.")


def ended(failing: str, failed: int) -> str:
    return (
        f"FAILED tests/test_kiln.py::{failing} - assert {failed} == 0\n{failed} failed, 12 passed in 0.3s\nexit code: 1"
    )


def tries(said: str, command: str, failing: str, failed: int) -> list[Message]:
    called, answer = bash(command, ended(failing, failed), error=True)
    return [Message("assistant", (Text(said), *called.parts)), answer]


def checks(failing: str, failed: int) -> list[Message]:
    return bash("pytest tests/test_kiln.py", ended(failing, failed), error=True)


def lines(messages: Sequence[Message]) -> list[str]:
    told = extract(Brief(4_000), [ASKED, *messages]).text.splitlines()
    runs = (line.rstrip(":") for line in told if line.startswith("- `pytest"))
    return [line.partition("::")[2] for line in runs]


FIRST, SECOND = "test_glaze - assert 3 == 0 (3 failed, 12 passed)", "test_bisque - assert 2 == 0 (2 failed, 12 passed)"


def test_each_check_that_failed_otherwise_than_the_one_before_is_told() -> None:
    assert lines([*checks("test_glaze", 3), *checks("test_glaze", 3), *checks("test_bisque", 2)]) == [FIRST, SECOND]


def test_where_a_report_closed_the_turn_that_tells_it() -> None:
    assert lines([*checks("test_glaze", 3), *checks("test_bisque", 2), REPORT]) == [SECOND]


def test_what_was_tried_stands_beside_it_where_the_command_did_both() -> None:
    said = "I will count a firing of kiln_9 only at its end, because the clock of kiln_9 stops there."
    changes = "python3 - <<'E'\nopen('kiln.py', 'w').write('count_end()')\nE\npytest tests/test_kiln.py"
    told = extract(Brief(4_000), [ASKED, *checks("test_glaze", 3), *tries(said, changes, "test_bisque", 2)]).text
    assert said in told
