"""What calls brought, on a page that is read: few lines of it, each a line, and other agents by what they were asked and say."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from foldline import Brief, Message
from foldline.extend import Text, extract
from talk import bash, runs, says, user

ASKED = user("Have the pull request about the ferry times reviewed, and answer what was found in it.")
GOES_ON = says("I look at how the ferry times are read.")


def lines(messages: Sequence[Message], tokens: int = 4_000, **brief: str) -> list[str]:
    """The lines of what happened."""
    text = extract(Brief(tokens, **brief), messages).text
    return text.partition("## What happened\n")[2].partition("\n\n## ")[0].splitlines()


def found(severity: str, place: str, issue: str, fix: str) -> dict[str, str]:
    return {"severity": severity, "location": place, "issue": issue, "fix": fix}


REVIEW = json.dumps(
    {
        "summary": "The times of `ferry_rows` are right, but a late boat is shown as gone.",
        "strengths": [f"The names in part_{n} of `ferry_rows` say well what they hold, and nothing is read twice." for n in range(12)],
        "findings": [
            found("P2", "rows.py:41", "`late_boats` drops a boat once its hour is over", "compare with the hour of `arrival`"),
            found("P3", "rows.py:90", "`quay_name` is asked for in each row", "ask for it once"),
        ],
    }
)  # fmt: skip


# -- other agents ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "given", "told"),
    [
        ("Task", {"description": "Review the times", "prompt": "Read rows.py and judge it.", "subagent_type": "judge"}, "asked agent judge: Review the times"),
        ("spawn_agent", {"agent_type": "judge", "message": "REDACTED"}, "asked agent judge"),
        ("task", {"agent": "judge", "_i": "x", "tasks": [{"id": "t1", "description": "Times"}, {"id": "t2", "description": "Quays"}]}, "asked agent judge: Times; Quays"),
        ("delegate", {"prompt": "Read rows.py → and judge the times."}, "asked another agent: Read rows.py → and judge the times."),
    ],
)  # fmt: skip
def test_a_call_of_another_agent_is_told_by_whom_it_asks_for_what(
    tool: str, given: dict[str, object], told: str
) -> None:
    stopped = runs(tool, given, "The user doesn't want to proceed with this tool use.", error=True)
    assert f"- {told} → refused by the user" in lines([ASKED, *stopped])


def test_of_an_agent_that_is_not_there_the_failure_is_told_and_none_of_those_that_are() -> None:
    there = ", ".join(f"crew:deck-{n}:look_out" for n in range(40))
    failed = runs("Task", {"subagent_type": "pilot", "description": "Find deck-3", "prompt": "Find crew:deck-3:look_out."}, f"Agent type 'pilot' not found.\nAvailable agents: {there}", error=True)  # fmt: skip
    told = lines([ASKED, says("I ask a pilot about the deck."), *failed])
    assert any(line.startswith("- asked agent pilot: Find deck-3 → failed; Agent type 'pilot' not found.") for line in told)  # fmt: skip
    assert not any("deck-7" in line for line in told)


def test_an_argument_that_is_withheld_is_not_told() -> None:
    called = runs("book_ferry", {"route": "A4", "passport": "REDACTED"}, "booked as F-77120")
    told = "\n".join(lines([ASKED, *called]))
    assert "book_ferry route=A4 → booked as F-77120" in told


def test_an_answer_that_a_client_keeps_is_that_agents_word_and_told_by_its_findings() -> None:
    asked = {"agent": "judge", "tasks": [{"id": "Rows", "description": "Review the times"}]}
    started = "Started 1 background task job using judge. Results will be delivered when complete.\n- `1-Rows` (job `1-Rows`) — Review the times\n Use `subagent` to list, inspect, or await with a timeout."
    ended = f"Subagent await (1):\n1-Rows — completed: Agent: judge (bundled)\nModel: some-5\nDescription: Review the times\nOutput: agent://1-Rows\n{'x' * 400}"
    read = runs("read", {"path": "agent://1-Rows"}, REVIEW, id="r")
    messages = [ASKED, *runs("task", asked, started), *runs("subagent", {"action": "await", "id": "1-Rows"}, ended, id="w"), *read, GOES_ON]  # fmt: skip
    told = lines(messages)
    assert any(line.startswith("(another agent) 1-Rows: Summary: The times of `ferry_rows` are right") for line in told)
    assert "  - P2: `late_boats` drops a boat once its hour is over (rows.py:41) → compare with the hour of `arrival`" in told  # fmt: skip
    assert not any(word in line for line in told for word in ("part_", "background", "bundled", "agent://"))


def test_what_the_agent_makes_of_such_an_answer_stands_in_its_place() -> None:
    read = runs("read", {"path": "agent://1-Rows"}, REVIEW)
    sums_up = says("Two findings: `late_boats` drops boats that are late, and `quay_name` is asked for too often. "
                   "A boat stays in the list now until it has left, however late it is, and the quay is asked for once before the rows. Both are mended now.")  # fmt: skip
    told = "\n".join(lines([ASKED, *read, sums_up]))
    assert "Both are mended now." in told
    assert "compare with the hour" not in told


def test_what_the_agent_said_before_it_speaks_again_unasked_is_a_report() -> None:
    rows = "\n".join(f"| finding {n} | mended in `part_{n}.py` |" for n in range(6))
    report = says(f"The review is through.\n\n| What | How |\n|---|---|\n{rows}\n\nAll six are in.")
    opens = bash("gh issue create --title Quays", "https://github.com/team/ferries/issues/54")
    speaks = Message("assistant", (Text("I open an issue for the quays."), *opens[0].calls))
    later = user("And now write the notes for the harbour master about what the ferry times are read from.")
    told = lines([ASKED, *bash("make check", "all fine"), report, speaks, *opens[1:], says("The issue is open: #54."), later])  # fmt: skip
    assert "| finding 3 | mended in `part_3.py` |" in told
    assert "The issue is open: #54." in told


# -- records --------------------------------------------------------------------------------------------------------


def test_of_what_one_call_brought_few_pieces_are_told_however_much_room_there_is() -> None:
    stops = [
        {"name": f"Quay {n}", "note": f"The boat to island_{n} leaves from the northern stair only."} for n in range(12)
    ]
    asks = says("Of these island_1 and island_2, island_3, island_4, island_5, island_6, island_7 and island_8 matter.")
    told = lines([ASKED, *runs("get_stops", {"route": "A4"}, json.dumps({"stops": stops})), asks, GOES_ON], 20_000)
    assert 1 <= sum("northern stair" in line for line in told) <= 5


def test_several_pieces_of_what_a_call_brought_stand_below_it_and_come_back_as_its_own() -> None:
    booked = {"booking": {"number": "F-77120", "state": "waits for the ship"}, "fare": {"sum": "14.50 EUR", "kind": "a day return"}}  # fmt: skip
    messages = [ASKED, *runs("book_ferry", {"route": "A4"}, json.dumps(booked)), GOES_ON]
    told = lines(messages)
    at = next(i for i, line in enumerate(told) if line.startswith("- book_ferry route=A4"))
    assert told[at].endswith(":")
    assert told[at + 1 : at + 3] == [
        "  - booking: number: F-77120, state: waits for the ship",
        "  - fare: sum: 14.50 EUR, kind: a day return",
    ]
    again = lines([user(extract(Brief(4_000), messages).text), GOES_ON])
    assert any("book_ferry" in line and "F-77120" in "\n".join(again[i : i + 3]) for i, line in enumerate(again))


def test_a_piece_of_a_patch_is_not_told_of_what_a_command_brought() -> None:
    said = {"id": 2785, "diff_hunk": "@@ -46,2 +46,8 @@ def ferry_rows(day): the rows of one day are read from the harbour", "body": "Mended: a late boat of `ferry_rows` is shown until it has left the quay."}  # fmt: skip
    told = "\n".join(lines([ASKED, *bash("gh api repos/team/ferries/pulls/7/comments/1/replies -f body=x", json.dumps(said)), GOES_ON]))  # fmt: skip
    assert "is shown until it has left the quay" in told
    assert "@@" not in told


def test_what_a_report_says_again_of_what_a_call_brought_is_told_once() -> None:
    said = {"id": 2785, "body": "Mended in 6a337e0c: a late boat of `ferry_rows` is shown until it leaves `quay_4`."}
    report = says("Answered:\n- a late boat of `ferry_rows` is shown until it leaves `quay_4`, mended in 6a337e0c")
    told = "\n".join(lines([ASKED, *bash("gh api repos/team/ferries/pulls/7/replies -f body=x", json.dumps(said)), report]))  # fmt: skip
    assert told.count("until it leaves `quay_4`") == 1


# -- checks ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ("ok  \tferries/rows\t0.4s\n?   \tferries/words\t[no test files]\nok  \tferries/quays\t(cached)\nok  \tferries/fares\t1.2s\n", "ok (3 such lines)"),
        ("ok  \tferries/rows\t0.4s\n", "ok ferries/rows 0.4s"),
        ("\n".join(f"ok  \tferries/part_{n}\t(cached)" for n in range(900)), "ok (more than "),
        ("test result: ok. 3 passed; 0 failed\ntest result: ok. 7 passed; 0 failed\n", "test result: ok. 7 passed; 0 failed"),
    ],
    ids=["several", "one", "more than is read", "one that counts"],
)  # fmt: skip
def test_a_check_that_ends_in_a_list_of_equal_lines_is_told_by_how_many_they_are(output: str, told: str) -> None:
    ran = lines([ASKED, *bash("make check", output), GOES_ON])
    assert any(line.startswith(f"- `make check` → {told}") for line in ran)
