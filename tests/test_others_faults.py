"""Functions of somebody else that raise, hang or run beside each other: the agent goes on, and hears of it."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from foldline import Brief, CannotFit, Compactor, Edit, Event, Layer, Message, Skipped, SummaryFellBack, View
from foldline.extend import policy, summarize_older, truncate
from test_background import compactor_of, turn, until
from test_compactor import size, tells, tight, turns

Item = dict[str, Any]


def heard_by(heard: list[Event], kind: type) -> list[Any]:
    return [event for event in heard if isinstance(event, kind)]


# -- that raise ---------------------------------------------------------------------------------------------------


def raises(view: View, excess: int) -> Iterable[Edit]:
    raise ZeroDivisionError("a bug in a strategy")


def raises_later(view: View, excess: int) -> Iterable[Edit]:
    yield Edit((view.entries[0].id, view.entries[1].id), by="later")
    raise ZeroDivisionError("a bug in a strategy")


def careless(view: View, excess: int) -> Iterable[Edit]:
    return [Edit(("nowhere",), by="careless")]


def confused(view: View, excess: int) -> Any:
    return [None]


@pytest.mark.parametrize(
    ("strategy", "reason"),
    [
        (raises, "raises: ZeroDivisionError: a bug in a strategy"),
        (careless, "careless: no such span: nowhere"),
        (confused, "confused: TypeError: a strategy proposes edits, not a NoneType"),
    ],
)
def test_a_strategy_that_fails_is_told_of_once_and_the_next_one_is_tried(strategy: Any, reason: str) -> None:
    heard: list[Event] = []
    layers = policy("own", [Layer("mixed", 0.8, 0.4, (strategy, summarize_older(keep=1_000)))])
    compactor = tight(turns(20), policy=layers, on_event=heard.append)
    compactor.fit(turns(20))
    compactor.fit(turns(60))
    assert [fold.edits[0].by for fold in compactor.folds] == ["summarize_older"] * 2
    assert heard_by(heard, Skipped) == [Skipped(reason)]


def test_what_a_strategy_proposed_before_it_raised_stands() -> None:
    heard: list[Event] = []
    layers = policy("own", [Layer("mixed", 0.8, 0.4, (raises_later, truncate()), hard=True)])
    compactor = tight(turns(20), policy=layers, on_event=heard.append)
    compactor.fit(turns(20))
    assert [edit.by for edit in compactor.folds[0].edits] == ["later", "truncate"]
    assert [event.reason for event in heard_by(heard, Skipped)] == [
        "raises_later: ZeroDivisionError: a bug in a strategy"
    ]


def test_where_every_strategy_fails_the_history_cannot_fit() -> None:
    layers = policy("own", [Layer("own", 0.8, 0.4, (raises,), hard=True)])
    history = turns(20)
    compactor = tight(history, 1.5, policy=layers)
    with pytest.raises(CannotFit):
        compactor.fit(history)


def test_a_listener_that_raises_stops_no_step_and_stands_in_the_state() -> None:
    def listener(event: Event) -> None:
        raise RuntimeError("a bug in the listener")

    history = turns(20)
    compactor = tight(history, on_event=listener)
    assert "The parser is to blame." in compactor.fit(history)[0]["content"]
    assert compactor.state == "on_event: RuntimeError: a bug in the listener"


@pytest.mark.parametrize("which", ["pinned", "speaker"])
def test_a_predicate_that_raises_is_told_of_once_and_says_nothing(which: str) -> None:
    def predicate(message: Message) -> Any:
        raise KeyError("metadata")

    heard: list[Event] = []
    history = [{"role": "system", "content": "Be brief."}, *turns(20)]
    compactor = tight(history, on_event=heard.append, **{which: predicate})
    sent = compactor.fit(history)
    assert compactor.folds
    assert sent[0] is history[0]
    assert heard_by(heard, Skipped) == [Skipped(f"{which}: KeyError: 'metadata'")]
    assert compactor.state == f"{which}: KeyError: 'metadata'"


@pytest.mark.parametrize("answer", [True, "Keep every hostname.", {"veto": "not now"}])
def test_a_verdict_that_is_none_is_told_and_stops_no_fold(answer: Any) -> None:
    heard: list[Event] = []
    compactor = tight(turns(20), on_event=heard.append, before_fold=lambda due: answer)
    compactor.fit(turns(20))
    assert compactor.folds
    assert heard_by(heard, Skipped) == [Skipped(f"before_fold: a Verdict or None, not {answer!r}")]
    assert compactor.state == f"before_fold: a Verdict or None, not {answer!r}"


# -- that hang ----------------------------------------------------------------------------------------------------


def hangs(brief: Brief, messages: Sequence[Message]) -> str:
    threading.Event().wait()
    return "never"


async def hangs_awaited(brief: Brief, messages: Sequence[Message]) -> str:
    await asyncio.Event().wait()
    return "never"


LATE = "the summarizer took more than 0.05 seconds and was left behind"


@pytest.mark.parametrize("summarizer", [hangs, hangs_awaited])
def test_a_summarizer_that_hangs_is_left_behind_after_its_time(summarizer: Any) -> None:
    history, heard = turns(20), []
    compactor = tight(history, summarizer=summarizer, timeout=0.05, on_event=heard.append)
    sent = compactor.fit(history)
    assert "Question" in sent[0]["content"]
    assert heard_by(heard, SummaryFellBack) == [SummaryFellBack(LATE)]


@pytest.mark.parametrize("summarizer", [hangs, hangs_awaited])
def test_the_same_where_the_agent_is_awaited_and_the_loop_goes_on_meanwhile(summarizer: Any) -> None:
    history = turns(20)
    compactor = tight(history, summarizer=summarizer, timeout=0.05)

    async def main() -> tuple[list[Item], int]:
        beats = 0

        async def beat() -> None:
            nonlocal beats
            while True:
                await asyncio.sleep(0)
                beats += 1

        beating = asyncio.create_task(beat())
        sent = await compactor.afit(history)
        beating.cancel()
        return sent, beats

    sent, beats = asyncio.run(main())
    assert beats > 10
    assert compactor.folds[0].receipt.failures == (LATE,)
    assert "Question" in sent[0]["content"]


def test_a_prepared_summary_that_hangs_is_not_waited_for_while_the_limit_is_far() -> None:
    gate = threading.Event()

    def waits(brief: Brief, messages: Sequence[Message]) -> str:
        gate.wait()
        return "The parser is to blame."

    history: list[Item] = []
    compactor = compactor_of(waits, grace=0.0)
    until(compactor, history, lambda: compactor.preparing)
    marked = until(compactor, history, lambda: compactor.count.tokens > 9_000)
    assert marked == history
    assert compactor.folds == []
    gate.set()
    sent = until(compactor, history, lambda: bool(compactor.folds))
    assert "The parser is to blame." in sent[0]["content"]


# -- keys ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        "Incorrect API key provided: sk-proj-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c.",
        "401 for Authorization: Bearer 4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c",
        "GET https://api.example.com/v1?key=4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c failed",
        "the key SECRET-of-the-environment was refused",
        "the key given-to-the-summarizer was refused",
    ],
)
def test_keys_never_stand_in_failures(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Refused:
        class Endpoint:
            api_key = "given-to-the-summarizer"

        endpoints = (Endpoint(),)

        def __call__(self, brief: Brief, messages: Sequence[Message]) -> str:
            raise PermissionError(said)

    monkeypatch.setenv("SOME_API_KEY", "SECRET-of-the-environment")
    history = turns(20)
    compactor = tight(history, summarizer=Refused())
    compactor.fit(history)
    (failure,) = compactor.folds[0].receipt.failures
    assert failure.startswith("PermissionError: ")
    assert "[key]" in failure
    for secret in ("4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c", "SECRET-of", "given-to"):
        assert secret not in failure + compactor.state


# -- beside each other --------------------------------------------------------------------------------------------


def test_threads_with_one_beginning_each_get_their_own_history() -> None:
    compactor = Compactor(window=100_000)
    begin = [{"role": "user", "content": "start"}]
    wrong: list[int] = []

    def work(name: int) -> None:
        history = list(begin)
        for i in range(300):
            history = [*history, {"role": "assistant", "content": f"agent {name} says {i}"}]
            wrong.extend([name] if compactor.fit(history) != history else [])

    workers = [threading.Thread(target=work, args=(name,)) for name in (0, 1)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []


def test_tasks_that_wait_for_one_summarizer_each_get_their_own_history() -> None:
    compactor = tight(turns(20), summarizer=tells)

    async def main() -> list[list[Item]]:
        return await asyncio.gather(*(compactor.afit(turns(20 + n, first=100 * n)) for n in (1, 2)))

    for n, sent in zip((1, 2), asyncio.run(main())):
        history = turns(20 + n, first=100 * n)
        assert sent[-1] == history[-1]
        assert size(sent) < size(history)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes fork on POSIX only")
def test_a_process_that_is_forked_off_while_a_summary_is_prepared_does_not_wait_for_it() -> None:
    gate = threading.Event()

    def waits(brief: Brief, messages: Sequence[Message]) -> str:
        gate.wait()
        return "The parser is to blame."

    history: list[Item] = []
    compactor = compactor_of(waits)
    until(compactor, history, lambda: compactor.preparing)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        compactor.summarizer = lambda brief, messages: "The child's own."
        while not compactor.folds:
            history += turn(len(history))
            sent = compactor.fit(history)
        os._exit(0 if "The child's own." in sent[0]["content"] else 1)
    gate.set()
    assert os.waitpid(child, 0)[1] == 0
