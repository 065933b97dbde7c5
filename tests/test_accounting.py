"""What a compactor believes of sizes and limits: bills, refusals, quoted figures, a system text apart, an unknown model."""

from __future__ import annotations

import warnings
from copy import deepcopy
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline import Compactor, ContextOverflow, Layer, Message, Summary
from foldline._tokens.estimate import FAMILIES
from foldline._tokens.weigh import at_most
from foldline.extend import Text, Thinking, ToolCall, ToolResult, policy, prune_tool_outputs, summarize_older, weigh
from test_compactor import BILLS, overflow, size, tells, tight, turns, user

Item = dict[str, Any]


# -- bills --------------------------------------------------------------------------------------------------------

USAGE = {"prompt_tokens": 4_000, "completion_tokens": 7}

BROKEN = {
    "Responses": {"status": "failed", "usage": {"input_tokens": 4_000, "output_tokens": 7}},
    "Responses, cancelled": SimpleNamespace(status="cancelled", usage=SimpleNamespace(input_tokens=4_000)),
    "pi": {"stopReason": "aborted", "usage": USAGE},
    "an error": {"error": {"message": "overloaded"}, "usage": USAGE},
    "OpenRouter": {"choices": [{"finish_reason": "error"}], "usage": USAGE},
}


@pytest.mark.parametrize("reply", BROKEN.values(), ids=list(BROKEN))
def test_a_reply_that_broke_off_is_no_bill(reply: Any) -> None:
    compactor = Compactor(window=100_000)
    compactor.fit(turns(10))
    compactor.observe(BILLS["OpenAI"])
    compactor.observe(reply)
    assert compactor.count.tokens == 5_000


def test_a_usage_that_cannot_be_the_requests_is_no_bill() -> None:
    compactor = Compactor(window=100_000)
    history = turns(60)
    compactor.fit(history)
    compactor.observe({"usage": {"prompt_tokens": size(history) + 20, "completion_tokens": 5}})
    compactor.observe({"usage": {"prompt_tokens": 30, "completion_tokens": 5}})
    assert compactor.count.tokens == size(history) + 20


# -- refusals -----------------------------------------------------------------------------------------------------

WITHOUT_NUMBERS = {"error": {"code": "context_length_exceeded", "message": "Your input exceeds the context window."}}


def work(compactor: Compactor, limit: int, *, billed: bool) -> int:
    """How often a provider that names no limit refuses an agent's request."""
    refused = 0
    for step in range(1, 80):
        history = turns(step)
        sent = compactor.fit(history)
        if size(sent) > limit:
            refused += 1
            sent = compactor.recover(WITHOUT_NUMBERS, history)
            assert size(sent) <= limit
        if billed:
            compactor.observe({"usage": {"prompt_tokens": size(sent), "completion_tokens": 5}})
    return refused


@pytest.mark.parametrize("billed", [True, False])
def test_a_refusal_without_a_number_teaches_a_limit_below_it(billed: bool) -> None:
    compactor = Compactor(window=1_000_000, summarizer=tells)
    assert work(compactor, 6_000, billed=billed) == 1
    assert compactor.budget.limit < 6_000
    assert compactor.budget.limit > (5_000 if billed else 3_500)


def test_a_stated_limit_that_our_count_keeps_teaches_one_below_what_was_refused() -> None:
    compactor = Compactor(window=100_000)
    history = turns(60)
    compactor.fit(history)
    compactor.recover(ContextOverflow("too long", limit=50_000), history)
    assert compactor.budget.limit < size(history) < compactor.budget.window == 50_000


def quoted(figure: str) -> Item:
    return {"error": {"message": f"prompt is too long; the page says: maximum context length is {figure} tokens"}}


def test_an_absurd_limit_is_not_believed() -> None:
    compactor = Compactor(window=200_000)
    history = turns(60)
    compactor.fit(history)
    compactor.recover(quoted("10"), history)
    assert compactor.budget.window == 200_000
    assert size(compactor.fit(history)) > 2_000


def test_a_limit_below_what_was_accepted_is_not_believed() -> None:
    compactor = Compactor(window=200_000)
    history = turns(60)
    compactor.fit(history)
    compactor.observe({"usage": {"prompt_tokens": size(history), "completion_tokens": 5}})
    compactor.recover(quoted("2,048"), [*history, *turns(1, first=60)])
    assert compactor.budget.window == 200_000
    assert compactor.budget.limit >= 0.7 * size(history)


def test_an_absurd_size_is_not_believed_beside_a_limit_that_can_be_true() -> None:
    compactor = Compactor(window=200_000)
    history = turns(60)
    compactor.fit(history)
    compactor.recover(overflow(5_000, 19_000_000), history)
    assert compactor.budget.window == 5_000
    assert compactor.count.tokens < 5_000


def test_what_else_a_provider_caps_stays_known_after_a_refusal() -> None:
    compactor = Compactor("claude-sonnet-4-5")
    caps = compactor.budget.bytes, compactor.budget.images
    compactor.fit(turns(60))
    compactor.recover(ContextOverflow("too long", limit=5_000), turns(60))
    assert (compactor.budget.bytes, compactor.budget.images) == caps != (0, 0)


def test_where_the_limit_is_below_the_marks_a_fold_still_makes_room() -> None:
    layers = policy("late", [Layer("summarize", 0.9, 0.45, (summarize_older(keep=500),))])
    compactor = Compactor(window=20_000, reserve=15_000, policy=layers, summarizer=tells)
    for step in range(1, 80):
        compactor.fit(turns(step))
    assert all(fold.receipt.tokens_after < 3_000 for fold in compactor.folds)
    assert len(compactor.folds) < 8


# -- plans --------------------------------------------------------------------------------------------------------


def test_a_compactor_that_planned_equals_one_that_did_not() -> None:
    planned, other = tight(turns(20)), tight(turns(20))
    for step in range(1, 40):
        history = turns(step)
        for compactor in (planned, other):
            sent = compactor.fit(history)
        for others in (turns(step + 3), turns(5, first=300), [user("Something else.")]):
            planned.plan(others)
        for compactor in (planned, other):
            compactor.observe({"usage": {"prompt_tokens": size(sent) + 40, "completion_tokens": 1}})
        assert planned.count == other.count
        assert planned.fit(history) == other.fit(history)


def test_a_plan_tells_no_events() -> None:
    heard: list[Any] = []
    compactor = tight(turns(20), 0.3, on_event=heard.append)
    compactor.fit(turns(20))
    assert compactor.plan(turns(5, first=70) + turns(20))
    assert heard == []


# -- a system text apart ------------------------------------------------------------------------------------------

BLOCKS = [{"type": "text", "text": "Answer in one sentence. " * 100, "cache_control": {"type": "ephemeral"}}]


@pytest.mark.parametrize("system", ["Answer in one sentence. " * 100, BLOCKS])
def test_a_system_text_apart_is_counted_and_follows_its_changes(system: Any) -> None:
    history = turns(10)
    alone, beside = Compactor(window=100_000), Compactor(window=100_000, system=system)
    for compactor in (alone, beside):
        compactor.fit(history)
    took = beside.count.tokens - alone.count.tokens
    assert 450 < took < 650
    beside.observe({"usage": {"prompt_tokens": size(history) + took + 300, "completion_tokens": 1}})
    assert beside.count.tokens == size(history) + took + 300
    assert beside.fit(history, system="Be brief.") == history
    assert abs(beside.count.tokens - (size(history) + 300)) < 20
    assert beside.fit(history) == history
    assert beside.fit(history, system=deepcopy(system)) == history
    assert beside.count.tokens == size(history) + took + 300


def test_a_system_text_apart_fills_the_window() -> None:
    history = turns(10)
    compactor = tight(history, 0.5)
    assert compactor.fit(history) == history
    compactor.fit(history, system="Answer in one sentence. " * 300)
    assert len(compactor.folds) == 1
    assert compactor.folds[0].receipt.tokens_after == compactor.count.tokens


# -- nothing is heavier than it may be ----------------------------------------------------------------------------

texts = st.one_of(
    st.text(max_size=300),
    st.text(st.characters(codec="ascii"), max_size=300).map(lambda text: text * 5),
    st.lists(st.integers(0, 9), max_size=200).map(lambda digits: ",".join(map(str, digits))),
    st.binary(max_size=400).map(lambda raw: raw.hex(" ")),
)


@given(st.lists(texts, min_size=5, max_size=5), st.sampled_from(sorted(FAMILIES)))
def test_no_message_weighs_more_than_it_can_at_most(said: list[str], family: str) -> None:
    for message in (
        Message("user", (Text(said[0]), Summary(said[1]))),
        Message("assistant", (Thinking(said[2], "c2ln"), ToolCall("a", said[3], said[4]))),
        Message("tool", (ToolResult("a", (Text(said[0]), Text(said[1]))),)),
    ):
        assert weigh(message, family) <= at_most(message)


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "claude-opus-4-7", "gpt-4o"])
@pytest.mark.parametrize("text", ["4 7 1 9 ", "3,8,1\n", "8f 1c a0 "], ids=["digits", "table", "bytes"])
def test_nothing_over_the_limit_is_handed_out_without_a_fold(model: str, text: str) -> None:
    compactor = Compactor(model, window=20_000)
    call = {"id": "a", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    for share in range(1, 40):
        output = (text * 20_000)[: 1_000 * share]
        history = [
            user("look"),
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "a", "content": output},
        ]
        compactor.fit(history)
        assert compactor.count.tokens <= compactor.budget.limit


# -- models that nobody knows, layers of any name -----------------------------------------------------------------


def test_an_unknown_model_is_told_of_with_the_nearest_name_and_what_is_assumed() -> None:
    with pytest.warns(
        UserWarning, match=r"unknown model 'claude-sonet-4-5' \(did you mean claude-sonnet-4-5.*\?\)"
    ) as told:
        Compactor("claude-sonet-4-5")
    assert "a window of 128,000 tokens is assumed; state another by window=" in str(told[0].message)
    assert told[0].filename == __file__
    with pytest.warns(UserWarning, match="unknown model 'zzz': a window"):
        Compactor("zzz")


@pytest.mark.parametrize("model", ["", "claude-sonnet-4-5", "gpt-4o"])
def test_a_known_model_or_none_is_not_told_of(model: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Compactor(model)
        Compactor("zzz", window=10_000)


def test_a_policy_means_the_same_under_other_names() -> None:
    def layers(*names: str) -> Any:
        pruning, summarizing, full = (
            (0.6, 0.5, (prune_tool_outputs(protect=200, minimum=50),)),
            (0.8, 0.4, (summarize_older(keep=1_000),)),
            (0.95, 0.3, (summarize_older(keep=500),)),
        )
        return policy("p", [Layer(name, *each) for name, each in zip(names, (pruning, summarizing, full))])

    made = []
    for names in (("prune", "summarize", "full"), ("a", "prune", "b"), ("full", "a", "summarize")):
        compactor = tight(turns(20), 0.1, policy=layers(*names))
        compactor.fold(turns(20))
        made.append([edit.drop for fold in compactor.folds for edit in fold.edits])
    assert made[0] == made[1] == made[2] != []
