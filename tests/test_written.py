"""How texts are read and written again: the code of a request, tables, labels of lists, pieces of sentences."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from foldline import Brief, Message
from foldline.extend import extract
from talk import bash, runs, says, user

LATER = user("Now write the release notes of the exporter for the people at the desk, half a page of plain words.")


def page(messages: Sequence[Message], tokens: int = 2_000) -> str:
    """The page of some messages, where there is no budget to be filled."""
    return extract(Brief(tokens), messages).text


def lines(messages: Sequence[Message], tokens: int = 2_000) -> list[str]:
    """The same by its lines."""
    return page(messages, tokens).splitlines()


# -- the code of a request --------------------------------------------------------------------------------------------

STEPS = """Implement this plan for the export of the mirrors:

### Step 1: give the lock back
After `lock = take(mirror)` in `export.py`, add:
```python
finally:
    give_back(lock)
```

### Step 2: wait for the share
Then call it with a timeout:
```python
wait_for(share_9, seconds=45)
```
"""


def test_a_step_of_the_task_has_the_code_that_it_leads_in_as_it_was_written() -> None:
    told = lines([user(STEPS), *runs("edit", {"path": "export.py", "oldText": "a", "newText": "b"})])
    at = told.index("> After `lock = take(mirror)` in `export.py`, add:")
    assert told[at + 1 : at + 5] == ["> ```python", "> finally:", ">     give_back(lock)", "> ```"]
    assert "> wait_for(share_9, seconds=45)" in told


def test_code_that_stands_in_the_task_is_not_told_in_pieces_where_it_was_pasted() -> None:
    looked = bash("grep -rn share_9 src", "src/export.py:12: share_9 = open_share()")
    text = page([user(STEPS), *looked, says("I wait for share_9 with wait_for now, and call give_back for the lock.")])
    assert "(pasted)" not in text
    assert text.count("wait_for(share_9, seconds=45)") == 1


def test_of_a_long_block_the_task_has_the_first_lines() -> None:
    body = "\n".join(f"    mirror_{i}.export(share_{i})" for i in range(40))
    asked = f"Add the helper that exports all of the mirrors one after the other:\n```python\ndef export_all():\n{body}\n```\nCall it from main."
    told = lines([user(asked), *runs("edit", {"path": "export.py", "oldText": "a", "newText": "b"})])
    at = told.index("> def export_all():")
    assert told[at + 1] == ">     mirror_0.export(share_0)"
    end = told.index("> Call it from main.")
    assert told[end - 2 : end] == ["> …", "> ```"]
    assert end - at <= 8


@pytest.mark.parametrize("language", ["", "text", "console", "log"])
def test_a_log_that_was_pasted_is_no_part_of_the_task(language: str) -> None:
    log = f"```{language}\n2026-05-04 11:02:07 mirror_7 waits for lock_4\n2026-05-04 11:02:52 mirror_7 gave up\n```"
    asked = user(f"The nightly export of the mirrors fails, please find out why:\n{log}\nIt ran well on Monday.")
    text = page([asked, *runs("edit", {"path": "export.py", "oldText": "a", "newText": "b"})])
    task = text.partition("## Task now\n")[2].partition("\n\n## ")[0]
    assert "It ran well on Monday." in task
    assert "lock_4" not in task


def test_what_a_terminal_showed_in_a_fence_of_its_shell_is_no_part_of_the_task() -> None:
    shown = "```bash\n$ make export\nmirror_7 waits for lock_4\n```"
    asked = user(f"The nightly export of the mirrors fails, please find out why:\n{shown}\nIt ran well on Monday.")
    text = page([asked, *runs("edit", {"path": "export.py", "oldText": "a", "newText": "b"})])
    assert "lock_4" not in text.partition("## Task now\n")[2].partition("\n\n## ")[0]


# -- tables -----------------------------------------------------------------------------------------------------------

WHERE = """This is what the exporter writes where:

| Place | By hand | By the clock |
|---|---|---|
| Folder of the mirror | nothing (clean!) | `export.lck` |
| Folder of the share | `Path: x`<br/>`Run: y` | - |

The desk reads neither of them."""


def test_a_cell_of_a_table_is_told_with_the_name_of_its_column() -> None:
    told = lines([user("Which files does the exporter write, and where? Look at both ways."), says(WHERE), LATER])
    assert "  - Folder of the mirror: By hand: nothing (clean!); By the clock: `export.lck`" in told
    assert "  - Folder of the share: By hand: `Path: x` / `Run: y`; By the clock: -" in told


def test_a_long_row_is_told_in_one_piece() -> None:
    reason = (
        "It waits for the lock of the share. That is given back late. The desk sees it at nine. Nobody is told of it."
    )
    table = f"| Mirror | Finding | Grade |\n|---|---|---|\n| mirror_7 | {reason} | high |\n| mirror_8 | fine | low |"
    told = lines([user("Which mirrors are late, and how bad is that for the desk?"), says(f"Both:\n\n{table}"), LATER])
    assert f"  - mirror_7: Finding: {reason}; Grade: high" in told


def test_what_stands_behind_a_table_is_no_row_of_it() -> None:
    told = page([user("Which files does the exporter write, and where? Look at both ways."), says(WHERE), LATER])
    assert "The desk reads neither of them." in told


def test_a_bar_in_a_cell_parts_none() -> None:
    table = (
        "| Call | Before | Now |\n|---|---|---|\n| `cat a \\| wc` | 12 s | slow path |\n| `cat b` | 3 s | fast path |"
    )
    told = lines([user("Measure how long the calls of the exporter take now."), says(f"Measured:\n\n{table}"), LATER])
    assert "  - `cat a | wc`: Before: 12 s; Now: slow path" in told


def test_a_numbered_row_is_named_by_what_stands_behind_its_number() -> None:
    table = "| # | Finding | Grade |\n|---|---|---|\n| 1 | The lock is never given back | high |\n| 2 | The share is slow | low |"
    told = lines([user("Which mirrors are late, and how bad is that for the desk?"), says(f"Two:\n\n{table}"), LATER])
    assert "  1. The lock is never given back: Grade: high" in told
