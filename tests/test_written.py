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
