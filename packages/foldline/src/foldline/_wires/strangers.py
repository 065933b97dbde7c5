"""What no format knows in a history is refused with its place and the cure: carried along unread, a fold would lose it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from foldline._clipping import clipped
from foldline._errors import WireError
from foldline._messages import Message, Opaque, ToolResult
from foldline._wires.format import Sign, WireFormat, kind_of, opaque
from foldline._wires.registry import OWN, named

_VERCEL = frozenset(("tool-call", "tool-result", "tool-approval-request", "tool-approval-response", "dynamic-tool"))
"""Parts of Vercel's AI SDK, which no provider takes: the SDK turns them into the provider's own before it sends them."""


def refuse_strangers(messages: Sequence[Message], items: Sequence[Any], format: str, first: int = 0) -> None:
    """Raises `WireError` for the first item, or part of one, that is not of the format; `first` is the first's place."""
    declared = named(format)
    for place, (message, item) in enumerate(zip(messages, items), first):
        if not message.extra and not _holds_opaque(message):
            continue
        for source in _refused(message, declared):
            where = f"messages[{place}]" + next(_places(item, source), "")
            raise WireError(_problem(source, message.role, format), format=format, where=where)
        if declared.tells(item) is Sign.NEVER and (other := _sure(item)):
            problem = f"a message of {other} among those of {format}: a history has one format"
            raise WireError(problem, format=format, where=f"messages[{place}]")


def _holds_opaque(message: Message) -> bool:
    for part in message.parts:
        if type(part) is ToolResult:
            for inner in part.parts:
                if type(inner) is Opaque:
                    return True
        elif type(part) is Opaque:
            return True
    return False


def _sure(item: Mapping[str, object]) -> str:
    """The format that an item is surely of, or an empty text."""
    return next((name for name, other in OWN.items() if other.tells(item) is Sign.SURELY), "")


def _refused(message: Message, format: WireFormat) -> Iterator[Any]:
    yield from format.strange(message)
    yield from (source for source in opaque(message.parts) if kind_of(source) in _VERCEL)


def _places(value: object, source: object, path: str = "") -> Iterator[str]:
    """Where a part stands in an item."""
    if value == source:
        yield path
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _places(each, source, f"{path}.{key}")
    elif isinstance(value, (list, tuple)):
        for i, each in enumerate(value):
            yield from _places(each, source, f"{path}[{i}]")


def _problem(source: object, role: str, format: str) -> str:
    shown = clipped(repr(source), 80)
    if kind_of(source) in _VERCEL:
        return f"{shown} is a part of Vercel's AI SDK; give the messages that it sends to the provider instead"
    alone = {"role": role if role != "tool" else "user", "content": [source]}
    others = [name for name, other in OWN.items() if name != format and other.tells(alone) > Sign.MAYBE]
    if others:
        return f"{shown} is no part of {format}; where the history is {others[0]}'s, say so: Compactor(format={others[0]!r})"
    return f"{shown} is no part of {format}, and would be lost in a fold; write it as the provider's documentation does"
