"""What reads as noise beside what the agent said and did with it: a page for reading has none of it, one that is filled has it."""

from __future__ import annotations

from collections.abc import Sequence

from foldline import Brief, Message
from foldline.extend import extract
from talk import bash, runs, says, user

DRAW = user("Please draw the share dialog in designs/box.pen, with a button to revoke.")
NODES = """# Successfully executed all operations.
## Operation results:
- Inserted node `ghOuS`: `{"type":"frame","id":"ghOuS","name":"menuShare","width":"fill_container","padding":[8,16]}`
- The button stands below share_list, at 40 px.
"""
DRAWN = runs("batch_design", {"file": "designs/box.pen", "operations": 'menuShare=I("MuZqf", {type: "frame"})'}, NODES)
SPECIFY = user("Please add the creation of API tests to src/tools.py, as the service documents it.")
DOCUMENTED = """The page has the following about tests:
- `POST /api/v1/tests` creates a test with `locations` and `tags`
- The page has references to various products and services of example_corp
- JavaScript for analytics_2, which `tests_3.js` and the filter_menu of the navigation load
"""
READ = runs("WebFetch", {"url": "https://docs.example.com/api/tests", "prompt": "How is a test created?"}, DOCUMENTED)
WRITTEN = runs("Write", {"file_path": "src/tools.py", "content": 'def create():\n    post("/api/v1/tests", locations, tags)\n'})  # fmt: skip


def page(messages: Sequence[Message], *, fills: bool = False) -> str:
    return extract(Brief(4_000, fills=fills), messages).text


def test_objects_of_a_program_amid_words_are_not_told_to_read() -> None:
    told = page([DRAW, *DRAWN])
    assert "fill_container" not in told
    assert "The button stands below share_list, at 40 px." in told
    assert "fill_container" in page([DRAW, *DRAWN], fills=True)


def test_what_such_an_object_says_of_a_failure_is_told() -> None:
    failed = bash("./deploy.sh", 'deploying\n{"error": "quota of region_7 is used up"}\n', error=True)
    assert "quota of region_7 is used up" in page([DRAW, *failed])


def test_of_the_web_what_the_agent_made_nothing_of_is_not_told_once_it_wrote() -> None:
    assert "analytics_2" in page([SPECIFY, *READ])
    told = page([SPECIFY, *READ, *WRITTEN])
    assert "`POST /api/v1/tests` creates a test with `locations` and `tags`" in told
    assert "analytics_2" not in told
    assert "WebFetch url=https://docs.example.com/api/tests" in told


def test_what_was_read_for_an_answer_is_told_though_files_were_written_for_another_request() -> None:
    asked = user("What else does the page of the tests have? Only tell me, please, and change nothing.")
    assert "analytics_2" in page([SPECIFY, *WRITTEN, says("Done: src/tools.py creates tests."), asked, *READ])


def test_measures_of_many_things_are_not_told_to_read_without_the_names_that_stand_in_other_lines() -> None:
    depths = "".join(
        f"{bay}:\n  Min: {low}, Max: 17.64\n  Readings: 93/2548 ({share}%)\n"
        for bay, low, share in (
            ("north", "0.21", "2.8"),
            ("east", "1.83", "3.6"),
            ("south", "0.27", "6.2"),
            ("west", "0.35", "9.1"),
        )
    )
    asked = user(
        "Please measure the depths. I had Min 0.21, 0.35 and 0.27 and Max 17.64 of 2548 readings, Mean 1.77, in a_b, once."
    )
    measured = bash("python3 depths.py", f"{depths}Mean: 1.77\n")
    told = page([asked, *measured])
    assert "Max: 17.64" not in told
    assert "Mean: 1.77" in told
    assert "Min: 0.21, Max: 17.64" in page([asked, *measured], fills=True)


def test_of_an_output_numbers_and_codes_without_words_are_not_told_to_read() -> None:
    output = "GTAACCAGTCACCCTT-1 1\nservice yes || 4 6 | 122 132\naccuracy: 0.93\nThe fit of mirror_7 took 12 rounds.\n"
    asked = user(
        "Please fit the model of mirror_7 with GTAACCAGTCACCCTT-1 and service 122, and tell me the accuracy of 0.93."
    )
    fitted = bash("python fit.py && python more.py", output)
    told = page([asked, *fitted]).partition("## What happened")[2]
    assert "GTAACCAGTCACCCTT-1 1" not in told
    assert "|| 4 6 |" not in told
    assert "accuracy: 0.93" in told
    assert "The fit of mirror_7 took 12 rounds." in told


def test_what_an_installer_says_of_any_installation_and_a_server_before_any_answer_is_noise() -> None:
    npm = bash(
        "npm i dayjs --save", "added 4 packages, and audited 598 packages in 3s\n\n106 packages are looking for funding"
    )
    head = bash(
        "curl -skI https://n8n.example", "HTTP/2 503\ndate: Sat, 31 Jan 2026 07:50:59 GMT\ncontent-type: text/plain"
    )
    told = extract(Brief(2_000), [user("Install dayjs and look whether the page is there."), *npm, *head]).text
    assert "looking for funding" not in told
    assert "date: Sat" not in told
    assert "→ HTTP/2 503" in told


def test_a_call_that_only_names_the_conversation_or_its_stage_is_noise() -> None:
    titled = runs("mcp__happy__change_title", {"title": "Ferries"}, "Successfully changed chat title")
    staged = runs("set_phase", {"phase": "build"}, "Phase changed to: build")
    issue = runs("update_issue_title", {"title": "Ferries are late"}, "Title of #7 updated")
    told = extract(Brief(2_000), [user("Look at the ferries."), *titled, *staged, *issue, says("Looked.")]).text
    assert "change_title" not in told
    assert "set_phase" not in told
    assert "update_issue_title" in told


def test_a_line_that_is_drawn_over_an_output_is_read_at_once() -> None:
    """As pytest draws it over what failed; a pattern for names of tools went through all ways to part such a line."""
    drawn = f"{'_' * 78}\n{'_' * 30} test_share_link {'_' * 30}\nE   KeyError: 'menu_share'\n1 failed in 0.2s"
    told = page([DRAW, *bash("pytest", drawn, error=True), says("The link fails: `menu_share` is missing.")])
    assert "KeyError: 'menu_share'" in told


def test_how_powershell_shows_a_folder_that_it_made_is_not_told() -> None:
    shown = "\n    Directory: C:\\shop\\db\n\nMode                 LastWriteTime         Length Name\n----                 -------------         ------ ----\nd-----         4/25/2026   4:22 PM                share_dialog\n"
    told = page(
        [
            DRAW,
            *bash("New-Item -ItemType Directory -Path designs/share_dialog", shown),
            says("It is there: share_dialog."),
        ]
    )
    assert "LastWriteTime" not in told
    assert "4:22 PM" not in told


def test_a_line_that_only_begins_like_powershells_marks_of_a_folder_is_told() -> None:
    shown = "the list as it is drawn\ndepth 12 of share_list, where 8 are drawn\nend of the list"
    assert "depth 12 of share_list" in page([DRAW, *bash("./measure.sh share_list", shown)])
