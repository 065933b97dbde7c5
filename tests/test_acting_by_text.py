"""Agents that act by text with an editor of their own: what they open, create and edit are files."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from foldline import Message
from foldline._facts.reading import facts_of
from talk import says, user

PROMPT = user("Please fix the tide of harbour_9.\nRemember, YOU CAN ONLY ENTER ONE COMMAND AT A TIME in this shell.")
PLACE = "\n(Open file: /port/lib/tides.py)\n(Current directory: /port)\nbash-$"
SHOWN = f"[File: /port/lib/tides.py (3 lines total)]\n1:TIDES = 9\n2:\n3:{PLACE}"
EDITED = f"[File: /port/lib/tides.py (3 lines total)]\n1:TIDES = 8\nFile updated. Please review the changes.{PLACE}"
REFUSED = f"Your proposed edit has introduced new syntax error(s). Please understand the fixes and retry your edit commmand.\n\nERRORS:\n- E999 SyntaxError: unmatched ')'\n{PLACE}"  # fmt: skip
EDIT = "edit 1:1\nTIDES = 8\nend_of_edit"


def acts(command: str, outcome: str) -> list[Message]:
    return [says(f"I go on.\n```\n{command}\n```"), user(outcome)]


def files(messages: Sequence[Message]) -> list[tuple[str, str]]:
    return [(file.path, file.state) for file in facts_of([PROMPT, *messages]).files]


def test_an_edit_is_one_of_the_file_that_is_open() -> None:
    assert files([*acts("open lib/tides.py 3", SHOWN), *acts(EDIT, EDITED)]) == [("lib/tides.py", "modified")]


def test_one_that_was_refused_changed_nothing() -> None:
    opened = acts("open lib/tides.py", SHOWN)
    assert files([*opened, *acts(EDIT, REFUSED)]) == [("lib/tides.py", "read")]


def test_a_file_that_is_created_and_removed_is_gone() -> None:
    made = acts("create try.py", f"[File: /port/try.py (1 lines total)]\n1:{PLACE}")
    assert files(made) == [("try.py", "created")]
    assert files([*made, *acts("rm try.py", f"Your command ran successfully and did not produce any output.{PLACE}")]) == [("try.py", "deleted")]  # fmt: skip


@pytest.mark.parametrize("command", ["open -a Notes", "create_all.sh lib", "edit.py 1:1"])
def test_programs_that_are_called_alike_are_commands(command: str) -> None:
    assert files(acts(command, "done")) == []


def test_a_script_that_says_itself_that_it_is_through_closes_its_error() -> None:
    failed = acts("python try.py", f"Traceback (most recent call last):\n  File 'try.py'\nValueError: counted twice{PLACE}")  # fmt: skip
    works = acts("python try.py", f"Script completed successfully, no errors. Result: True\n{PLACE}")
    assert [fault.resolved for fault in facts_of([PROMPT, *failed, *works]).faults] == [True]
