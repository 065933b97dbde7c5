"""What a compactor knows besides the messages, as JSON: for a service without memory, and a process that starts again."""

from __future__ import annotations

import base64
import json
from typing import Any

import msgspec

from foldline._compactor.fullness import Marks
from foldline._compactor.guards import Breaker
from foldline._errors import StateError
from foldline._fold import Fold
from foldline._messages import Value
from foldline._tokens.meter import Learned

VERSION = 1
"""Goes up when an older foldline would misread what is dumped."""


class State(Value, frozen=True, omit_defaults=False):
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
    breaker: Breaker = Breaker()


BYTES = "foldline:bytes"
"""The key under which bytes stand in JSON, as base64: libraries hand out pictures and sealed thinking so."""


def encoded(state: State) -> bytes:
    """A state as JSON."""
    plain = msgspec.to_builtins(state, builtin_types=(bytes,))
    try:
        return _json(plain, ascii=False).encode()
    except UnicodeEncodeError:  # half a character, which JSON can say and UTF-8 cannot
        return _json(plain, ascii=True).encode()


def decoded(data: bytes | str) -> State:
    """The state that JSON says; raises `StateError` where it is damaged, or newer than this foldline."""
    try:
        data = data.decode() if isinstance(data, bytes) else data
        state = msgspec.json.decode(data, type=State)
        if state.version <= VERSION and BYTES not in data:
            return state
    except (msgspec.MsgspecError, UnicodeError):
        pass
    try:  # bytes, half a character, a newer shape, or damage
        plain = json.loads(data, object_hook=_with_bytes)
        if isinstance(plain, dict) and isinstance(version := plain.get("version"), int) and version > VERSION:
            raise StateError(f"of version {version}; this foldline reads up to {VERSION}", where="state")
        return msgspec.convert(plain, State)
    except (msgspec.MsgspecError, ValueError, RecursionError) as damage:
        raise StateError(f"damaged: {damage}", where="state") from damage


def _json(plain: Any, *, ascii: bool) -> str:
    return json.dumps(plain, default=_without_bytes, ensure_ascii=ascii, separators=(",", ":"))


def _without_bytes(value: bytes) -> dict[str, str]:
    return {BYTES: base64.b64encode(value).decode()}


def _with_bytes(value: dict[str, Any]) -> Any:
    sealed = value.get(BYTES)
    return base64.b64decode(sealed) if len(value) == 1 and isinstance(sealed, str) else value
