"""The task as it was written: with the blocks of code amid the words, of a long one its first lines."""

from __future__ import annotations

import re
from itertools import accumulate

from foldline._facts.said import is_document
from foldline._facts.types import Facts, UserRequest
from foldline._page.task import Task
from foldline._patterns import pattern

LINES, CHARACTERS = 6, 400
"""The most that is told of a block of code: the rest of a longer one is made by now, or stands in what is recalled."""

_BLOCK = pattern(r"^( {0,3}(?:```|~~~)[^\n]*\n)(.*?)(^ {0,3}(?:```|~~~)\s*$)", re.DOTALL | re.MULTILINE)
_WORDS = pattern(r"\w+")


def as_written(facts: Facts, wants: Task) -> Task:
    """The task with the code of its requests, which lead that in and say nothing without it."""
    whole = {request.text: _BLOCK.sub(_begun, request.whole) for request in facts.requests if request.whole}
    return wants._replace(words=[whole.get(words, words) for words in wants.words])


def code_words(facts: Facts, wants: Task) -> dict[int, set[str] | None]:
    """The words of the requests that are told with their code, by the messages that say them; None for a document that is too long
    for that, of which pieces of code say nothing."""
    told = [request for request in facts.requests if request.text in wants.words]
    words = ((request, _shown_in(request)) for request in told if request.whole or is_document(request.text))
    return {at: shown for request, shown in words for at in request.places}


def _shown_in(request: UserRequest) -> set[str] | None:
    return {*_WORDS.findall(request.whole)} if request.whole else None


def _begun(block: re.Match[str]) -> str:
    lines = [line for line in block[2].splitlines() if line.strip()]
    ends = accumulate(len(line) + 1 for line in lines[:LINES])
    fitting = sum(1 for end in ends if end <= CHARACTERS)
    more = ["…"] if fitting < len(lines) else []
    return block[1] + "".join(f"{line}\n" for line in (*lines[:fitting], *more)) + block[3]
