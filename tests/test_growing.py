"""How a history goes on from the one before: a head that changes, marks that move, copies, and what `fit` handed out."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foldline import Brief, CannotFit, Compactor, Interleaved, Layer, Message, Rewound, WireError
from foldline.extend import Model, policy, prune_tool_outputs, summarize_older

Item = dict[str, Any]
History = list[Item]


def look(i: int, size: int = 60) -> History:
    """A call and its result."""
    call = {"id": f"t{i}", "type": "function", "function": {"name": "read", "arguments": f'{{"path": "f{i}.py"}}'}}
    return [
        {"role": "assistant", "content": f"Looking at {i}. " + "The tax is wrong there. " * 40, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"t{i}", "content": f"line {i} says something\n" * size},
    ]


TASK: Item = {"role": "user", "content": "Fix the failing test in billing/tax.py"}


class Writer:
    """A summarizer that counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, brief: Brief, messages: Sequence[Message]) -> str:
        self.asked += 1
        return "## Goal\nFix the failing test in billing/tax.py\n## Done\n- some files were read"


def static(talk: History, step: int) -> History:
    return [{"role": "system", "content": "You are careful."}, TASK, *talk]


def clock_in_the_head(talk: History, step: int) -> History:
    return [{"role": "system", "content": f"You are careful. It is 12:{step:02d}."}, TASK, *talk]


def things_to_do_behind_the_head(talk: History, step: int) -> History:
    todo = [{"role": "system", "content": f"To do: {step} things."}] if step % 3 else []
    return [{"role": "system", "content": "You are careful."}, *todo, TASK, *talk]


def reminder_of_the_system_at_the_end(talk: History, step: int) -> History:
    return [TASK, *talk, {"role": "system", "content": f"Remember {step} things."}]


CHANGING = (clock_in_the_head, things_to_do_behind_the_head, reminder_of_the_system_at_the_end)


def run(compactor: Compactor, build: Callable[[History, int], History], steps: int = 60) -> list[History]:
    """What was sent in each of the steps of an agent, whose provider bills it."""
    talk: History = []
    sent = []
    for step in range(steps):
        sent.append(compactor.fit(build(talk, step)))
        compactor.observe({"usage": {"prompt_tokens": compactor.count.tokens + 3, "completion_tokens": 5}})
        talk += look(step)
    return sent


@pytest.mark.parametrize("build", CHANGING)
def test_system_messages_that_change_undo_no_fold(build: Callable[[History, int], History]) -> None:
    writers, folds, heard = [Writer(), Writer()], [], []
    for writer, each in zip(writers, (static, build)):
        compactor = Compactor(window=6_000, summarizer=writer, on_event=heard.append)
        run(compactor, each)
        folds.append(len(compactor.folds))
    assert folds[0] > 2
    assert folds[1] <= folds[0] + 1
    assert writers[1].asked <= writers[0].asked + 1
    assert not [event for event in heard if isinstance(event, Rewound)]


@pytest.mark.parametrize("build", CHANGING)
def test_the_newest_system_messages_are_sent_as_they_are_and_the_rest_as_before(
    build: Callable[[History, int], History],
) -> None:
    compactor = Compactor(window=6_000, summarizer=Writer())
    talk: History = []
    for step in range(40):
        history = build(talk, step)
        sent = compactor.fit(history)
        system = [item for item in history if item["role"] == "system"]
        assert [item for item in sent if item["role"] == "system"] == system
        said = [item for item in history if item["role"] != "system"]
        kept = [item for item in sent if item["role"] != "system"]
        assert all(a is b for a, b in zip(kept[::-1], said[::-1][: len(kept) - bool(compactor.folds)]))
        talk += look(step)
    assert compactor.folds


def test_a_head_that_grows_is_counted() -> None:
    compactor = Compactor(window=100_000)
    history = clock_in_the_head([], 1)
    compactor.fit(history)
    small = compactor.count.tokens
    compactor.fit([{"role": "system", "content": "Do as the user says. " * 500}, *history[1:]])
    assert compactor.count.tokens > small + 2_000


def test_a_rule_in_the_middle_that_changes_leaves_what_was_folded_behind_it() -> None:
    compactor = Compactor(window=6_000, summarizer=Writer())
    talk: History = [*look(100), {"role": "system", "content": "Rule 0."}]
    for step in range(40):
        talk[2] = {"role": "system", "content": f"Rule {step}."}
        sent = compactor.fit([TASK, *talk])
        assert talk[2] in sent
        talk += look(step)
    assert 0 < len(compactor.folds) < 8


# -- marks of what is cached --------------------------------------------------------------------------------------


def marked(talk: History) -> History:
    """A copy of a history of Anthropic's, the newest message marked as its agents do."""
    history = deepcopy(talk)
    history[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
    return history


def test_marks_that_move_on_copies_are_no_rewind_and_the_bill_holds() -> None:
    heard: list[Any] = []
    compactor = Compactor("claude-sonnet-4-5", window=200_000, on_event=heard.append)
    talk: History = [{"role": "user", "content": [{"type": "text", "text": "Fix the test."}]}]
    for step in range(20):
        history = marked(talk)
        sent = compactor.fit(history)
        assert all(a is b for a, b in zip(sent, history, strict=True))
        assert step == 0 or compactor.count.basis.startswith("billed")
        compactor.observe({"usage": {"input_tokens": 2_000 + 300 * step, "output_tokens": 5}})
        talk.append(
            {"role": "assistant", "content": [{"type": "tool_use", "id": f"t{step}", "name": "read", "input": {}}]}
        )
        talk.append(
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": f"t{step}", "content": "a line\n" * 90}],
            }
        )
    assert heard == []


# -- whose objects ------------------------------------------------------------------------------------------------


def test_the_objects_of_this_call_come_back_and_not_those_of_an_earlier_one() -> None:
    compactor = Compactor(window=6_000, summarizer=Writer())
    talk: History = [TASK]
    for step in range(30):
        history = json.loads(json.dumps(talk))
        sent = compactor.fit(history)
        kept = len(sent) - bool(compactor.folds)
        assert all(a is b for a, b in zip(sent[-kept:], history[-kept:], strict=True))
        talk += look(step)
    assert compactor.folds


def test_what_is_selected_are_places_and_what_takes_the_place_of_others() -> None:
    compactor = Compactor(window=6_000, summarizer=Writer())
    history: History = [TASK]
    for step in range(30):
        chosen = compactor.select(history)
        assert [history[each] if isinstance(each, int) else each for each in chosen] == compactor.fit(history)
        places = [each for each in chosen if isinstance(each, int)]
        assert places == sorted(set(places))
        assert len(chosen) - len(places) == bool(compactor.folds)
        history = [*history, *look(step)]
    assert compactor.folds


# -- who keeps what was handed out --------------------------------------------------------------------------------

BOTH = policy(
    "both",
    [
        Layer("prune", 0.6, 0.5, (prune_tool_outputs(protect=500, minimum=100),)),
        Layer("summarize", 0.8, 0.4, (summarize_older(keep=1_000),)),
    ],
)


@pytest.mark.parametrize("build", [static, clock_in_the_head])
def test_an_agent_may_keep_what_was_handed_out_instead_of_all_that_was_said(
    build: Callable[[History, int], History],
) -> None:
    heard: list[Any] = []
    whole, kept = (Compactor(window=6_000, policy=BOTH, summarizer=Writer(), on_event=heard.append) for _ in range(2))
    history, persisted = build([], 0), build([], 0)
    for step in range(60):
        if step and build is clock_in_the_head:
            history, persisted = ([build([], step)[0], *each[1:]] for each in (history, persisted))
        sent, persisted = whole.fit(history), kept.fit(json.loads(json.dumps(persisted)))
        assert persisted == sent
        history, persisted = [*history, *look(step)], [*persisted, *look(step)]
    rounds = [fold.receipt.round for fold in kept.folds]
    assert rounds == [fold.receipt.round for fold in whole.folds]
    assert rounds[-1] > 2
    assert heard
    assert not [event for event in heard if isinstance(event, Rewound)]
    first = kept.folds[0].edits[0].drop[0]
    assert kept.recall(first) == whole.recall(first)


@pytest.mark.parametrize("build", [static, clock_in_the_head])
def test_a_call_that_failed_is_made_again_with_what_it_was_made_with(build: Callable[[History, int], History]) -> None:
    """Who keeps what was handed out, and only once the reply is there, gives the same history a second time."""
    heard: list[Any] = []
    compactor = Compactor(window=6_000, policy=BOTH, summarizer=Writer(), on_event=heard.append)
    history = build([], 0)
    for step in range(60):
        history = [build([], step)[0], *history[1:]] if build is clock_in_the_head else history
        sent = compactor.fit(history)
        folds = len(compactor.folds)
        assert compactor.fit(json.loads(json.dumps(history))) == sent
        assert len(compactor.folds) == folds
        history = [*sent, *look(step)]
    assert compactor.folds[-1].receipt.round > 2
    assert not [event for event in heard if isinstance(event, Rewound)]


def test_it_is_made_again_where_neighbours_were_put_together() -> None:
    """Bedrock takes no two messages of one role in a row, so what a fold made stands in one with the user's."""
    heard: list[Any] = []
    compactor = Compactor("us.anthropic.claude-sonnet-4-5-20250929-v1:0", window=6_000, on_event=heard.append)
    history: History = []
    for step in range(40):
        history.append({"role": "user", "content": [{"text": f"And part {step}? " + "It is long. " * 60}]})
        sent = compactor.fit(json.loads(json.dumps(history)))
        assert compactor.fit(json.loads(json.dumps(history))) == sent
        history = [*sent, {"role": "assistant", "content": [{"text": f"Part {step} is fine. " * 20}]}]
    assert len(compactor.folds) > 2
    assert not [event for event in heard if isinstance(event, Rewound)]


def test_a_stranger_in_a_call_that_is_made_again_is_told_where_it_stands_for_the_caller() -> None:
    compactor = Compactor(window=6_000, summarizer=Writer())
    history: History = [TASK]
    while len(compactor.folds) < 2:
        given = [*history, *look(len(history))]
        history = compactor.fit(given)
    with pytest.raises(WireError) as refused:
        compactor.fit([*given, {"role": "assistant", "content": [{"type": "of nobody"}], "tool_calls": 7}])
    assert refused.value.where.startswith(f"messages[{len(given)}]")
    assert compactor.fit(given) == history


def test_what_was_handed_out_and_kept_by_another_process_is_a_summary_and_not_the_users_words() -> None:
    history: History = [TASK]
    for step in range(40):
        compactor = Compactor(window=6_000, policy=BOTH)
        history = compactor.fit(json.loads(json.dumps(history)))
        texts = [item["content"] for item in history if "<summary>" in str(item["content"])]
        assert len(texts) < 2
        assert all(text.count("<summary>") == 1 and "> >" not in text for text in texts)
        history += look(step)
    assert texts
    assert "Fix the failing test in billing/tax.py" in texts[0]


# -- whatever happens to a history --------------------------------------------------------------------------------


def system_note(number: int) -> Item:
    return {"role": "system", "content": f"Note {number}."}


def happened(history: History, what: str, at: int, number: int) -> History:
    """A history after something that clients do to theirs."""
    if not history:
        return [TASK]
    place = at % len(history)
    notes = [i for i, item in enumerate(history) if item["role"] == "system"]
    match what:
        case "work":
            return [*history, *look(number, 5 + at % 70)]
        case "note":
            place = next(i for i in range(place, len(history) + 1) if i == len(history) or history[i]["role"] != "tool")
            return [*history[:place], system_note(number), *history[place:]]
        case "change" if notes:
            place = notes[at % len(notes)]
            return [*history[:place], system_note(number), *history[place + 1 :]]
        case "forget" if notes:
            place = notes[at % len(notes)]
            return history[:place] + history[place + 1 :]
        case "back":
            place = next(
                i
                for i in range(max(place, len(history) - 6, 1), len(history) + 1)
                if i == len(history) or history[i]["role"] != "tool"
            )
            return history[:place]
        case "edit":
            return [
                *history[:place],
                {**history[place], "content": f"{history[place]['content']}!"},
                *history[place + 1 :],
            ]
        case "copy":
            return deepcopy(history)
    return history


EVENTS = ("work", "work", "work", "work", "note", "change", "change", "forget", "back", "edit", "copy", "undo", "fold")


@given(st.lists(st.tuples(st.sampled_from(EVENTS), st.integers(0, 500)), min_size=10, max_size=60), st.booleans())
@example([*[("work", 0)] * 8, ("fold", 0), ("note", 2), ("forget", 1)], False)
def test_whatever_happens_to_a_history_what_is_known_step_by_step_is_what_a_replay_shows(
    events: list[tuple[str, int]], binds: bool
) -> None:
    model = Model("m", binds_thinking=binds)
    history: History = [system_note(0), TASK]
    compactor = Compactor(model, window=6_000, policy=BOTH, summarizer=Writer())
    for number, (what, at) in enumerate(events, 1):
        history = happened(history, what, at, number)
        try:
            if what == "fold":
                compactor.fold(history)
            elif what == "undo":
                compactor.undo()
            sent = compactor.fit(history)
        except CannotFit:
            continue
        replayed = Compactor(model, window=6_000, policy=BOTH, summarizer=Writer())
        replayed.load(compactor.dump())
        assert replayed.fit(list(history)) == sent
        assert replayed.count == compactor.count
        assert list(replayed.messages()) == list(compactor.messages())


# -- several conversations ----------------------------------------------------------------------------------------


def test_two_conversations_in_one_compactor_are_told_of() -> None:
    heard: list[Any] = []
    compactor = Compactor(window=100_000, on_event=heard.append)
    first: History = [{"role": "user", "content": "Write the report."}]
    second: History = [{"role": "user", "content": "Book the room."}]
    for step in range(5):
        assert compactor.fit(first) == first
        assert compactor.fit(second) == second
        first, second = [*first, *look(step)], [*second, *look(step + 100)]
    assert [event for event in heard if isinstance(event, Interleaved)] == [Interleaved()]


def test_an_edit_that_is_taken_back_is_no_second_conversation() -> None:
    heard: list[Any] = []
    compactor = Compactor(window=100_000, on_event=heard.append)
    history = [TASK, *look(1), *look(2)]
    for each in (history, [TASK, *look(3)], history):
        compactor.fit(each)
    assert heard == [Rewound(1), Rewound(1)]


def test_what_is_changed_far_back_in_copies_is_seen_within_some_steps() -> None:
    heard: list[Any] = []
    compactor = Compactor(window=100_000_000, on_event=heard.append)
    history = [TASK, *(message for i in range(2_000) for message in look(i, 1))]
    compactor.fit(history)
    history[700] = {"role": "user", "content": "Something else."}
    for _ in range(8):
        assert compactor.fit(copied := json.loads(json.dumps(history))) == copied
    assert heard == [Rewound(700)]


def test_copies_of_a_long_history_with_a_change_at_its_end_are_read_at_once() -> None:
    heard: list[Any] = []
    compactor = Compactor(window=100_000_000, on_event=heard.append)
    history = [TASK, *(message for i in range(2_000) for message in look(i, 1))]
    compactor.fit(history)
    compactor.fit([*json.loads(json.dumps(history[:-2])), {"role": "user", "content": "Stop."}])
    assert heard == [Rewound(3_999)]


def test_a_format_that_was_guessed_too_early_is_found_again() -> None:
    history: History = [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Look around."}]
    compactor, stated = Compactor(window=6_000), Compactor(window=6_000, format="openai-responses")
    for step in range(40):
        sent = compactor.fit(history)
        assert json.dumps(sent) == json.dumps(stated.fit(history))
        history = [
            *history,
            {"type": "function_call", "call_id": f"c{step}", "name": "read", "arguments": "{}"},
            {"type": "function_call_output", "call_id": f"c{step}", "output": f"line {step} says something\n" * 60},
        ]
    assert compactor.folds
