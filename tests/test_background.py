"""A summary that is prepared while the agent works: swapped in at the mark, waited for, or dropped."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from foldline import Brief, Compactor, Layer, Message
from foldline.extend import policy, prune_tool_outputs, summarize_older

Item = dict[str, Any]
SUMMARIZING = policy("summarizing", [Layer("summarize", 0.8, 0.3, (summarize_older(keep=1_500),))])


def turn(i: int) -> list[Item]:
    return [
        {"role": "user", "content": f"Question {i}: why is it so?"},
        {"role": "assistant", "content": f"Answer {i}. " + "Because of the parser. " * 30},
    ]


class Writer:
    """A summarizer that answers when it is allowed to, and says how often it was asked."""

    def __init__(self, *, allowed: bool = True) -> None:
        self.asked: list[Brief] = []
        self.allowed = threading.Event()
        self.begun = threading.Event()
        if allowed:
            self.allowed.set()

    def __call__(self, brief: Brief, messages: Sequence[Message]) -> str:
        self.asked.append(brief)
        self.begun.set()
        assert self.allowed.wait(10)
        return f"Summary {len(self.asked)}: the parser is to blame."


def compactor_of(writer: Any, **more: Any) -> Compactor:
    return Compactor(window=10_000, reserve=0, policy=SUMMARIZING, summarizer=writer, **{"ahead": 0.2, **more})


def until(compactor: Compactor, history: list[Item], reached: Callable[[], bool]) -> list[Item]:
    """Goes on talking until something is reached, at most to the limit."""
    sent: list[Item] = []
    while not reached():
        history += turn(len(history))
        sent = compactor.fit(history)
        assert len(history) < 200
    return sent


def test_a_prepared_summary_is_swapped_in_at_the_mark_without_waiting() -> None:
    writer, history = Writer(), []
    compactor = compactor_of(writer)
    until(compactor, history, lambda: compactor.preparing)
    assert 0.6 < compactor.count.tokens / 10_000 < 0.7
    assert writer.begun.wait(5)
    known = len(history)
    sent = until(compactor, history, lambda: bool(compactor.folds))
    (fold,) = compactor.folds
    assert len(writer.asked) == 1
    assert "Summary 1: the parser" in sent[0]["content"]
    assert all(a is b for a, b in zip(sent[1:], history[-len(sent) + 1 :], strict=True))
    assert len(sent) > len(history) - known
    assert fold.receipt.waited < 1.0
    assert fold.receipt.tokens_after == compactor.count.tokens
    assert fold.receipt.tokens_before > 8_000
    assert not compactor.preparing
    assert compactor.fit(history) == sent


def test_the_agent_waits_for_a_summary_that_is_not_ready_and_the_receipt_says_how_long() -> None:
    writer, history = Writer(allowed=False), []
    compactor = compactor_of(writer)
    until(compactor, history, lambda: compactor.preparing)
    threading.Timer(0.3, writer.allowed.set).start()
    until(compactor, history, lambda: bool(compactor.folds))
    assert len(writer.asked) == 1
    assert 0.05 < compactor.folds[0].receipt.waited < 5


def test_nothing_is_prepared_unless_asked_for_nor_for_extraction() -> None:
    for compactor in (
        compactor_of(Writer(), ahead=0.0),
        Compactor(window=10_000, reserve=0, policy=SUMMARIZING, ahead=0.2),
    ):
        history: list[Item] = []
        until(compactor, history, lambda c=compactor: c.preparing or bool(c.folds))
        assert compactor.folds


def test_a_summary_of_a_past_that_was_rewritten_is_dropped() -> None:
    writer, history = Writer(), []
    compactor = compactor_of(writer)
    until(compactor, history, lambda: compactor.preparing)
    assert writer.begun.wait(5)
    history[0] = {"role": "user", "content": "Something else entirely."}
    sent = until(compactor, history, lambda: bool(compactor.folds))
    assert "Summary 1" not in sent[0]["content"]
    assert "Something else entirely." in sent[0]["content"]


def test_a_rewind_behind_the_prefix_keeps_what_was_prepared() -> None:
    writer, history = Writer(), []
    compactor = compactor_of(writer)
    until(compactor, history, lambda: compactor.preparing)
    assert writer.begun.wait(5)
    history[-1] = {"role": "assistant", "content": "Said again. " + "Because of the parser. " * 30}
    sent = until(compactor, history, lambda: bool(compactor.folds))
    assert "Summary 1" in sent[0]["content"]
    assert len(writer.asked) == 1


def test_undoing_drops_what_was_prepared() -> None:
    writer, history = Writer(), []
    compactor = compactor_of(writer)
    until(compactor, history, lambda: bool(compactor.folds))
    until(compactor, history, lambda: compactor.preparing)
    compactor.undo()
    assert not compactor.preparing


def test_a_summarizer_that_fails_in_the_background_is_replaced_by_extraction() -> None:
    def fails(brief: Brief, messages: Sequence[Message]) -> str:
        raise ConnectionError("down")

    history: list[Item] = []
    compactor = compactor_of(fails)
    sent = until(compactor, history, lambda: bool(compactor.folds))
    assert compactor.folds[0].receipt.failures == ("ConnectionError: down",)
    assert compactor.state.startswith("compaction failing: ConnectionError: down")
    assert "Answer 0. Because of the parser." in sent[0]["content"]


# -- in an event loop ---------------------------------------------------------------------------------------------


async def auntil(compactor: Compactor, history: list[Item], reached: Callable[[], bool]) -> list[Item]:
    sent: list[Item] = []
    while not reached():
        history += turn(len(history))
        sent = await compactor.afit(history)
        await asyncio.sleep(0)
        assert len(history) < 200
    return sent


@pytest.mark.parametrize("delay", [0.0, 0.3])
def test_a_task_prepares_it_where_the_agent_is_asynchronous(delay: float) -> None:
    asked: list[Brief] = []

    async def writes(brief: Brief, messages: Sequence[Message]) -> str:
        asked.append(brief)
        await asyncio.sleep(delay)
        return "Summary: the parser is to blame."

    async def main() -> None:
        history: list[Item] = []
        compactor = compactor_of(writes)
        await auntil(compactor, history, lambda: compactor.preparing)
        sent = await auntil(compactor, history, lambda: bool(compactor.folds))
        assert "Summary: the parser" in sent[0]["content"]
        assert (compactor.folds[0].receipt.waited > 0.05) == bool(delay)

    asyncio.run(main())
    assert len(asked) == 1


def test_an_agent_that_is_cancelled_while_it_waits_finds_the_summary_later() -> None:
    async def main() -> None:
        gate = asyncio.Event()

        async def writes(brief: Brief, messages: Sequence[Message]) -> str:
            await gate.wait()
            return "Summary: the parser is to blame."

        history: list[Item] = []
        compactor = compactor_of(writes)
        await auntil(compactor, history, lambda: compactor.preparing)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await auntil(compactor, history, lambda: bool(compactor.folds))
        assert compactor.folds == []
        gate.set()
        sent = await compactor.afit(history)
        assert "Summary: the parser" in sent[0]["content"]

    asyncio.run(main())


def test_fit_does_not_wait_for_a_task_that_only_its_own_loop_could_finish() -> None:
    async def main() -> None:
        async def never(brief: Brief, messages: Sequence[Message]) -> str:
            await asyncio.sleep(60)
            return "Too late."

        history: list[Item] = []
        compactor = compactor_of(never)
        await auntil(compactor, history, lambda: compactor.preparing)
        compactor.summarizer = lambda brief, messages: "At once."
        sent = until(compactor, history, lambda: bool(compactor.folds))
        assert "At once." in sent[0]["content"]

    asyncio.run(main())


def test_a_layer_that_asks_nobody_and_begins_before_does_not_keep_a_summary_from_being_prepared() -> None:
    pruning = Layer("prune", 0.7, 0.6, (prune_tool_outputs(protect=0, minimum=0),))
    both = policy("both", [pruning, *SUMMARIZING.layers])
    writer, history = Writer(), []
    compactor = Compactor(window=10_000, reserve=0, policy=both, summarizer=writer, ahead=0.05)
    until(compactor, history, lambda: compactor.preparing or any(fold.receipt.asked for fold in compactor.folds))
    assert compactor.preparing
    assert 0.75 < compactor.count.tokens / 10_000 < 0.8
