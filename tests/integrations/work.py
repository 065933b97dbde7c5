"""The work that every framework does in its test: five windows of a tool's outputs, for three requests of a user.

The fake model stands in for a strict provider: it bills a token for four characters and refuses what is over its window.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

WINDOW = 9_000
"""Tokens of the fake model."""

CHARACTERS = 4
"""Characters that the fake model bills one token for."""

STEPS = 36
"""Calls for each of the requests."""

RULE = "Never touch config/prod.yaml."
PIN = "PIN: the port is 8443."
REQUESTS = (
    f"Find out which part reads setting_7, and say so at the end. {RULE}",
    f"Thanks. Now list every setting that part_40 and the ones behind it read. {PIN}",
    "Good. And last: which of the parts reads the most settings?",
)

OVERFLOW = "This model's maximum context length is {window} tokens. However, your messages resulted in {tokens} tokens."


class Sent(NamedTuple):
    """What a model received: all its words, and the ids of the calls and of the results in it."""

    words: str
    calls: tuple[str, ...]
    results: tuple[str, ...]

    @property
    def tokens(self) -> int:
        return len(self.words) // CHARACTERS


class Provider:
    """What the fake model does and has seen; `turn` says what it answers to a request."""

    def __init__(self, window: int = WINDOW, steps: int = STEPS) -> None:
        self.window = window
        self.steps = steps
        self.sent: list[Sent] = []
        self.refused: list[int] = []

    def turn(self, sent: Sent) -> int:
        """The number of the part to be read next, 0 where the request is answered; raises where it is too long."""
        if sent.tokens > self.window:
            self.refused.append(sent.tokens)
            raise TooLong(OVERFLOW.format(window=self.window, tokens=sent.tokens))
        self.sent.append(sent)
        return 0 if len(self.sent) % self.steps == 0 else len(self.sent)


class TooLong(Exception):
    """What the fake model raises for a request that is over its window."""


def output(part: int) -> str:
    """What the tool says of a part: about 450 tokens."""
    return f"# part_{part}\n" + "".join(
        f"part_{part} reads setting_{part * 7 + n} in line {n * 3}.\n" for n in range(54)
    )


def faults(sent: list[Sent], steps: int = STEPS, requests: tuple[str, ...] = REQUESTS) -> Iterator[str]:
    """What is missing in the requests that a model received, and calls and results that are not paired."""
    for number, each in enumerate(sent):
        now = requests[number // steps]
        for words in (requests[0], now, RULE, *([PIN] if number >= steps else [])):
            if words not in each.words:
                yield f"request {number} lacks {words!r}"
        if sorted(each.calls) != sorted(each.results):
            yield f"request {number}: calls {each.calls}, results {each.results}"


def worked(provider: Provider, windows: float = 5.0) -> None:
    """Fails where the work was not done within the window, or anything that must stand in every request did not."""
    assert provider.refused == []
    assert len(provider.sent) == len(REQUESTS) * provider.steps
    assert len(provider.sent) * len(output(40)) / CHARACTERS > windows * WINDOW
    assert list(faults(provider.sent, provider.steps)) == []
    assert max(each.tokens for each in provider.sent) <= WINDOW
