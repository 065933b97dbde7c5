"""Layers that wait beyond their mark until what they would have saved has reached what they cost once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from foldline import Compactor, Layer
from foldline.extend import policy, prune_tool_outputs, truncate

Item = dict[str, Any]
PRUNE = prune_tool_outputs(protect=2_000, minimum=1_000)
WAITING = policy(
    "waiting", [Layer("prune", 0.2, 0.1, (PRUNE,), pays=True), Layer("full", 0.9, 0.5, (truncate(),), hard=True)]
)
AT_ONCE = policy("at once", [Layer("prune", 0.2, 0.1, (PRUNE,)), Layer("full", 0.9, 0.5, (truncate(),), hard=True)])
CLAUDE = "claude-sonnet-4-5"
WINDOW = 100_000


def step(number: int) -> list[Item]:
    call = {
        "id": f"c{number}",
        "type": "function",
        "function": {"name": "read", "arguments": f'{{"path": "{number}.py"}}'},
    }
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": f"file {number} " + "word " * 400},
    ]


def talk(steps: int) -> list[Item]:
    asked: Item = {"role": "user", "content": "Read all of it. " + "word " * 12_000}
    return [asked, *(item for number in range(steps) for item in step(number))]


def grown(compactor: Compactor, steps: int = 200, *, billed: bool = True) -> Iterator[int]:
    """The messages so far before each call of a conversation that grows, and is billed as the count has it."""
    messages = talk(steps)
    for stop in range(1, len(messages) + 1, 2):
        compactor.fit(messages[:stop])
        if billed:
            compactor.observe(bill(compactor))
        yield stop


def bill(compactor: Compactor) -> Item:
    """What a request is billed that the provider keeps in its cache."""
    return {"input_tokens": 0, "cache_creation_input_tokens": compactor.count.tokens, "output_tokens": 1}


def first_fold(compactor: Compactor, **how: bool) -> tuple[int, int]:
    """At which call the first fold is made, and the tokens before it."""
    for call, _ in enumerate(grown(compactor, **how)):
        if compactor.folds:
            return call, compactor.folds[0].receipt.tokens_before
    raise AssertionError("nothing was folded")


def test_it_waits_beyond_its_mark_and_less_than_until_the_window_is_full() -> None:
    at, tokens = first_fold(Compactor(CLAUDE, window=WINDOW, policy=AT_ONCE))
    later, more = first_fold(Compactor(CLAUDE, window=WINDOW, policy=WAITING))
    assert 0.2 * WINDOW < tokens < 0.25 * WINDOW
    assert at + 10 < later
    assert tokens < more < 0.9 * WINDOW


def test_it_folds_once_the_calls_since_the_last_fold_would_have_saved_what_it_costs() -> None:
    compactor = Compactor(CLAUDE, window=WINDOW, policy=WAITING)
    calls, before = 0, 0
    for _ in grown(compactor):
        if len(compactor.folds) > before:
            reset = compactor.folds[-1].receipt.reset
            assert reset is not None
            assert reset.saved / 2 * calls >= reset.once
            assert reset.saved / 2 * (calls - 25) < reset.once
            calls, before = 0, len(compactor.folds)
        calls += 1
    assert before >= 2


def test_nobody_waits_where_the_cache_is_cold_anyway() -> None:
    now = [0.0]
    compactor = Compactor(CLAUDE, window=WINDOW, policy=WAITING, clock=lambda: now[0])
    for _ in grown(compactor):
        now[0] += 3_600.0
        if compactor.folds:
            break
    assert compactor.folds[0].receipt.tokens_before < 0.25 * WINDOW


@pytest.mark.parametrize(("model", "billed"), [("a-model-that-nobody-knows", True), (CLAUDE, False)])
def test_where_nothing_is_known_of_costs_it_waits_for_a_fold_that_must_be(model: str, billed: bool) -> None:
    compactor = Compactor(model, window=WINDOW, policy=WAITING)
    _, tokens = first_fold(compactor, billed=billed)
    assert tokens > 0.7 * WINDOW
    assert {edit.by for edit in compactor.folds[0].edits} == {"prune_tool_outputs"}


def test_another_process_waits_on_where_one_ended() -> None:
    alive, state = Compactor(CLAUDE, window=WINDOW, policy=WAITING, clock=lambda: 0.0), b""
    messages = talk(90)
    for stop in range(1, len(messages) + 1, 2):
        served = Compactor(CLAUDE, window=WINDOW, policy=WAITING, clock=lambda: 0.0)
        if state:
            served.load(state)
        assert served.fit(messages[:stop]) == alive.fit(messages[:stop])
        for each in (served, alive):
            each.observe(bill(alive))
        state = served.dump()
    assert len(alive.folds) >= 2
