"""What no format knows in a history is refused with its place and the cure: carried along unread, a fold would lose it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foldline.errors import WireError
from foldline.messages import Message
from foldline.wire.format import Sign, kind_of, opaque
from foldline.wire.registry import OWN, named

_VERCEL = frozenset(("tool-call", "tool-result", "tool-approval-request", "tool-approval-response", "dynamic-tool"))
"""Parts of Vercel's AI SDK, which no provider takes: the SDK turns them into the provider's own before it sends them."""


def refuse_strangers(messages: Sequence[Message], items: Sequence[Any], format: str, first: int = 0) -> None:
    """Raises `WireError` for the first part of the items that is no part of their format; `first` is the first's place."""
    strange = named(format).strange
    for place, (message, item) in enumerate(zip(messages, items), first):
        if not message.extra and not any(True for _ in opaque(message.parts)):
            continue
        for source in _refused(message, strange):
            where = f"messages[{place}]" + next(_places(item, source), "")
            raise WireError(_problem(source, message.role, format), format=format, where=where)


def _refused(message: Message, strange: Any) -> Iterator[Any]:
    yield from strange(message)
    yield from (source for source in opaque(message.parts) if kind_of(source) in _VERCEL)


def _places(value: Any, source: Any, path: str = "") -> Iterator[str]:
    """Where a part stands in an item."""
    if value == source:
        yield path
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _places(each, source, f"{path}.{key}")
    elif isinstance(value, (list, tuple)):
        for i, each in enumerate(value):
            yield from _places(each, source, f"{path}[{i}]")


def _problem(source: Any, role: str, format: str) -> str:
    said = repr(source)
    shown = said if len(said) <= 80 else f"{said[:80]}…"
    if kind_of(source) in _VERCEL:
        return f"{shown} is a part of Vercel's AI SDK; give the messages that it sends to the provider instead"
    alone = {"role": role if role != "tool" else "user", "content": [source]}
    others = [name for name, other in OWN.items() if name != format and other.tells(alone) > Sign.MAYBE]
    if others:
        return f"{shown} is no part of {format}; where the history is {others[0]}'s, say so: Compactor(format={others[0]!r})"
    return f"{shown} is no part of {format}, and would be lost in a fold; write it as the provider's documentation does"
