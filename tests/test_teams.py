"""A session of one agent of a team: who leads the team asks what else a user would."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from foldline import Brief, Message
from foldline._facts.reading import facts_of
from foldline._facts.types import Facts
from foldline.extend import Text, extract
from talk import bash, runs, says, user

ROLE = "You are data-dev on the harbour team. Add the tide table to lib/tides.py.\nRULES:\n- Do NOT touch lib/ships.py."


def letter(sender: str, words: str) -> str:
    return f'<teammate-message teammate_id="{sender}" summary="a letter">\n{words}\n</teammate-message>'


def task(number: str, subject: str, description: str) -> str:
    record = {"type": "task_assignment", "taskId": number, "subject": subject, "description": description, "assignedBy": "team-lead"}  # fmt: skip
    return letter("team-lead", json.dumps(record))


def marked(*letters: str) -> Message:
    """As Claude Code hands them on."""
    return Message("user", (Text("\n\n".join(letters)),))


def asked(messages: Sequence[Message]) -> list[str]:
    return [request.text for request in facts_of(messages).requests]


def page(messages: Sequence[Message]) -> str:
    return extract(Brief(4_000), messages).text


def test_what_the_lead_asks_is_the_task() -> None:
    told = page([marked(letter("team-lead", ROLE)), *bash("cat lib/tides.py", "TIDES = {}")])
    assert "## Task now\n> You are data-dev on the harbour team. Add the tide table to lib/tides.py." in told
    assert "> - Do NOT touch lib/ships.py." in told
    assert "another agent" not in told


def test_a_record_of_an_assignment_is_told_by_its_words() -> None:
    given = [task("1", "TD-1: Add the table", "Add TIDES for 2027 to lib/tides.py."), letter("team-lead", ROLE)]
    assert asked([marked(*given)]) == [f"TD-1: Add the table: Add TIDES for 2027 to lib/tides.py.\n{ROLE}"]


def test_the_newest_assignment_is_the_task() -> None:
    first = [marked(letter("team-lead", ROLE)), *bash("cat lib/tides.py", "TIDES = {}"), says("TIDES has 2027 now.")]
    told = page([*first, marked(task("2", "TD-2: Print it", "Print the table of lib/tides.py by month, as PDF."))])
    assert told.startswith("## Task now\n> TD-2: Print it: Print the table of lib/tides.py by month, as PDF.\n")


@pytest.mark.parametrize(
    "words",
    [
        letter("map-dev", "The map of the harbour is done: lib/map.py has HARBOUR_3 now."),
        letter("team-lead", '{"type":"shutdown_request","requestId":"s-1","from":"team-lead","reason":"All is done."}'),
        letter("team-lead", '{"type":"idle_notification","from":"map-dev"}'),
    ],
)
def test_what_others_say_and_what_only_the_client_needs_is_no_task(words: str) -> None:
    assert asked([marked(letter("team-lead", ROLE)), *bash("ls", "lib"), marked(words)]) == [ROLE]


def test_beside_an_assignment_what_others_say_is_told() -> None:
    both = marked(task("2", "TD-2: Print it", "Print the table by month."), letter("map-dev", "lib/map.py has HARBOUR_3 now."))  # fmt: skip
    told = page([both, *bash("ls", "lib")])
    assert "> TD-2: Print it: Print the table by month." in told
    assert "(another agent) map-dev: lib/map.py has HARBOUR_3 now." in told


def test_where_a_user_speaks_the_lead_is_no_other_agent_either() -> None:
    assert asked([user("Please add the tides of 2027."), marked(letter("map-dev", "HARBOUR_3 stands."))]) == [
        "Please add the tides of 2027."
    ]


def test_a_list_of_tasks_is_the_plan_and_no_report_of_another_agent() -> None:
    listed = "#9 [pending] DOM-3: Create the repository of the ships [blocked by #2]\n#2 [completed] Create the table (data-dev)\n" * 8  # fmt: skip
    facts: Facts = facts_of([user("Go on with the harbour, please."), *runs("TaskList", {}, listed)])
    assert [(todo.id, todo.status) for todo in facts.todos] == [("9", "pending"), ("2", "done")]
    assert not [piece.text for piece in facts.pieces if piece.by == "peer"]


def test_words_that_a_client_recorded_twice_are_told_once() -> None:
    words = "The table has two ways.\n\nOptions:\n1. By month: `TIDES_M`.\n2. By week: `TIDES_W`.\n\nWhich one?"
    told = page([user("How could the tides be kept?"), says(words), says(words)])
    assert [told.count(each) for each in ("The table has two ways.", "`TIDES_M`", "`TIDES_W`")] == [1, 1, 1]


@pytest.mark.parametrize(
    "head", ["[agent scout → lead, job-1]", "[sub-agent scout]", "[scout -> lead]", "[from the scout agent]"]
)
def test_a_report_below_a_line_with_its_sender_is_told_by_its_words(head: str) -> None:
    report = f'{head}\nThe double booking comes from hold_seat() in seats/holds.py.\n"quoted", order)\nreturn None'
    told = page([user("Find out how two people can buy one seat."), user(report)])
    assert "(another agent) scout: The double booking comes from hold_seat() in seats/holds.py." in told


def test_a_report_in_a_tag_that_names_its_sender_is_told_by_its_words() -> None:
    told = page(
        [
            user("Wie weit ist die Liste?"),
            user('<meldung von="farn" auftrag="A-06">\nListe in tide.csv ist da.\n</meldung>'),
        ]
    )
    assert "(another agent) farn: Liste in tide.csv ist da." in told
    assert "<meldung" not in told


def test_a_report_that_is_cut_off_in_its_record_is_told_by_its_longer_texts() -> None:
    finding = "The lock of the ferry table is taken twice in one request, so that the second one waits for the first."
    told = page([user("Why does it hang?"), user(f'[agent scout → lead]\n[{{"finding": "{finding}", "li')])
    assert finding in told
    assert '"finding"' not in told


def test_what_only_takes_a_task_in_is_told_with_the_call() -> None:
    log = "\n".join(f"15:34:{n:02}.530 DEBUG git: cache hit ratio {n}%" for n in range(20))
    told = page(
        [user("Find it out."), *runs("dispatch", {"agent": "scout", "task": "look"}, f"queued as job-1\n{log}")]
    )
    assert "(another agent)" not in told


def test_runs_of_tests_and_listings_in_a_report_are_not_told() -> None:
    ran = "\n".join(f"tests/test_{n}.py::test_case_{n} PASSED [ {n}%]" for n in range(10, 30))
    report = f"[agent builder → lead]\nThe berths are unique now, on branch berth-key.\n{ran}"
    told = page([user("Make the berths unique."), user(report)])
    assert "builder: The berths are unique now, on branch berth-key." in told
    assert "PASSED" not in told
