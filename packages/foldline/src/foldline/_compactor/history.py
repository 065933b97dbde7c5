"""A history that is sent whole each time: what the caller sent, and what the model sees of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from math import ceil
from typing import NamedTuple, TypeVar

from foldline._compactor.alignment import Alignment, Revision, align, continues
from foldline._compactor.codec import Codec, Item
from foldline._compactor.said import Naming, SaidMessages
from foldline._compactor.seen import Seen
from foldline._errors import WireError
from foldline._fold import Fold
from foldline._framing import is_summary, summary_in
from foldline._messages import Message, Summary, Text, replace
from foldline._stages import Course, digested
from foldline._tokens.meter import Count, Meter
from foldline._view import Entry, View, opens_turn, without_thinking
from foldline._wires.telling import Hearing

T = TypeVar("T")


class Rewrite(NamedTuple):
    """How much of the history before stands where it was rewritten, and the items that it had."""

    stands: int
    before: Sequence[Item]


class History:
    """One growing conversation: its items as the caller has them, decoded and weighed once each, and its folds.

    What no fold touched is handed out as the caller's own object, the one of the newest call. A fold is replayed on the
    messages that there were when it was made, so that what came later keeps the thinking that was bound to the folded past.

    A step costs what is seen, not what was ever said, unless the past was rewritten.
    """

    def __init__(
        self,
        meter: Meter,
        codec: Codec,
        pinned: Callable[[Message], bool],
        named: Naming,
        *,
        bound: bool,
    ) -> None:
        self.meter = meter
        self.bound = bound
        self.folds: tuple[tuple[int, Fold], ...] = ()
        """Each fold with the number of messages that there were when it was made."""
        self._gathered: tuple[object, list[Summary]] = ((), [])
        self.severed: tuple[tuple[int, int], ...] = ()
        """Where messages stand that were said over a fold which was undone: thinking in them is bound to what is gone."""
        self.course = Course()
        """The stages that the host told of."""
        self.expected = 0
        """How many messages another one knew whose folds this one took; they are still to come."""
        self.stale = False
        """Whether digests may be seen that are none of the course's any more: it changed since that was looked for."""
        self._turned: int | None = None
        """Where the course took a turn, behind all that was known: what comes first yet still belongs to what was before."""
        self.version = 0
        """Another number each time that anything of it changed."""
        self._codec = codec
        self._items: list[Item] = []
        """The caller's own objects of the call that is being answered."""
        self._known: list[Item] = []
        """The items as they were when their messages were read."""
        self._given: tuple[list[Item], int] = ([], 0)
        """What was given last by who keeps what was handed out, and how many messages it told: a call that failed is made
        with it again, whatever was folded for that."""
        self._said = SaidMessages(meter, pinned, named)
        self.seen = Seen(self._said, codec, meter)
        """What the model sees."""
        self._turn = 0
        self._sent = -1
        """The version that was handed out last."""

    def copy(self) -> History:
        """Another history that stands as this one does; what happens to one of them does not happen to the other."""
        other, seen = _apart(self), _apart(self.seen)
        other._said, other._codec, other.seen = _apart(self._said), _apart(self._codec), seen
        seen.said, seen.codec = other._said, other._codec
        return other

    @property
    def messages(self) -> Sequence[Message]:
        """Every message, as it was before any fold."""
        return self._said.messages

    @property
    def count(self) -> Count:
        """How many tokens a request takes with what the model sees."""
        return self.meter.total(self.seen.weight)

    # -- what the caller says --------------------------------------------------------------------------------------

    def take(self, items: list[Item]) -> Rewrite | None:
        """Takes the history as it is now; answers what stands where the earlier one was rewritten.

        It goes on from what was taken before, or from what was handed out, where the caller keeps that instead. System
        messages may change, come and go anywhere, and marks of what is cached too: that rewrites nothing. What was read
        in a format that turns out to be another's is read again.

        Raises `WireError` for what is not of the format; then everything is as it was.
        """
        given, before, known = items, self._known, len(self._known)
        self._turn += 1
        goes_on = continues(items, before, self._codec, self._turn)
        found = Alignment((), known, known) if goes_on else self._aligned(items)
        adopted = self._adopted(items) if found.stands < known and self.folds else None
        items, found = adopted or (items, found)
        repeated = found.stands < known and self._repeated(items)
        found = Alignment((), known, len(self._given[0])) if repeated else found
        rewrite = Rewrite(found.stands, before) if not adopted and found.stands < known else None
        fresh, told = self._read(items, found, known if adopted else found.stands)
        if fresh is None:
            past, rest = ([], items) if rewrite else (before, items[found.read :])
            self._read_anew(past, rest, told)
            again = self.take(items)
            return rewrite or again
        self._codec.told = told
        if adopted:
            self._adopt(items, found)
            self._given = list(given), len(self._known)
        elif repeated:
            self._known += items[found.read :]
            self._items = list(self._known)
        elif goes_on:
            self._items = items
            self._known += items[known:]
        else:
            self._items, self._known = items, list(items)
            self._settle(found.changes, found.stands)
        if fresh:
            self._follow(fresh)
            self.seen.append(fresh)
            self.version += 1
        if not known and self.messages and (self.folds or self.severed or self.course.runs):
            self._move(lambda at: min(at, len(self.messages)))
            self._replay()
        return rewrite

    def lost_in(self, items: list[Item]) -> int:
        """How many messages that were taken do not stand in a history; nothing of either is changed."""
        known = self._known
        return 0 if continues(items, known, self._codec) else len(known) - self._aligned(items).stands

    def _aligned(self, items: list[Item]) -> Alignment:
        """How items go on from those that were taken."""
        return align(items, self._known, self.messages, self._codec, self._readable)

    def restart(self, folds: Iterable[tuple[int, Fold]], severed: Iterable[tuple[int, int]]) -> None:
        """Forgets all, and takes the folds that another one made of the history that is to come."""
        self._items, self._known, self._given = [], [], ([], 0)
        self.seen.clear()
        self.folds, self.severed, self._codec.told = tuple(folds), tuple(severed), self._codec.told.before
        self.version += 1

    def go_on(self, turned: Callable[[Course, int], Course]) -> None:
        """Takes what the host tells of its stages, behind all that is known by now."""
        end = len(self.messages) or self.expected
        self.follow(turned(self.course, end))
        self._turned = end

    def follow(self, course: Course) -> None:
        """Takes the stages as they stand."""
        self.course, self.stale = course, bool(course.stages)

    def told_course(self) -> Course:
        """The stages that the host told of, or else those that the messages tell, each closed one with its digest."""
        if self.course.stages:
            return replace(self.course, stages=self.course.told(self.messages))
        from foldline._facts.stages import stages_told  # with all that reads facts, which most hosts need not

        return stages_told(self.messages)

    def stages_folded(self) -> set[str]:
        """The stages whose digests the model sees in the place of their messages."""
        said = (self.messages[at] for at in self.seen.places if at is not None)
        return {name for message in (*self.seen.made, *said) if (name := digested(message))}

    def _follow(self, fresh: Sequence[Message]) -> None:
        """Moves a turn of the course behind the end of what was being done when the host told of it: to the user's next words."""
        turned, known = self._turned, len(self.messages)
        if turned is not None:
            spoken = (at for at, message in enumerate(fresh, known) if at >= turned and opens_turn(message))
            begins = next(spoken, known + len(fresh))
            self.course = self.course.moved(lambda at: begins if at == turned else at)
        self._turned = None

    def release(self) -> None:
        """Lets go of the caller's own objects, which need not outlive the call."""
        self._items = []

    def refresh(self) -> None:
        """Decodes what the model sees again: a caller may have written into its messages since."""
        items = self._items or self._known
        found = ((at, self._decoded_at(items[at], at)) for at in self.seen.places if at is not None)
        changes = [Revision(at, at + 1, at, (message,)) for at, message in found if message != self.messages[at]]
        self._settle(changes, len(self.messages))

    def _read(self, items: list[Item], found: Alignment, stands: int) -> tuple[list[Message] | None, Hearing]:
        """The messages that are new, behind so many that stand, and what they tell; none where those are of another format."""
        told = self._codec.told
        anew = self._known and all(message.role == "system" for message in islice(self.messages, stands))
        first = 0 if anew else found.read
        data = self._codec.data(items[first:], first)
        told = (told.before if anew else told).after(data, first)
        if stands and told.format != self._codec.told.format:
            return None, told
        return self._decoded(data[found.read - first :], told, found.read, self._said.before(stands)), told

    def _read_anew(self, past: list[Item], rest: list[Item], told: Hearing) -> None:
        """Reads what stands again, as `told`; raises `WireError` before that where it or the rest is not of the format."""
        self._decoded(self._codec.data([*past, *rest], 0), told, 0, ())
        self.restart(self.folds, self.severed)
        self._codec.told = told
        self.take(past)

    def _adopted(self, items: list[Item]) -> tuple[list[Item], Alignment] | None:
        """The items and how they go on from what was handed out, or None where they do not."""
        shown = self.seen.items(self._known)
        handed = self._joined(shown)
        items = items if len(handed) == len(shown) else self._codec.part(items, handed)
        found = Alignment((), len(shown), len(shown))
        if not continues(items, shown, self._codec):
            end = len(self.messages)
            found = align(items, shown, self.view().messages, self._codec, lambda item, _: self._readable(item, end))
        moved = any(len(change.messages) != 1 or change.stop - change.start != 1 for change in found.changes)
        ours = any(at is None for at in self.seen.places[: found.read])
        return (items, found) if ours and not moved and found.stands == len(shown) else None

    def _repeated(self, items: list[Item]) -> bool:
        """Whether the items start with what was given last by who keeps what was handed out, and nothing was told since."""
        given, stands = self._given
        return stands == len(self._known) and bool(given) and continues(items, given, self._codec)

    def _adopt(self, items: list[Item], found: Alignment) -> None:
        """Takes what goes on from what was handed out; what was folded away stays known."""
        places = self.seen.places
        placed = ((places[change.start], change) for change in found.changes)
        self._settle([Revision(at, at + 1, at, c.messages) for at, c in placed if at is not None], len(self.messages))
        for at, item in zip(places, items):
            if at is not None:
                self._known[at] = item
        self.seen.adopt(items)
        self._known += items[found.read :]
        self._items = list(self._known)

    # -- what changed in it ----------------------------------------------------------------------------------------

    def _settle(self, changes: Sequence[Revision], stands: int) -> None:
        """Makes the changes in the messages that stand, and forgets those behind them."""
        if not changes and stands == len(self.messages):
            return
        self.version += 1
        moved = (change.start for change in changes if len(change.messages) != change.stop - change.start)
        first = min([stands, *moved])
        folded = max((self.seen.tail, *(at for at, _ in self.folds)))
        same = [self.seen.put(c.start, c.messages[0]) for c in changes if c.start < first]
        later = [change for change in changes if change.start >= first]
        if later or stands < len(self.messages):
            self._cut(first, later, stands)
        if not all(same) or first < folded:
            self._replay()

    def _cut(self, first: int, changes: Sequence[Revision], stands: int) -> None:
        """Rewrites the messages from `first` on: the changes, and nothing behind what stands."""
        standing: list[Message] = []
        done = first
        for change in changes:
            standing += (*self.messages[done : change.start], *change.messages)
            done = change.stop
        standing += self.messages[done:stands]
        self.seen.cut(first, standing)

        def moved(at: int) -> int:
            by = sum(len(c.messages) + c.start - c.stop for c in changes if c.stop <= at)
            return min(len(self.messages), at + by)

        self._move(moved)

    def _move(self, moved: Callable[[int], int]) -> None:
        """Makes the folds stand where the messages that there were for them stand now."""
        self.folds = tuple((moved(at), fold) for at, fold in self.folds)
        self.severed = tuple((moved(start), moved(stop)) for start, stop in self.severed)
        self.course = self.course.moved(moved)

    # -- what the model sees ---------------------------------------------------------------------------------------

    @property
    def items(self) -> list[Item]:
        """What the model sees, in the caller's format and, where no fold touched it, as the caller's own objects."""
        return self._joined(self.seen.items(self._items or self._known))

    def hand_out(self) -> list[Item]:
        """What the model sees, to be sent to it now."""
        self._sent = self.version
        return self.items

    def shows(self, sent: Sequence[Item]) -> bool:
        """Whether what was handed out is what the model sees."""
        items = self.items
        return len(items) == len(sent) and all(one is other or one == other for one, other in zip(items, sent))

    @property
    def as_sent(self) -> bool:
        """Whether the model still sees what was handed out last."""
        return self._sent == self.version

    def view(self) -> View:
        """What the model sees, as it is edited."""
        entries = self._staged(self.seen.places, self.seen.entries())
        return View(tuple(entries), self._count, self.bound, self.course.told(self.messages))

    def _staged(self, places: Iterable[int | None], entries: Iterable[Entry]) -> Iterable[Entry]:
        """Entries of messages at those places, each with its stage; what a fold made has its own."""
        if not self.course.runs:
            return entries
        return (e if at is None else replace(e, stage=self.course.at(at)) for at, e in zip(places, entries))

    def since(self, view: View) -> int:
        """Where in what the model sees that begins which came behind the newest fold; 0 where there is none."""
        return len(view.entries) - (len(self.messages) - self.folds[-1][0]) if self.folds else 0

    def install(self, view: View, fold: Fold) -> None:
        """Takes a fold of what the model sees, which makes it a view; stages have the digests by which they were folded."""
        self.course = replace(self.course, stages=self.course.told(self.messages))
        self.folds = (*self.folds, (len(self.messages), fold))
        self._show(view, [at for at in self.seen.places if at is not None])

    def undo(self) -> Fold:
        """Takes back the newest fold; thinking that was said over it is bound to a past that the model no longer sees."""
        *folds, (at, fold) = self.folds
        self.folds = tuple(folds)
        if self.bound and at < len(self.messages):
            self.severed = (*self.severed, (at, len(self.messages)))
        self._replay()
        return fold

    def find(self, id: str) -> Message | None:
        """The message of that id as it was before any fold, or the summary that a fold made, or None."""
        ids = self._said.ids
        if id in ids:
            return self.messages[ids.index(id)]
        return next((view.entries[view.index[id]].message for view in self._views() if id in view.index), None)

    def all(self) -> list[tuple[str, Message]]:
        """Every message with its id, as it was before any fold."""
        return list(zip(self._said.ids, self.messages))

    def _joined(self, seen: list[Item]) -> list[Item]:
        """What is handed out: only folds, or their undoing, make neighbours that the provider refuses."""
        return self._codec.join(seen) if self.folds or self.severed else seen

    def _replay(self) -> None:
        """Makes what the model sees what all folds make of what was said."""
        *_, view = self._views()
        self._show(view, range(len(self.messages)))

    def _show(self, view: View, places: Iterable[int]) -> None:
        """Makes a view what the model sees, whose messages stand at some of those places, or were made by a fold."""
        self.seen.show(view, {id(self.messages[at]): at for at in places}, self._items or self._known)
        self.version += 1

    def _views(self) -> Iterator[View]:
        """What the model saw from the first edit to the last, and what it sees now."""
        places = range(len(self.messages))
        entries = list(self._staged(places, self._said.entries(places)))
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

    def _count(self, message: Message) -> int:
        """Rounded up, so that the sum over a view is never less than what `Meter.total` counts for it."""
        return ceil(self.meter.weigh(message) * self.meter.ratio)

    # -- each message ----------------------------------------------------------------------------------------------

    def _decoded_at(self, item: Item, place: int) -> Message:
        return self._decoded(self._codec.data([item], place), self._codec.told, place, self._said.before(place))[0]

    def _readable(self, item: Item, place: int) -> Message | None:
        """The message that an item says where that can be read as those before it were."""
        try:
            return self._decoded_at(item, place)
        except WireError:
            return None

    def _decoded(self, data: Sequence[Item], told: Hearing, first: int, before: Sequence[Message]) -> list[Message]:
        """The messages that the data say, those that are summaries of ours as such."""
        read = self._codec.read(data, told, first, before)
        return [self._codec.marked(self._recognized(message)) for message in read]

    def _recognized(self, message: Message) -> Message:
        """A summary that came back as the text that it was handed out as: with its facts where it is one of ours."""
        said = message.parts[0] if message.role != "tool" and len(message.parts) == 1 else None
        if type(said) is not Text:
            return message
        known = next((summary for summary in self._summaries() if is_summary(said.text, summary)), None)
        if known is None and message.role == "user" and (told := summary_in(said.text)) is not None:
            known = Summary(told)
        return message if known is None else replace(message, parts=(known,))

    def _summaries(self) -> list[Summary]:
        """The summaries that the folds made, newest first; gathered once for the same folds, which have thousands of edits."""
        if self._gathered[0] is not self.folds:
            edits = (edit for _, fold in reversed(self.folds) for edit in fold.edits)
            into = (message for edit in edits if isinstance(edit.into, tuple) for message in edit.into)
            self._gathered = self.folds, [summary for message in into if (summary := message.summary)]
        return self._gathered[1]


def _apart(thing: T) -> T:
    """Another one with lists of its own."""
    other = object.__new__(type(thing))
    for name, value in vars(thing).items():
        setattr(other, name, value.copy() if isinstance(value, list | set) else value)
    return other
