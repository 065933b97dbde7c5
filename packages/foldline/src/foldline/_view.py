"""What the model sees, and how it may be edited: the heart.

An edit replaces a span of messages by zero or more messages. `View.apply` is the one place where safety lives:
the span stands, no pin is inside, no pair is split, nothing empty is left, the first turn stays a user's.
Proposing an unsafe edit raises `UnsafeEdit`; `View.replay` skips what does not stand on this branch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property, reduce
from itertools import accumulate, pairwise
from typing import Literal

import msgspec

from foldline._errors import UnsafeEdit
from foldline._messages import (
    Media,
    Message,
    Opaque,
    Part,
    Summary,
    Text,
    Thinking,
    ToolResult,
    Value,
    replace,
)
from foldline._pairs import answers, pairs_split
from foldline._patterns import pattern
from foldline._stages import Stage
from foldline._wording import Wording


class Entry(Value, frozen=True, gc=False, omit_defaults=True):
    """One message of a view, with its identity, its size in tokens, whether it is pinned, and the stage that it belongs to."""

    id: str
    message: Message
    tokens: int = 0
    pinned: bool = False
    stage: str = ""


class Brief(Value, frozen=True, omit_defaults=True):
    """A summary that is still to be written: at most `max_tokens`, with the user's `focus`."""

    max_tokens: int
    focus: str = ""
    round: int = 1
    reserved: int = 0
    """Of `max_tokens`, those that code needs for what it adds to a model's draft: the user's words and constraints."""
    after: tuple[str, ...] = ()
    """What the user says in the messages that stay behind what it replaces, oldest first."""
    leads: bool = False
    """Whether nothing but system messages stands before what it replaces, as a provider's own compaction must stand."""
    also: tuple[str, ...] = ()
    """Entries of later spans that the summary tells as well: they go once it stands, with nothing in their place."""
    fills: Literal["", "words", "outputs"] = ""
    """With what a page uses all of its tokens: all that was said, or beside it what outputs show; empty where it need not."""
    faults: tuple[str, ...] = ()
    """What was wrong with a first draft, where this asks for a second one."""
    wording: Wording = Wording()
    """How a policy asks for it."""


class Edit(Value, frozen=True, omit_defaults=True):
    """One replacement: the entries `drop`, consecutive and in order, give way to `into`; `by` names the strategy."""

    drop: tuple[str, ...]
    into: tuple[Message, ...] | Brief = ()
    by: str = ""


class View(Value, frozen=True, omit_defaults=True, dict=True):
    """The messages that the model sees now.

    `count` estimates a message's tokens. Where `bound` is set, the model binds its thinking to everything before
    it, and an edit drops the thinking that stands behind it. `stages` are those that the entries name, where any are known.
    """

    entries: tuple[Entry, ...]
    count: Callable[[Message], int]
    bound: bool = False
    stages: tuple[Stage, ...] = ()

    @cached_property
    def tokens(self) -> int:
        """The size of all messages together, without the request's overhead."""
        return sum(entry.tokens for entry in self.entries)

    @cached_property
    def index(self) -> dict[str, int]:
        """Where each entry stands; of entries that share an id, the last."""
        return {entry.id: i for i, entry in enumerate(self.entries)}

    @property
    def messages(self) -> list[Message]:
        """The messages alone."""
        return [entry.message for entry in self.entries]

    @cached_property
    def turns(self) -> tuple[int, ...]:
        """Where turns start: at each user message that is words of a user and not only tool results."""
        return tuple(i for i, entry in enumerate(self.entries) if opens_turn(entry.message))

    @cached_property
    def said_again(self) -> frozenset[int]:
        """Where pinned system messages stand that stand again further on, word for word; the head's are not among them.

        Some clients repeat their instructions in every turn: only the newest copy has to stay.
        """
        spoken = _first_spoken(self.entries)
        seen: set[bytes] = set()
        again = []
        for i in range(len(self.entries) - 1, spoken, -1):
            if self.entries[i].pinned and self.entries[i].message.role == "system":
                said = identity(self.entries[i].message)
                again += [i] if said in seen else []
                seen.add(said)
        return frozenset(again)

    @cached_property
    def unread(self) -> int:
        """Where what the model has not read yet begins, behind its newest message; the number of entries, if that is the last."""
        behind = (i for i in range(len(self.entries), 0, -1) if self.entries[i - 1].message.role == "assistant")
        return next(behind, 0)

    @cached_property
    def last_cut(self) -> int:
        """The last cut point before which everything may go: no result that the model has not read stands there."""
        unread = any(True for entry in self.entries[self.unread :] for _ in entry.message.results)
        last = self.unread if unread else len(self.entries) - 1
        return max((i for i in self.cut_points() if i <= last), default=0)

    def cut_points(self) -> set[int]:
        """The indices where the history may be parted, from 0 to the number of entries: what every rule allows."""
        return {*self._cut_points}

    @cached_property
    def _cut_points(self) -> set[int]:
        return reduce(set.intersection, (rule(self.entries) for rule in CUT_RULES))

    def unpinned(self, stop: int, keeping: Collection[int] = ()) -> Iterator[tuple[int, int]]:
        """The runs of entries before the index `stop` that hold no pin which has to stay, drawn in to cut points.

        What stands at one of the places in `keeping` has to stay as well.
        """
        legal, again = self.cut_points(), self.said_again
        pinned = {i for i, entry in enumerate(self.entries[:stop]) if entry.pinned and i not in again}
        pins = [-1, *sorted(pinned | {i for i in keeping if i < stop}), stop]
        for before, after in pairwise(pins):
            points = [i for i in range(before + 1, after + 1) if i in legal]
            if len(points) > 1:
                yield points[0], points[-1]

    def find(self, drop: Sequence[str]) -> int | None:
        """Where the span of the ids `drop` starts, or None where it does not stand whole."""
        start = self.index.get(drop[0]) if drop else None
        if start is None or start + len(drop) > len(self.entries):
            return None
        stands = all(entry.id == id for entry, id in zip(self.entries[start : start + len(drop)], drop))
        return start if stands else None

    def apply(self, edit: Edit) -> View:
        """The view with one edit made; raises `UnsafeEdit` where that would not be safe."""
        start = self.find(edit.drop)
        if start is None:
            raise UnsafeEdit(f"{edit.by}: no such span: {', '.join(edit.drop[:3])}", edit=edit)
        if isinstance(edit.into, Brief):
            raise UnsafeEdit(f"{edit.by}: its summary is not written yet", edit=edit)
        stop = start + len(edit.drop)
        into = edit.into
        if self.bound:
            into = _without_unbound_thinking(into, self.entries[start:stop])
        check(self.entries, start, stop, into, edit)
        new = self._entries_for(edit.drop, into, self.entries[start])
        tail = self.entries[stop:]
        if self.bound:
            tail = tuple(without_thinking(tail, self.count))
        return replace(self, entries=self.entries[:start] + new + tail)

    def replay(self, edits: Iterable[Edit]) -> View:
        """The view with the edits made that stand on this branch; the others are skipped."""
        view = self
        for edit in edits:
            try:
                view = view.apply(edit)
            except UnsafeEdit:
                continue
        return view

    def _entries_for(self, drop: Sequence[str], into: Sequence[Message], first: Entry) -> tuple[Entry, ...]:
        """One message in place of one keeps its id, so that a stub can be recalled by the id it had."""
        if len(drop) == len(into) == 1 and into[0].summary is None:
            return (Entry(first.id, into[0], self.count(into[0]), first.pinned, first.stage),)
        parent = _digest()("\n".join(drop).encode("utf-8", "surrogatepass"))
        return tuple(Entry(id, m, self.count(m), stage=first.stage) for id, m in zip(chain(into, parent), into))


def without_thinking(entries: Iterable[Entry], count: Callable[[Message], int]) -> Iterator[Entry]:
    """The entries without their thinking; those that are nothing else are left out."""
    for entry in entries:
        parts = tuple(p for p in entry.message.parts if type(p) is not Thinking)
        if len(parts) == len(entry.message.parts):
            yield entry
        elif not (message := replace(entry.message, parts=parts)).empty:
            yield replace(entry, message=message, tokens=count(message))


def view_of(
    messages: Sequence[Message],
    count: Callable[[Message], int],
    *,
    pinned: Callable[[Message], bool] = lambda message: message.role == "system",
    bound: bool = False,
) -> View:
    """A view of a history that is sent whole each time: ids are hashes of each message and all before it."""
    entries = (Entry(id, m, count(m), pinned(m)) for id, m in zip(chain(messages), messages))
    return View(tuple(entries), count, bound)


def in_the_way(view: View, overhead: int = 0) -> list[tuple[str, int]]:
    """What takes the room of a view, largest first, as `(what, tokens)`."""
    named = [
        (f"{entry.message.role} message {entry.id}" + (", pinned" if entry.pinned else ""), entry.tokens)
        for entry in view.entries
    ]
    if overhead:
        named.append(("system prompt and tool schemas", overhead))
    return sorted(named, key=lambda item: -item[1])[:10]


def _without_unbound_thinking(into: Sequence[Message], gone: Sequence[Entry]) -> tuple[Message, ...]:
    """What takes the place of entries, with the thinking alone that stood there and whose past stands there as it did.

    An edit that was proposed before another one dropped thinking must not bring it back, and thinking between two calls
    of one reply is bound to the first of them.
    """
    before = [part for entry in gone for part in entry.message.parts]
    stands = True
    kept: list[Message] = []
    for message in into:
        parts: list[Part] = []
        for part in message.parts:
            stands = stands and bool(before) and before.pop(0) == part
            if stands or type(part) is not Thinking:
                parts.append(part)
        kept.append(message if len(parts) == len(message.parts) else replace(message, parts=tuple(parts)))
    return tuple(kept)


# -- identity ----------------------------------------------------------------------------------------------------

_encode = msgspec.json.Encoder(order="deterministic").encode
_BILLING_STAMP = pattern(r"cc_version=[^;\s]*")


def chain(messages: Iterable[Message], parent: str = "", apart: int = 0) -> Iterator[str]:
    """An id for each message, made of its content and its parent's id, so that equal prefixes share their ids.

    The parent of a message is the last one before it that is no system message: a head that changes from call to call (a
    time, a list of things to do) leaves the ids of the conversation as they are. System messages of one parent are told
    apart by their number; `apart` is how many stand between `parent` and the first message.

    What clients change between calls without meaning it is left out: cache markers and every other unmodelled
    key, a string against a list with one text part, and the version stamp that Claude Code puts into a system block.
    """
    digest = _digest()
    for message in messages:
        apart = apart + 1 if message.role == "system" else 0
        place = f"{parent}/{apart}" if apart else parent
        id = digest(place.encode() + identity(message))
        parent = parent if apart else id
        yield id


def _digest() -> Callable[[bytes], str]:
    """What makes an id of bytes; it loads OpenSSL, which no step needs that folds nothing."""
    from hashlib import blake2b

    return lambda said: blake2b(said, digest_size=8).hexdigest()


def identity(message: Message) -> bytes:
    """The bytes that two messages share when they say the same."""
    parts = tuple(_bare(p) for p in message.parts if not _is_cache_point(p))
    if message.role == "system":
        parts = tuple(Text(_BILLING_STAMP.sub("", p.text)) if type(p) is Text else p for p in parts)
    try:
        return message.role.encode() + _encode(parts)
    except (UnicodeEncodeError, ValueError, TypeError, OverflowError):
        return message.role.encode() + repr(parts).encode("utf-8", "surrogatepass")


_CACHE_MARKERS = frozenset(("cache_control", "prompt_cache_breakpoint"))


def _is_cache_point(part: Part) -> bool:
    """Whether a part is nothing but a cache marker: Bedrock's stand between the others."""
    return type(part) is Opaque and type(part.source) is dict and "cachePoint" in part.source


def _bare(part: Part) -> Part:
    """A part without its unmodelled keys, a summary without its facts; of verbatim wire items only the cache markers go."""
    if isinstance(part, ToolResult) and any(type(p) is not Text or p.extra for p in part.parts):
        part = replace(part, parts=tuple(_bare(p) for p in part.parts))
    if isinstance(part, Opaque | Media):
        if not isinstance(part.source, dict) or _CACHE_MARKERS.isdisjoint(part.source):
            return part
        return replace(part, source={k: v for k, v in part.source.items() if k not in _CACHE_MARKERS})
    if isinstance(part, Summary):
        source = {k: v for k, v in part.source.items() if k not in _CACHE_MARKERS}
        return Summary(part.text, source=source, frame=part.frame)
    if isinstance(part, Text) and part.by:
        return Text(part.text)
    return replace(part, extra={}) if part.extra else part


# -- what may be cut ---------------------------------------------------------------------------------------------


def opens_turn(message: Message) -> bool:
    """Whether a user speaks here: a user message with more than tool results and stand-ins in it."""
    return message.role == "user" and any(type(p) not in (ToolResult, Summary) for p in message.parts)


def between_pairs(entries: Sequence[Entry]) -> set[int]:
    """Indices where no tool call waits for its result; results that come twice keep the pair whole."""
    ends = list(range(1, len(entries) + 1))
    for answer in answers(entry.message for entry in entries):
        if answer.call is not None:
            ends[answer.called_at] = answer.at + 1
    return {0, *(i for i, reach in enumerate(accumulate(ends, max), 1) if i >= reach)}


def outside_batches(entries: Sequence[Entry]) -> set[int]:
    """Indices that do not stand before a tool message: results follow their calls at once."""
    return {i for i in range(len(entries) + 1) if i == len(entries) or entries[i].message.role != "tool"}


def behind_replies(entries: Sequence[Entry]) -> set[int]:
    """Indices that do not part reasoning, or a reference to what only the provider has, from the reply that it leads to.

    Where a reply is several items (OpenAI's Responses), reasoning without the item that followed it is refused, and so
    is a message or a call without the reasoning that led to it, whatever else of the reply stands between the two.
    """
    points, led = {0, len(entries)}, False
    for i, entry in enumerate(entries):
        leads = _leads(entry.message)
        led = led and entry.message.role == "assistant"
        if not led or (leads and not _leads(entries[i - 1].message)):
            points.add(i)
        led = led or leads
    return points


def _leads(message: Message) -> bool:
    return message.role == "assistant" and all(type(part) is Thinking or _refers(part) for part in message.parts)


def _refers(part: Part) -> bool:
    return type(part) is Opaque and isinstance(part.source, dict) and part.source.get("type") == "item_reference"


CUT_RULES: tuple[Callable[[Sequence[Entry]], set[int]], ...] = (between_pairs, outside_batches, behind_replies)
"""Each rule gives the indices that it allows; what all allow may be cut. Adding a rule adds a set."""


# -- safety ------------------------------------------------------------------------------------------------------


def check(entries: Sequence[Entry], start: int, stop: int, into: Sequence[Message], edit: Edit) -> None:
    """Raises `UnsafeEdit` unless the entries from `start` to `stop` may give way to `into`."""
    gone = entries[start:stop]
    pins = [entry.message for entry in gone if entry.pinned]
    if pins and not (start >= _first_spoken(entries) and _stand_in(pins, entries[stop:])):
        raise UnsafeEdit(f"{edit.by}: touches a pin", edit=edit)
    if any(message.empty for message in into):
        raise UnsafeEdit(f"{edit.by}: leaves an empty message", edit=edit)
    if split := pairs_split([entry.message for entry in entries], start, stop, into):
        raise UnsafeEdit(f"{edit.by}: splits the pair {split[0]}", edit=edit)
    opens = _first_speaker(entries[:start]) is None and _first_speaker(gone) == "user"
    if not into and opens and _first_speaker(entries[stop:]) not in ("user", None):
        raise UnsafeEdit(f"{edit.by}: the first message would not be a user's", edit=edit)


def _stand_in(pins: Iterable[Message], entries: Iterable[Entry]) -> bool:
    """Whether all of the pins are system messages that are pinned among the entries as well, word for word."""
    said = {identity(e.message) for e in entries if e.pinned and e.message.role == "system"}
    return all(message.role == "system" and identity(message) in said for message in pins)


def _first_spoken(entries: Sequence[Entry]) -> int:
    """Where the first message stands that is no system message."""
    return next((i for i, entry in enumerate(entries) if entry.message.role != "system"), len(entries))


def _first_speaker(entries: Iterable[Entry]) -> str | None:
    return next((entry.message.role for entry in entries if entry.message.role != "system"), None)
