"""A session revised by hand: a message said in other words, or all behind one taken back; `session undo` undoes either."""

from __future__ import annotations

import os
from collections.abc import Sequence

from foldline._desk.desk import Desk
from foldline._engine.receipts import receipt_of
from foldline._errors import SessionError, UnsafeEdit
from foldline._fold import Fold, Occasion
from foldline._messages import Text, replace
from foldline._view import Edit, Entry, View


def edit(desk: Desk, id: str, text: str) -> Fold:
    """Puts other words in the place of a message's, and writes that; what stands beside them in it stays.

    Raises `SessionError` for a message that is not in the context, is pinned or has no words.
    """
    entry = desk.view.entries[_place(desk, id)]
    _refuse_pins(desk, [entry])
    message = entry.message
    words = [part for part in message.parts if type(part) is Text]
    if not words:
        raise SessionError(f"{id} has no words that could be edited", path=desk.session.path)
    parts = tuple(replace(part, text=text) if part is words[0] else part for part in message.parts)
    parts = tuple(part for part in parts if type(part) is not Text or part not in words[1:])
    return _written(desk, Edit((id,), (replace(message, parts=parts),), by="edit"))


def restore(desk: Desk, id: str) -> Fold:
    """Takes back all that came behind a message, and writes that.

    Raises `SessionError` for a message that is not in the context, is the newest or has a pinned one behind it, and
    `UnsafeEdit` where a call would lose its result.
    """
    entries, start = desk.view.entries, _place(desk, id) + 1
    if not entries[start:]:
        raise SessionError(f"{id} is the newest message: nothing stands behind it", path=desk.session.path)
    _refuse_pins(desk, entries[start:])
    try:
        return _written(desk, Edit(tuple(entry.id for entry in entries[start:]), by="restore"))
    except UnsafeEdit as unsafe:
        later = next((cut for cut in desk.view.cut_points() if start < cut < len(entries)), 0)
        way_out = f"; go back to {entries[later - 1].id} instead" if later else ""
        raise UnsafeEdit(f"{unsafe}{way_out}", edit=unsafe.edit) from None


def words_of(desk: Desk, id: str) -> str:
    """The words of a message as they stand; raises `SessionError` where there is no such message."""
    return desk.view.entries[_place(desk, id)].message.text


def _place(desk: Desk, id: str) -> int:
    if (place := desk.view.index.get(id)) is None:
        raise SessionError(
            f"no message {id} in its context; `foldline session show` lists them", path=desk.session.path
        )
    return place


def _refuse_pins(desk: Desk, entries: Sequence[Entry]) -> None:
    """Raises `SessionError` for the first that is pinned: by hand with the way to take the pin off."""
    for entry in entries:
        if entry.pinned:
            by_hand = entry.id in desk.session.context.pins
            way_out = f"`foldline pin --remove {entry.id}` takes the pin off" if by_hand else "no edit may touch it"
            raise SessionError(f"{entry.id} is pinned: {way_out}", path=desk.session.path)


def _written(desk: Desk, edit: Edit) -> Fold:
    """One edit as a fold by hand, in the session's own records."""
    before: View = desk.view
    after = before.apply(edit)
    occasion = Occasion("manual", overhead=desk.meter.overhead, error=desk.size.error)
    receipt = receipt_of(before, after, (edit,), (), occasion, 0.0)
    fold = Fold(os.urandom(4).hex(), "manual", edit.by, (edit,), None, receipt)
    desk.session.fold(before, after, fold, desk.meter)
    return fold
