"""An agent that never says a word beside its calls is told by what it thinks; one that speaks is told by its words alone."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from foldline import Brief, Message
from foldline.extend import Text, Thinking, ToolCall, ToolResult, extract
from talk import says, user

ASKED = user("The kiln counts each firing twice. Please find out why, and mend it.")
FOUND = "The clock of kiln_9 rings at both ends of a firing, so count_firings takes both of them for one."


def thinks(n: int, thought: str, words: str = "") -> list[Message]:
    call = ToolCall(f"c{n}", "bash", json.dumps({"command": f"cat kiln/part_{n}.py"}))
    parts = (Thinking(thought), *((Text(words),) if words else ()), call)
    return [Message("assistant", parts), Message("tool", (ToolResult(f"c{n}", (Text("ok"),)),))]


def page(messages: Sequence[Message]) -> str:
    return extract(Brief(4_000), [ASKED, *messages]).text


def test_what_a_wordless_agent_thought_is_told() -> None:
    assert FOUND in page([m for n in range(4) for m in thinks(n, FOUND if n == 2 else f"Let me look at part {n}.")])


def test_what_an_agent_thought_that_speaks_is_not_told() -> None:
    steps = [
        m for n in range(4) for m in thinks(n, FOUND if n == 2 else f"Let me look at part {n}.", f"Part {n} is next.")
    ]
    assert FOUND not in page(steps)


def test_a_report_at_the_end_makes_no_agent_speak_beside_its_calls() -> None:
    steps = [m for n in range(4) for m in thinks(n, FOUND if n == 2 else f"Let me look at part {n}.")]
    assert FOUND in page([*steps, says("Each firing is counted once now.")])


def test_a_report_of_some_length_takes_the_place_of_what_was_thought() -> None:
    steps = [m for n in range(4) for m in thinks(n, FOUND if n == 2 else f"Let me look at part {n}.")]
    report = "Each firing is counted once now, and the tests of the kiln pass. The clock rang at the beginning and at the end, "
    assert FOUND not in page(
        [
            *steps,
            says(
                f"{report}so the end is left out when the ledger is read, as long as both of them are there to be read."
            ),
        ]
    )


def test_what_an_agent_thought_is_told_that_has_said_nothing_since_the_user_spoke() -> None:
    """It spoke before: what came of the newest words is told by no report yet."""
    spoke = [
        *thinks(9, "Let me look.", "I look for the clock."),
        says("The clock is found."),
        user("And does it ring?"),
    ]
    steps = [m for n in range(4) for m in thinks(n, FOUND if n == 2 else f"Let me look at part {n}.")]
    assert FOUND in page([*spoke, *steps])
    assert FOUND not in page([*spoke, *steps, says("It rings twice for each firing.")])


@pytest.mark.parametrize(
    "asked",
    [
        "The user wants me to look at the clock.",
        "O usuário quer que eu veja o relógio.",
        "Der Nutzer möchte, dass ich die Uhr prüfe.",
    ],
)
def test_that_the_user_wants_something_is_not_told_of_a_thought(asked: str) -> None:
    told = page([m for n in range(4) for m in thinks(n, f"{asked} {FOUND}" if n == 2 else f"Let me look at part {n}.")])
    assert FOUND in told
    assert asked not in told


def test_of_a_long_thought_it_is_told_how_it_begins_and_ends() -> None:
    amid = "Maybe the lamp_3 of the hall is on, or it is not, and the tile_4 is wet. " * 40
    ends = "So ring_once has to be asked before each count of kiln_9."
    told = page([m for n in range(4) for m in thinks(n, f"{FOUND} {amid}{ends}" if n == 2 else "Let me look.")])
    assert FOUND in told
    assert ends in told
    assert told.count("lamp_3") < 8
