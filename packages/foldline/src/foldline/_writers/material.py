"""What a model is given of a history: all of it, or a page in place of what is older than its window."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from foldline._facts.reading import facts_of, user_words
from foldline._messages import Message
from foldline._page.extract import compose
from foldline._tokens.estimate import estimate
from foldline._view import CUT_RULES, Brief, Entry
from foldline._writers.prompt import tell

NEWEST = 0.5
"""The share of the room that the newest messages may take before a page of the older ones."""

_EXCERPT = (
    "as an excerpt that a program made, in the order and in the words of the conversation: lines with `>` are the user's, "
    "those with `-` tell calls and what came of them, the others are the agent's"
)


def material(messages: Sequence[Message], mark: str, brief: Brief, room: int) -> list[str]:
    """Messages as text under `mark` within `room` tokens; a page tells those that have no place as they are."""
    told = tell(messages, mark, int(room * NEWEST))
    sizes = [estimate(text) + 1 for text in told]
    start = _newest(messages, sizes, int(room * NEWEST))
    if sum(sizes) <= room or not start:
        return told
    head = f"#{mark} 1 to {start}, {_EXCERPT}"
    left = room - sum(sizes[start:]) - estimate(head) - 1
    after = (*user_words(messages[start:]), *brief.after)
    older = [message for message in messages[:start] if not message.summary]
    return [f"{head}\n{compose(Brief(left, brief.focus, after=after), facts_of(older))}", *told[start:]]


def _newest(messages: Sequence[Message], sizes: Sequence[int], room: int) -> int:
    """Where the newest messages begin that fit into `room` tokens, where no pair is split if there is such a place."""
    fits = sum(tokens <= room for tokens in accumulate(reversed(sizes)))
    first = len(messages) - max(fits, 1)
    entries = [Entry(str(i), message) for i, message in enumerate(messages)]
    points = set.intersection(*(rule(entries) for rule in CUT_RULES))
    return min((point for point in points if first <= point < len(messages)), default=first)
