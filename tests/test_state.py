"""What a compactor knows, kept elsewhere: for a service without memory, and for a process that starts again."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from typing import Any

import pytest

from foldline import (
    Brief,
    CannotFit,
    Compactor,
    ConfigError,
    ContextOverflow,
    Edit,
    Fold,
    FoldlineError,
    Message,
    ProviderError,
    ReplyCutOff,
    Rewound,
    SessionError,
    StateError,
    SummaryFailed,
    UnsafeEdit,
    WireError,
)
from foldline.extend import Model
from test_compactor import overflow, turns
from test_growing import TASK, Writer, clock_in_the_head, look, static

Item = dict[str, Any]


def compactor_of(**more: Any) -> Compactor:
    return Compactor(**{"window": 6_000, "summarizer": Writer(), **more})


def said_in(fold: Fold) -> list[Any]:
    """What a fold did, without the facts behind it."""
    return [(edit.drop, [message.text for message in edit.into]) for edit in fold.edits]  # type: ignore[union-attr]


@pytest.mark.parametrize("build", [static, clock_in_the_head])
def test_a_service_that_keeps_nothing_but_the_state_sends_what_one_that_lives_on_sends(build: Any) -> None:
    alive, heard = compactor_of(), []
    talk: list[Item] = []
    state = compactor_of().dump()
    for step in range(50):
        history = build(talk, step)
        served = compactor_of(on_event=heard.append)
        served.load(state)
        assert served.fit(json.loads(json.dumps(history))) == alive.fit(history)
        for each in (served, alive):
            each.observe({"usage": {"prompt_tokens": alive.count.tokens + 40, "completion_tokens": 5}})
        assert served.count == alive.count
        state = served.dump()
        talk += look(step)
    assert [said_in(fold) for fold in served.folds] == [said_in(fold) for fold in alive.folds]
    assert len(alive.folds) > 2
    assert not [event for event in heard if isinstance(event, Rewound)]


def test_a_restarted_process_undoes_and_recalls() -> None:
    history = turns(60)
    first = compactor_of()
    first.fit(history)
    again = compactor_of()
    again.load(first.dump())
    again.fit(history)
    gone = first.folds[0].edits[0].drop[0]
    assert again.recall(gone) == first.recall(gone)
    assert said_in(again.undo() or Fold()) == said_in(first.folds[0])
    assert again.undo() is None
    assert again.fit(history[:20]) == history[:20]


def test_a_state_is_small_beside_the_history() -> None:
    talk: list[Item] = []
    compactor = compactor_of()
    for step in range(200):
        compactor.fit([TASK, *talk])
        talk += look(step)
    assert len(compactor.folds) > 5
    assert len(compactor.dump()) < len(json.dumps(talk)) / 2


def test_what_was_learned_of_limits_and_of_a_failing_summarizer_is_kept() -> None:
    def fails(brief: Brief, messages: Sequence[Message]) -> str:
        raise TimeoutError("too slow")

    history = turns(60)
    first = compactor_of(window=1_000_000, summarizer=fails, clock=lambda: 1_000.0)
    first.fit(history)
    first.recover(overflow(5_000, 9_000), history)
    for count in (80, 120, 160):
        first.fit(turns(count))
    again = compactor_of(window=1_000_000, summarizer=fails, clock=lambda: 1_000.0)
    again.load(first.dump())
    assert again.budget == first.budget
    assert again.budget.window == 5_000
    assert again.state == first.state != ""


def test_thinking_that_was_bound_to_an_undone_fold_stays_away_in_another_process() -> None:
    def reply(words: str) -> Item:
        thought = {"type": "thinking", "thinking": "hm", "signature": f"signed {words}"}
        return {"role": "assistant", "content": [thought, {"type": "text", "text": words * 100}]}

    history: list[Item] = []
    for i in range(20):
        history += [{"role": "user", "content": f"Question {i}: why?"}, reply(f"Answer {i}. ")]
    bound = Model("m", binds_thinking=True)
    first = Compactor(bound, window=1_000_000, format="anthropic")
    first.fold(history)
    history += [{"role": "user", "content": "And now?"}, reply("Over the summary. ")]
    assert "signed Over the summary." in json.dumps(first.fit(history))
    first.undo()
    sent = first.fit(history)
    assert "signed Over the summary." not in json.dumps(sent)
    assert "signed Answer 3." in json.dumps(sent)
    again = Compactor(bound, window=1_000_000, format="anthropic")
    again.load(first.dump())
    assert again.fit(history) == sent


def test_half_a_character_is_kept() -> None:
    history = [{"role": "user", "content": "Mind \ud83d the gap."}, *turns(40)]
    first = compactor_of(summarizer=lambda brief, messages: "He said: \ud83d")
    sent = first.fit(history)
    assert "\ud83d" in sent[0]["content"]
    again = compactor_of()
    again.load(first.dump())
    assert again.fit(history) == sent


def test_bytes_that_a_library_handed_out_are_bytes_again() -> None:
    def sealed(number: int) -> Item:
        thought = {"reasoningContent": {"redactedContent": b"sealed \xff" * 9}}
        call = {"toolUseId": f"t{number}", "name": "write", "input": {"text": "line of text\n" * 400}}
        return {"role": "assistant", "content": [thought, {"toolUse": call}]}

    def done(number: int) -> Item:
        result = {"toolUseId": f"t{number}", "content": [{"text": "done"}]}
        return {"role": "user", "content": [{"toolResult": result}]}

    history = [{"role": "user", "content": [{"text": "Write."}]}, sealed(1), done(1)]
    first, again = compactor_of(window=1_500), compactor_of(window=1_500)
    sent = first.fit(history)
    assert first.folds
    assert sent[1] != history[1]
    assert sent[1]["content"][0] == history[1]["content"][0]
    again.load(first.dump())
    assert again.fit(history) == sent


def states() -> list[bytes]:
    compactor = compactor_of()
    compactor.fit(turns(60))
    whole = compactor.dump()
    return [
        b"",
        b"nonsense",
        b"[]",
        b"{}",
        b"\xff\xfe",
        whole[: len(whole) // 2],
        whole.replace(b'"folds":[', b'"folds":[7,'),
        whole.replace(b'"version":1', b'"version":"1"'),
        b"[" * 100_000,
    ]


@pytest.mark.parametrize("state", states(), ids=range(9))
def test_a_damaged_state_is_refused_and_changes_nothing(state: bytes) -> None:
    compactor = compactor_of()
    sent = compactor.fit(history := turns(60))
    with pytest.raises(StateError, match="state: damaged"):
        compactor.load(state)
    assert compactor.fit(history) == sent
    assert len(compactor.folds) == 1


def test_a_state_that_a_database_does_not_have_is_refused_by_name() -> None:
    nothing: Any = None
    with pytest.raises(StateError, match="state: damaged"):
        compactor_of().load(nothing)


def test_a_state_of_a_newer_version_is_refused_by_name() -> None:
    newer = compactor_of().dump().replace(b'"version":1', b'"version":2,"folds":"another shape"')
    with pytest.raises(StateError, match="of version 2; this foldline reads up to 1"):
        compactor_of().load(newer)


def test_a_history_that_was_rewound_since_it_was_dumped_is_folded_as_by_the_one_that_lives_on() -> None:
    alive, again = compactor_of(window=100_000), compactor_of(window=100_000)
    alive.fold(turns(60))
    again.load(alive.dump())
    for each in (alive, again):
        each.fit(turns(50))
    assert again.fold(turns(60)) == alive.fold(turns(60))
    assert len(again.folds) == len(alive.folds) == 2


@pytest.mark.parametrize(
    "error",
    [
        CannotFit(2_000, 1_000, [("a message", 1_500)], unit="bytes"),
        ConfigError("no such key", path="settings.toml", key="fill"),
        ContextOverflow("too long", limit=8_000, tokens=9_000),
        ProviderError("overloaded", status=529),
        ReplyCutOff("cut off", available=3),
        SessionError("torn", path="a.jsonl", line=3),
        StateError("damaged", where="$.folds"),
        SummaryFailed("no summary", cause=ValueError("empty")),
        UnsafeEdit("splits a pair", edit=Edit(("a", "b"), by="mine")),
        WireError("no role", format="openai-chat", where="messages[3]"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_reaches_another_process_as_it_was_raised(error: FoldlineError) -> None:
    """A pool of processes pickles what is raised in one: an error that cannot be read again breaks the whole pool."""
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    told = {key: value for key, value in vars(again).items() if key != "cause"}
    assert told == {key: value for key, value in vars(error).items() if key != "cause"}
