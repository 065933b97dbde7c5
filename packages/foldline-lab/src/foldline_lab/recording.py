"""A recorded session as it is replayed: its messages with their sizes, where its model was called, and what each call needed."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from foldline import Message, Summary, open_session
from foldline.extend import Budget, Model, Text, ToolResult, budget, model, replace, text_of, weigh
from foldline_lab.binding import Held, rules, state

NEWEST = 4_000
"""Tokens before a call whose words nobody forgets: what is needed of them tells no policy from another."""

FAR = 0.25
"""The share of the window beyond which what was said last is far."""

LOOKS = 8
"""At how many calls it is looked at what still binds: at the last one, and evenly apart before it."""

_WORD = re.compile(r"[A-Za-z0-9_~@$./:#-]{3,160}")
_TELLING = re.compile(
    r"(?=.*[A-Za-z]{2}).*\w/\w.*|[\w.-]+\.(?!\d)[A-Za-z]\w{0,4}|\d{3,}|\w*_\w+|(?=.{6})(?=.*\d)[\w-]+"
)
"""Paths, file names, numbers, identifiers and codes: what cannot be written again without having been read."""


class Need(NamedTuple):
    """A literal that a recorded call wrote, the messages before it that hold it, and whether they are far back."""

    word: str
    holders: Sequence[int]
    far: bool


class Recording(NamedTuple):
    """A session to be replayed; sizes are tokens, calibrated by what was billed where that is recorded."""

    name: str
    messages: Sequence[Message]
    tokens: Sequence[int]
    calls: Sequence[int]
    """For each call of the model how many messages stood before its reply."""
    needs: Sequence[Sequence[Need]]
    """What each reply wrote that stood before the newest messages."""
    rules: Sequence[Held]
    """What the user said always or never to do."""
    states: Mapping[int, Sequence[Held]]
    """What was open at some of the calls, evenly apart, by their number."""
    model: Model
    budget: Budget
    overhead: int
    ratio: float

    def size(self, message: Message) -> int:
        """The tokens of a message that is not of the recording."""
        return round(weigh(message, self.model.family) * self.ratio)


def read(path: str, *, name: str = "", window: int | None = None) -> Recording:
    """The recording in a session file; `name` is a model's and `window` tokens, in place of those of the file.

    Summaries that the agent's own folds left are no part of it. Raises `SessionError` for what is no session.
    """
    session = open_session(path)
    told = model(name or session.model)
    meter = session.meter(told.family)
    messages = [bare for _, message, _ in session.lineage() if (bare := _bare(message)).parts]
    tokens = [round(weight * meter.ratio) for weight in meter.weigh_all(messages)]
    calls = [at for at, m in enumerate(messages) if at and m.role == "assistant" != messages[at - 1].role]
    limits = budget(window or session.window or told.window)
    needs = list(_needed(messages, tokens, calls, round(limits.window * FAR)))
    looked = range(len(calls) - 1, -1, -max(1, len(calls) // LOOKS))
    states = {number: state(messages[: calls[number]]) for number in looked}
    return Recording(
        path, messages, tokens, calls, needs, rules(messages), states, told, limits, meter.overhead, meter.ratio
    )


def _bare(message: Message) -> Message:
    """A message without what was billed for it, and without what stands in for folded ones."""
    return replace(message, usage=None, parts=tuple(part for part in message.parts if type(part) is not Summary))


def said(message: Message) -> str:
    """All that a model reads of a message."""
    texts = [part.text for part in message.parts if type(part) is Text or type(part) is Summary]
    texts += [text_of(part) for part in message.parts if type(part) is ToolResult]
    return "\n".join([*texts, *(call.arguments for call in message.calls)])


def words(text: str) -> set[str]:
    """The words of a text as literals stand in it, those of paths with a line number without it too."""
    found = {word.strip(".:-#$") for word in _WORD.findall(text)}
    return found | {word.partition(":")[0] for word in found if ":" in word}


def _needed(messages: Sequence[Message], tokens: Sequence[int], calls: Sequence[int], far: int) -> Iterator[list[Need]]:
    """For each call the literals that its reply writes into tool calls and that stand before the newest messages."""
    written = {at: _written(messages, at) for at in calls}
    wanted = set[str]().union(*written.values())
    holders = _holders(messages, wanted)
    ends = [0]
    for size in tokens:
        ends.append(ends[-1] + size)
    for at in calls:
        newest, near = bisect_left(ends, ends[at] - NEWEST), bisect_left(ends, ends[at] - far)
        found = []
        for word in sorted(written[at]):
            standing = holders[word][: bisect_left(holders[word], at)]
            if standing and standing[-1] < newest:
                found.append(Need(word, standing, standing[-1] < near))
        yield found


def _written(messages: Sequence[Message], at: int) -> set[str]:
    """The literals in the tool calls of the reply that begins at a place."""
    found: set[str] = set()
    while at < len(messages) and messages[at].role == "assistant":
        found.update(*(words(leaf) for call in messages[at].calls for leaf in _leaves(call.arguments)))
        at += 1
    return {word for word in found if len(word) > 2 and _TELLING.fullmatch(word)}


def _leaves(arguments: str) -> list[str]:
    """What an agent wrote into the arguments of a call, without the names of its tool's parameters."""
    found: list[str] = []
    left: list[object]
    try:
        left = [json.loads(arguments)]
    except (ValueError, RecursionError):
        return [arguments]
    while left:
        value = left.pop()
        if isinstance(value, dict | list):
            left += value.values() if isinstance(value, dict) else value
        elif not isinstance(value, bool | None):
            found.append(str(value))
    return found


def _holders(messages: Sequence[Message], wanted: set[str]) -> Mapping[str, list[int]]:
    """Which messages hold each of the wanted words, in order."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for at, message in enumerate(messages):
        for word in words(said(message)) & wanted:
            found[word].append(at)
    return found
