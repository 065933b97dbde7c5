"""A history that is sent whole each time: what the caller sent, and what the model sees of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from math import ceil
from typing import Any

from foldline import wire
from foldline.fold import Fold
from foldline.messages import Media, Message, Speaker, Text, replace
from foldline.tokens.media import media_bytes
from foldline.tokens.meter import Meter
from foldline.tokens.payload import media_in
from foldline.tokens.weigh import at_most
from foldline.view import Entry, View, chain
from foldline.wire.objects import as_data
from foldline.wire.strangers import refuse_strangers
from foldline.wire.telling import Told

Item = Any
"""One message as the caller has it: a dict of a wire format, or a `Message`."""


class History:
    """One growing conversation: its items as the caller has them, decoded and weighed once each, and its folds.

    What no fold touched is handed out as the caller's own object. A fold is replayed on the messages that there were
    when it was made, so that what came later keeps the thinking that was bound to the folded past.
    """

    def __init__(
        self,
        meter: Meter,
        pinned: Callable[[Message], bool],
        *,
        bound: bool,
        format: str,
        speaker: Callable[[Message], Speaker | None] | None = None,
    ) -> None:
        self.meter = meter
        self.pinned = pinned
        self.bound = bound
        self.told = Told(format, bool(format))
        self.speaker = speaker
        self.items: list[Item] = []
        self.messages: list[Message] = []
        self.weights: list[int] = []
        """The estimated size of each message, uncalibrated, as far as they were weighed."""
        self.folds: list[tuple[int, Fold]] = []
        """Each fold with the number of messages that there were when it was made."""
        self.seen: list[Item] = []
        """What the model sees, in the caller's format."""
        self.images = 0
        self.media_bytes = 0
        """What the model sees of pictures, documents and sounds."""
        self._weight = 0
        self._unweighed = 0
        self._ids: list[str] = []

    @property
    def weight(self) -> int:
        """The estimated size of what the model sees, uncalibrated; what is new is weighed now."""
        self._weigh()
        return self._weight

    @property
    def at_most(self) -> int:
        """More than `weight` can be; while that is far from any mark, nothing has to be weighed."""
        return self._weight + self._unweighed

    def take(self, items: Sequence[Item]) -> int | None:
        """Takes the history as it is now; answers how much of the earlier one stands where it was rewritten."""
        continues = self._continues(items)
        stands = len(self.items) if continues else _common(items, self.items)
        data = as_data(items[stands:], stands)
        told = (self.told if stands else self.told.before).after(data, stands)
        # what was read in a format that turns out to be another's is read again
        same = stands if told.format == self.told.format else 0
        fresh = self._decoded(data if same == stands else as_data(items), told.format, same)
        self.told = told
        if continues and same == stands:
            self._append(items[stands:], fresh)
            return None
        self._cut(same)
        self._append(items[same:], fresh)
        self.folds = [(min(at, stands), fold) for at, fold in self.folds]
        self.show(self.view())
        return None if continues else stands

    def refresh(self) -> None:
        """Decodes and weighs everything again: a caller may have written into its messages since."""
        self._weigh()
        items = self.items
        messages = self._decoded(as_data(items), self.told.format, 0)
        self._cut(0)
        self.messages, self.weights, self.items = messages, self.meter.weigh_all(messages), items

    def view(self) -> View:
        """What the model sees, with every fold that stands on this history replayed."""
        *_, view = self._views()
        return view

    def since(self, view: View) -> int:
        """Where in what the model sees that begins which came behind the newest fold; 0 where there is none."""
        return len(view.entries) - (len(self.messages) - self.folds[-1][0]) if self.folds else 0

    def _views(self) -> Iterator[View]:
        """What the model saw from the first edit to the last, and what it sees now."""
        entries = list(self._entries())
        view, done = View((), self._count, self.bound), 0
        for at, fold in self.folds:
            view = View(view.entries + tuple(entries[done:at]), view.count, view.bound)
            done = max(done, at)
            for edit in fold.edits:
                view = view.replay((edit,))
                yield view
        yield View(view.entries + tuple(entries[done:]), view.count, view.bound)

    def show(self, view: View) -> None:
        """Makes a view what the model sees from now on."""
        place = {id(message): i for i, message in enumerate(self.messages)}
        at = [place.get(id(entry.message)) for entry in view.entries]
        seen = [self._encoded(e.message) if i is None else self.items[i] for i, e in zip(at, view.entries)]
        self.seen = self._joined(seen)
        self._unweighed = 0
        self.images = self.media_bytes = 0
        self._carry(media_in(view.messages))
        self._weight = sum(
            self.meter.weigh(e.message) if i is None else self.weights[i] for i, e in zip(at, view.entries)
        )

    def find(self, id: str) -> Message | None:
        """The message of that id as it was before any fold, or the summary that a fold made, or None."""
        ids = self._chain()
        if id in ids:
            return self.messages[ids.index(id)]
        return next((view.entries[view.index[id]].message for view in self._views() if id in view.index), None)

    def said(self) -> Iterator[tuple[str, Message]]:
        """Every message with its id, as it was before any fold."""
        return zip(self._chain(), self.messages)

    def _continues(self, items: Sequence[Item]) -> bool:
        """Whether the items start with all that were taken before.

        Lists of one length are compared in place, where the same object is passed over without a look; a slice would
        touch every item, which takes five times as long.
        """
        known = len(self.items)
        self.items += items[known:]
        try:
            return items == self.items
        finally:
            del self.items[known:]

    def _append(self, items: Sequence[Item], messages: Sequence[Message]) -> None:
        self.items += items
        self.messages += messages
        self.seen[-1:] = self._joined([*self.seen[-1:], *items])
        self._unweighed += sum(map(at_most, messages))
        self._carry(media_in(messages))

    def _carry(self, media: Sequence[Media]) -> None:
        self.images += sum(1 for each in media if each.kind == "image")
        self.media_bytes += sum(media_bytes(each.source) for each in media)

    def _weigh(self) -> None:
        weights = self.meter.weigh_all(self.messages[len(self.weights) :])
        self.weights += weights
        self._weight += sum(weights)
        self._unweighed = 0

    def _cut(self, stands: int) -> None:
        self.items = self.items[:stands]
        self.messages = self.messages[:stands]
        self.weights = self.weights[:stands]
        self._ids = self._ids[:stands]

    def _decoded(self, data: Sequence[Item], format: str, first: int) -> list[Message]:
        """The messages that the items say, the first of which has the place `first`; raises `WireError`."""
        if not data or isinstance(data[0], Message):
            messages = list(data)
        else:
            before = self.messages if first == len(self.messages) else self.messages[:first]
            messages = wire.decode_all(data, format, before)
            refuse_strangers(messages, data, format, first)
        return messages if self.speaker is None else [_marked(m, self.speaker(m)) for m in messages]

    def _encoded(self, message: Message) -> Item:
        return message if isinstance(self.items[0], Message) else wire.encode(message, self.told.format)

    def _joined(self, seen: list[Item]) -> list[Item]:
        """What is handed out, as one item where a fold made neighbours that the provider refuses."""
        return wire.joined(seen, self.told.format) if self.folds else seen

    def _entries(self) -> Iterator[Entry]:
        self._weigh()
        ratio = self.meter.ratio
        for id, message, weight in zip(self._chain(), self.messages, self.weights):
            yield Entry(id, message, ceil(weight * ratio), self.pinned(message))

    def _count(self, message: Message) -> int:
        """Rounded up, so that the sum over a view is never less than what `Meter.total` counts for it."""
        return ceil(self.meter.weigh(message) * self.meter.ratio)

    def _chain(self) -> list[str]:
        known = len(self._ids)
        self._ids += chain(islice(self.messages, known, None), self._ids[-1] if self._ids else "")
        return self._ids


def _marked(message: Message, speaker: Speaker | None) -> Message:
    """A message with its words marked as the speaker's, where one is given."""
    if not speaker:
        return message
    return replace(message, parts=tuple(replace(p, by=speaker) if type(p) is Text else p for p in message.parts))


def _common(a: Sequence[Item], b: Sequence[Item]) -> int:
    """How many items two histories share from the start."""
    for i, (x, y) in enumerate(zip(a, b)):
        if x is not y and x != y:
            return i
    return min(len(a), len(b))
