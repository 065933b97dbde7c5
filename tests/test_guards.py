"""The breaker and the loop detector, alone and in a compactor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldline import Brief, Compactor, Layer, Looping, Message
from foldline._compactor.watching import looping_in
from foldline._compactor.writer import COOL_DOWN, Breaker
from foldline.extend import decode, policy, summarize_older

Item = dict[str, Any]
SUMMARIZING = policy("summarizing", [Layer("summarize", 0.5, 0.2, (summarize_older(keep=600),))])


def turn(i: int) -> list[Item]:
    return [
        {"role": "user", "content": f"Question {i}: why is it so?"},
        {"role": "assistant", "content": f"Answer {i}. " + "Because of the parser. " * 60},
    ]


def look(i: int, result: str = "three lines", path: str = "a.py") -> list[Item]:
    call = {"id": f"c{i}", "type": "function", "function": {"name": "read", "arguments": f'{{"path": "{path}"}}'}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{i}", "content": result},
    ]


# -- the breaker --------------------------------------------------------------------------------------------------


def test_three_failures_open_the_breaker_until_it_has_cooled_down() -> None:
    breaker = Breaker()
    for now in (10.0, 20.0):
        breaker = breaker.failed("TimeoutError: too slow", now)
        assert not breaker.open(now)
    breaker = breaker.failed("TimeoutError: still too slow", 30.0)
    assert breaker.open(30.0 + COOL_DOWN - 1)
    assert not breaker.open(30.0 + COOL_DOWN)
    again = breaker.failed("down", 30.0 + COOL_DOWN)
    assert again.open(30.0 + COOL_DOWN + 1)
    assert again.state == "compaction failing: down, since 1970-01-01 00:00:10 UTC"
    assert Breaker().state == ""


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def test_a_summarizer_that_keeps_failing_is_left_alone_and_tried_again_later() -> None:
    asked: list[Brief] = []
    works = False

    def sometimes(brief: Brief, messages: Sequence[Message]) -> str:
        asked.append(brief)
        if not works:
            raise TimeoutError("too slow")
        return "It was the parser."

    clock = Clock()
    compactor = Compactor(window=6_000, reserve=0, policy=SUMMARIZING, summarizer=sometimes, clock=clock)
    history: list[Item] = []

    def grow() -> None:
        before = len(compactor.folds)
        while len(compactor.folds) == before:
            history.extend(turn(len(history)))
            compactor.fit(history)

    for _ in range(5):
        grow()
    assert len(asked) == 3
    assert compactor.state == "compaction failing: TimeoutError: too slow, since 1970-01-01 00:16:40 UTC"
    clock.now += COOL_DOWN
    works = True
    grow()
    assert len(asked) == 4
    assert compactor.state == ""
    grow()
    assert len(asked) == 5


# -- the loop detector --------------------------------------------------------------------------------------------


def looping(*items: Item) -> Looping | None:
    return looping_in([decode(item, "openai-chat") for item in items])


def test_the_same_call_with_the_same_result_three_times_is_a_loop() -> None:
    assert looping(*look(1), *look(2)) is None
    assert looping(*look(1), *turn(0), *look(2), *look(3)) == Looping("read", '{"path": "a.py"}', 3)


def test_another_result_or_another_call_is_none() -> None:
    assert looping(*look(1), *look(2), *look(3, "four lines")) is None
    assert looping(*look(1), *look(2), *look(3, path="b.py")) is None
    assert looping(*look(1), *look(2), *look(3), *turn(0)) is None
    assert looping() is None


def test_a_loop_after_a_fold_is_told_once_and_one_before_it_is_not() -> None:
    heard: list[Any] = []
    compactor = Compactor(window=6_000, reserve=0, policy=SUMMARIZING, on_event=heard.append)
    history = [*look(1), *look(2), *look(3)]
    compactor.fit(history)
    assert heard == []
    while not compactor.folds:
        history += turn(len(history))
        compactor.fit(history)
    for i in range(10, 14):
        history += look(i)
        compactor.fit(history)
        compactor.fit(history)
    loops = [event for event in heard if isinstance(event, Looping)]
    assert [loop.times for loop in loops] == [3, 4]
