"""What the agent drafted and then wrote into a text is told by a few words and the name of the text."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from foldline import Brief, Message
from foldline.extend import extract
from talk import runs, says, user

ASKED = user("Please draft the handbook of the kiln with me, part by part.")
LINES = [
    f"Oven_{n} is opened by two people at {n + 10}:30, and the log of shelf_{n} says who they were." for n in range(12)
]
DRAFT = says("Here is the part on opening the ovens:\n\n" + "\n".join(f"- **{line}**" for line in LINES))
GO_ON = user("Good, save it and go on.")
NEXT = says("It is saved. Next comes the part on glazes: which of them do you use on weekdays?")


def saves(path: str, lines: Sequence[str] = LINES) -> list[Message]:
    return runs("Write", {"file_path": path, "content": "# Opening\n\n" + "\n\n".join(lines)})


def page(*messages: Message, fills: bool = False) -> str:
    told = [ASKED, *messages, GO_ON, NEXT, user("Only the blue one.")]
    return extract(Brief(3_000, fills=fills), told).text


def test_of_a_draft_that_was_written_into_a_text_its_first_words_and_the_text_are_told() -> None:
    told = page(DRAFT, GO_ON, *saves("docs/handbook.md"))
    assert "Here is the part on opening the ovens" in told
    assert "(written into handbook.md)" in told
    assert "shelf_7" not in told


@pytest.mark.parametrize(
    "messages",
    [[DRAFT], [*saves("docs/handbook.md"), DRAFT], [DRAFT, GO_ON, *saves("kiln.py")], [DRAFT, GO_ON, *saves("docs/handbook.md", LINES[:3])]],
    ids=["never written", "written before", "written into code", "little of it written"],
)  # fmt: skip
def test_what_stands_in_no_text_is_told(messages: list[Message]) -> None:
    assert "shelf_7" in page(*messages)


def test_a_page_that_fills_its_budget_tells_drafts() -> None:
    assert "shelf_7" in page(DRAFT, GO_ON, *saves("docs/handbook.md"), fills=True)
