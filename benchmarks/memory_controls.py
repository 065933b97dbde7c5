"""What foldline is held against in `memory`: short scripts that any method worth its name must beat, at one budget."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memory_histories import Chat, History, calls, sizes, steps, text

NOTES = "Notes on what was said before:"


def note(words: str) -> Chat:
    """A message that stands in for others."""
    return {"role": "user", "content": words}


# -- messages as they stand --------------------------------------------------------------------------------------


def tail(history: History, budget: int) -> list[Chat]:
    """The newest steps that fit."""
    return history.chat[_first_of_newest(history.chat, history.sizes, budget) :]


def _first_of_newest(messages: Sequence[Chat], costs: Sequence[int], budget: int) -> int:
    first = len(messages)
    for step in reversed(steps(messages)):
        budget -= sum(costs[i] for i in step)
        if budget < 0:
            break
        first = step[0]
    return first


CLAMPED = 600
"""Characters that the clamped tail leaves of a tool's output, or of an argument: two thirds head, one third tail."""


def clamped_tail(history: History, budget: int) -> list[Chat]:
    """The newest steps that fit where long outputs and arguments are cut to their head and tail."""
    cut = [_clamped(message) for message in history.chat]
    return cut[_first_of_newest(cut, sizes(cut), budget) :]


def _clamped(message: Chat) -> Chat:
    if message["role"] == "tool":
        return {**message, "content": _short(message["content"], CLAMPED)}
    if not message.get("tool_calls"):
        return message
    named = [(c, c["function"]) for c in message["tool_calls"]]
    return {
        **message,
        "tool_calls": [{**c, "function": {**f, "arguments": _short(f["arguments"], CLAMPED)}} for c, f in named],
    }


def _short(words: str, most: int) -> str:
    return words if len(words) <= most else f"{words[: most * 2 // 3]} … {words[-most // 3 :]}"


def users_first(history: History, budget: int) -> list[Chat]:
    """The newest of the user's messages, the others from the oldest on as far as they fit, then the newest steps."""
    users = [i for i, message in enumerate(history.chat) if message["role"] == "user"]
    kept: set[int] = set()
    for i in [*users[-1:], *users[:-1]]:
        if history.sizes[i] <= budget:
            kept.add(i)
            budget -= history.sizes[i]
    costs = [0 if i in kept else cost for i, cost in enumerate(history.sizes)]
    first = _first_of_newest(history.chat, costs, budget)
    return [message for i, message in enumerate(history.chat) if i in kept or i >= first]


# -- names -------------------------------------------------------------------------------------------------------

_LISTED = re.compile(
    r"(?:[\w@.~-]*/)+[\w.@-]+|\b[\w-]+\.[a-z]{1,4}\b|\b\w+_\w+\b|\b[a-z]+[A-Z]\w+|\b[A-Z]{6}\b|\b[A-Z]{1,8}-?\d[\w-]*|"
    r"\b\d[\d.,:-]*\d\b"
)


def names(history: History, budget: int) -> list[Chat]:
    """A list of what looks like a path, a name, a code or a number, newest first."""
    found = (_LISTED.findall(text(message)) for message in reversed(history.chat))
    words = list(dict.fromkeys(word for each in found for word in reversed(each) if len(word) < 120))
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        fits = sizes([note(" ".join(words[:middle]))])[0] <= budget
        low, high = (middle, high) if fits else (low, middle - 1)
    return [note(" ".join(words[:low]) or ".")]


# -- a ledger ----------------------------------------------------------------------------------------------------

TAIL = 0.25
"""The share of the budget that the ledger gives to the newest steps."""

_TALK = re.compile(
    r"\W*(?:ok(?:ay)?|thanks?|thank you|noted|acknowledged|understood|sure|got it|great|yes|continuing|will do)"
    r"\b.{0,60}",
    re.IGNORECASE | re.DOTALL,
)
_BINDS = re.compile(
    r"\b(?:never|always|must|only|don't|do not|should|prefer|rule|decid\w+|decision|because|will use|next|todo|goal)\b",
    re.IGNORECASE,
)
_CORRECTS = re.compile(
    r"\b(?:actually|instead|no longer|correction|changed?|moved|switched|from now on|second thought|now|new)\b",
    re.IGNORECASE,
)
_WENT_WRONG = re.compile(r"error|exception|traceback|fail|fatal|denied|\d+ passed|exit code", re.IGNORECASE)
_CHANGES = re.compile(r"edit|write|creat|patch|updat|book|cancel|send|modif|delet|refund|order", re.IGNORECASE)
_LITERAL = re.compile(
    r"(?:[\w.-]+/)+[\w.-]+|\b\w*\d[\w.,:@-]*\w|\b[A-Za-z]+_\w+|\b[A-Z]{6}\b|\S+@\S+\.\w+|https?://\S+"
)


class Entry(NamedTuple):
    """A line of the ledger, and how much it says."""

    words: str
    worth: float


def ledger(history: History, budget: int) -> list[Chat]:
    """Lines in the order of what happened, chosen by what they say for their length, before a quarter of newest steps.

    The idea is that of `../shared/findings/controls/ledger.py`, in words of our own.
    """
    first = _first_of_newest(history.chat, history.sizes, int(budget * TAIL))
    newest = history.chat[first:]
    room = budget - sum(history.sizes[first:])
    entries = _retired([entry for step in steps(history.chat[:first]) for entry in _entries(history.chat, step)])
    return [*_notes(entries, room), *newest]


def _notes(entries: Sequence[Entry], room: int) -> list[Chat]:
    """The entries that fit, best first, in the order in which they were said."""
    lines = [f"- {entry.words}" for entry in entries]
    costs = [cost - 3 for cost in sizes([note(line) for line in lines])]
    kept: list[int] = []
    left = room
    for i in sorted(range(len(entries)), key=lambda i: -_gain(entries, i)):
        if entries[i].worth > 0 and costs[i] <= left:
            kept.append(i)
            left -= costs[i]
    while kept:
        written = note("\n".join([NOTES, *(lines[i] for i in sorted(kept))]))
        if (over := sizes([written])[0] - room) <= 0:
            return [written]
        while kept and over > 0:
            over -= costs[kept.pop()]
    return []


def _gain(entries: Sequence[Entry], i: int) -> float:
    return entries[i].worth * (0.7 + 0.6 * i / len(entries)) / (len(entries[i].words) + 30)


def _entries(messages: Sequence[Chat], step: range) -> list[Entry]:
    message = messages[step[0]]
    words = message["content"].strip()
    if words.startswith(NOTES):
        lines = [line[2:] for line in words.splitlines()[1:] if line.startswith("- ")]
        return [Entry(line, 12 if line.startswith("user: ") else 6) for line in lines]
    if message.get("tool_calls"):
        return [_trail(message, {messages[i].get("tool_call_id"): messages[i]["content"] for i in step[1:]})]
    if not words or _TALK.fullmatch(words):
        return []
    line = " ".join(words.split())
    if message["role"] == "user":
        telling = any(mark.search(words) for mark in (_BINDS, _CORRECTS, _LITERAL))
        return [Entry(f"user: {_short(line, 600)}", 12 if telling else 5)]
    return [Entry(f"agent: {line[:260]}", 7 if _BINDS.search(words) or _LITERAL.search(words) else 2)]


def _trail(message: Chat, answers: dict[str | None, str]) -> Entry:
    """The line for a step with calls: the words before them, each call with its arguments and what came back."""
    said, worth = [], 1.0
    for id, name, given in calls(message):
        answer, weight = _answer(answers.get(id, ""))
        arguments = " ".join(line[:90] for line in given.splitlines()[:8])
        said.append(f"{name}({arguments[:240]}) -> {answer}")
        worth = max(worth, 8 if _CHANGES.search(name) else weight)
    words = " ".join(message["content"].split())[:160] if len(message["content"]) > 60 else ""
    return Entry(f"{words} {' | '.join(said)}".strip(), worth)


def _answer(output: str) -> tuple[str, float]:
    if output.lstrip()[:1] in ("{", "["):
        return " ".join(dict.fromkeys(_LITERAL.findall(output)))[:420], 3
    wrong = [line.strip()[:150] for line in output.splitlines() if _WENT_WRONG.search(line)]
    return (" ; ".join(dict.fromkeys(wrong[-5:])), 5) if wrong else (output.strip()[:60], 1)


def _retired(entries: Iterable[Entry]) -> list[Entry]:
    """The entries, where one that is said again later, or that the user corrects by its name, is worth nothing."""
    found = list(entries)
    for i in range(len(found) - 1, -1, -1):
        words = found[i].words
        corrects = words.startswith("user: ") and _CORRECTS.search(words)
        known = set(_LITERAL.findall(words)) if corrects else set()
        for j in range(i):
            before = found[j].words
            again = before[:200] == words[:200]
            overruled = known and "(" not in before and len(before) < 200 and known & set(_LITERAL.findall(before))
            if again or overruled:
                found[j] = found[j]._replace(worth=0)
    return found


CONTROLS = {
    "tail": tail,
    "tail, clamped": clamped_tail,
    "user's words first": users_first,
    "list of names": names,
    "ledger": ledger,
}
"""The controls by name."""
