"""What `memory` compares: foldline's folds, and controls that any method worth its name must beat. All meet one budget."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from foldline.compactor import Compactor
from foldline.errors import CannotFit
from foldline.facts.ledger import Ledger
from foldline.messages import Message, Summary, Text, ToolResult, replace
from foldline.page.extract import chances, extract
from foldline.tokens.weigh import weigh
from foldline.view import Brief, opens_turn, view_of
from memory_words import texts


class Kept(NamedTuple):
    """What a method leaves of a history, and the messages that can be fetched back by an id that it left."""

    messages: list[Message]
    recalled: Sequence[Message] = ()
    refused: bool = False


Method = Callable[[Sequence[Message], int, Sequence[str]], Kept]
"""From a history, a budget in tokens and what will be needed (for the oracle alone) to what is left."""

WINDOW = 10_000_000
FRAME = 28
"""Tokens that a summary's message takes besides its words."""


def size(messages: Iterable[Message]) -> int:
    """Tokens of messages, by the same estimate for every method."""
    return sum(map(weigh, messages))


# -- foldline ----------------------------------------------------------------------------------------------------


def compactor() -> Compactor:
    """A compactor that folds only when it is told to."""
    return Compactor(window=WINDOW)


def fold(history: Sequence[Message], budget: int, needed: Sequence[str]) -> Kept:
    """What a user gets from `Compactor.fold_to`."""
    folding = compactor()
    try:
        left = folding.fold_to(list(history), budget)
    except CannotFit:
        return Kept(list(history), refused=True)
    return Kept(left, recalled(folding))


def recalled(folding: Compactor) -> list[Message]:
    """Every message that a compactor's folds replaced, fetched back by its id."""
    ids = dict.fromkeys(id for made in folding.folds for edit in made.edits for id in edit.drop)
    return [message for id in ids if (message := folding.recall(id)) is not None]


def summary(history: Sequence[Message], budget: int, needed: Sequence[str]) -> Kept:
    """The extractive summary alone, of the whole history."""
    return Kept([said(extract(Brief(max(budget - FRAME, 1)), history).text)], list(history))


def identifiers(history: Sequence[Message], budget: int, needed: Sequence[str]) -> Kept:
    """What the summary's last section would be with the whole budget to itself: to be held against a list of patterns."""
    return Kept([_listed(list(chances(Ledger.of(history))), budget, " ")], list(history))


# -- controls ----------------------------------------------------------------------------------------------------


def said(text: str) -> Message:
    """A message that stands in for others."""
    return Message("user", (Summary(text),))


def nothing(history: Sequence[Message], budget: int, needed: Sequence[str]) -> Kept:
    """An empty summary."""
    return Kept([said(f"[folded: {len(history)} messages]")])


def everything(history: Sequence[Message], budget: int, needed: Sequence[str]) -> Kept:
    """No folding, whatever the budget."""
    return Kept(list(history))


def tail(history: Sequence[Message], budget: int, needed: Sequence[str]) -> Kept:
    """The newest messages that fit."""
    return Kept(_suffix(history, budget))


def head_and_tail(history: Sequence[Message], budget: int, needed: Sequence[str]) -> Kept:
    """The oldest and the newest messages, half of the budget each."""
    view = view_of(history, weigh)
    head: list[Message] = []
    for point in sorted(view.cut_points()):
        if size(history[:point]) > budget // 2:
            break
        head = list(history[:point])
    return Kept([*head, *_suffix(history[len(head) :], budget - size(head))])


def masking(history: Sequence[Message], budget: int, needed: Sequence[str]) -> Kept:
    """Tool outputs give way to a short stub, oldest first; then the oldest messages go."""
    left = list(history)
    over = size(left) - budget
    for i, message in enumerate(left):
        if over <= 0:
            break
        parts = tuple(replace(p, parts=(Text("[omitted]"),)) if type(p) is ToolResult else p for p in message.parts)
        masked = replace(message, parts=parts)
        if (gain := weigh(message) - weigh(masked)) > 0:
            left[i] = masked
            over -= gain
    return Kept(_suffix(left, budget))


def users_first(history: Sequence[Message], budget: int, needed: Sequence[str]) -> Kept:
    """The user's messages, newest first, and then the newest messages that still fit."""
    kept: set[int] = set()
    for i in range(len(history) - 1, -1, -1):
        if opens_turn(history[i]) and weigh(history[i]) <= budget - size(history[j] for j in kept):
            kept.add(i)
    start = len(history) - len(_suffix(history, budget - size(history[j] for j in kept)))
    return Kept([m for i, m in enumerate(history) if i in kept or i >= start])


def chance(history: Sequence[Message], budget: int, needed: Sequence[str]) -> Kept:
    """Messages drawn by lot, each call with its results."""
    points = sorted(view_of(history, weigh).cut_points())
    pieces = [range(a, b) for a, b in pairwise(points)]
    random.Random(7).shuffle(pieces)
    kept: set[int] = set()
    for piece in pieces:
        if (cost := size(history[i] for i in piece)) <= budget:
            kept |= set(piece)
            budget -= cost
    return Kept([history[i] for i in sorted(kept)])


_LISTED = re.compile(r"(?:[\w@.~-]*/)+[\w.@-]+|\b[\w-]+\.[a-z]{1,4}\b|\b\w+_\w+\b|\b[a-z]+[A-Z]\w+|\b\d{3,}\b")


def patterns(history: Sequence[Message], budget: int, needed: Sequence[str]) -> Kept:
    """A list of what looks like a path, a name or a number, newest first: what a short script would do."""
    found = (_LISTED.findall(text) for message in reversed(history) for text in reversed(list(texts(message))))
    words = list(dict.fromkeys(word for each in found for word in reversed(each) if len(word) < 120))
    return Kept([_listed(words, budget, " ")])


def oracle(history: Sequence[Message], budget: int, needed: Sequence[str]) -> Kept:
    """What will be needed and nothing else: the ceiling of a budget."""
    return Kept([_listed(needed, budget, " ; ")])


def _listed(words: Sequence[str], budget: int, between: str) -> Message:
    """As many words, from the first on, as fit."""
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if size([said(between.join(words[:middle]))]) <= budget else (low, middle - 1)
    return said(between.join(words[:low]) or ".")


def _suffix(history: Sequence[Message], budget: int) -> list[Message]:
    """The newest messages that fit, from a place where no pair is split."""
    view = view_of(history, weigh)
    left, start = budget, len(history)
    while start and (left := left - view.entries[start - 1].tokens) >= 0:
        start -= 1
    legal = [i for i in view.cut_points() if i >= start]
    return list(history[min(legal, default=len(history)) :])


METHODS: dict[str, Method] = {
    "foldline: fold_to": fold,
    "foldline: summary alone": summary,
    "foldline: identifiers alone": identifiers,
    "no folding": everything,
    "empty summary": nothing,
    "tail": tail,
    "head and tail": head_and_tail,
    "masking": masking,
    "user messages first": users_first,
    "random": chance,
    "list of patterns": patterns,
    "oracle": oracle,
}
