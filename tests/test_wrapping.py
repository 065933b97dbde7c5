"""Texts that an editor or a printed page broke at a width: a sentence is told whole, and no list becomes a line."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline._facts.reading import facts_of
from foldline._facts.wrapping import unwrapped
from talk import says, user

BRIEF = (
    "The ferry's page is slow, and nobody knows why. Please measure how long each berth takes until its tides are read.",
    "Aim for a list that the harbour master can read by himself, with the slowest berth first and the reasons beside it.",
    "What is found is written into one report, which we discuss on Friday before anything of the old page is changed.",
)
PRINTED = "\n\n".join(textwrap.fill(each, 72) for each in BRIEF)


def told(text: str) -> list[str]:
    """What the user said, by its pieces."""
    return [piece.text for piece in facts_of([user(text), says("All right.")]).pieces if piece.by == "user"]


def test_the_sentences_of_a_printed_brief_are_told_whole() -> None:
    assert told(PRINTED) == [*BRIEF]


def test_an_item_goes_on_in_the_lines_below_it() -> None:
    items = [textwrap.fill(f"{at}. {each}", 72, subsequent_indent="   ") for at, each in enumerate(BRIEF, 1)]
    assert unwrapped("\n".join(items).splitlines()) == [f"{at}. {each}" for at, each in enumerate(BRIEF, 1)]


TITLES = "Berths and Piers of the Outer Harbour (with the Northern Quay)\nTimetables\nThe Office of the Harbour Master and its Opening Hours in Winter\nPrices"
LOG = "12:04:55 the berth of the ferry is reached by no path that the reader knows\n12:04:56 retrying\n12:04:57 done"
NOTES = (
    "the list is empty when i open the page of the ferry on my phone at night\nalso the clock is wrong\nand the tides"
)
CODE = "const slowest = berths.filter((each) => each.open && each.tides.length > 0)\nreturn slowest.sort(byTime)\nconst other = 1"


@pytest.mark.parametrize("text", [TITLES, LOG, NOTES, CODE])
def test_lines_that_were_typed_by_themselves_stay(text: str) -> None:
    assert unwrapped(text.splitlines()) == text.splitlines()


@given(st.text(alphabet="ab .,:\n\t-#A1", max_size=600))
def test_no_word_is_lost_or_moved(text: str) -> None:
    assert " ".join(unwrapped(text.splitlines())).split() == text.split()
