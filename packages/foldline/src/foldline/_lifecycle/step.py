"""One call of a model: folded for before it, and once more where the window was too small after all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from foldline import _wires as wire
from foldline._compactor.compactor import Compactor
from foldline._engine.driving import Doing, Steps, adriven, driven
from foldline._errors import ContextOverflow
from foldline._messages import Message, ToolCall, replace
from foldline._overflow import read as read_overflow
from foldline._wires.objects import as_data
from foldline._wires.usage import BY_WINDOW, broke_off, cut_off

Reply = TypeVar("Reply")

FULL = 0.98
"""The share of the window that request and reply fill where the window cut the reply off."""


def cut_by_window(reply: object, window: int) -> bool:
    """Whether a reply ended because the window was full, and not by a limit that its caller set."""
    if not cut_off(reply):
        return False
    usage = wire.read_usage(reply)
    return cut_off(reply, BY_WINDOW) or (usage is not None and usage.context >= FULL * window)


def without_unfinished_calls(messages: Sequence[object], format: str = "") -> list[Any]:
    """A history without the calls at its end, which nothing has answered: a reply that was cut off leaves them unfinished.

    What is left of the reply stays, a message of nothing but such calls goes, and each other message is the very same.
    `format` names the wire format, which is found out where it is not given. Raises `WireError` for what cannot be read.
    """
    kept = list(messages)
    while kept:
        (plain,) = as_data(kept[-1:], len(kept) - 1)
        own = isinstance(plain, Message)
        format = format or (own and "none") or wire.detect(as_data(kept))
        last = plain if own else wire.decode(plain, format, f"messages[{len(kept) - 1}]")
        parts = tuple(part for part in last.parts if type(part) is not ToolCall)
        if last.role != "assistant" or len(parts) == len(last.parts):
            break
        if parts:
            left = replace(last, parts=parts)
            return [*kept[:-1], left if own else wire.encode(left, format)]
        kept.pop()
    return kept


def step(
    compactor: Compactor, messages: Sequence[Any], send: Callable[[list[Any]], Reply], *, system: Any = None
) -> Reply:
    """The reply to a history: `send` is called with what the model should see, and what the reply was billed is observed.

    A request that is refused as too long, or whose reply the window cut off, is folded for and sent again, once; such a
    reply is not handed out, and its unfinished calls with it. Raises `ContextOverflow` where that is refused as well, `CannotFit`
    where nothing can be folded, and what `send` raises for any other reason. `system` is the system text where it is sent apart.
    """
    reply: Reply = driven(_steps(compactor, messages, send, partial(compactor.fit, messages, system=system)))
    return reply


async def astep(
    compactor: Compactor, messages: Sequence[Any], send: Callable[[list[Any]], Awaitable[Reply]], *, system: Any = None
) -> Reply:
    """The same as `step`, awaited. One that is cancelled leaves the history and the compactor as they were."""
    reply: Reply = await adriven(_steps(compactor, messages, send, partial(compactor.afit, messages, system=system)))
    return reply


def _steps(
    compactor: Compactor, messages: Sequence[object], send: Callable[[list[object]], object], fit: Callable[[], object]
) -> Steps:
    sent = yield Doing(fit)
    tried = False
    while True:
        try:
            reply = yield Doing(partial(send, sent))
            if broke_off(reply) and (said := read_overflow(reply)) is not None:
                raise said  # some say in their reply that it is none
        except Exception as error:
            if tried and (found := read_overflow(error)) is not None:
                raise _refused(compactor, found) from error
            sent, tried = compactor.recover(error, messages, sent=sent), True
            continue
        compactor.observe(reply)
        if tried or not cut_by_window(reply, compactor.budget.window):
            return reply
        full = ContextOverflow("the window was full before the reply was whole")
        sent, tried = compactor.recover(full, messages, sent=sent), True


def _refused(compactor: Compactor, found: ContextOverflow) -> ContextOverflow:
    """The end where folding does not help."""
    size = f"folded to {compactor.count.tokens:,} tokens and refused again"
    return ContextOverflow(f"{size}: {found}", limit=found.limit, tokens=found.tokens, unit=found.unit)
