"""An earlier summary on a page: by its own order, plainly apart from what came since, and without what that made superfluous."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from foldline import Brief, Message
from foldline._facts.foreign import facts_of_prose
from foldline.extend import extract
from talk import bash, runs, says, user

OPENED = "This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion.\n\nSummary:\n"
SUMMARY = user(f"""{OPENED}1. Primary Request and Intent:
   - Let the tide table of Husum load from the harbour's own server
   - Print the table in two columns
   - Always write the tests of the loader first

2. Key Technical Concepts:
   - **Low water**: counted from `chart_datum`, never from the mean

3. Files and Code Sections:
   - **`src/tides/loader.py`**
     - Reads the harbour's feed
       - by `fetch_feed`, with three attempts
   - **`src/tides/printer.py`**
     - Changed to set the table in one column
   - **`src/tides/cache.py`**
     - Keeps a table for a day, whatever the harbour says

4. Errors and fixes:
   - **Rows came twice**: The feed repeats a row at midnight. Root cause: it counts both days. Fix: `drop_midnight` in the loader.

5. Problem Solving:
   - The tide table loads from the harbour's server of Husum since `fetch_feed` is there
   - Caching by the browser was rejected, as the harbour sets no date

6. All user messages:
   - "load the table from the harbour, not from the mirror"
   - "never commit without running the checks"

7. Current Work:
   - Current branch: `tide-table` at 41ac09e
   - Half of `printer.py` is moved
""")
WORK = [
    *runs("Edit", {"file_path": "/srv/tides/src/tides/loader.py", "old_string": "a", "new_string": "b"}),
    *bash("git commit -am 'Load by season'", "[tide-table 7fe12d0] Load by season\n 1 file changed, 2 insertions(+)"),
    says(
        "The loader asks for one season at a time now, and the change is committed. The tests of the loader were written first, as always."
    ),
]
MORE = user("Now let the loader ask the harbour for one season at a time, since whole years take too long.")
LATER = user("Write a short note for the harbour master about what the loader asks for and how often it does.")


def page(messages: Sequence[Message], tokens: int = 3_000, **brief: str) -> str:
    return extract(Brief(tokens, **brief), messages).text


def earlier(messages: Sequence[Message]) -> list[str]:
    """The lines of a page that tell the earlier summary."""
    told = page(messages).partition("(an earlier summary")[2].partition("\n## ")[0]
    return told.partition("(since that summary)")[0].splitlines()[1:]


def test_its_headings_stand_in_lines_of_their_own_and_its_items_as_far_in_as_they_were() -> None:
    told = earlier([SUMMARY, says("I go on with the printer.")])
    at = told.index("Files and Code Sections:")
    assert told[at + 1 : at + 6] == [
        "  - `src/tides/loader.py`",
        "    - Reads the harbour's feed",
        "      - by `fetch_feed`, with three attempts",
        "  - `src/tides/printer.py`",
        "    - Changed to set the table in one column",
    ]
    assert {"Primary Request and Intent:", "Key Technical Concepts:", "Errors and fixes:"} <= {*told}


def test_what_is_said_behind_an_item_stays_in_its_line() -> None:
    told = earlier([SUMMARY, says("I go on with the printer.")])
    row = next(line for line in told if "Rows came twice" in line)
    assert "Root cause: it counts both days. Fix: `drop_midnight` in the loader." in row


def test_a_line_below_a_list_stands_by_itself_and_the_list_behind_it_has_no_heading_again() -> None:
    summary = user(
        f"{OPENED}## Notes\n   - the feed of `harbour_3` has no dates,\n     and `harbour_4` no hours\n   Both were asked about in `mail_7`:\n   - `harbour_3` answers in March\n"
    )
    assert earlier([summary, says("I go on with the printer.")]) == [
        "Notes:",
        "  - the feed of `harbour_3` has no dates, and `harbour_4` no hours",
        "Both were asked about in `mail_7`:",
        "  - `harbour_3` answers in March",
    ]


@pytest.mark.parametrize(
    "behind",
    [
        "Please continue the conversation from where we left it off without asking the user any further questions.",
        "Continue the conversation from where it left off without asking the user any further questions. Resume directly.",
    ],
)
def test_what_a_client_says_behind_a_summary_is_none_of_it(behind: str) -> None:
    summary = user(f"{OPENED}## Notes\n- the feed of `harbour_3` has no dates\n\n{behind}")
    assert "the conversation from where" not in "\n".join(earlier([summary, says("I go on with the printer.")]))


def test_a_page_says_where_it_begins_and_where_it_ends() -> None:
    told = page([SUMMARY, MORE, *WORK, LATER]).splitlines()
    begins, ends = told.index("(an earlier summary, in short)"), told.index("(since that summary)")
    assert begins < next(i for i, line in enumerate(told) if "chart_datum" in line) < ends
    assert next(i for i, line in enumerate(told) if "one season at a time now" in line) > ends


def test_one_that_is_told_as_a_whole_is_not_told_in_short() -> None:
    summary = user(f"{OPENED}## Key Decisions\n- Low water counts from `chart_datum`\n")
    assert "(an earlier summary)\n" in page([summary, says("I go on with the printer.")])


def test_a_heading_over_headings_is_told_once() -> None:
    summary = user(
        f"{OPENED}## Progress\n### Done\n- The loader reads `chart_datum`\n### Blocked\n- `mirror_4` does not answer\n\n## Notes\n- the master speaks Danish\n"
    )
    told = earlier([summary, says("I go on with the printer.")])
    assert [line for line in told if not line.startswith(" ")] == ["Progress:", "Done:", "Blocked:", "Notes:"]


def test_messages_of_then_are_told_until_the_user_asks_for_more_and_what_binds_in_them_stands_as_a_rule() -> None:
    before = earlier([SUMMARY, says("I go on with the printer.")])
    assert any("not from the mirror" in line for line in before)
    after = page([SUMMARY, MORE, *WORK, LATER])
    assert "not from the mirror" not in after
    ruling = after.partition("## Rules that stand\n")[2].partition("\n\n")[0]
    assert "never commit without running the checks" in ruling


def test_where_git_stood_then_is_not_told_beside_a_newer_commit() -> None:
    summary = user(
        f"{OPENED}## Critical Context\n- **Current branch**: `tide-table` at `41ac09e`\n- **Merged PRs on main**: #4 (`8d1f00c`), #7 (`41ac09e`)\n- the feed of `harbour_3` has no dates\n"
    )
    assert "41ac09e" in "\n".join(earlier([summary, says("I go on with the printer.")]))
    told = "\n".join(earlier([summary, MORE, *WORK]))
    assert "41ac09e" not in told
    assert "the feed of `harbour_3` has no dates" in told


def test_of_its_files_those_stay_that_something_names_since_and_what_was_found_in_others() -> None:
    told = "\n".join(earlier([SUMMARY, MORE, *WORK, LATER]))
    assert "by `fetch_feed`, with three attempts" in told
    assert "Keeps a table for a day, whatever the harbour says" in told
    assert "printer.py" not in told
    assert "one column" not in told


def test_its_goals_are_those_of_then_and_one_that_was_reached_is_not_told() -> None:
    told = earlier([SUMMARY, MORE, *WORK, LATER])
    assert "Primary Request and Intent (then):" in told
    assert any("Print the table in two columns" in line for line in told)
    assert not any("Let the tide table of Husum load" in line for line in told)
    assert any("Always write the tests of the loader first" in line for line in told)
    assert any("was rejected, as the harbour sets no date" in line for line in told)


def test_an_item_over_others_is_told_with_them_though_it_speaks_of_its_moment() -> None:
    summary = user(f"{OPENED}## Notes\n- `docs/plan.md` (created, needs updating)\n  - `season_2` follows `season_1`\n")
    told = earlier([summary, *WORK])
    assert told == ["Notes:", "  - `docs/plan.md` (created, needs updating)", "    - `season_2` follows `season_1`"]


def test_a_page_that_came_back_as_plain_text_still_tells_it_as_earlier() -> None:
    once = page([SUMMARY, MORE, *WORK, LATER])
    again = page([user(once), says("I go on with the note."), LATER]).splitlines()
    begins, ends = (next(i for i, line in enumerate(again) if mark in line) for mark in ("(an earlier", "(since that"))
    assert begins < next(i for i, line in enumerate(again) if "chart_datum" in line) < ends
    assert next(i for i, line in enumerate(again) if "one season at a time now" in line) > ends


def test_a_page_that_fills_its_budget_spends_none_of_it_on_frames() -> None:
    text = page([SUMMARY, MORE, *WORK, LATER], 1_000, fills="outputs")
    assert "(an earlier summary) " in text
    assert "since that summary" not in text


def test_what_was_at_hand_then_is_over_with_a_commit_and_what_was_pending_beside_it_is_not() -> None:
    more = """
8. Pending Tasks:
   - Move the station of Dagebüll to the new feed

9. Optional Next Step:
   - Run the checks and commit all of it together
"""
    summary = user(SUMMARY.text + more)
    begun = earlier([summary, *WORK[:2]])
    ended = earlier([summary, *WORK[:4]])
    assert any("commit all of it together" in line for line in begun)
    assert not any("commit all of it together" in line for line in ended)
    assert any("Dagebüll" in line for line in ended)


def test_headings_in_capitals_stand_over_what_they_head_and_what_was_pending_is_none_of_what_is_done() -> None:
    summary = (
        "<CONTEXT_STATE>\nUSER_CONTEXT: Count the berths\nCOMPLETED:\n- Set up the table\n- Wrote the import\n"
        "PENDING:\n- Run the tests\nVERSION_CONTROL_STATUS: nothing committed\n</CONTEXT_STATE>"
    )
    facts = facts_of_prose(summary)
    sections = {piece.text.removeprefix(f"{piece.under}: "): piece.section for piece in facts.pieces}
    assert sections["Wrote the import"] == "done"
    assert sections["Run the tests"] == "next"
    assert not any("CONTEXT_STATE>" in piece.text for piece in facts.pieces)


def test_files_that_it_marks_as_changed_are_told_as_such() -> None:
    """Claude Code writes beside a file's name what was done to it, in small letters or in capitals."""
    marked = f"""{OPENED}1. Files and Code Sections:
   - **`src/tides/loader.py`** (Modified 4 times)
     - Reads the harbour's feed
   - **`tests/test_loader.py`** (NEW — 12 tests)
   - **`src/tides/printer.py`** (the one of the office)
   - `src/tides/cache.py` (READ, then kept)

2. Current Work:
   - The loader reads by season
"""
    push = bash("git push", " + 33aef1c87..713578b15 main -> main")
    state, _, files = page([user("Go on."), user(marked), *push, says("I go on with the printer.")]).partition(
        "## Files\n"
    )
    assert files.splitlines()[:2] == ["- created: tests/test_loader.py", "- changed: src/tides/loader.py"]
    assert "printer.py" not in files
    assert "changed since" not in state


def test_an_item_that_leads_in_what_is_not_told_of_it_is_not_told() -> None:
    led = f"""{OPENED}1. Files and Code Sections:
   - **`src/tides/loader.py`**
     - What it needs:
     ```python
     needed = ["feed"]
     ```
     - What it brings:
       - the tides of a season

2. Current Work:
   - The loader reads by season
"""
    told = earlier([user(led), says("I go on with the printer.")])
    assert not any("What it needs" in line for line in told)
    assert "    - What it brings:" in told


def test_sections_in_tags_are_read_by_these() -> None:
    """As Copilot writes its summaries."""
    summary = (
        "<overview>\nThe pool was slow.\n</overview>\n\n<work_done>\n- The lock is held once.\n</work_done>\n\n"
        "<next_steps>\n- [ ] Measure it.\n</next_steps>\n\n<checkpoint_title>Lock of the pool</checkpoint_title>"
    )
    facts = facts_of_prose(summary)
    assert [(piece.text, piece.section) for piece in facts.pieces] == [
        ("overview: The pool was slow.", "context"),
        ("work done: The lock is held once.", "done"),
        ("next steps: Measure it.", "next"),
    ]
    assert [todo.text for todo in facts.todos] == ["Measure it."]


def test_what_is_not_ticked_in_a_list_of_what_is_done_keeps_its_box() -> None:
    summary = (
        "This session is being continued from a previous conversation. Here is the summary:\n<work_done>\nWork completed:\n"
        "- [x] The lock is held once\n- [ ] Step 1.6: take `old_rows` out\n</work_done>\n"
    )
    told = extract(Brief(2_000), [user(summary), user("Go on with the rows."), says("Done.")]).text
    assert "  - The lock is held once\n  - [ ] Step 1.6: take `old_rows` out\n" in told
