"""Tool outputs older than the newest so many tokens of them: cleared, or cut down to what they say came of the call.

Where `prune_tool_outputs` protects less the less may remain, these protect what they state.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from foldline._messages import Text, ToolResult, replace
from foldline._patterns import pattern
from foldline._strategies.strategy import Strategy, Tokens, never_summarizes, remembered
from foldline._strategies.tool_outputs import MIN_GAIN, Output, freed, outputs_of, stub_of, with_result
from foldline._view import Edit, View

HEAD, TAIL = 2, 5
"""Lines at the begin and at the end of an output that tell what it was and what came of it."""

MOST_TELLING = 12
"""Of the lines between, how many stay that say what came of the call."""

WIDTH = 300
"""Characters of a line that stay."""

_TELLS = pattern(
    r"\b(?:error|errors|fail|failed|failure|failures|fatal|exception|traceback|warning|warnings|passed|skipped|exit(?:ed)?"
    r"|panic|denied|not found|no such|undefined|assert\w*|total|result|found|done|success\w*)\b",
    re.IGNORECASE,
)
"""What lines of a log say that tell what came of it."""


@remembered
def clear_tool_outputs(*, protect: Tokens = 40_000, minimum: Tokens = 20_000) -> Strategy:
    """Replaces all tool outputs but the newest `protect` tokens of them by stubs, where at least `minimum` tokens come free.

    A stub names what it was and the id to recall. What the model has not read yet stays.
    """

    def cleared(output: Output) -> ToolResult:
        return replace(output.result, parts=(Text(stub_of(output, output.entry.id)),))

    return _old_made(cleared, protect, minimum, "clear_tool_outputs")


@remembered
def condense_tool_outputs(*, protect: Tokens = 40_000, minimum: Tokens = 20_000) -> Strategy:
    """Cuts all tool outputs but the newest `protect` tokens of them down to their results, where `minimum` tokens come free.

    What says what came of a call stays: the first lines, the last ones, and those between that tell of errors, failures
    and totals. The verbose rest goes. What the model has not read yet stays as it is.
    """
    return _old_made(_condensed, protect, minimum, "condense_tool_outputs")


def _old_made(make: Callable[[Output], ToolResult], protect: int, minimum: int, by: str) -> Strategy:
    """Makes something smaller of each output that is older than the protected ones, where enough comes free of it."""

    @never_summarizes
    def strategy(view: View, excess: int) -> Iterator[Edit]:
        edits: dict[str, Edit] = {}
        for output in _older_than(view, protect):
            made = edits.get(output.entry.id)
            message = made.into[0] if made and isinstance(made.into, tuple) else output.entry.message
            smaller = make(output)
            message = with_result(message, output.result, smaller)
            if output.tokens - view.count(replace(message, parts=(smaller,))) >= MIN_GAIN:
                edits[output.entry.id] = Edit((output.entry.id,), (message,), by=by)
        if sum(freed(view, edit) for edit in edits.values()) >= minimum:
            yield from edits.values()

    return strategy


def _older_than(view: View, protect: int) -> list[Output]:
    """The outputs behind which at least so many tokens of newer ones stand, and that the model has read, oldest first."""
    newer, found = 0, []
    for output in reversed(outputs_of(view)):
        if newer >= protect and output.place < view.unread and not output.entry.pinned:
            found.append(output)
        newer += output.tokens
    return found[::-1]


def _condensed(output: Output) -> ToolResult:
    """A tool result with the lines alone that tell what came of the call."""
    parts = tuple(
        replace(part, text=_telling_lines(part.text, output.entry.id)) if type(part) is Text else part
        for part in output.result.parts
    )
    return replace(output.result, parts=parts)


def _telling_lines(text: str, id: str) -> str:
    lines = text.splitlines()
    told = [i for i in range(HEAD, len(lines) - TAIL) if _TELLS.search(lines[i])]
    stay = sorted({*range(min(HEAD, len(lines))), *told[-MOST_TELLING:], *range(max(0, len(lines) - TAIL), len(lines))})
    kept: list[str] = []
    before = -1
    for i in stay:
        if i - before > 1:
            kept.append(f"… [{i - before - 1:,} lines of the log left out; recall {id}] …")
        kept.append(
            lines[i] if len(lines[i]) <= WIDTH else lines[i][:WIDTH] + f"… [{len(lines[i]) - WIDTH:,} characters]"
        )
        before = i
    return "\n".join(kept)
