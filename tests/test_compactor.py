"""What an agent's author meets: fit, observe, recover, fold, plan, recall, undo and the events."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from foldline import (
    Brief,
    CannotFit,
    Compactor,
    ConfigError,
    FoldDue,
    Folded,
    Layer,
    Message,
    ProviderError,
    Rewound,
    Summary,
    SummaryFellBack,
    Usage,
    Verdict,
    WireError,
)
from foldline.extend import Model, decode, policy, prune_tool_outputs, replace, summarize_older, truncate, weigh

Item = dict[str, Any]

SUMMARIZING = policy("summarizing", [Layer("summarize", 0.8, 0.4, (summarize_older(keep=1_000),))])
CUTTING = policy("cutting", [Layer("full", 0.6, 0.3, (truncate(),), hard=True)])


def user(words: str) -> Item:
    return {"role": "user", "content": words}


def assistant(words: str) -> Item:
    return {"role": "assistant", "content": words}


def turns(count: int, first: int = 0) -> list[Item]:
    """Turns of some hundred tokens each."""
    talk = []
    for i in range(first, first + count):
        talk += [user(f"Question {i}: why is it so?"), assistant(f"Answer {i}. " + "Because of the parser. " * 40)]
    return talk


def size(items: Sequence[Item]) -> int:
    """The estimated tokens of a history."""
    return sum(weigh(decode(item, "openai-chat")) for item in items)


def tells(brief: Brief, messages: Sequence[Message]) -> str:
    return "The parser is to blame."


async def tells_later(brief: Brief, messages: Sequence[Message]) -> str:
    await asyncio.sleep(0)
    return "The parser is to blame."


def tight(history: list[Item], fill: float = 0.9, **more: Any) -> Compactor:
    """A compactor whose window a history fills to a share, without a reserve, that summarizes above 80 %."""
    more = {"policy": SUMMARIZING, "summarizer": tells, **more}
    return Compactor(window=round(size(history) / fill), reserve=0, **more)


# -- fit ----------------------------------------------------------------------------------------------------------


def test_a_history_that_fits_comes_back_as_it_is() -> None:
    history = turns(10)
    sent = tight(history, 0.5).fit(history)
    assert sent == history
    assert all(a is b for a, b in zip(sent, history))
    assert sent is not history


def test_a_full_window_is_folded_and_what_stays_is_the_same_object() -> None:
    history = turns(20)
    compactor = tight(history)
    sent = compactor.fit(history)
    (fold,) = compactor.folds
    assert sent[0]["role"] == "user"
    assert "The parser is to blame." in sent[0]["content"]
    assert all(a is b for a, b in zip(sent[1:], history[-len(sent) + 1 :], strict=True))
    assert fold.trigger == "threshold"
    assert fold.receipt.tokens_before == size(history)
    assert fold.receipt.tokens_after == compactor.count.tokens < 0.5 * size(history)


def test_layers_start_at_their_fill() -> None:
    history = turns(20)
    layers = policy(
        "two",
        [
            Layer("early", 0.8, 0.6, (summarize_older(keep=1_000),)),
            Layer("late", 0.9, 0.2, (summarize_older(keep=100),)),
        ],
    )
    made = {}
    for fill in (0.79, 0.81, 0.91):
        compactor = tight(history, fill, policy=layers)
        compactor.fit(history)
        made[fill] = [fold.layer for fold in compactor.folds]
    assert made == {0.79: [], 0.81: ["early"], 0.91: ["early"]}


def test_the_overhead_that_every_request_carries_fills_the_window_too() -> None:
    history = turns(10)
    compactor = Compactor(
        window=size(history) * 2, reserve=0, overhead=size(history), policy=SUMMARIZING, summarizer=tells
    )
    compactor.fit(history)
    assert len(compactor.folds) == 1


def test_a_list_that_the_caller_changes_in_place_is_read_anew() -> None:
    history = turns(10)
    compactor = tight(history, 0.5)
    before = compactor.fit(history)
    history.append(user("One more thing."))
    assert len(before) == 20
    assert compactor.fit(history) == history
    history[3] = assistant("Edited.")
    assert compactor.fit(history) == history
    del history[4:]
    assert compactor.fit(history) == history
    history.clear()
    assert compactor.fit(history) == []


def test_a_message_that_the_caller_wrote_into_is_counted_anew_when_it_matters() -> None:
    history = turns(20)
    compactor = tight(history)
    compactor.fit(history[:4])
    history[1]["content"] = "short"
    compactor.fit(history)
    assert compactor.folds[0].receipt.tokens_before == size(history)


def test_messages_may_be_values_instead_of_dicts() -> None:
    history = [decode(item, "openai-chat") for item in turns(20)]
    compactor = tight(turns(20))
    sent = compactor.fit(history)
    assert isinstance(sent[0].summary, Summary)
    assert all(a is b for a, b in zip(sent[1:], history[-len(sent) + 1 :], strict=True))


def test_the_system_message_stays_beside_what_the_user_pins() -> None:
    history = [{"role": "system", "content": "Answer in one sentence. " * 30}, *turns(20)]
    compactor = tight(history, pinned=lambda message: message.text.startswith("Question 3:"))
    sent = compactor.fit(history)
    assert compactor.folds
    assert sent[0] is history[0]
    assert history[7] in sent


def test_pins_stay_where_they_are() -> None:
    history = turns(20)
    compactor = tight(history, pinned=lambda message: message.text.startswith("Question 3:"))
    sent = compactor.fit(history)
    assert sent[1] is history[6]


def test_what_cannot_be_read_is_refused_by_its_place_and_changes_nothing() -> None:
    history = turns(5)
    compactor = tight(history, 0.5)
    compactor.fit(history)
    with pytest.raises(WireError, match=r"messages\[10\]"):
        compactor.fit([*history, {"role": "ghost", "content": "boo"}])
    assert compactor.fit(history) == history


def test_what_cannot_fit_is_refused_and_the_next_history_is_served() -> None:
    history = turns(20)
    heard: list[Any] = []
    compactor = tight(history, on_event=heard.append)
    sent = compactor.fit(history)
    with pytest.raises(CannotFit) as refusal:
        compactor.fit([*history, {"role": "system", "content": "rule " * 10_000}])
    assert refusal.value.in_the_way[0][0].startswith("system message")
    assert compactor.fit(history) == sent
    assert len(compactor.folds) == 1


# -- observe ------------------------------------------------------------------------------------------------------

BILLS = {
    "OpenAI": {
        "usage": {"prompt_tokens": 5_000, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 4_000}}
    },
    "Anthropic": {
        "usage": {
            "input_tokens": 20,
            "cache_read_input_tokens": 4_000,
            "cache_creation_input_tokens": 980,
            "output_tokens": 7,
        }
    },
    "the usage alone": {"prompt_tokens": 5_000, "completion_tokens": 7},
    "a usage as it was read": Usage(input=5_000, output=7),
    "an object": SimpleNamespace(usage=SimpleNamespace(prompt_tokens=5_000, completion_tokens=7)),
}


@pytest.mark.parametrize("reply", BILLS.values(), ids=list(BILLS))
def test_what_was_billed_is_the_count(reply: Any) -> None:
    history = turns(10)
    compactor = Compactor(window=100_000)
    compactor.fit(history)
    estimated = compactor.count
    compactor.observe(reply)
    assert (estimated.tokens, estimated.basis) == (size(history), "estimate")
    assert (compactor.count.tokens, compactor.count.basis) == (5_000, "billed")
    assert compactor.count.error < estimated.error


def test_what_came_after_the_bill_is_estimated_on_top() -> None:
    history = turns(10)
    compactor = Compactor(window=100_000)
    compactor.fit(history)
    compactor.observe(BILLS["OpenAI"])
    more = turns(2, first=10)
    compactor.fit(history + more)
    assert compactor.count.tokens == 5_000 + size(more)
    assert compactor.count.basis == "billed + estimate"


@pytest.mark.parametrize("reply", [{}, {"usage": None}, None, {"usage": {"prompt_tokens": 0, "completion_tokens": 0}}])
def test_a_reply_without_a_bill_changes_nothing(reply: Any) -> None:
    compactor = Compactor(window=100_000)
    compactor.fit(turns(3))
    compactor.observe(reply)
    assert compactor.count.basis == "estimate"


def test_a_bill_before_anything_was_sent_changes_nothing() -> None:
    compactor = Compactor(window=100_000)
    compactor.observe(BILLS["OpenAI"])
    assert compactor.count.tokens == 0


def test_a_fold_voids_the_bill_and_keeps_what_it_taught() -> None:
    history = turns(20)
    compactor = tight(history)
    compactor.fit(history[:20])
    half = size(history[:20])
    compactor.observe({"usage": {"prompt_tokens": half + 100, "completion_tokens": 1}})
    compactor.fit(history)
    assert len(compactor.folds) == 1
    assert compactor.count.basis == "estimate"
    assert compactor.meter.overhead == 100
    assert compactor.count.tokens == compactor.folds[0].receipt.tokens_after


# -- recover ------------------------------------------------------------------------------------------------------


def overflow(limit: int, tokens: int) -> Item:
    message = (
        f"This model's maximum context length is {limit} tokens. However, your messages resulted in {tokens} tokens. "
        "Please reduce the length of the messages."
    )
    return {"error": {"message": message, "type": "invalid_request_error", "code": "context_length_exceeded"}}


def test_an_overflow_teaches_the_limit_and_gives_a_smaller_history() -> None:
    history = turns(40)
    compactor = Compactor(window=1_000_000, summarizer=tells)
    assert compactor.fit(history) == history
    tokens = size(history)
    sent = compactor.recover(overflow(tokens - 100, tokens), history)
    assert compactor.budget.window == tokens - 100
    assert size(sent) <= 0.7 * (tokens - 100)
    assert compactor.folds[0].trigger == "overflow"
    assert compactor.fit(history) == sent


def test_no_model_is_asked_after_an_overflow() -> None:
    asked: list[Brief] = []

    def remember(brief: Brief, messages: Sequence[Message]) -> str:
        asked.append(brief)
        return "x"

    history = turns(40)
    compactor = Compactor(window=1_000_000, summarizer=remember)
    compactor.fit(history)
    compactor.recover(
        {
            "type": "error",
            "error": {"type": "invalid_request_error", "message": "prompt is too long: 9000 tokens > 8000 maximum"},
        },
        history,
    )
    assert asked == []
    assert compactor.budget.window == 8_000


def test_an_overflow_without_numbers_still_gives_a_smaller_history() -> None:
    history = turns(40)
    compactor = Compactor(window=1_000_000)
    compactor.fit(history)
    sent = compactor.recover(
        {
            "error": {
                "code": "context_length_exceeded",
                "message": "Your input exceeds the context window of this model.",
            }
        },
        history,
    )
    assert size(sent) <= 0.7 * size(history)
    assert compactor.budget.window == 1_000_000


def test_a_second_refusal_of_what_was_sent_before_the_fold_teaches_no_overhead() -> None:
    history = turns(40)
    tokens = size(history)
    compactor = Compactor(window=1_000_000, summarizer=tells)
    compactor.fit(history)
    compactor.fit(list(history))
    first = compactor.recover(overflow(tokens // 3, tokens), history)
    assert compactor.recover(overflow(tokens // 3, tokens), list(history)) == first
    assert compactor.fit(history) == first
    assert compactor.meter.overhead == 0


def test_a_second_refusal_comes_behind_the_bill_of_what_was_folded_as_well() -> None:
    history = turns(40)
    tokens = size(history)
    compactor = Compactor(window=1_000_000, summarizer=tells)
    compactor.fit(history)
    first = compactor.recover(overflow(tokens // 3, tokens), history)
    compactor.observe({"usage": {"prompt_tokens": size(first), "completion_tokens": 5}})
    assert compactor.recover(overflow(tokens // 3, tokens), history) == first
    assert compactor.count.tokens == size(first)


def test_a_refusal_of_what_was_folded_is_learned_and_folded_for() -> None:
    history = turns(40)
    tokens = size(history)
    compactor = Compactor(window=1_000_000, summarizer=tells)
    compactor.fit(history)
    first = compactor.recover(overflow(tokens // 2, tokens), history)
    again = compactor.recover(overflow(tokens // 4, size(first) + 200), history)
    assert size(again) + 200 <= tokens // 4


class RateLimitError(Exception):
    """As an SDK raises it."""

    status_code = 429


def test_what_is_no_overflow_is_raised_again() -> None:
    history = turns(3)
    compactor = Compactor(window=100_000)
    error = RateLimitError("Rate limit reached: tokens per min. Limit 30000, used 29000, requested 2000.")
    with pytest.raises(RateLimitError) as again:
        compactor.recover(error, history)
    assert again.value is error
    with pytest.raises(ProviderError, match="overloaded"):
        compactor.recover({"type": "error", "error": {"type": "overloaded_error", "message": "overloaded"}}, history)
    assert compactor.folds == []


# -- by hand --------------------------------------------------------------------------------------------------------


def test_what_was_folded_by_hand_just_now_is_nothing_to_do() -> None:
    history = turns(200)
    compactor = Compactor()
    sent = compactor.fold(history)
    assert compactor.fold(history) == sent
    assert not compactor.plan([*history, user("And?")])
    assert compactor.fold(more := [*history, *turns(3, first=200)]) == [*sent, *more[400:]]
    assert len(compactor.folds) == 1
    assert compactor.plan([*history, *turns(40, first=200)])
    compactor.undo()
    assert compactor.plan(history)


def test_over_the_limit_a_fold_by_hand_may_follow_another() -> None:
    history = turns(200)
    compactor = Compactor(
        window=3_000, reserve=0, policy=policy("idle", [Layer("summarize", 1, 1, (summarize_older(),))])
    )
    compactor.fold(history)
    compactor.budget = replace(compactor.budget, window=compactor.count.tokens - 100)
    compactor.fold(history)
    assert len(compactor.folds) == 2


# -- waiting for a summarizer -------------------------------------------------------------------------------------


@pytest.mark.parametrize("summarizer", [tells, tells_later])
def test_afit_equals_fit_with_a_summarizer_of_either_kind(summarizer: Any) -> None:
    history = turns(20)
    alone, awaited = tight(history), tight(history, summarizer=summarizer)
    assert asyncio.run(awaited.afit(history)) == alone.fit(history)
    assert awaited.folds[0].edits == alone.folds[0].edits


def test_fit_runs_a_summarizer_that_must_be_awaited() -> None:
    history = turns(20)
    sent = tight(history, summarizer=tells_later).fit(history)
    assert "The parser is to blame." in sent[0]["content"]


@pytest.mark.parametrize("summarizer", [tells, tells_later])
def test_inside_an_event_loop_fit_folds_by_a_summarizer_of_either_kind(summarizer: Any) -> None:
    history = turns(20)
    compactor = tight(history, summarizer=summarizer)

    async def fit() -> list[Item]:
        return compactor.fit(history)

    assert asyncio.run(fit()) == tight(history).fit(history)
    assert compactor.folds[0].receipt.failures == ()


@pytest.mark.parametrize("summarizer", [tells, tells_later])
def test_the_awaited_twins_do_what_the_others_do(summarizer: Any) -> None:
    history = turns(40)
    refusal = overflow(size(history) // 2, size(history))

    async def awaited(compactor: Compactor) -> list[Any]:
        return [
            await compactor.aselect(history),
            await compactor.arecover(refusal, history),
            await compactor.afold([*history, *turns(40, first=40)], focus="the parser"),
            await compactor.afold_to(history, 1_200),
        ]

    alone, other = tight(history, 0.5), tight(history, 0.5, summarizer=summarizer)
    waited = [
        alone.select(history),
        alone.recover(refusal, history),
        alone.fold([*history, *turns(40, first=40)], focus="the parser"),
        alone.fold_to(history, 1_200),
    ]
    assert asyncio.run(awaited(other)) == waited
    assert [fold.trigger for fold in other.folds] == [fold.trigger for fold in alone.folds]
    assert "the parser" in [fold.receipt.instruction for fold in other.folds]


def test_an_awaited_summarizer_that_raises_is_replaced_by_extraction() -> None:
    async def raises(brief: Brief, messages: Sequence[Message]) -> str:
        await asyncio.sleep(0)
        raise TimeoutError("too slow")

    history = turns(20)
    compactor = tight(history, summarizer=raises)
    sent = asyncio.run(compactor.afit(history))
    assert compactor.folds[0].receipt.failures == ("TimeoutError: too slow",)
    assert "Question" in sent[0]["content"]


@pytest.mark.parametrize(
    ("draft", "reason"),
    [
        (" \n", "the summary was empty"),
        (None, "the summarizer gave a NoneType, not a text"),
        ("on and on " * 20_000, "tokens where"),
    ],
)
def test_a_draft_that_is_no_summary_is_replaced_by_extraction(draft: Any, reason: str) -> None:
    history = turns(20)
    compactor = tight(history, summarizer=lambda brief, messages: draft)
    sent = compactor.fit(history)
    (failure,) = compactor.folds[0].receipt.failures
    assert reason in failure
    assert "Question" in sent[0]["content"]


# -- by hand ------------------------------------------------------------------------------------------------------


def test_fold_folds_whatever_the_fill_and_hands_the_focus_on() -> None:
    seen: list[Brief] = []

    def remember(brief: Brief, messages: Sequence[Message]) -> str:
        seen.append(brief)
        return "The parser is to blame."

    history = turns(20)
    compactor = tight(history, 0.1, summarizer=remember)
    sent = compactor.fold(history, focus="the parser")
    assert seen[0].focus == "the parser"
    assert size(sent) < 0.5 * size(history)
    assert compactor.folds[0].trigger == "manual"
    assert compactor.folds[0].receipt.instruction == "the parser"


def test_a_plan_changes_nothing() -> None:
    history = turns(20)
    compactor = tight(history, 0.1)
    plan = compactor.plan(history)
    assert plan.receipt.tokens_after < plan.receipt.tokens_before == size(history)
    assert compactor.folds == []
    assert compactor.fit(history) == history


def test_a_hard_budget_is_met_or_refused() -> None:
    history = turns(20)
    compactor = tight(history, 0.1)
    sent = compactor.fold_to(history, 500)
    assert size(sent) <= 500
    with pytest.raises(CannotFit) as refusal:
        compactor.fold_to(history, 5)
    assert refusal.value.limit == 5
    assert compactor.fit(history) == sent


def test_what_was_folded_is_recalled_by_its_id_and_an_undone_fold_is_gone() -> None:
    history = turns(20)
    compactor = tight(history, 0.1)
    compactor.fold(history)
    (fold,) = compactor.folds
    recalled = [compactor.recall(id) for edit in fold.edits for id in edit.drop]
    assert recalled == [decode(item, "openai-chat") for item in history[: len(recalled)]]
    assert compactor.recall("nothing") is None
    assert compactor.undo() == fold
    assert compactor.undo() is None
    assert compactor.fit(history) == history


def test_a_summary_that_was_folded_into_the_next_is_recalled_too() -> None:
    history = turns(20)
    compactor = tight(history, 0.1)
    compactor.fold(history)
    grown = history + turns(20, first=20)
    compactor.fold(grown)
    recalled = compactor.recall(compactor.folds[1].edits[0].drop[0])
    assert recalled is not None
    assert recalled.summary is not None
    assert "The parser is to blame." in recalled.summary.text


def test_thinking_that_a_fold_orphans_goes_and_later_thinking_stays() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    history = turns(20)
    history[-1] = {"role": "assistant", "content": [thought, {"type": "text", "text": "Fixed."}]}
    compactor = Compactor(Model("m", binds_thinking=True), window=1_000_000, summarizer=tells, format="anthropic")
    sent = compactor.fold(history)
    assert sent[-1] == {"role": "assistant", "content": "Fixed."}
    later = [user("And now?"), {"role": "assistant", "content": [thought, {"type": "text", "text": "Now too."}]}]
    assert compactor.fit(history + later) == sent + later


# -- events -------------------------------------------------------------------------------------------------------


def test_events_come_in_order() -> None:
    def raises(brief: Brief, messages: Sequence[Message]) -> str:
        raise ConnectionError("down")

    history = turns(20)
    heard: list[Any] = []
    compactor = tight(history, summarizer=raises, on_event=heard.append)
    compactor.fit(history)
    compactor.fit(history)
    compactor.fit(history[:4] + turns(1, first=90))
    due = FoldDue(size(history), compactor.budget.window)
    assert heard == [due, SummaryFellBack("ConnectionError: down"), Folded(compactor.folds[0]), Rewound(4)]


def test_a_fork_before_the_fold_sees_its_messages_again() -> None:
    history = turns(20)
    compactor = tight(history)
    compactor.fit(history)
    fork = history[:4] + turns(1, first=90)
    assert compactor.fit(fork) == fork


def test_a_fork_behind_the_fold_keeps_it() -> None:
    history = turns(20)
    compactor = tight(history)
    sent = compactor.fit(history)
    assert compactor.fit([*history[:-1], assistant("Something else.")]) == [*sent[:-1], assistant("Something else.")]


def test_after_a_fold_a_soft_layer_waits_until_the_history_has_grown() -> None:
    """A pinned message keeps the view over the mark: without a wait, each call would fold again."""
    history = [{"role": "system", "content": "rule " * 6_000}, *turns(6)]
    pruning = policy("pruning", [Layer("prune", 0.5, 0.4, (prune_tool_outputs(), summarize_older(keep=100)))])
    asked: list[Brief] = []

    def remember(brief: Brief, messages: Sequence[Message]) -> str:
        asked.append(brief)
        return "The parser is to blame."

    compactor = tight(history, 0.9, policy=pruning, summarizer=remember)
    for _ in range(3):
        compactor.fit(history)
    assert len(asked) == 1


def test_a_rewind_to_behind_the_fold_does_not_end_the_wait() -> None:
    history = [{"role": "system", "content": "rule " * 420}, *turns(1), user("ok")]
    heard: list[Any] = []
    compactor = tight(history, 0.9, policy=CUTTING, on_event=heard.append)
    sent = compactor.fit(history)
    compactor.fit([*history, user("never mind")])
    assert compactor.fit(history) == sent
    assert [type(event) for event in heard] == [FoldDue, Folded, Rewound]


def test_a_message_of_text_parts_is_folded_like_a_string() -> None:
    parts = [{"role": item["role"], "content": [{"type": "text", "text": item["content"]}]} for item in turns(20)]
    compactor = tight(turns(20))
    assert len(compactor.fit(parts)) == len(tight(turns(20)).fit(turns(20)))


@pytest.mark.parametrize("wrong", [None, "8k", 1.5, float("nan"), True])
def test_a_budget_that_is_no_number_of_tokens_is_told_and_changes_nothing(wrong: Any) -> None:
    compactor = Compactor(window=1_000)
    with pytest.raises(ConfigError, match="fold_to: max_tokens: a whole number of tokens, not"):
        compactor.fold_to([{"role": "user", "content": "hi"}], wrong)
    assert [*compactor.messages()] == []


@pytest.mark.parametrize("wrong", [None, 5, object(), "Fix the test.", b"", user("Fix the test.")])
def test_what_is_no_history_is_told(wrong: Any) -> None:
    with pytest.raises(WireError, match="messages: a list of messages, not"):
        Compactor(window=1_000).fit(wrong)


@pytest.mark.parametrize(("key", "wrong"), [("policy", None), ("policy", 5), ("model", 5), ("model", [])])
def test_what_is_neither_a_name_nor_the_thing_is_told(key: str, wrong: Any) -> None:
    with pytest.raises(ConfigError, match=f"Compactor: {key}: a name or a {key.title()}, not"):
        Compactor(**{"window": 1_000, key: wrong})


@pytest.mark.parametrize(
    ("key", "wrong", "said"),
    [
        ("summarizer", None, "a name or a function, not None"),
        ("summarizer", 5, "a name or a function, not 5"),
        ("format", "openai", "no such wire format: 'openai'; there are openai-chat, "),
        ("format", 5, "no such wire format: 5; there are "),
        ("overhead", "2k", "a number of tokens, not '2k'"),
        ("overhead", -1, "a number of tokens, not -1"),
        ("timeout", -1, "a number of seconds or None, not -1"),
        ("timeout", "5", "a number of seconds or None, not '5'"),
        ("grace", float("nan"), "a number of seconds, not nan"),
        ("ahead", "0.1", "a share of the window, from 0 to less than 1, not '0.1'"),
        ("on_event", [], r"a function or None, not \[\]"),
        ("pinned", True, "a function or None, not True"),
        ("before_fold", Verdict(), "a function or None, not Verdict"),
        ("session", "work.jsonl", "what open_session opened, not 'work.jsonl'"),
    ],
)
def test_what_a_compactor_cannot_be_made_with_is_told_when_it_is_made(key: str, wrong: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=f"Compactor: {key}: {said}"):
        Compactor(**{"window": 1_000, key: wrong})
