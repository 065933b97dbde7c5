"""Where two versions of one history differ: what was said again otherwise, what came between, and where it was rewritten.

A client sends its whole history each time, and changes in it what is no rewind: the system messages of its head (the time,
a list of things to do), the marks of what is to be cached. What was said before must otherwise stand as it did.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from foldline._compactor.codec import Codec, Item
from foldline._messages import Message
from foldline._view import identity


class Revision(NamedTuple):
    """Messages from `start` to `stop` of the earlier history give way to `messages`, the items from `at` on of the new one."""

    start: int
    stop: int
    at: int
    messages: tuple[Message, ...]


class Alignment(NamedTuple):
    """How a new history goes on from an earlier one.

    `changes` are in order. Up to `stands` the earlier history is the new one up to `read`; behind that it was rewritten
    where `stands` is not its whole length.
    """

    changes: tuple[Revision, ...]
    stands: int
    read: int


def align(
    items: list[Item],
    known: list[Item],
    messages: Sequence[Message],
    codec: Codec,
    decode: Callable[[Item, int], Message | None],
) -> Alignment:
    """How `items` go on from those `known`, of which `messages` tells the meaning.

    `decode` is given an item and its place among the earlier ones; it answers None for what cannot be read as those were.
    """
    changes: list[Revision] = []
    i = j = 0
    while j < len(known):
        same = _same(items, known, i, j, codec)
        i, j = i + same, j + same
        if j == len(known):
            break
        if i == len(items):
            if any(message.role != "system" for message in messages[j:]):
                return Alignment(tuple(changes), j, i)
            changes.append(Revision(j, len(known), i, ()))
            return Alignment(tuple(changes), len(known), i)
        old, new = messages[j], decode(items[i], j)
        if new and (identity(new) == identity(old) or new.role == old.role == "system"):
            changes.append(Revision(j, j + 1, i, (new,)))
            i, j = i + 1, j + 1
        elif old.role == "system":
            changes.append(Revision(j, j + 1, i, ()))
            j += 1
        elif new and new.role == "system":
            changes.append(Revision(j, j, i, (new,)))
            i += 1
        else:
            return Alignment(tuple(changes), j, i)
    return Alignment(tuple(changes), len(known), i)


SPOTS = 16
"""Places at which it is looked whether a history consists of copies."""


def continues(items: list[Item], known: list[Item], codec: Codec, turn: int | None = None) -> bool:
    """Whether the items start with all that are known, as far as they are compared.

    Lists of one length are compared in place, where the same object is passed over without a look; a slice would
    touch every item, which takes five times as long. Given a `turn`, of a long history that comes as copies each time
    only the newest items and a lot of the others are compared: what was changed far back is seen some turns later.
    """
    length = len(known)
    if len(items) < length:
        return False
    newest, lot = codec.lots(known) if known else (0, 0)
    if turn is not None and length > newest + lot and _copied(items, known):
        start = turn * lot % length
        lots = slice(length - newest, length), slice(start, min(start + lot, length))
        return all(codec.alike(items[each], known[each]) for each in lots)
    known += items[length:]
    try:
        return codec.alike(items, known)
    finally:
        del known[length:]


def _copied(items: Sequence[Item], known: Sequence[Item]) -> bool:
    spots = range(0, len(known), len(known) // SPOTS)
    return sum(items[at] is not known[at] for at in spots) * 2 > len(spots)


FIRST = 16
"""Items that are compared at once; each lot that is the same doubles the next one."""


def _same(items: list[Item], known: list[Item], i: int, j: int, codec: Codec) -> int:
    """How many items are the same from two places on."""
    most = min(len(items) - i, len(known) - j)
    done, lot = 0, FIRST
    while done < most:
        stop = min(done + lot, most)
        here, there = items[i + done : i + stop], known[j + done : j + stop]
        if not codec.alike(here, there):
            return done + next(n for n, pair in enumerate(zip(here, there)) if not codec.alike([pair[0]], [pair[1]]))
        done, lot = stop, 2 * lot
    return most


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
