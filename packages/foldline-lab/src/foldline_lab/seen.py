"""What a model sees of a recording under a policy: which messages stand word for word, and what stands in for the others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from foldline import Message
from foldline_lab.binding import Held
from foldline_lab.recording import Need, Recording, said, words

KINDS = ("overhead", "system", "user", "assistant", "tool", "stub", "summary")
"""What fills a context: `stub` is what is left of a message that was cut, `summary` what stands in for many."""

NEAR = 240
"""Characters of what stands in for messages within which a literal is told what it is, as in `benchmarks/memory.py`."""

ABOUT = 6
"""How many of the words beside a literal are looked for; two must stand near it again."""

_PLAIN = re.compile(r"(?<![\w./~-])[^\W\d_]{4,20}(?![\w/]|[.-]\w)")


class Seen:
    """A request that grows with the recording, and is taken anew after each fold; a step costs what is new in it."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.sent: list[Message] = []
        self.kinds = dict.fromkeys(KINDS, 0) | {"overhead": recording.overhead}
        self.made: list[Message] = []
        """The messages that are not the recording's."""
        self._places: Mapping[int, int] = {id(message): at for at, message in enumerate(recording.messages)}
        self._whole: set[int] = set()
        self._told: set[str] = set()

    @property
    def tokens(self) -> int:
        """The size of the request."""
        return sum(self.kinds.values())

    @property
    def head(self) -> int:
        """What the request begins with whatever is folded."""
        return self.kinds["overhead"] + self.kinds["system"]

    def take(self, sent: list[Message], *, folded: bool) -> tuple[int, int]:
        """Takes the next request, and answers how many tokens of its beginning were that of the last, and the parts behind."""
        same, before = len(self.sent), self.tokens
        if folded or len(sent) < same or (same and sent[same - 1] is not self.sent[same - 1]):
            pairs = enumerate(zip(self.sent, sent))
            same = next((at for at, (old, new) in pairs if old is not new), min(same, len(sent)))
            self.kinds = dict.fromkeys(KINDS, 0) | {"overhead": self.recording.overhead}
            self.made, self._whole, self._told = [], set(), set()
            self._add(sent[:same])
            before = self.tokens
            self._add(sent[same:])
        else:
            self._add(sent[same:])
        self.sent = sent
        return before, sum(len(message.parts) for message in sent[same:])

    def _add(self, messages: Sequence[Message]) -> None:
        for message in messages:
            place = self._places.get(id(message))
            if place is None:
                self.kinds["summary" if message.summary else "stub"] += self.recording.size(message)
                self.made.append(message)
                self._told |= words(said(message))
            else:
                self.kinds[message.speaker] += self.recording.tokens[place]
                self._whole.add(place)

    def knows(self, need: Need) -> bool:
        """Whether a literal stands in a message as it was said, or in what stands in for some, with words that tell what it is."""
        if any(at in self._whole for at in reversed(need.holders)):
            return True
        if need.word not in self._told:
            return False
        about = _beside(said(self.recording.messages[need.holders[-1]]), need.word)
        least = min(2, len(about))
        return any(
            sum(word in around.casefold() for word in about) >= least
            for text in map(said, self.made)
            for around in _around(text, need.word, NEAR)
        )

    def holds(self, held: Iterable[Held]) -> Count:
        """What stands of it in the request, word for word."""
        texts = "\n".join(map(said, self.made))
        known = [place in self._whole or text in texts for place, text in held]
        return Count(sum(known), len(known))


class Count(NamedTuple):
    """So many of so many."""

    right: int = 0
    of: int = 0

    def __add__(self, other: tuple[int, ...]) -> Count:  # type: ignore[override]
        return Count(self.right + other[0], self.of + other[1])


def _around(text: str, word: str, within: int) -> Iterator[str]:
    """What stands around a word, wherever it stands in a text."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        yield f"{text[max(0, at - within) : at]} {text[end : end + within]}"
        at = text.find(word, end)


def _beside(text: str, word: str) -> list[str]:
    """The plain words that stand beside a word where it stands first in a text."""
    around = next(_around(text, word, NEAR // 2), "")
    return list(dict.fromkeys(match.casefold() for match in _PLAIN.findall(around)))[:ABOUT]
