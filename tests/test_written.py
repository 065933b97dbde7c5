"""How texts are read and written again: the code of a request, tables, labels of lists, pieces of sentences."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from foldline import Brief, Message
from foldline._facts.reading import facts_of
from foldline.extend import SUMMARY_PREFIX, SUMMARY_SUFFIX, Text, ToolCall, ToolResult, extract
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


def test_of_a_trace_that_the_task_leads_in_it_has_the_error_with_which_that_ends() -> None:
    trace = '```\nTraceback (most recent call last):\n  File "export.py", line 9, in export\n    raise Gone(lock_4)\nLockError: lock_4 is gone\n```'
    asked = user(f"The nightly export of the mirrors fails with this:\n{trace}\nIt ran well on Monday.")
    told = lines([asked, *runs("edit", {"path": "export.py", "oldText": "a", "newText": "b"})])
    at = told.index("> The nightly export of the mirrors fails with this:")
    assert told[at + 1 : at + 4] == ["> …", "> LockError: lock_4 is gone", "> It ran well on Monday."]


def test_a_task_that_a_program_wrote_twice_is_told_once() -> None:
    asked = "The nightly export of the mirrors fails since Monday, please find out why it does and mend what is wrong there."
    told = lines([user(f"{asked}\n{asked}"), *runs("edit", {"path": "export.py", "oldText": "a", "newText": "b"})])
    assert [line for line in told if "nightly export" in line and line.startswith("> ")] == [f"> {asked}"]


PLAN = """Implement the following plan:

# Plan: shares that answer late

## The wait
Each share waits longer the later it answers, by this rule:

```{language}
wait = clamp(5, 90, base + 2 * late)
late = hours of the last week in which it was asleep
```

## The desk
The desk sees how long that is.
{log}"""


@pytest.mark.parametrize("language", ["", "text", "toml"])
def test_in_a_plan_what_stands_between_fences_says_what_is_wanted(language: str) -> None:
    plan = user(PLAN.format(language=language, log=""))
    told = lines([plan, *runs("edit", {"path": "export.py", "oldText": "a", "newText": "b"})])
    at = told.index("> Each share waits longer the later it answers, by this rule:")
    assert told[at + 2] == "> wait = clamp(5, 90, base + 2 * late)"
    assert told[at + 5] == "> ## The desk"
    assert not any("(pasted)" in line for line in told)


def test_in_a_plan_quotations_and_records_are_no_pastes() -> None:
    given = '\n## Read first\n> Shares that sleep answer on the second call.\n\n## Settings\n{"share_9": 45,\n "share_10": 90}\n'
    plan = user(PLAN.format(language="", log=given))
    told = lines([plan, *runs("edit", {"path": "export.py", "oldText": "a", "newText": "b"})])
    at = told.index("> ## Read first")
    assert told[at + 1].endswith("> Shares that sleep answer on the second call.")
    assert told[at + 2 : at + 5] == ["> ## Settings", '> {"share_9": 45,', '>  "share_10": 90}']
    assert not any("(pasted)" in line for line in told)


@pytest.mark.parametrize(
    "log",
    [
        "```\n2026-05-04 11:02:07 mirror_7 waits for lock_4\n```",
        "```\n$ make export\nmirror_7 waits for lock_4\n```",
        '```\nTraceback (most recent call last):\n  File "export.py", line 7, in take\nValueError: lock_4\n```',
    ],
)
def test_in_a_plan_a_log_between_fences_is_no_part_of_the_task(log: str) -> None:
    plan = user(PLAN.format(language="", log=f"\n## Seen\n{log}\nThat was on Monday.\n"))
    text = page([plan, *runs("edit", {"path": "export.py", "oldText": "a", "newText": "b"})])
    task = text.partition("## Task now\n")[2].partition("\n\n## ")[0]
    assert "That was on Monday." in task
    assert "wait = clamp" in task
    assert "lock_4" not in task


def test_of_a_document_that_is_too_long_no_pieces_of_code_are_told() -> None:
    body = "\n".join(f"share_{n}.wait(hours={n})" for n in range(3_000))
    plan = user(PLAN.format(language="", log=f"\n## Shares\n```python\n{body}\n```\nThat is all.\n"))
    looked = bash("grep -rn share_9 src", "src/export.py:12: share_9 = open_share()")
    text = page([plan, *looked, says("share_9.wait(hours=9) is there.")], 4_000)
    assert "That is all." in text
    assert "(pasted)" not in text


def test_rules_between_the_parts_of_a_document_are_left_out() -> None:
    asked = user(
        "# Shares\n\nEach share waits.\n\n---\n\n# Desk\n\nIt says so.\n\n***\n\n```yaml\na: 1\n---\nb: 2\n```\n"
    )
    told = lines([asked, *runs("edit", {"path": "export.py", "oldText": "a", "newText": "b"})])
    at = told.index("> # Shares")
    assert told[at + 1 : at + 9] == [
        "> Each share waits.", "> # Desk", "> It says so.", "> ```yaml", "> a: 1", "> ---", "> b: 2", "> ```",
    ]  # fmt: skip


# -- answers to what was asked ----------------------------------------------------------------------------------------

WAYS = "The share answers late on Mondays. How long is the exporter to wait for it?"
WHO = "Who is told where it gives up? The desk reads its mail at noon."


def chosen(*answers: tuple[str, str]) -> list[Message]:
    """What the user chose where a tool of Claude Code asked."""
    said = ", ".join(f'"{question}"="{answer}"' for question, answer in answers)
    asked = {"questions": [{"question": question, "options": []} for question, _ in answers]}
    return runs("AskUserQuestion", asked, f"User has answered your questions: {said}. You can now continue.")


def test_an_answer_stands_beside_what_it_answers() -> None:
    plan = user("Make the nightly export of the mirrors wait for the share, and ask me what you need to know.")
    edit = runs("edit", {"path": "export.py", "oldText": "a", "newText": "b"})
    told = lines([plan, *chosen((WAYS, "Ninety seconds"), (WHO, "The desk")), *edit])
    assert "> Ninety seconds (to “How long is the exporter to wait for it?”)" in told
    assert "> The desk (to “Who is told where it gives up?”)" in told


def test_an_answer_has_no_question_where_they_cannot_be_told_apart() -> None:
    plan = user("Make the nightly export of the mirrors wait for the share, and ask me what you need to know.")
    asked = {"questions": [{"question": WAYS}, {"question": WHO}]}
    both = runs("AskUserQuestion", asked, f'User has answered your questions: "{WAYS}"="Ninety seconds".')
    text = page([plan, *both, *runs("edit", {"path": "export.py", "oldText": "a", "newText": "b"})])
    assert "> Ninety seconds\n" in text


# -- tables -----------------------------------------------------------------------------------------------------------

WHERE = """This is what the exporter writes where:

| Place | By hand | By the clock |
|---|---|---|
| Folder of the mirror | nothing (clean!) | `export.lck` |
| Folder of the share | `Path: x`<br/>`Run: y` | - |

The desk reads neither of them."""


def test_a_table_is_told_as_it_was_written_below_the_names_of_its_columns() -> None:
    told = lines([user("Which files does the exporter write, and where? Look at both ways."), says(WHERE), LATER])
    at = told.index("| Folder of the mirror | nothing (clean!) | `export.lck` |")
    assert told[at - 1] == "| --- | --- | --- |"
    assert told[at + 1] == "| Folder of the share | `Path: x` / `Run: y` | - |"


def test_a_long_row_is_told_in_one_piece() -> None:
    reason = (
        "It waits for the lock of the share. That is given back late. The desk sees it at nine. Nobody is told of it."
    )
    reason = f"{reason} The lock of mirror_7 is asked for at nine, at noon and at six, by worker_2 and then by worker_3 as well."
    table = f"| Mirror | Finding | Grade |\n|---|---|---|\n| mirror_7 | {reason} | high |\n| mirror_8 | fine | low |"
    told = lines([user("Which mirrors are late, and how bad is that for the desk?"), says(f"Both:\n\n{table}"), LATER])
    assert f"| mirror_7 | {reason} | high |" in told


def test_what_stands_behind_a_table_is_no_row_of_it() -> None:
    told = page([user("Which files does the exporter write, and where? Look at both ways."), says(WHERE), LATER])
    assert "The desk reads neither of them." in told


def test_a_bar_in_a_cell_parts_none() -> None:
    table = (
        "| Call | Before | Now |\n|---|---|---|\n| `cat a \\| wc` | 12 s | slow path |\n| `cat b` | 3 s | fast path |"
    )
    told = lines([user("Measure how long the calls of the exporter take now."), says(f"Measured:\n\n{table}"), LATER])
    assert "| `cat a \\| wc` | 12 s | slow path |" in told


def test_a_table_of_a_page_is_read_back_by_its_rows() -> None:
    table = "| Mirror | Finding |\n|---|---|\n| mirror_7 | the lock \\| the share | \n| mirror_8 | fine since noon |"
    told = page([user("Which mirrors are late, and how bad is that for the desk?"), says(f"Two:\n\n{table}"), LATER])
    again = facts_of([user(f"{SUMMARY_PREFIX}{told}{SUMMARY_SUFFIX}"), says("I go on.")])
    rows = [piece.text for piece in again.pieces if piece.item]
    assert rows == ["mirror_7 – the lock | the share", "mirror_8 – fine since noon"]


# -- labels and lists -------------------------------------------------------------------------------------------------

WEIGHED = """Here are the two ways to keep the lock.

### In a file

**Pros:**
- every mirror can read it

**Cons:**
- a dead worker_2 leaves it behind

### In the database

**Pros:**
- it is gone with its session

**Cons:**
- the share has no client for it
"""


def test_each_list_stands_below_its_own_label_however_often_the_label_comes() -> None:
    told = lines([user("Weigh the ways to keep the lock of a mirror against each other."), says(WEIGHED), LATER])
    at = told.index("  - every mirror can read it")
    assert told[at - 1 : at + 3] == [
        "In a file: Pros:",
        "  - every mirror can read it",
        "Cons:",
        "  - a dead worker_2 leaves it behind",
    ]
    at = told.index("  - it is gone with its session")
    assert told[at - 1 : at + 3] == [
        "In the database: Pros:",
        "  - it is gone with its session",
        "Cons:",
        "  - the share has no client for it",
    ]


def test_a_list_of_which_the_first_items_are_left_out_says_so_below_what_leads_it_in() -> None:
    items = "".join(
        f"- Ask mirror_{n} for the lock of share_{n}00 at {n + 10}:45 and log it in desk_{n}.log\n" for n in range(12)
    )
    asked = user(
        f"Write a script.\nThe script mirrors.sh must:\n- go on and on as you did it before, for as long as it takes, and as well as you can do that\n{items}"
    )
    told = lines([asked, *bash("ls", "a"), says("It is written: mirrors.sh asks them all."), LATER], 150)
    at = told.index("> The script mirrors.sh must:")
    assert told[at - 1 : at + 2] == ["> Write a script.", "> The script mirrors.sh must:", ">   …"]
    assert "Ask mirror_0" in told[at + 2]


def test_a_label_that_comes_again_stands_over_its_list_again() -> None:
    said = "**Pros:**\n- every mirror can read it\n\n**Cons:**\n- it stays behind\n\nThe database does without that.\n\n**Pros:**\n- it is gone with its session\n"
    told = lines([user("Weigh the ways to keep the lock of a mirror against each other."), says(said), LATER])
    assert told[told.index("  - it is gone with its session") - 1] == "Pros:"


def test_a_label_stands_once_over_a_list_with_words_in_between() -> None:
    said = "## Findings\n- mirror_7 never gives its lock back\n\nThat was seen on Tuesday.\n\n- the share_9 of the desk is slow"
    told = lines([user("Which mirrors are late, and how bad is that for the desk?"), says(said), LATER])
    assert told.count("Findings:") == 1


def test_the_first_item_of_a_list_is_no_announcement_because_the_line_over_it_is_one() -> None:
    thought = Message(
        "assistant",
        (
            Text(
                "Good. Let me analyze this. There are two kinds of failures:\n\n1. mirror_7 waits for lock_4 (seen 12 times)\n\n2. share_9 refuses the login (seen 3 times)"
            ),
            ToolCall("c", "bash", '{"command": "cat export.log"}'),
        ),
    )
    answer = Message("tool", (ToolResult("c", (Text("mirror_7 waits for lock_4"),)),))
    told = lines([user("The nightly export of the mirrors fails, please find out why."), thought, answer])
    at = told.index("  1. mirror_7 waits for lock_4 (seen 12 times)")
    assert told[at + 1] == "  2. share_9 refuses the login (seen 3 times)"


def test_of_the_steps_of_an_older_report_all_are_told_or_none() -> None:
    """The report is too long to be told again in whole: what was weighed goes before what was proposed."""
    weighed = "\n".join(
        f"- counter_{i} of the share is read by the desk at nine and by worker_{i} once more at noon" for i in range(26)
    )
    steps = "1. Try the plain export first, as it is done at night.\n2. If share_9 refuses it, export the mirrors one by one.\n3. Let a flag `--one-by-one` say so from the beginning."
    report = f"The size of a mirror is not known before the export.\n\nWhat is cheap\n{weighed}\n\nWhat I would do\n{steps}\n\nThat keeps the small mirrors fast."
    newer = [
        m
        for i in range(4)
        for m in (
            user(f"Now look at mirror_{i} and tell me whether its lock is given back as it should be."),
            says(f"The lock of mirror_{i} is given back.\nIt took {i} s.\nNobody waits.\nThe log says so as well."),
        )
    ]
    told = page(
        [user("Can the exporter know how big a mirror is before it begins?"), says(report), *newer, LATER], 6_000
    )
    said = [step in told for step in steps.splitlines()]
    assert all(said)


# -- the names of an edit ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("lock = take()", "// as in GiveBack it waits\nlock = take()", ""),
        ("lock = take()", "lock = take()  # see giveBack", ""),
        ('import (\n\t"os"\n)\n\nfunc Export() {', 'import (\n\t"os"\n\t"time"\n)\n\nfunc Export() {', ""),
        ("func Export() {\n}", "func Export() {\n}\n\nfunc ExportAll() {\n}", "ExportAll"),
        ("run(mirror)", "func run() {}\nrun(mirror)", "run"),
        ("func Export(m Mirror) {", "func Export(m Mirror, s Share) {", "Export"),
        ("func Export() {\n\ta()\n}", "func Export() {\n\tb()\n}", "Export"),
        ("func Export() {\n\ta()\n}", "func Export() {\n}", "Export"),
        ("func Export() {\n}\nvar a = 1", "func Export() {\n}\nvar a = 2", ""),
        ('{"on": 1, "off": 2}', '{"on": 1, "offAtNight": 2}', "offAtNight"),
        ("export(mirror)", "export(mirror, sharePath)", ""),
        ("export(mirror)", "export_all(mirror)", "export_all"),
        ("", "wait_for = 45", "wait_for"),
        ("if err != nil {", "if errors.Is(err, ErrNoShare) {", "ErrNoShare"),
        ('log("a")', 'log("the LockFile is gone")', ""),
    ],
)
def test_an_edit_is_named_by_what_it_defines_and_not_by_what_stands_beside_it(old: str, new: str, names: str) -> None:
    edit = runs("Edit", {"file_path": "export.go", "old_string": old, "new_string": new})
    told = page([user("The nightly export of the mirrors fails, please find out why."), *edit])
    assert f"- Edit export.go{f' ({names})' if names else ''}" in told.splitlines()


def test_a_patch_that_defines_nothing_is_named_by_the_function_that_it_says_it_stands_in() -> None:
    patch = "*** Begin Patch\n*** Update File: export.go\n@@ func ExportAll(m Mirror) {\n-\tlock := take()\n+\tlock := takeFor(m)\n*** End Patch"
    told = page([user("The nightly export of the mirrors fails, please find out why."), *runs("apply_patch", patch)])
    assert "export.go (ExportAll)" in told


def test_a_diff_is_named_by_the_function_that_its_place_names() -> None:
    patch = "--- a/export.py\n+++ b/export.py\n@@ -12,3 +12,3 @@ def export_all(mirrors):\n-    lock = take()\n+    lock = take(45)\n"
    told = page(
        [
            user("The nightly export of the mirrors fails, please find out why."),
            *runs("apply_diff", {"path": "export.py", "diff": patch}),
        ]
    )
    assert "export.py (export_all)" in told


# -- ends of sentences, and commands of several lines -----------------------------------------------------------------


def test_the_end_of_a_sentence_stands_with_the_code_that_it_is_about() -> None:
    report = "The lock is given back.\n\nVerification:\n```bash\nmake export MIRROR=mirror_7\n```\npassed."
    told = lines([user("Give the lock of mirror_7 back once it is exported, please."), says(report), LATER])
    assert "passed." not in told
    assert any("make export MIRROR=mirror_7" in line and line.endswith("passed.") for line in told)


def test_of_code_that_is_too_long_for_a_line_the_beginning_is_told() -> None:
    command = "go test ./internal/export -run '" + "|".join(f"TestMirror{i}GivesItsLockBack" for i in range(20)) + "'"
    report = f"The lock is given back.\n\nVerification:\n```bash\n{command}\n```\npassed."
    told = lines([user("Give the lock of mirror_7 back once it is exported, please."), says(report), LATER])
    assert "passed." not in told
    assert any("go test ./internal/export -run 'TestMirror0GivesItsLockBack" in line for line in told)


def test_the_lines_of_a_command_that_sets_a_folder_are_told_apart() -> None:
    made = bash('tmp=$(mktemp -d)\ncd "$tmp"\nwget mirror_7/a.tar\nmake export', "exported 12 files of share_9")
    text = page([user("Give the lock of mirror_7 back once it is exported, please."), *made])
    assert "`wget mirror_7/a.tar; make export`" in text


def test_a_loop_is_told_as_it_is_written() -> None:
    made = bash("for m in a b\ndo\n  make export M=$m\ndone", "exported 12 files of share_9")
    text = page([user("Give the lock of mirror_7 back once it is exported, please."), *made])
    assert "for m in a b; do make export M=$m; done" in text


# -- what the user is asked -------------------------------------------------------------------------------------------

ASKS = """I found two orders of the desk:
- mirror_7: paid on Tuesday, 45.10
- mirror_8: paid on Friday, 12.90

Please confirm that both of them go back, and tell me why.

The money comes back in five to seven days, as the house always does it. {more}"""


def test_what_the_user_is_asked_to_confirm_is_open_until_it_is_answered() -> None:
    asked = user("Cancel all orders of the desk that are still open, please.")
    report = says(ASKS.format(more="Nothing else is done until then."))
    waits = page([asked, report]).partition("## State\n")[2].splitlines()
    assert any(line.endswith("Please confirm that both of them go back, and tell me why.") for line in waits)
    over = page([asked, report, user("Both, they were ordered twice."), says("Both orders went back.")])
    assert "Please confirm" not in over.partition("## State\n")[2]


def test_a_paragraph_behind_a_list_begins_a_line_where_its_beginning_is_left_out() -> None:
    """What is left out is long, and says again what the items say."""
    again = (
        "mirror_7 was paid on Tuesday with 45.10 and mirror_8 was paid on Friday with 12.90 as the desk has it. " * 2
    )
    report = f"I found two orders:\n- mirror_7: paid on Tuesday, 45.10\n- mirror_8: paid on Friday, 12.90\n\n{again}The card_3095 gets it back on 2026-05-11."
    told = lines([user("Cancel all orders of the desk that are still open, please."), says(report), LATER], 80)
    assert any(line.startswith("The card_3095 gets it back") for line in told)


def test_a_few_lines_that_the_words_of_a_task_lead_in_belong_to_it() -> None:
    error = "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xc3 in position 74"
    told = page(
        [
            user(
                f"The displays show nothing. The log of one says\n\n    {error}\n\nfor the calendar of the depot. Mend it."
            ),
            says("I look."),
        ]
    ).partition("## What")[0]
    assert f"> {error}" in told
    aside = page(
        [user(f"The displays show nothing. Mend that, please.\n\n    {error}\n\nThat was on Monday."), says("I look.")]
    ).partition("## What")[0]
    assert f"> {error}" not in aside
