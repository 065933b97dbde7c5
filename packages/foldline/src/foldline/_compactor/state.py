"""What a compactor knows besides the messages, as JSON: for a service without memory, and a process that starts again."""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Iterable, Sequence

import msgspec

from foldline._compactor.account import Billed
from foldline._compactor.fullness import Marks
from foldline._compactor.writer import Breaker
from foldline._errors import StateError
from foldline._fold import COUNTS, Fold
from foldline._messages import Message, Summary, Value, replace
from foldline._stages import Course
from foldline._tokens.meter import Learned
from foldline._view import Brief, Edit

VERSION = 1
"""Goes up when an older foldline would misread what is dumped."""


class Dumped(Value, frozen=True):
    """The folds of a history, with the number of messages that there were for each, and what was learned on the way."""

    version: int
    folds: tuple[tuple[int, Fold], ...] = ()
    severed: tuple[tuple[int, int], ...] = ()
    """Where messages stand whose thinking is bound to a fold that was undone."""
    meter: Learned = Learned()
    limits: tuple[int, int, int] = (0, 0, 0)
    """The window, the reserve and the cap on the input that are known by now."""
    accepted: int = 0
    """Tokens of the largest request that was billed."""
    fill: Marks = (None, None)
    billed: Billed = Billed()
    look: int = 0
    """The call since the last fold from which on layers that wait are looked at."""
    breaker: Breaker = Breaker()
    course: Course = Course()
    """The stages that the host told of."""
    messages: int = 0
    """How many messages there were."""


BYTES = "foldline:bytes"
"""The key under which bytes stand in JSON, as base64: libraries hand out pictures and sealed thinking so."""


def folds_to_keep(
    folds: Sequence[tuple[int, Fold]], made: Iterable[Message], *, bound: bool
) -> tuple[tuple[int, Fold], ...]:
    """The folds without what only an undo of later ones would show: stubs of what went since, and facts of old summaries.

    `made` is what folds put among the messages that the model sees. The facts of a summary that it sees hold those of all
    before it; a message that was pruned before it was folded is whole again where that fold is undone. Where thinking is
    `bound`, every stub takes some away, so that all stay.
    """
    seen = set(map(id, made))
    gone: set[str] = set()
    kept: list[tuple[int, Fold]] = []
    for at, fold in reversed(folds):
        edits: list[Edit] = []
        for edit in reversed(fold.edits):
            stub = None if bound else _stub_of(edit)
            if stub is None or edit.drop[0] not in gone or id(stub) in seen:
                edits.append(_without_old_facts(edit, seen))
            gone.update(edit.drop)
        kept.append((at, replace(fold, edits=tuple(reversed(edits)))))
    return tuple(reversed(kept))


def _stub_of(edit: Edit) -> Message | None:
    """The message that an edit puts in the place of one, whose id it keeps; None where it does something else."""
    if isinstance(edit.into, Brief) or len(edit.drop) != 1 or len(edit.into) != 1 or edit.into[0].summary:
        return None
    return edit.into[0]


def _without_old_facts(edit: Edit, seen: Collection[int]) -> Edit:
    """An edit whose summaries keep their facts where they are among the messages seen, by identity, and else their counts."""

    def kept(message: Message) -> Message:
        if (told := message.summary) is None or id(message) in seen:
            return message
        counts = {key: told.facts[key] for key in COUNTS if key in told.facts}
        return replace(
            message, parts=tuple(replace(p, facts=counts) if type(p) is Summary else p for p in message.parts)
        )

    return edit if isinstance(edit.into, Brief) else replace(edit, into=tuple(map(kept, edit.into)))


class Writing:
    """Writes states as JSON: the folds of one conversation, which are nearly all of it, once for as long as they stand."""

    def __init__(self) -> None:
        self._folds: tuple[object, list[int], bytes] = (None, [], b"")

    def encoded(
        self, state: Dumped, folds: tuple[tuple[int, Fold], ...], made: Sequence[Message], *, bound: bool
    ) -> bytes:
        """A state with those folds as far as they are kept, as JSON; `made` is what `folds_to_keep` takes."""
        written, shown, text = self._folds
        if written is not folds or shown != [*map(id, made)]:
            text = _encoded(folds_to_keep(folds, made, bound=bound))
            self._folds = folds, [*map(id, made)], text
        return b'%s,"folds":%s}' % (_encoded(state)[:-1], text)


def _encoded(value: object) -> bytes:
    plain = msgspec.to_builtins(value, builtin_types=(bytes,))
    try:
        return _json(plain, ascii=False).encode()
    except UnicodeEncodeError:  # half a character, which JSON can say and UTF-8 cannot
        return _json(plain, ascii=True).encode()


def decoded(data: bytes | str) -> Dumped:
    """The state that JSON says; raises `StateError` where it is damaged, or newer than this foldline."""
    try:
        data = data.decode() if isinstance(data, bytes) else data
        state = msgspec.json.decode(data, type=Dumped)
        if state.version <= VERSION and BYTES not in data:
            return state
    except (msgspec.MsgspecError, UnicodeError, TypeError):
        pass
    try:  # bytes, half a character, a newer shape, or damage
        plain = json.loads(data, object_hook=_with_bytes)
        if isinstance(plain, dict) and isinstance(version := plain.get("version"), int) and version > VERSION:
            raise StateError(f"of version {version}; this foldline reads up to {VERSION}", where="state")
        return msgspec.convert(plain, Dumped)
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as damage:
        raise StateError(f"damaged: {damage}", where="state") from damage


def _json(plain: object, *, ascii: bool) -> str:
    return json.dumps(plain, default=_without_bytes, ensure_ascii=ascii, separators=(",", ":"))


def _without_bytes(value: bytes) -> dict[str, str]:
    return {BYTES: base64.b64encode(value).decode()}


def _with_bytes(value: dict[str, object]) -> object:
    sealed = value.get(BYTES)
    return base64.b64decode(sealed) if len(value) == 1 and isinstance(sealed, str) else value
