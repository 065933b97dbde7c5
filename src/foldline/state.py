"""What a compactor knows besides the messages, as JSON: for a service without memory, and a process that starts again."""

from __future__ import annotations

import json

import msgspec

from foldline.errors import StateError
from foldline.fill import Marks
from foldline.fold import Fold
from foldline.guards import Breaker
from foldline.messages import Value
from foldline.tokens.meter import Learned

VERSION = 1
"""Goes up when an older foldline would misread what is dumped."""


class State(Value, frozen=True, omit_defaults=False):
    """The folds of a history, with the number of messages that there were for each, and what was learned on the way."""

    version: int
    folds: tuple[tuple[int, Fold], ...] = ()
    severed: tuple[tuple[int, int], ...] = ()
    """Where messages stand whose thinking is bound to a fold that was undone."""
    format: str = ""
    meter: Learned = Learned()
    limits: tuple[int, int, int] = (0, 0, 0)
    """The window, the reserve and the cap on the input that are known by now."""
    accepted: int = 0
    """Tokens of the largest request that was billed."""
    fill: Marks = (None, None)
    breaker: Breaker = Breaker()


def encoded(state: State) -> bytes:
    """A state as JSON."""
    try:
        return msgspec.json.encode(state)
    except UnicodeEncodeError:  # half a character, which JSON can say and UTF-8 cannot
        return json.dumps(msgspec.to_builtins(state)).encode()


def decoded(data: bytes | str) -> State:
    """The state that JSON says; raises `StateError` where it is damaged, or newer than this foldline."""
    try:
        return _known(msgspec.json.decode(data, type=State))
    except (msgspec.MsgspecError, UnicodeError):
        pass
    try:  # half a character, a newer shape, or damage
        plain = json.loads(data)
        if isinstance(plain, dict) and isinstance(version := plain.get("version"), int):
            _known(State(version))
        return msgspec.convert(plain, State)
    except (msgspec.MsgspecError, ValueError, RecursionError) as damage:
        raise StateError(f"damaged: {damage}", where="state") from damage


def _known(state: State) -> State:
    if state.version > VERSION:
        raise StateError(f"of version {state.version}; this foldline reads up to {VERSION}", where="state")
    return state
