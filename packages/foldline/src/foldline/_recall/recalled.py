"""A message by its id or by the id of a call in it, and with it the other halves of its calls and results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from foldline._messages import Message, Part, Value, replace
from foldline._pairs import answers
from foldline._recall.answer import drawn

_TOLD = re.compile(r".*(?:^|[\s(])recall:?\s+(\S+?)[\])]*", re.DOTALL)

_NO_ID = re.compile(r'[\s"\0\ud800-\udfff]')
"""What no id holds: no more than one word, and no half of a letter, which no index takes."""

_CALL = re.compile(r"\d")
"""What every id of a call holds, so that no word is looked for among them."""


class Recallable(Protocol):
    """What remembers one conversation: a `Compactor`, a `Session`, a `Transcript`."""

    def recall(self, id: str) -> Message | None:
        """The message of that id, as it was before any fold."""

    def messages(self) -> Iterable[tuple[str, Message]]:
        """Every message with its id, whatever was folded since."""


class Half(Value, frozen=True, omit_defaults=False):
    """The results of a message's calls, or the calls of its results: the message that they stand in, with nothing else."""

    id: str
    message: Message


class Recalled(Value, frozen=True, omit_defaults=False):
    """A message that was asked for by its id, and the other halves of its pairs."""

    id: str
    message: Message
    halves: tuple[Half, ...] = ()

    @property
    def text(self) -> str:
        """All of it as text, the message first."""
        others = (f"\n\n[{half.id}] {half.message.speaker}:\n{drawn(half.message)}" for half in self.halves)
        return drawn(self.message) + "".join(others)


def recalled(source: Recallable, id: str) -> Recalled | None:
    """The message of an id, or the newest one that makes or answers a call of that id; None where there is none."""
    message = source.recall(id)
    if message is not None and not (any(message.calls) or any(message.results)):
        return Recalled(id, message)
    if message is None and not _CALL.search(id):
        return None
    history = list(source.messages())
    if message is not None:
        at = next((n for n, (each, _) in enumerate(history) if each == id), -1)
        return Recalled(id, message, _halves(history, at))
    called = [n for n, (_, each) in enumerate(history) if any(call.id == id for call in each.calls)]
    answered = [n for n, (_, each) in enumerate(history) if any(r.call_id == id for r in each.results)]
    if not (places := called or answered):
        return None
    found, message = history[places[-1]]
    return Recalled(found, message, _halves(history, places[-1], call=id))


def _halves(history: Sequence[tuple[str, Message]], at: int, *, call: str = "") -> tuple[Half, ...]:
    """The other halves of the pairs that the message at a place is part of, or of the one of that call."""
    halves: dict[int, list[Part]] = {}
    for result, answered_at, made, called_at in answers(message for _, message in history):
        if made is None or (call and result.call_id != call):
            continue
        if called_at == at:
            halves.setdefault(answered_at, []).append(result)
        elif answered_at == at:
            halves.setdefault(called_at, []).append(made)
    return tuple(Half(history[n][0], replace(history[n][1], parts=tuple(parts))) for n, parts in halves.items())


def id_in(query: str) -> str:
    """The id in a query that is nothing else, or that a stub in it names; empty where the query is words.

    Stubs end with `recall ID`, and pages name ids in brackets.
    """
    told = _TOLD.fullmatch(query.strip())
    id = told[1] if told else query.strip().strip("[]")
    return id if 0 < len(id) <= 300 and not _NO_ID.search(id) else ""
