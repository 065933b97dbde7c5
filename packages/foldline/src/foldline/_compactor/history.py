"""A history that is sent whole each time: what the caller sent, and what the model sees of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from itertools import islice
from math import ceil
from typing import Any, NamedTuple

from foldline import _wires as wire
from foldline._compactor.alignment import Alignment, Change, align, continues
from foldline._errors import WireError
from foldline._fold import COUNTS, Fold
from foldline._messages import Message, Speaker, Summary, Text, replace
from foldline._tokens.media import media_bytes
from foldline._tokens.meter import Meter
from foldline._tokens.payload import media_in
from foldline._tokens.weigh import at_most
from foldline._view import Edit, Entry, View, chain, identity, without_thinking
from foldline._wires.format import neighbours
from foldline._wires.objects import as_data
from foldline._wires.strangers import refuse_strangers
from foldline._wires.summary import summary_in
from foldline._wires.telling import Told

Item = Any
"""One message as the caller has it: a dict or an object of a provider's library, or a `Message`."""


BYTES_PER_TOKEN = 5
"""More than most text has."""


class Slot(NamedTuple):
    """One message that the model sees: the caller's own at the place `at`, or where that is None the `item` made for it."""

    id: str
    message: Message
    weight: int
    pinned: bool
    at: int | None
    item: Item = None


class History:
    """One growing conversation: its items as the caller has them, decoded and weighed once each, and its folds.

    What no fold touched is handed out as the caller's own object, the one of the newest call. A fold is replayed on the
    messages that there were when it was made, so that what came later keeps the thinking that was bound to the folded past.

    What the model sees are the slots, which the newest fold left, and all messages from `tail` on. A step costs what is
    seen, not what was ever said, unless the past was rewritten.
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
        """The caller's own objects of the call that is being answered."""
        self.known: list[Item] = []
        """The items as they were when their messages were read."""
        self.messages: list[Message] = []
        self.folds: list[tuple[int, Fold]] = []
        """Each fold with the number of messages that there were when it was made."""
        self.severed: list[tuple[int, int]] = []
        """Where messages stand that were said over a fold which was undone: thinking in them is bound to what is gone."""
        self.version = 0
        """Another number each time that anything of it changed."""
        self.images = 0
        self.media_bytes = 0
        """What the model sees of pictures, documents and sounds."""
        self._slots: list[Slot] = []
        self._together: list[tuple[Item, list[Item]]] = []
        """What was handed out as one item, with those that it was made of."""
        self._tail = 0
        self._turn = 0
        self._values = False
        """Whether the caller's items are `Message`s."""
        self._weights: list[int] = []
        """The estimated size of each message, uncalibrated, as far as they were weighed."""
        self._changed: set[int] = set()
        """Where messages stand that must be weighed again."""
        self._weight = 0
        self._unweighed = 0
        self._ids: list[str] = []

    def copy(self) -> History:
        """Another history that stands as this one does; what happens to one of them does not happen to the other."""
        other = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, list | set):
                setattr(other, name, copy(value))
        return other

    # -- how much it is --------------------------------------------------------------------------------------------

    @property
    def weight(self) -> int:
        """The estimated size of what the model sees, uncalibrated; what is new is weighed now."""
        self._weigh()
        return self._weight

    @property
    def at_most(self) -> int:
        """What `weight` can be at most; while that is far from any mark, nothing has to be weighed."""
        return self._weight + self._unweighed

    @property
    def text_bytes(self) -> int:
        """The bytes of text that the model sees, rather more than there are; they need not be counted while that is little."""
        return BYTES_PER_TOKEN * self._weight + self._unweighed

    # -- what the caller says --------------------------------------------------------------------------------------

    def take(self, items: list[Item]) -> int | None:
        """Takes the history as it is now; answers how much of the earlier one stands where it was rewritten.

        It goes on from what was taken before, or from what was handed out, where the caller keeps that instead. System
        messages may change, come and go anywhere, and marks of what is cached too: that rewrites nothing. What was read
        in a format that turns out to be another's is read again.

        Raises `WireError` for what is not of the format; then everything is as it was.
        """
        known = len(self.known)
        self._turn += 1
        goes_on = continues(items, self.known, self._turn)
        found = Alignment((), known, known) if goes_on else align(items, self.known, self.messages, self._readable)
        adopted = self._adopted(items) if found.stands < known and self.folds else None
        items, found = adopted or (items, found)
        rewritten = not adopted and found.stands < known
        fresh, told = self._read(items, found, known if adopted else found.stands)
        if fresh is None:
            past, rest = ([], items) if rewritten else (self.known, items[found.read :])
            self._read_anew(past, rest, told)
            again = self.take(items)
            return found.stands if rewritten else again
        self.told = told
        if adopted:
            self._adopt(items, found)
        elif goes_on:
            self.items = items
            self.known += items[known:]
        else:
            self._settle(found.changes, found.stands)
            self.items, self.known = items, list(items)
        self._append(fresh)
        if not known and self.messages and (self.folds or self.severed):
            self._move(lambda at: min(at, len(self.messages)))
            self._show_all(self._replayed())
        return found.stands if rewritten else None

    def restart(self, folds: Iterable[tuple[int, Fold]], severed: Iterable[tuple[int, int]]) -> None:
        """Forgets all, and takes the folds that another one made of the history that is to come."""
        self.items, self.known, self.messages = [], [], []
        self._weights, self._ids, self._slots = [], [], []
        self._changed.clear()
        self.folds, self.severed, self.told = list(folds), list(severed), self.told.before
        self._tail = self._weight = self._unweighed = self.images = self.media_bytes = 0
        self.version += 1

    def _read(self, items: list[Item], found: Alignment, stands: int) -> tuple[list[Message] | None, Told]:
        """The messages that are new, behind so many that stand, and what they tell; none where those are of another format."""
        anew = self.known and all(message.role == "system" for message in islice(self.messages, stands))
        first = 0 if anew else found.read
        data = as_data(items[first:], first)
        told = (self.told.before if anew else self.told).after(data, first)
        if stands and told.format != self.told.format:
            return None, told
        return self._decoded(data[found.read - first :], told.format, found.read, self._before(stands)), told

    def _read_anew(self, past: list[Item], rest: list[Item], told: Told) -> None:
        """Reads what stands again, as `told`; raises `WireError` before that where it or the rest is not of the format."""
        self._decoded(as_data([*past, *rest]), told.format, 0, ())
        self.restart(self.folds, self.severed)
        self.told = told
        self.take(past)

    def release(self) -> None:
        """Lets go of the caller's own objects, which need not outlive the call."""
        self.items = []

    def refresh(self) -> None:
        """Decodes what the model sees again: a caller may have written into its messages since."""
        places = (*(slot.at for slot in self._slots if slot.at is not None), *range(self._tail, len(self.messages)))
        items = self.items or self.known
        found = ((at, self._decoded_at(items[at], at)) for at in places)
        changes = [Change(at, at + 1, at, (message,)) for at, message in found if message != self.messages[at]]
        self._settle(changes, len(self.messages))

    def _adopted(self, items: list[Item]) -> tuple[list[Item], Alignment] | None:
        """The items and how they go on from what was handed out, or None where they do not."""
        shown = self._seen_in(self.known)
        items = self._parted(items, shown)
        found = Alignment((), len(shown), len(shown))
        if not continues(items, shown):
            end = len(self.messages)
            found = align(items, shown, self.view().messages, lambda item, _: self._readable(item, end))
        moved = any(len(change.messages) != 1 or change.stop - change.start != 1 for change in found.changes)
        ours = any(at is None for at in self._places()[: found.read])
        return (items, found) if ours and not moved and found.stands == len(shown) else None

    def _adopt(self, items: list[Item], found: Alignment) -> None:
        """Takes what goes on from what was handed out; what was folded away stays known."""
        places = self._places()
        placed = ((places[change.start], change) for change in found.changes)
        self._settle([Change(at, at + 1, at, c.messages) for at, c in placed if at is not None], len(self.messages))
        for at, item in zip(places, items):
            if at is not None:
                self.known[at] = item
        self._slots = [s if s.at is not None else s._replace(item=item) for s, item in zip(self._slots, items)]
        self.known += items[found.read :]
        self.items = list(self.known)

    def _places(self) -> list[int | None]:
        """Where in the history that stands which the model sees; None for what a fold made."""
        return [*(slot.at for slot in self._slots), *range(self._tail, len(self.known))]

    def _parted(self, items: list[Item], shown: list[Item]) -> list[Item]:
        """The items, those parted again that were put together when they were handed out."""
        handed = self._joined(shown)
        if len(handed) == len(shown):
            return items
        made_of = {id(one): of for one, of in self._together}
        parted = (made_of.get(id(one), [item]) if item == one else [item] for item, one in zip(items, handed))
        return [*(each for several in parted for each in several), *items[len(handed) :]]

    def _append(self, messages: Sequence[Message]) -> None:
        if messages:
            self.messages += messages
            self._unweighed += sum(map(at_most, messages))
            self._carry(messages)
            self.version += 1

    def _carry(self, messages: Iterable[Message], sign: int = 1) -> None:
        media = media_in(messages)
        self.images += sign * sum(1 for each in media if each.kind == "image")
        self.media_bytes += sign * sum(media_bytes(each.source) for each in media)

    # -- what changed in it ----------------------------------------------------------------------------------------

    def _settle(self, changes: Sequence[Change], stands: int) -> None:
        """Makes the changes in the messages that stand, and forgets those behind them."""
        if not changes and stands == len(self.messages):
            return
        self.version += 1
        moved = (change.start for change in changes if len(change.messages) != change.stop - change.start)
        first = min([stands, *moved])
        folded = max((self._tail, *(at for at, _ in self.folds)))
        same = [self._say_again(c.start, c.messages[0]) for c in changes if c.start < first]
        later = [change for change in changes if change.start >= first]
        if later or stands < len(self.messages):
            self._cut(first, later, stands)
        if not all(same) or first < folded:
            self._show_all(self._replayed())

    def _say_again(self, at: int, message: Message) -> bool:
        """Puts a message in the place of one that says the same or is the system's; False where a fold may not stand on it."""
        old, self.messages[at] = self.messages[at], message
        same, system = identity(old) == identity(message), old.role == message.role == "system"
        if not same and system and at < len(self._ids):
            self._ids[at] = next(chain([message], *self._parent(at)))
        elif not same:
            del self._ids[at:]
        slot = next((i for i, slot in enumerate(self._slots) if slot.at == at), None)
        if at >= self._tail or slot is not None:
            self._carry((old,), -1)
            self._carry((message,))
            if at < len(self._weights) and not same:
                self._changed.add(at)
                self._unweighed += at_most(message)
            if slot is not None:
                id = self._chain()[at] if not same else self._slots[slot].id
                self._slots[slot] = self._slots[slot]._replace(id=id, message=message)
        return same or (system and (at >= self._tail or slot is not None)) or not self._slots

    def _cut(self, first: int, changes: Sequence[Change], stands: int) -> None:
        """Rewrites the messages from `first` on: the changes, and nothing behind what stands."""
        standing: list[Message] = []
        done = first
        for change in changes:
            standing += (*self.messages[done : change.start], *change.messages)
            done = change.stop
        standing += self.messages[done:stands]
        self._carry(self.messages[first:], -1)
        self._carry(standing)
        self._weight -= sum(self._weights[first:])
        self._unweighed += sum(map(at_most, standing))
        self.messages[first:] = standing
        del self._weights[first:], self._ids[first:]
        self._changed = {at for at in self._changed if at < first}

        def moved(at: int) -> int:
            return min(
                len(self.messages), at + sum(len(c.messages) + c.start - c.stop for c in changes if c.stop <= at)
            )

        self._move(moved)

    def _move(self, moved: Callable[[int], int]) -> None:
        """Makes the folds stand where the messages that there were for them stand now."""
        self.folds = [(moved(at), fold) for at, fold in self.folds]
        self.severed = [(moved(start), moved(stop)) for start, stop in self.severed]

    # -- what the model sees ---------------------------------------------------------------------------------------

    @property
    def seen(self) -> list[Item]:
        """What the model sees, in the caller's format and, where no fold touched it, as the caller's own objects."""
        return self._joined(self._seen_in(self.items or self.known))

    def _seen_in(self, items: list[Item]) -> list[Item]:
        return [
            *(s.item if s.at is None else items[s.at] for s in self._slots),
            *items[self._tail : len(self.messages)],
        ]

    def view(self) -> View:
        """What the model sees, as it is edited."""
        self._weigh()
        ratio, ids = self.meter.ratio, self._chain()
        entries = [Entry(s.id, s.message, ceil(s.weight * ratio), s.pinned) for s in self._slots]
        entries += self._entries(ids, self._tail)
        return View(tuple(entries), self._count, self.bound)

    def since(self, view: View) -> int:
        """Where in what the model sees that begins which came behind the newest fold; 0 where there is none."""
        return len(view.entries) - (len(self.messages) - self.folds[-1][0]) if self.folds else 0

    def install(self, view: View, fold: Fold) -> None:
        """Takes a fold of what the model sees, which makes it a view."""
        self.folds.append((len(self.messages), fold))
        places = {id(slot.message): slot.at for slot in self._slots if slot.at is not None}
        self._show(view, places | {id(m): at for at, m in enumerate(self.messages[self._tail :], self._tail)})

    def undo(self) -> Fold:
        """Takes back the newest fold; thinking that was said over it is bound to a past that the model no longer sees."""
        at, fold = self.folds.pop()
        if self.bound and at < len(self.messages):
            self.severed.append((at, len(self.messages)))
        self._show_all(self._replayed())
        return fold

    def _show_all(self, view: View) -> None:
        """Makes a view what the model sees, wherever in the history its messages stand."""
        self._show(view, {id(message): at for at, message in enumerate(self.messages)})

    def _show(self, view: View, places: Mapping[int, int]) -> None:
        """Makes a view what the model sees from now on; `places` tells where messages stand, by identity."""
        self._weigh()
        made = {id(slot.message): slot for slot in self._slots if slot.at is None}
        slots = [self._slot(entry, places.get(id(entry.message)), made) for entry in view.entries]
        self._weight = sum(slot.weight for slot in slots)
        self._unweighed = self.images = self.media_bytes = 0
        self._carry(view.messages)
        self._tail = len(self.messages)
        while slots and slots[-1].at == self._tail - 1:
            slots.pop()
            self._tail -= 1
        self._slots = slots
        self.version += 1

    def folds_to_keep(self) -> list[tuple[int, Fold]]:
        """The folds without what only an undo of later ones would show: stubs of what went since, and facts of old summaries.

        The facts of a summary that the model sees hold those of all before it; a message that was pruned before it was
        folded is whole again where that fold is undone. Where thinking is bound, every stub takes some away, so that all stay.
        """
        seen = {id(slot.message) for slot in self._slots}
        gone: set[str] = set()
        folds = []
        for at, fold in reversed(self.folds):
            kept = []
            for edit in reversed(fold.edits):
                stub = None if self.bound else _stub_of(edit)
                if stub is None or edit.drop[0] not in gone or id(stub) in seen:
                    kept.append(_without_old_facts(edit, seen))
                gone.update(edit.drop)
            folds.append((at, replace(fold, edits=tuple(reversed(kept)))))
        return folds[::-1]

    def find(self, id: str) -> Message | None:
        """The message of that id as it was before any fold, or the summary that a fold made, or None."""
        ids = self._chain()
        if id in ids:
            return self.messages[ids.index(id)]
        return next((view.entries[view.index[id]].message for view in self._views() if id in view.index), None)

    def said(self) -> Iterator[tuple[str, Message]]:
        """Every message with its id, as it was before any fold."""
        return zip(self._chain(), self.messages)

    def _slot(self, entry: Entry, at: int | None, made: dict[int, Slot]) -> Slot:
        message = entry.message
        if at is not None:
            return Slot(entry.id, message, self._weights[at], entry.pinned, at)
        if slot := made.get(id(message)):
            return slot._replace(id=entry.id, pinned=entry.pinned)
        return Slot(entry.id, message, self.meter.weigh(message), entry.pinned, None, self._encoded(message))

    def _replayed(self) -> View:
        *_, view = self._views()
        return view

    def _views(self) -> Iterator[View]:
        """What the model saw from the first edit to the last, and what it sees now."""
        self._weigh()
        entries = list(self._entries(self._chain(), 0))
        view, done = View((), self._count, self.bound), 0
        for at, fold in self.folds:
            view, done = View((*view.entries, *self._bound(entries, done, at)), view.count, view.bound), max(done, at)
            for edit in fold.edits:
                view = view.replay((edit,))
                yield view
        yield View((*view.entries, *self._bound(entries, done, len(entries))), view.count, view.bound)

    def _bound(self, entries: Sequence[Entry], start: int, stop: int) -> Iterator[Entry]:
        """The entries from a place to another, without the thinking that is bound to what is gone."""
        for at, entry in enumerate(entries[start:stop], start):
            gone = any(first <= at < last for first, last in self.severed)
            yield from without_thinking((entry,), self._count) if gone else (entry,)

    # -- each message ----------------------------------------------------------------------------------------------

    def _weigh(self) -> None:
        weights = self.meter.weigh_all(self.messages[len(self._weights) :])
        self._weights += weights
        self._weight += sum(weights)
        for at in self._changed:
            weight = self.meter.weigh(self.messages[at])
            self._weight += weight - self._weights[at]
            self._weights[at] = weight
            self._slots = [s if s.at != at else s._replace(weight=weight) for s in self._slots]
        self._changed.clear()
        self._unweighed = 0

    def _decoded_at(self, item: Item, place: int) -> Message:
        return self._decoded(as_data([item], place), self.told.format, place, self._before(place))[0]

    def _readable(self, item: Item, place: int) -> Message | None:
        """The message that an item says where that can be read as those before it were."""
        try:
            return self._decoded_at(item, place)
        except WireError:
            return None

    def _before(self, place: int) -> Sequence[Message]:
        return self.messages if place == len(self.messages) else Prefix(self.messages, place)

    def _decoded(self, data: Sequence[Item], format: str, first: int, before: Sequence[Message]) -> list[Message]:
        """The messages that the data say behind others, the first of which the caller has at that place; raises `WireError`."""
        if not data:
            return []
        self._values = isinstance(data[0], Message)
        if self._values:
            messages = list(data)
        else:
            messages = wire.decode_all(data, format, before, first)
            refuse_strangers(messages, data, format, first)
        messages = [self._recognized(m) if m.role == "user" else m for m in messages]
        return messages if self.speaker is None else [_marked(m, self.speaker(m)) for m in messages]

    def _recognized(self, message: Message) -> Message:
        """A summary that came back as the text that it was handed out as: with its facts where it is one of ours."""
        text = message.parts[0].text if len(message.parts) == 1 and type(message.parts[0]) is Text else ""
        if (told := summary_in(text)) is None:
            return message
        into = (m for _, fold in reversed(self.folds) for e in fold.edits if isinstance(e.into, tuple) for m in e.into)
        known = next((m.summary for m in into if m.summary and m.summary.text == told), None)
        return replace(message, parts=(known or Summary(told),))

    def _encoded(self, message: Message) -> Item:
        return message if self._values else wire.encode(message, self.told.format)

    def _joined(self, seen: list[Item]) -> list[Item]:
        """What is handed out, as one item where folds, or their undoing, made neighbours that the provider refuses."""
        join = wire.named(self.told.format).join
        if join is None or self._values or not (self.folds or self.severed):
            return seen
        before, self._together = self._together, []
        handed = []
        for item, of in neighbours(seen, join):
            if len(of) > 1:
                item = next((one for one, parts in before if [*map(id, parts)] == [*map(id, of)]), item)
                self._together.append((item, of))
            handed.append(item)
        return handed

    def _entries(self, ids: Sequence[str], first: int) -> Iterator[Entry]:
        ratio = self.meter.ratio
        for at in range(first, len(self.messages)):
            message = self.messages[at]
            yield Entry(ids[at], message, ceil(self._weights[at] * ratio), self.pinned(message))

    def _count(self, message: Message) -> int:
        """Rounded up, so that the sum over a view is never less than what `Meter.total` counts for it."""
        return ceil(self.meter.weigh(message) * self.meter.ratio)

    def _chain(self) -> list[str]:
        known = len(self._ids)
        if known < len(self.messages):
            self._ids += chain(islice(self.messages, known, None), *self._parent(known))
        return self._ids

    def _parent(self, at: int) -> tuple[str, int]:
        """The id of the last message before a place that is no system message, and how many stand between."""
        spoken = next((i for i in range(at - 1, -1, -1) if self.messages[i].role != "system"), -1)
        return self._ids[spoken] if spoken >= 0 else "", at - 1 - spoken


def _stub_of(edit: Edit) -> Message | None:
    """The message that an edit puts in the place of one, whose id it keeps; None where it does something else."""
    one = len(edit.drop) == 1 and isinstance(edit.into, tuple) and len(edit.into) == 1
    return edit.into[0] if one and not edit.into[0].summary else None  # type: ignore[index]


def _without_old_facts(edit: Edit, seen: Collection[int]) -> Edit:
    """An edit whose summaries keep their facts where they are among the messages seen, by identity, and else their counts."""

    def kept(message: Message) -> Message:
        if (told := message.summary) is None or id(message) in seen:
            return message
        counts = {key: told.facts[key] for key in COUNTS if key in told.facts}
        return replace(
            message, parts=tuple(replace(p, facts=counts) if type(p) is Summary else p for p in message.parts)
        )

    return replace(edit, into=tuple(map(kept, edit.into))) if isinstance(edit.into, tuple) else edit


def places_in(messages: Sequence[Item], sent: Sequence[Item]) -> list[int | Item]:
    """What was handed out for some messages, each that is one of them by its place."""
    ours = {id(item) for item in messages}
    at = 0
    places: list[int | Item] = []
    for item in sent:
        if id(item) in ours:
            at = next(i for i in range(at, len(messages)) if messages[i] is item) + 1
        places.append(at - 1 if id(item) in ours else item)
    return places


class Prefix(Sequence[Message]):
    """The first messages of a list, which are not copied for it."""

    def __init__(self, messages: Sequence[Message], length: int) -> None:
        self._messages = messages
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, at: Any) -> Any:
        found = range(self._length)[at]
        return self._messages[found] if isinstance(found, int) else [self._messages[i] for i in found]


def _marked(message: Message, speaker: Speaker | None) -> Message:
    """A message with its words marked as the speaker's, where one is given."""
    if not speaker:
        return message
    return replace(message, parts=tuple(replace(p, by=speaker) if type(p) is Text else p for p in message.parts))
