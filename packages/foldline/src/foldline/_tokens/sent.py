"""What was sent of each message: replies hold more than their file shows, for as long as the provider keeps it with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from foldline._messages import Message, Value
from foldline._tokens.weigh import is_claude, sealed_reasoning, searched_the_web, summaries_of_reasoning, weigh_all

WITHHELD = 16
"""Tokens of a piece of sealed reasoning below which its content was taken out of the file."""

TELLING = 200
"""Tokens of reasoning below which its coming or going is no more than what a client says beside it."""


class Reasoned(Value, frozen=True):
    """What a model's sealed reasoning held, by its bills: pieces without a summary and their tokens, and the characters of
    summaries and the tokens behind them.

    Until bills tell, a piece holds 60 tokens, and 2.5 for each character that sums it up: GPT-5.4 and 5.5, which tell
    nothing of it, held 150 to 260 in 4,900 pieces; GPT-5.6 held 36 in 3,000 that it did not sum up, and 2.6 for each
    character in the 500 others.
    """

    pieces: int = 2
    tokens: int = 120
    characters: int = 40
    summed: int = 100

    def of(self, pieces: int, characters: int) -> int:
        """The tokens of so many pieces with so many characters of summaries."""
        return round(pieces * self._piece + characters * self._character)

    def taught(self, tokens: int, pieces: int, characters: int) -> Reasoned:
        """What it knows behind the bill for some pieces."""
        if not characters:
            return Reasoned(self.pieces + pieces, self.tokens + tokens, self.characters, self.summed)
        summed = max(0, tokens - round(pieces * self._piece))
        return Reasoned(self.pieces, self.tokens, self.characters + characters, self.summed + summed)

    @property
    def _piece(self) -> float:
        return self.tokens / self.pieces

    @property
    def _character(self) -> float:
        return self.summed / self.characters


UNTAUGHT = Reasoned()


def weighed(
    messages: Sequence[Message],
    family: str = "o200k",
    since: int = 0,
    kept: bool = False,
    elsewhere: Mapping[int, int] | None = None,
    reasoned: Reasoned = UNTAUGHT,
) -> Sent:
    """What each message weighs in the next request, and what was sent before each of them, all together.

    A reply weighs what was billed for it: over 2,800 requests of Codex the context grew by that times 1.002, over 2,300
    of Claude Code it was off by 10 tokens in the median. Behind the user's next words some models keep their reasoning
    for good and some nothing of it: whether it is `kept` the first bill there tells. What OpenAI found on the web is told
    by the bill alone, and is what grew and nothing shows. Only bills from the index `since` on are for the history as it is.
    What is `elsewhere` was sent with the messages at those places and stands not in them, in tokens; `reasoned` is what is
    known of sealed reasoning that was taken out of the file.
    """
    weights = weigh_all(messages, family)
    for at, tokens in (elsewhere or {}).items():
        weights[at] += tokens
    sent = Sent(weights, kept, reasoned)
    for i, message in enumerate(messages):
        if message.role == "user" and not any(message.results):
            sent.speak()
        sent.generate(i, message, family)
        billed = i >= since and message.usage is not None and message.usage.prompt > 0
        sent.send(i, sent.bill(i, message) if billed else 0)
    return sent


class Sent:
    """What was sent up to a message, told message after message."""

    def __init__(self, weights: list[int], kept: bool, reasoned: Reasoned) -> None:
        self.weights = weights
        self.reasoned = reasoned
        self.before: list[int] = []
        """What was sent before each message."""
        self._kept = kept
        self._total = 0
        self._billed: tuple[int, int] | None = None
        self._shown: dict[int, int] = {}
        """What the replies of this turn weigh without what the provider keeps with them."""
        self._new: dict[int, int] = {}
        """What was kept with those of the turns that ended behind the newest bill."""
        self._old: dict[int, int] = {}
        """What is still kept with those before them."""

    def speak(self) -> None:
        """The user speaks."""
        for at, alone in self._shown.items():
            self._new[at] = self.weights[at] - alone
            if not self._kept:
                self._add(at, -self._new[at])
        self._shown.clear()

    def generate(self, i: int, message: Message, family: str) -> None:
        """Weighs a reply as it was billed or, where nothing tells, with what others of the replies held."""
        sealed = sealed_reasoning(message, family)
        output = message.usage.output if message.usage and message.role == "assistant" else 0
        if not sealed and not (output and is_claude(family)):
            return
        self._shown[i] = alone = self.weights[i] - sum(sealed)
        told = summaries_of_reasoning(message)
        if output:
            self.weights[i] = max(alone, output)
            if sealed:
                self.reasoned = self.reasoned.taught(self.weights[i] - alone, len(sealed), told)
        else:
            here = [tokens for tokens in sealed if tokens >= WITHHELD]
            gone = len(sealed) - len(here)
            self.weights[i] = alone + sum(here) + (self.reasoned.of(gone, told) if gone else 0)

    def bill(self, i: int, message: Message) -> int:
        """What nothing shows of what a reply was made from, by the bill for it."""
        assert message.usage is not None
        grown = 0
        if self._billed is not None:
            grown = message.usage.prompt - self._billed[0] - (self._total - self._billed[1])
            grown -= self._tell(grown)
        found = grown if grown > 0 and searched_the_web(message) else 0
        if found:
            self._shown.setdefault(i, self.weights[i])
        self._billed = message.usage.prompt, self._total + found
        return found

    def send(self, i: int, found: int) -> None:
        """Adds a message, and what was `found` for it, to what the next one is sent behind."""
        self.before.append(self._total + found)
        self.weights[i] += found
        self._total += self.weights[i]

    def _tell(self, grown: int) -> int:
        """What the context was off by because reasoning is kept, or is not: as much as nothing else explains.

        What was kept over bills and is gone was let go by the client, as Claude Code does once an hour went by; the
        model keeps what comes.
        """
        hidden = {**self._old, **self._new} if self._kept else self._new
        sign = -1 if self._kept else 1
        more = sum(hidden.values())
        told = more >= TELLING and more / 2 < sign * grown < more * 2
        if told:
            for at, tokens in hidden.items():
                self._add(at, sign * tokens)
            self._kept = not self._kept or bool(self._old)
        self._old = hidden if self._kept and not (told and sign < 0) else {}
        self._new = {}
        return sign * more if told else 0

    def _add(self, at: int, tokens: int) -> None:
        self.weights[at] += tokens
        self._total += tokens
