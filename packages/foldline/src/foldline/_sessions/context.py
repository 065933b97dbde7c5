"""The live context of a session, and what it weighs: the part that every agent's session has in common."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from itertools import accumulate

from foldline._economics import cached
from foldline._messages import Message, Usage, replace
from foldline._models import Model
from foldline._sessions.reading import Sealed
from foldline._stages import Course
from foldline._tokens.meter import Count, Meter, calibrated, newest_size
from foldline._tokens.sent import UNTAUGHT, Reasoned, Sent, weighed
from foldline._tokens.weigh import at_most
from foldline._view import Entry, View

LARGEST_OPENING = 64_000
"""Tokens beside its messages beyond which the first bill of a file was for messages that stand in another one."""

LONG = 6_700_000
"""Bytes of the texts of a context, about, up to which all of it is weighed for its size."""


class Context:
    """The messages that the model sees, by the ids of the file.

    Replies carry what they were billed. From the index `since` on they were billed for the context as it stands,
    behind the newest fold or edit, but for the `stale` ids, which an undo copied; what is `unsent` the agent loads and keeps
    to itself, and `elsewhere` says of which messages it keeps so many tokens in another place; `learned` is the overhead and
    the ratio that a fold noted when it was made, `replaced` the context that the newest fold took the place of, whose bills
    tell the same where none was noted, `restored` what the agent put beside its own summary and wrote nowhere, and
    `overhead` what the agent usually sends beside its messages, both in tokens; `sealed` is what of it only its provider can read.
    """

    def __init__(
        self,
        entries: Sequence[tuple[str, Message]],
        *,
        since: int = 0,
        stale: Collection[str] = (),
        unsent: Collection[str] = (),
        elsewhere: Mapping[str, int] | None = None,
        learned: Mapping[str, object] | None = None,
        receipt: Mapping[str, object] | None = None,
        overhead: int = 0,
        replaced: Sequence[Message] = (),
        restored: int = 0,
        sealed: Sealed = Sealed(),  # noqa: B008  a value
        pins: Collection[str] = (),
        course: Course | None = None,
        drafts: Mapping[str, Mapping[str, object]] | None = None,
        branch: str = "",
    ) -> None:
        self.entries = list(entries)
        self.since = since
        self.stale = frozenset(stale)
        self.unsent = frozenset(unsent)
        self._elsewhere = elsewhere or {}
        self.pins = frozenset(pins)
        """The ids of the messages that no fold may touch, besides the system's."""
        self.course = course or Course()
        """The stages that the file notes, and where each is worked at among the messages."""
        self.drafts = drafts or {}
        """Drafts that were paid for and stand in no fold yet, by what was asked for."""
        self.branch = branch
        """The branch of git that the agent noted last; empty where the file names none."""
        self.learned = dict(learned or {})
        self.receipt = dict(receipt or {})
        """What the newest fold noted of itself."""
        self.overhead = overhead
        self.sealed = sealed
        self.usual: Callable[[str], tuple[int, float] | None] = lambda family: None
        """Asked for the overhead and the ratio of such sessions, by the family of tokenizers, where nothing here tells."""
        self.keeps_reasoning = False
        """Whether the model is known to keep the reasoning of earlier turns, until a bill tells."""
        self._replaced = replaced
        self._restored = restored
        self._weights: tuple[str, list[int]] = ("", [])
        self._meter: Meter | None = None

    @property
    def pinned(self) -> list[Message]:
        """The messages that no fold may touch, besides the system's."""
        return [message for id, message in self.entries if id in self.pins]

    @property
    def messages(self) -> list[Message]:
        """What the model sees."""
        return [message for _, message in self.entries]

    def followed_by(self, entries: Sequence[tuple[str, Message]]) -> Context:
        """This context with messages behind it that change nothing of it."""
        longer = copy(self)
        longer.entries = [*self.entries, *entries]
        longer._weights, longer._meter = ("", []), None
        return longer

    def meter(self, family: str = "o200k") -> Meter:
        """A meter that learned from what was billed, or from the newest fold's own note; the same one each time."""
        if self._meter is not None and self._meter.family == family:
            return self._meter
        meter, sent = calibrated(
            self._messages(),
            family=family,
            since=self.since,
            kept=self.keeps_reasoning,
            elsewhere=self._by_place(),
        )
        self._weights = family, sent.weights
        if meter.billed is None:
            meter = self._unbilled(family)
        self._meter = meter
        return meter

    def size(self, family: str = "o200k") -> Count:
        """What the next request takes; of a very long context only what came behind the newest bill is weighed."""
        messages = self._messages()
        if sum(map(at_most, messages)) > LONG:
            newest = newest_size(messages, family=family, since=self.since)
            if newest is not None:
                return newest
        meter = self.meter(family)
        return meter.total(sum(self._weighed(meter)))

    def view(self, meter: Meter) -> View:
        """What the model sees, sized by the meter so that the sizes add up to its total; system messages are pinned."""
        ends = [0, *(round(weight * meter.ratio) for weight in accumulate(self._weighed(meter)))]
        entries = (
            Entry(id, message, end - start, message.role == "system" or id in self.pins, self.course.at(at))
            for at, ((id, message), start, end) in enumerate(zip(self.entries, ends, ends[1:]))
        )
        return View(tuple(entries), meter.count, False, self.course.told(self.messages))

    @property
    def bills(self) -> list[Usage]:
        """What was billed for it as it stands, oldest first."""
        return [message.usage for _, message in self.entries[self.since :] if message.usage]

    def cached(self, model: Model, age: float) -> int | None:
        """Tokens that the provider's prompt cache holds of it `age` seconds later; None where nothing was billed for it."""
        return cached(model, self.bills[-1], age) if self.bills else None

    def _unbilled(self, family: str) -> Meter:
        """A meter for a context that nothing was billed for."""
        before, sent = calibrated(self._replaced, family=family, kept=self.keeps_reasoning)
        if sent.reasoned != UNTAUGHT:
            self._weights = family, self._sent(family, sent.reasoned).weights
        if before.billed is not None and not self.learned and before.opening <= LARGEST_OPENING:
            meter = before.unanchored()
            meter.restored = self._restored
            meter.unseen += self._restored
            return meter
        noted = self.learned.get("overhead")
        others = self.usual(family) if self.overhead and not noted else None
        overhead, ratio = others or (self.overhead, 1.0)
        meter = Meter(family, overhead=round(_number(noted, overhead + self._restored)))
        guessed = self.learned.get("guessed") if "overhead" in self.learned else meter.overhead
        meter.guessed = guessed if isinstance(guessed, int) else None
        meter.ratio = float(_number(self.learned.get("ratio"), ratio))
        return meter

    def _messages(self) -> list[Message]:
        """The messages as they are sent, with those bills only that may hold."""
        sent = ((id, Message(m.role, ()) if id in self.unsent else m) for id, m in self.entries)
        return [replace(message, usage=None) if id in self.stale else message for id, message in sent]

    def _by_place(self) -> dict[int, int]:
        return {at: self._elsewhere[id] for at, (id, _) in enumerate(self.entries) if id in self._elsewhere}

    def _weighed(self, meter: Meter) -> list[int]:
        if self._weights[0] != meter.family:
            self._weights = meter.family, self._sent(meter.family).weights
        return self._weights[1]

    def _sent(self, family: str, reasoned: Reasoned = UNTAUGHT) -> Sent:
        messages, places = self._messages(), self._by_place()
        return weighed(messages, family, self.since, self.keeps_reasoning, places, reasoned)


def _number(value: object, otherwise: float) -> float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else otherwise
