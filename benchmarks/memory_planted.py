"""What `memory` plants into sessions: rules, and values that are corrected later, worded as people word them.

They stand in `planted.json`, written without a look at what any extraction searches for. Those of `tune` are for
tuning; the wording of those of `report` is not looked at, only the figures.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from foldline.messages import Message, Text
from memory_cases import cut_at

T = TypeVar("T")


class Correction(NamedTuple):
    """A value, how a user told it, how the agent took it up, and how the user took it back."""

    old: str
    new: str
    told: str
    taken: str
    corrected: str


_SPLITS = json.loads(Path(__file__).with_name("planted.json").read_text("utf-8"))
CORRECTIONS = {split: [Correction(**fact) for fact in said["corrections"]] for split, said in _SPLITS.items()}
RULES = {split: said["rules"] for split, said in _SPLITS.items()}

FILLERS = ("ok.", "Understood.", "Will do.", "Noted.")
EACH = 8
"""Rules, and corrections, that one session gets: with all of them it would be about nothing else."""


def planted(messages: Sequence[Message], split: str, turn: int = 0) -> list[Message]:
    """A session with its turn of a split's rules, values and corrections said in it, each where no pair is open."""
    extra: list[tuple[float, list[Message]]] = []
    rules, facts = _dealt(RULES[split], turn), _dealt(CORRECTIONS[split], turn)
    for i, rule in enumerate(rules):
        extra.append((0.02 + 0.78 * i / len(rules), [user(rule), assistant(FILLERS[i % len(FILLERS)])]))
    for i, fact in enumerate(facts):
        told = 0.03 + 0.45 * i / len(facts)
        corrected = told + 0.12 + 0.3 * (i * 5 % len(facts)) / len(facts)
        extra.append((told, [user(fact.told), assistant(fact.taken)]))
        extra.append((corrected, [user(fact.corrected), assistant("Thanks, I go by that from here on.")]))
    whole, done = [], 0
    for place, said in sorted(extra, key=lambda item: item[0]):
        at = max(done, cut_at(messages, place))
        whole += [*messages[done:at], *said]
        done = at
    return [*whole, *messages[done:]]


def _dealt(items: Sequence[T], turn: int) -> Sequence[T]:
    turns = len(items) // EACH
    return items[turn % turns :: turns]


def user(text: str) -> Message:
    """What a user says."""
    return Message("user", (Text(text),))


def assistant(text: str) -> Message:
    """What the agent says."""
    return Message("assistant", (Text(text),))


def told(items: Sequence[str], messages: Sequence[Message]) -> Iterator[str]:
    """Those of the items that some message says word for word."""
    texts = {message.text for message in messages}
    yield from (item for item in items if item in texts)
