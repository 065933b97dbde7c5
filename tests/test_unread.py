"""What the model has not read yet is never pruned: through `fit`, `fold_to` and `recover`, with every preset."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foldline import Compactor
from foldline._policies import names
from foldline._strategies.tool_outputs import STUB
from provider_rules import check_valid

Item = dict[str, Any]


def turn(i: int, words: int = 200) -> list[Item]:
    return [
        {"role": "user", "content": f"Request {i}: please handle item {i}."},
        *asks(f"c{i}"),
        {"role": "tool", "tool_call_id": f"c{i}", "content": f"item{i} " * 30},
        {"role": "assistant", "content": f"Done with item {i}. " + f"alpha{i} beta " * words},
    ]


def asks(*ids: str) -> list[Item]:
    calls = [
        {"id": id, "type": "function", "function": {"name": "read", "arguments": json.dumps({"path": f"{id}.py"})}}
        for id in ids
    ]
    return [{"role": "assistant", "content": None, "tool_calls": calls}]


def printed(id: str, words: int) -> Item:
    text = " ".join(f"{id}x{n}" for n in range(words))
    return {"role": "tool", "tool_call_id": id, "content": f"first line of {id}\n{text}\nlast line of {id}"}


def unread(sent: list[Item], *ids: str) -> list[str]:
    found = {item.get("tool_call_id"): item["content"] for item in sent}
    return [found[id] for id in ids]


def led_by_a_user(sent: list[Item]) -> list[Item]:
    """What was sent, with a summary that its policy has the assistant say in the user's mouth: OpenAI takes both."""
    lead = sent[0]
    return [{**lead, "role": "user"}, *sent[1:]] if lead["content"].startswith("## Session Summary") else sent


def is_head_and_tail(text: str, id: str) -> bool:
    return text.startswith(f"first line of {id}") and text.endswith(f"last line of {id}") and "recall " in text


@pytest.mark.parametrize("name", names())
def test_old_talk_gives_way_before_parallel_outputs_are_cut(name: str) -> None:
    talk = [item for i in range(60) for item in turn(i)]
    ids = ["p0", "p1", "p2", "p3", "p4"]
    history = [*talk, *asks(*ids), *(printed(id, 1_200) for id in ids)]
    compactor = Compactor(window=60_000, policy=name)
    compactor.fit(talk)
    sent = compactor.fit(history)
    assert compactor.folds
    assert unread(sent, *ids) == unread(history, *ids)
    check_valid(history, led_by_a_user(sent))


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("old", [0, 20])
def test_an_output_larger_than_the_window_becomes_head_and_tail(name: str, old: int) -> None:
    talk = [item for i in range(old) for item in turn(i)]
    history = [*talk, {"role": "user", "content": "Read the log."}, *asks("big"), printed("big", 30_000)]
    compactor = Compactor(window=40_000, policy=name)
    sent = compactor.fit(history)
    (left,) = unread(sent, "big")
    assert is_head_and_tail(left, "big")
    assert len(left) > 20_000
    id = left.split("recall ")[1].split("]")[0]
    recalled = compactor.recall(id)
    assert recalled is not None
    check_valid(history, led_by_a_user(sent))


@pytest.mark.parametrize("most", [20_000, 5_000, 1_500])
def test_a_hard_budget_cuts_and_prunes_nothing_unread(most: int) -> None:
    talk = [item for i in range(20) for item in turn(i)]
    ids = ["p0", "p1", "p2"]
    history = [*talk, *asks(*ids), printed("p0", 5_000), printed("p1", 100), printed("p2", 3_000)]
    for sent in (Compactor().fold_to(history, most), Compactor(window=most, reserve=0).fit(history)):
        left = unread(sent, *ids)
        assert not any(text.startswith(STUB) for text in left)
        assert is_head_and_tail(left[0], "p0")
        # what is small stays whole where there is room, and the large ones share the rest
        assert most < 20_000 or left[1] == history[-2]["content"]
        assert 0.7 < len(left[0]) / len(left[2]) < 2.1
        check_valid(history, sent)
