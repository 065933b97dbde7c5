"""When each layer of a policy starts and how far it goes, on views whose messages state their own size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from foldline import (
    Brief,
    CannotFit,
    Compactor,
    ConfigError,
    Edit,
    Fold,
    Layer,
    Message,
    Policy,
    Summary,
    UnsafeEdit,
    View,
)
from foldline._engine.driving import arun, run
from foldline._engine.folding import folding
from foldline._engine.steps import steps_by_hand, steps_for, steps_within
from foldline._fold import Occasion
from foldline._policies import names
from foldline.extend import (
    Budget,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    budget,
    policy,
    preset,
    prune_tool_outputs,
    view_of,
)

WINDOW = Budget(200_000)
DEFAULT = preset("default")
PRESETS = {"amp", "claude-code", "codex", "default", "goat", "openclaw", "opencode", "pi", "step"}


def stated(message: Message) -> int:
    """The number that a message begins with; ten tokens for a stub, a hundred for a summary."""
    if message.summary:
        return 100
    texts = [p.text for p in message.parts if isinstance(p, Text)]
    texts += [p.text for result in message.results for p in result.parts if isinstance(p, Text)]
    return sum(int(head) if (head := text.split(" ")[0]).isdigit() else 10 for text in texts)


def see(*messages: Message) -> View:
    return view_of(messages, stated)


def user(tokens: int) -> Message:
    return Message("user", (Text(f"{tokens} tokens of words"),))


def assistant(tokens: int) -> Message:
    return Message("assistant", (Text(f"{tokens} tokens of words"),))


def reads(*sizes: int) -> list[Message]:
    """A call and its output for each size."""
    messages = []
    for i, tokens in enumerate(sizes):
        messages.append(Message("assistant", (ToolCall(f"c{i}", "read", f'{{"path": "{i}.py"}}'),)))
        messages.append(Message("tool", (ToolResult(f"c{i}", (Text(f"{tokens} tokens of file {i}"),)),)))
    return messages


def tells(brief: Brief, messages: Sequence[Message]) -> Summary:
    return Summary("It was done.")


def fold(view: View, policy: Policy = DEFAULT, limit: int | None = None) -> tuple[View, Fold]:
    return run(folding(view, steps_for(policy, WINDOW, 0), Occasion(limit=limit)), tells)


# -- budgets ------------------------------------------------------------------------------------------------------


def test_the_reserve_is_pis_and_at_most_a_fifth_of_the_window() -> None:
    assert budget(200_000) == Budget(200_000, 16_384)
    assert budget(200_000).limit == 183_616
    assert budget(10_000) == Budget(10_000, 2_000)
    assert budget(10_000, 0).limit == 10_000


@pytest.mark.parametrize(
    ("window", "reserve", "key"), [(0, None, "window"), (-1, 0, "window"), (10, 10, "reserve"), (10, -1, "reserve")]
)
def test_an_impossible_budget_is_refused_by_key(window: int, reserve: int | None, key: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        budget(window, reserve)
    assert refusal.value.key == key


@pytest.mark.parametrize(
    ("window", "reserve", "key"), [("6000", None, "window"), (1e5, None, "window"), (6_000, "5", "reserve")]
)
def test_a_budget_of_no_whole_number_is_refused_by_key(window: Any, reserve: Any, key: str) -> None:
    """As a setting from the environment is a text, and 1e5 is none that a state could hold."""
    with pytest.raises(ConfigError, match="a whole number of tokens, not") as refusal:
        Compactor(window=window, reserve=reserve)
    assert refusal.value.key == key


# -- policies -----------------------------------------------------------------------------------------------------


def layer(at: float, to: float) -> Layer:
    return Layer("x", at, to, (prune_tool_outputs(),))


@pytest.mark.parametrize(
    ("layers", "key"),
    [
        ([layer(0.5, 0.6)], "x"),
        ([layer(1.1, 0.6)], "x"),
        ([layer(0.5, 0.0)], "x"),
        ([layer(0.9, 0.5), layer(0.8, 0.5)], "layers"),
    ],
)
def test_marks_out_of_range_or_out_of_order_are_refused_by_key(layers: list[Layer], key: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        policy("mine", layers)
    assert (refusal.value.path, refusal.value.key) == ("mine", key)


def test_presets_have_names_and_an_unknown_one_is_refused_with_those_that_there_are() -> None:
    assert set(names()) >= PRESETS
    assert [preset(name).name for name in names()] == names() == sorted(names())
    with pytest.raises(ConfigError, match=rf"^policy: no policy 'best'; there are {', '.join(names())}$"):
        preset("best")


def test_the_layers_of_default_start_at_60_88_and_95_percent() -> None:
    marks = [(s.layer.name, s.mark, s.target) for s in steps_for(DEFAULT, WINDOW, 0)]
    assert marks == [("prune", 120_000, 40_000), ("summarize", 176_000, 130_000), ("full", 190_000, 130_000)]
    assert [layer.hard for layer in DEFAULT.layers] == [False, False, True]
    assert [layer.pays for layer in DEFAULT.layers] == [True, False, False]


def test_a_mark_is_never_above_the_limit_and_the_overhead_counts() -> None:
    assert [s.mark for s in steps_for(DEFAULT, budget(200_000), 0)] == [120_000, 176_000, 183_616]
    assert [s.mark for s in steps_for(DEFAULT, budget(200_000), 10_000)] == [110_000, 166_000, 173_616]
    # a mark that is lowered from 190,000 to 183,616 tokens lowers its target of 130,000 as much
    assert [s.target for s in steps_for(DEFAULT, budget(200_000), 10_000)] == [30_000, 120_000, 118_790]


# -- layers at work -----------------------------------------------------------------------------------------------


def test_at_a_mark_nothing_happens() -> None:
    view = see(user(50_000), *reads(*[10_000] * 7))
    assert view.tokens == 120_000
    after, made = fold(view)
    assert after is view
    assert not made


def test_above_60_percent_outputs_are_pruned_down_to_20_percent() -> None:
    view = see(user(20_000), *reads(*[10_050] * 10))
    after, made = fold(view)
    # of 120,500 tokens 80,500 must go: eight stubs free 80,320, the ninth makes it 30,140
    assert (made.layer, len(made.edits), after.tokens) == ("prune", 9, 30_140)
    assert (made.receipt.tokens_before, made.receipt.tokens_after, made.receipt.freed) == (120_500, 30_140, 90_360)
    assert (made.receipt.messages_folded, made.receipt.messages_pruned) == (9, 9)


def test_with_little_output_the_first_layer_stays_out() -> None:
    view = see(user(130_501), *reads(*[5_900] * 5))
    assert view.tokens > 160_000
    assert not fold(view)[1]


def test_above_88_percent_the_older_history_is_summarized_down_to_65_percent() -> None:
    view = see(*[user(20_000), assistant(20_000)] * 4, user(10_000), assistant(6_001))
    after, made = fold(view)
    # 25,000 tokens are kept at most, and the cut falls at the start of a turn
    assert made.layer == "summarize"
    assert after.messages[1:] == [user(10_000), assistant(6_001)]
    assert after.messages[0].summary is not None
    assert after.tokens == 16_101
    assert made.first_kept == view.entries[8].id


def test_above_95_percent_what_no_summary_can_free_gives_way_to_hard_means() -> None:
    def letters(message: Message) -> int:
        return sum(len(p.text) for part in message.parts for p in getattr(part, "parts", (part,)) if type(p) is Text)

    rules = Message("system", (Text("r" * 60_000),))
    asked, _ = reads(0)
    read = Message("tool", (ToolResult("c0", (Text("o" * 140_000),)),))
    after, made = run(folding(view_of([rules, user(10), asked, read], letters), steps_for(DEFAULT, WINDOW, 0)), tells)
    assert (made.layer, {edit.by for edit in made.edits}) == ("full", {"shorten_tool_outputs"})
    assert after.tokens == pytest.approx(60_000 + (130_000 - 60_000) / 2, rel=0.01), "half of what the pin leaves"


def test_a_fold_that_frees_next_to_nothing_is_not_made() -> None:
    small = policy("small", [Layer("prune", 0.5, 0.4, (prune_tool_outputs(protect=0, minimum=0),))])
    # one output of 2,000 of 105,000 tokens is less than 2 %
    assert not fold(see(user(103_000), *reads(2_000), assistant(0)), small)[1]
    assert fold(see(user(103_000), *reads(2_500), assistant(0)), small)[1]


def test_over_the_limit_whatever_little_can_be_freed_is() -> None:
    small = policy("small", [Layer("prune", 0.5, 0.4, (prune_tool_outputs(protect=0, minimum=0),))])
    assert fold(see(user(103_000), *reads(2_000), assistant(0)), small, limit=104_000)[1]


def test_what_cannot_fit_is_refused_with_what_is_in_the_way_largest_first() -> None:
    view = see(Message("system", (Text("150000 tokens of rules"),)), user(60_000), user(10))
    with pytest.raises(CannotFit) as refusal:
        run(folding(view, steps_for(DEFAULT, WINDOW, 5_000), Occasion(limit=100_000, overhead=5_000)), tells)
    assert refusal.value.limit == 105_000
    assert refusal.value.tokens == 155_110
    assert refusal.value.in_the_way[0] == (f"system message {view.entries[0].id}, pinned", 150_000)
    assert ("system prompt and tool schemas", 5_000) in refusal.value.in_the_way


def test_what_is_kept_first_stands_behind_the_summary_whatever_thinking_went() -> None:
    thought = Message("assistant", (Thinking("hm", "c2ln"),))
    talk = [*[user(20_000), assistant(20_000)] * 4, user(10_000), assistant(6_001), thought, user(10)]
    view = view_of(talk, stated, bound=True)
    after, made = fold(view)
    assert thought not in after.messages
    assert made.first_kept == view.entries[8].id


def test_spans_between_pins_are_summarized_though_thinking_between_them_goes() -> None:
    """The summary takes along the thinking of the second span, a message of its own."""
    rules, thought = Message("system", (Text("10 rules"),)), Message("assistant", (Thinking("hm", "c2ln"),))
    talk = [user(60_000), rules, user(60_000), thought, assistant(60_000), user(10)]
    after, made = fold(view_of(talk, stated, bound=True))
    assert [bool(message.summary) for message in after.messages] == [True, False, False]
    assert [len(edit.drop) for edit in made.edits] == [1, 2]


def test_by_hand_the_summarizing_layer_runs_whatever_the_fill() -> None:
    view = see(*[user(100), assistant(900)] * 10, user(10))
    step = steps_by_hand(DEFAULT, view, WINDOW, 0)[0]
    # 40 % of 10,010 tokens
    assert (step.layer.name, step.mark, step.target) == ("summarize", -1, 4_004)


def test_a_hard_budget_asks_no_model() -> None:
    asks = folding(see(*[user(100), assistant(900)] * 10, user(10)), steps_within(1_000), Occasion(limit=1_000))
    with pytest.raises(StopIteration) as stop:
        next(asks)
    view, made = stop.value.value
    assert view.tokens <= 1_000
    assert made.receipt.usage is None


# -- strategies and drafts that go wrong --------------------------------------------------------------------------


def test_an_unsafe_proposal_raises() -> None:
    def careless(view: View, excess: int) -> list[Edit]:
        return [Edit((view.entries[2].id,), by="careless")]

    with pytest.raises(UnsafeEdit, match="careless: splits the pair c0"):
        fold(see(user(10), *reads(150_000)), policy("p", [Layer("x", 0.5, 0.4, (careless,))]))


def test_a_draft_with_its_own_facts_keeps_them_and_another_gets_the_facts_of_the_messages() -> None:
    view = see(*[user(20_000), assistant(20_000)] * 4, user(10_000), assistant(6_001))
    facts = {"requests": [{"text": "20000 tokens of words", "at": 0}]}
    told, _ = run(folding(view, steps_for(DEFAULT, WINDOW, 0)), lambda brief, messages: Summary("20000 tokens.", facts))
    assert told.messages[0].summary is not None
    assert told.messages[0].summary.facts["requests"] == facts["requests"]
    bare, _ = run(folding(view, steps_for(DEFAULT, WINDOW, 0)), tells)
    assert bare.messages[0].summary is not None
    assert [r["text"] for r in bare.messages[0].summary.facts["requests"]] == ["20000 tokens of words"]


def test_what_the_user_said_is_quoted_where_a_model_left_it_out() -> None:
    view = see(*[user(20_000), assistant(20_000)] * 4, user(10_000), assistant(6_001))
    after, _ = fold(view)
    assert after.messages[0].text.startswith("It was done.\n\n## Task now\n> 20000 tokens of words\n")
    assert "\n\n[folded: 8 messages" in after.messages[0].text


def test_rounds_are_counted_across_folds() -> None:
    view, rounds = see(*[user(20_000), assistant(20_000)] * 4, user(10_000), assistant(6_001)), []
    for _ in range(3):
        view, made = fold(view)
        rounds.append(made.receipt.round)
        grown = [*view.messages, *[user(20_000), assistant(20_000)] * 4, user(10_000), assistant(6_001)]
        view = see(*grown)
    assert rounds == [1, 2, 3]


def test_arun_takes_a_summarizer_that_answers_at_once() -> None:
    view = see(*[user(20_000), assistant(20_000)] * 4, user(10_000), assistant(6_001))
    driver = arun(folding(view, steps_for(DEFAULT, WINDOW, 0)), tells)
    with pytest.raises(StopIteration) as stop:
        driver.send(None)
    assert stop.value.value[0].messages == fold(view)[0].messages
