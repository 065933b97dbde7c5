"""A framework's own messages, given to a compactor as they are: `HostFormat`."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from foldline import Compactor, Message, Rewound
from foldline.extend import HostFormat, Role, Text, ToolCall, ToolResult, summary_text, text_of


@dataclass
class Line:
    """One message of a framework."""

    who: Role
    words: str = ""
    call: str = ""
    mark: str = ""
    """What foldline knows nothing of."""


def read(line: Line) -> Message:
    if line.who == "tool":
        return Message("tool", (ToolResult(line.call, (Text(line.words),)),))
    calls = (ToolCall(line.call, "read", f'{{"part": "{line.call}"}}'),) if line.call else ()
    return Message(line.who, (Text(line.words), *calls))


def made(message: Message) -> Line:
    return Line(message.role, summary_text(message.summary) if message.summary else message.text)


def edited(line: Line, was: Message, now: Message) -> Line:
    return replace(line, words="".join(map(text_of, now.results)) if line.who == "tool" else now.text)


LINES = HostFormat(read, made, edited)


def history(steps: int) -> list[Line]:
    lines = [Line("user", "Find what reads setting_7. Never touch prod.")]
    for n in range(steps):
        lines.append(Line("assistant", f"I read part {n}.", f"c{n}"))
        lines.append(Line("tool", f"part_{n} reads setting_{n}.\n" * 60, f"c{n}", mark=f"mark {n}"))
    return lines


def compactor(**rest: Any) -> Compactor:
    return Compactor("gpt-5.4", window=9_000, reserve=500, format=LINES, **rest)


def test_what_no_fold_touched_comes_back_as_it_came_and_the_rest_is_the_frameworks_own() -> None:
    lines = history(40)
    kept = deepcopy(lines)
    held = compactor()
    assert all(a is b for a, b in zip(held.fit(lines[:5]), lines))
    sent = held.fit(lines)
    assert lines == kept
    assert len(sent) < len(lines)
    assert sent[-1] is lines[-1]
    assert {type(line) for line in sent} == {Line}
    assert any("<summary>" in line.words for line in sent)
    assert all(a is b for a, b in zip(held.fit(lines), sent))


def test_what_is_edited_keeps_all_else() -> None:
    lines = history(12)
    short = compactor(policy="openclaw").fold_to(lines, 3_500)
    marked = {line.mark: line for line in lines if line.mark}
    cut = [line for line in short if line.mark and line.words != marked[line.mark].words]
    assert cut
    assert all(line.call == marked[line.mark].call for line in cut)


def test_messages_that_are_made_anew_for_each_call_are_the_same_history() -> None:
    told: list[Any] = []
    held = compactor(on_event=told.append)
    lines = history(60)
    for end in range(1, len(lines) + 1, 2):
        held.fit(deepcopy(lines[:end]))
    assert held.folds
    assert not any(isinstance(event, Rewound) for event in told)


def test_who_keeps_what_was_handed_out_goes_on_from_it() -> None:
    told: list[Any] = []
    held = compactor(on_event=told.append)
    kept: list[Line] = []
    for line in history(80):
        kept = held.fit([*kept, line])
    assert len(held.folds) > 1
    assert not any(isinstance(event, Rewound) for event in told)
    assert sum("<summary>" in line.words for line in kept) == 1


def test_another_process_sends_the_same() -> None:
    held, lines = compactor(), history(40)
    sent = held.fit(lines)
    other = compactor()
    other.load(held.dump())
    assert other.fit(deepcopy(lines)) == sent


def test_messages_that_are_equal_only_to_themselves_are_compared_as_the_framework_says() -> None:
    class Apart(Line):
        __eq__ = object.__eq__
        __hash__ = object.__hash__

    told: list[Any] = []
    alike = HostFormat(read, made, edited, lambda one, other: vars(one) == vars(other))
    held = Compactor("gpt-5.4", window=9_000, reserve=500, format=alike, on_event=told.append)
    lines = [Apart(**vars(line)) for line in history(40)]
    first = held.fit(lines)
    again = held.fit([Apart(**vars(line)) for line in lines])
    assert [vars(line) for line in again] == [vars(line) for line in first]
    assert len(held.folds) == 1
    assert not any(isinstance(event, Rewound) for event in told)
