"""Histories that go on and are folded, whatever a provider's library makes them of, and whenever their format is told."""

from __future__ import annotations

import json
from copy import deepcopy
from itertools import pairwise
from typing import Any

import pytest
from openai.types.chat import ChatCompletionMessage

from foldline import Compactor, Rewound, WireError
from foldline.extend import Model
from test_growing import BOTH, CHANGING, TASK, Writer, look, static, system_note

Item = Any
History = list[Item]


def user(words: str) -> Item:
    return {"role": "user", "content": words}


def bedrock_look(i: int) -> History:
    call = {"toolUse": {"toolUseId": f"t{i}", "name": "read", "input": {"path": f"f{i}.py"}}}
    result = {"toolUseId": f"t{i}", "content": [{"text": f"line {i} says something\n" * 60}]}
    return [
        {"role": "assistant", "content": [{"text": f"Looking at {i}. " + "The tax is wrong there. " * 40}, call]},
        {"role": "user", "content": [{"toolResult": result}]},
    ]


def bedrock_turn(i: int) -> History:
    """A turn of words, behind which a fold may leave the summary and a user's message as neighbours."""
    return [
        {"role": "user", "content": [{"text": f"Request {i}. " + "Look at the tax again. " * 40}]},
        {"role": "assistant", "content": [{"text": f"Looked at {i}. " + "The tax is wrong there. " * 40}]},
    ]


def test_cache_points_that_move_between_the_blocks_of_copies_are_no_rewind() -> None:
    heard: list[Any] = []
    compactor = Compactor("claude-sonnet-4-5", window=200_000, on_event=heard.append)
    talk: History = [{"role": "user", "content": [{"text": "Fix the test."}]}]
    for step in range(20):
        history = deepcopy(talk)
        history[-1]["content"].append({"cachePoint": {"type": "default"}})
        sent = compactor.fit(history)
        assert all(a is b for a, b in zip(sent, history, strict=True))
        assert step == 0 or compactor.count.basis.startswith("billed")
        compactor.observe({"usage": {"inputTokens": 2_000 + 300 * step, "outputTokens": 5}})
        talk += bedrock_look(step)
    assert heard == []


def test_who_keeps_what_was_handed_out_keeps_neighbours_that_were_put_together() -> None:
    heard: list[Any] = []
    whole, kept = (Compactor(window=6_000, policy=BOTH, summarizer=Writer(), on_event=heard.append) for _ in range(2))
    history = persisted = bedrock_turn(0)
    for step in range(1, 60):
        sent, persisted = whole.fit(history), kept.fit(json.loads(json.dumps(persisted)))
        assert persisted == sent
        roles = [item["role"] for item in sent]
        assert all(a != b for a, b in pairwise(roles))
        history, persisted = [*history, *bedrock_turn(step)], [*persisted, *bedrock_turn(step)]
    assert ["<summary>" in block["text"] for block in sent[0]["content"]] == [True, False]
    rounds = [fold.receipt.round for fold in kept.folds]
    assert rounds == [fold.receipt.round for fold in whole.folds]
    assert rounds[-1] > 2
    assert not [event for event in heard if isinstance(event, Rewound)]
    first = kept.folds[0].edits[0].drop[0]
    assert kept.recall(first) == whole.recall(first)


@pytest.mark.parametrize("build", [static, *CHANGING])
def test_objects_beside_a_head_that_changes_come_back_and_undo_no_fold(build: Any) -> None:
    heard: list[Any] = []
    compactor = Compactor(window=6_000, summarizer=Writer(), on_event=heard.append)
    talk: History = []
    for step in range(40):
        history = build(talk, step)
        sent = compactor.fit(history)
        own = {id(item) for item in history}
        assert sum(id(item) not in own for item in sent) == bool(compactor.folds)
        reply, result = look(step)
        talk += [ChatCompletionMessage.model_validate(reply), result]
    assert len(compactor.folds) > 2
    assert not [event for event in heard if isinstance(event, Rewound)]


ANTHROPIC_CALL: History = [
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "ls", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "a.py"}]},
]


@pytest.mark.parametrize("keeps", ["all", "what was handed out"])
def test_what_tells_the_format_after_a_fold_undoes_nothing(keeps: str) -> None:
    heard: list[Any] = []
    compactor = Compactor(window=6_000, on_event=heard.append)
    history: History = []
    for turn in range(40):
        history += [user(f"Request {turn}. " + "word " * 80), {"role": "assistant", "content": "Done. " + "word " * 80}]
        sent = compactor.fit(history)
        if keeps != "all":
            history = list(sent)
    folds = compactor.folds
    assert folds
    gone = folds[0].edits[0].drop[0]
    known = compactor.recall(gone)
    assert known
    assert known.text.startswith("Request 0.")
    new = [user("go on"), *ANTHROPIC_CALL]
    assert compactor.fit([*history, *new])[-3:] == new
    assert [fold.edits for fold in compactor.folds[: len(folds)]] == [fold.edits for fold in folds]
    again = compactor.recall(gone)
    assert again
    assert again.text == known.text
    assert not [event for event in heard if isinstance(event, Rewound)]
    with pytest.raises(WireError, match="a message of openai-chat among those of anthropic"):
        compactor.fit([*history, *new, look(1)[0]])


def test_another_conversation_under_the_same_system_message_has_a_format_of_its_own() -> None:
    compactor = Compactor()
    one, two = [system_note(1), user("one"), *ANTHROPIC_CALL], [system_note(1), user("two"), *look(1)]
    for history in (one, two, one):
        assert compactor.fit(history) == history


def test_a_state_that_is_loaded_leaves_the_format_to_the_history() -> None:
    history = [user("x"), *ANTHROPIC_CALL]
    first, again = Compactor(), Compactor()
    first.fit(history)
    again.load(first.dump())
    assert again.fit([TASK, *look(1)]) == [TASK, *look(1)]


@pytest.mark.parametrize("keeps", ["all", "what was handed out"])
def test_a_stranger_is_refused_with_the_place_that_it_has_for_the_caller_and_everything_stays(keeps: str) -> None:
    compactor = Compactor(window=6_000, policy=BOTH)
    history: History = [TASK]
    for step in range(40):
        sent = compactor.fit(history)
        history = [*(history if keeps == "all" else sent), *look(step)]
    sent = compactor.fit(history)
    history = history if keeps == "all" else sent
    state, size = compactor.dump(), compactor.count
    odd = {"role": "user", "content": [{"type": "text", "text": "x"}, {"words": "y"}]}
    with pytest.raises(WireError) as caught:
        compactor.fit([*history, odd])
    assert caught.value.where == f"messages[{len(history)}].content[1]"
    assert "would be lost in a fold" in str(caught.value)
    assert (compactor.dump(), compactor.count) == (state, size)
    assert compactor.fit(history) == sent


def test_a_history_that_is_rewound_to_where_its_format_is_told_keeps_the_folds_before() -> None:
    heard: list[Any] = []
    compactor = Compactor(window=6_000, on_event=heard.append)
    history: History = []
    for turn in range(40):
        history += [user(f"Request {turn}. " + "word " * 80), {"role": "assistant", "content": "Done. " + "word " * 80}]
        before = compactor.fit(history)
    folds = [fold.edits for fold in compactor.folds]
    assert folds
    sent = compactor.fit([*history[:-2], user("go on"), *ANTHROPIC_CALL])
    assert sent == [*before[:-2], user("go on"), *ANTHROPIC_CALL]
    assert [fold.edits for fold in compactor.folds] == folds
    assert heard[-1] == Rewound(len(history) - 2)


def test_neighbours_that_an_undone_fold_leaves_are_put_together() -> None:
    """The reply over the fold was nothing but thinking, which is bound to what is gone."""
    thought = {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "signed"}}}
    compactor = Compactor(Model("m", binds_thinking=True), window=1_000_000)
    history = [item for turn in range(20) for item in bedrock_turn(turn)] + bedrock_turn(20)[:1]
    compactor.fold(history)
    said = [{"role": "assistant", "content": [thought]}, {"role": "user", "content": [{"text": "And now?"}]}]
    compactor.fit([*history, *said])
    assert compactor.undo()
    sent = compactor.fit([*history, *said])
    assert sent[:-1] == history[:-1]
    assert sent[-1] == {"role": "user", "content": [*history[-1]["content"], *said[-1]["content"]]}
