"""Call ids that are used again: a result answers the nearest open call, wherever the same id stands elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from foldline import Compactor, Edit, Layer, Looping, Message, UnsafeEdit, View
from foldline._compactor.watching import looping_in
from foldline._pairs import answers
from foldline._view import between_pairs
from foldline.extend import Text, ToolCall, ToolResult, policy, prune_tool_outputs, text_of, view_of
from provider_rules import check_valid

Item = dict[str, Any]
Ids = Callable[[int], str]

PRINTED = "output line of the build\n" * 20


def chat(ids: Ids) -> list[Item]:
    history: list[Item] = [{"role": "user", "content": "Fix the build in src/app.py."}]
    for k in range(80):
        call = {"name": "bash", "arguments": json.dumps({"command": f"make step{k}"})}
        said = {"role": "assistant", "content": f"Step {k} comes next."}
        history.append({**said, "tool_calls": [{"id": ids(k), "type": "function", "function": call}]})
        history.append({"role": "tool", "tool_call_id": ids(k), "content": f"step {k} {PRINTED}"})
    return history


def anthropic(ids: Ids) -> list[Item]:
    history: list[Item] = [{"role": "user", "content": "Fix the build in src/app.py."}]
    for k in range(80):
        call = {"type": "tool_use", "id": ids(k), "name": "bash", "input": {"command": f"make step{k}"}}
        said = {"type": "text", "text": f"Step {k} comes next."}
        answer = {"type": "tool_result", "tool_use_id": ids(k), "content": f"step {k} {PRINTED}"}
        history += [{"role": "assistant", "content": [said, call]}, {"role": "user", "content": [answer]}]
    return history


def responses(ids: Ids) -> list[Item]:
    history: list[Item] = [{"role": "user", "content": "Fix the build in src/app.py."}]
    for k in range(80):
        call = {"name": "bash", "arguments": json.dumps({"command": f"make step{k}"})}
        history.append({"type": "function_call", "call_id": ids(k), **call})
        history.append({"type": "function_call_output", "call_id": ids(k), "output": f"step {k} {PRINTED}"})
    return history


def gemini(ids: Ids) -> list[Item]:
    history: list[Item] = [{"role": "user", "parts": [{"text": "Fix the build in src/app.py."}]}]
    for k in range(80):
        call = {"id": ids(k), "name": "bash", "args": {"command": f"make step{k}"}}
        answer = {"id": ids(k), "name": "bash", "response": {"output": f"step {k} {PRINTED}"}}
        history.append({"role": "model", "parts": [{"text": f"Step {k} comes next."}, {"functionCall": call}]})
        history.append({"role": "user", "parts": [{"functionResponse": answer}]})
    return history


AGAIN: dict[str, Ids] = {
    "the same in each turn": lambda k: "call_0",
    "one comes twice": lambda k: "call_3" if k in (3, 70) else f"call_{k}",
    "a few in turn": lambda k: f"call_{k % 3}",
}


@pytest.mark.parametrize("ids", AGAIN.values(), ids=list(AGAIN))
@pytest.mark.parametrize("talk", [chat, anthropic, responses, gemini])
@pytest.mark.parametrize("most", [4_000, 1_000])
def test_a_history_whose_call_ids_are_used_again_fits(talk: Callable[[Ids], list[Item]], ids: Ids, most: int) -> None:
    history, unique = talk(ids), talk(lambda k: f"call_{k}")
    hard, soft = Compactor(), Compactor(window=most, reserve=0)
    check_valid(history, sent := hard.fold_to(history, most))
    assert hard.count.tokens <= most
    assert len(sent) == len(Compactor().fold_to(unique, most))
    check_valid(history, soft.fit(history))


# -- who answers whom ---------------------------------------------------------------------------------------------


def call(id: str, path: str = "") -> ToolCall:
    return ToolCall(id, "read", json.dumps({"path": path or id}))


def assistant(*parts: Text | ToolCall) -> Message:
    return Message("assistant", parts)


def tool(*results: ToolResult) -> Message:
    return Message("tool", results)


def result(id: str, words: str = "42") -> ToolResult:
    return ToolResult(id, (Text(words),))


def user(words: str) -> Message:
    return Message("user", (Text(words),))


def see(*messages: Message) -> View:
    return view_of(messages, lambda message: sum(len(text_of(r)) for r in message.results) or 10)


def told(*messages: Message) -> list[tuple[str, str]]:
    """What each result says, and the path that its call asked for."""
    return [(text_of(a.result), json.loads(a.call.arguments)["path"] if a.call else "") for a in answers(messages)]


def test_a_result_answers_the_nearest_call_of_its_id_that_is_open() -> None:
    aborted, retried = assistant(call("c", "old")), assistant(call("c", "new"))
    assert told(aborted, user("again"), retried, tool(result("c", "1"))) == [("1", "new")]
    assert told(retried, tool(result("c", "1")), tool(result("c", "2")), tool(result("x", "3"))) == [
        ("1", "new"),
        ("2", "new"),
        ("3", ""),
    ]


def test_calls_without_ids_are_answered_in_their_order() -> None:
    one, two = call("", "a"), call("", "b")
    answered = [tool(result("", "1")), tool(result("", "2"))]
    assert told(assistant(one, two), *answered) == [("1", "a"), ("2", "b")]
    assert told(assistant(one), assistant(two), *answered) == [("1", "a"), ("2", "b")]


def test_pairs_of_one_id_are_cut_between_and_not_inside() -> None:
    pair = (assistant(call("c")), tool(result("c")))
    assert between_pairs(see(*pair, *pair, user("next")).entries) == {0, 2, 4, 5}


def test_a_call_is_not_left_to_the_result_of_a_later_one() -> None:
    view = see(assistant(call("c", "a")), tool(result("c")), assistant(call("c", "b")), tool(result("c")))
    ids = [entry.id for entry in view.entries]
    with pytest.raises(UnsafeEdit, match="splits the pair c"):
        view.apply(Edit((ids[1], ids[2])))
    with pytest.raises(UnsafeEdit, match="splits the pair c"):
        view.apply(Edit((ids[1],), (user("gone"),)))
    assert len(view.apply(Edit((ids[2], ids[3]))).entries) == 2


def test_a_stub_names_its_own_call() -> None:
    talk = [m for path in "abcd" for m in (assistant(call("c", path)), tool(result("c", path * 500)))]
    edits = list(prune_tool_outputs(protect=600, minimum=0)(see(user("go"), *talk), 100))
    stubs = [text_of(next(edit.into[0].results)) for edit in edits if isinstance(edit.into, tuple)]
    assert [stub.split(",")[0] for stub in stubs] == ["[pruned: read a", "[pruned: read b", "[pruned: read c"]


def test_calls_under_one_id_that_do_different_things_are_no_loop() -> None:
    talk = [m for path in "abcabc" for m in (assistant(call("c", path)), tool(result("c", "done")))]
    assert looping_in(talk) is None
    assert looping_in([*talk, *talk[4:]]) == Looping("read", '{"path": "c"}', 4)


def test_a_policy_that_only_prunes_meets_used_ids_too() -> None:
    pruning = policy("pruning", [Layer("prune", 0.5, 0.2, (prune_tool_outputs(protect=0, minimum=0),))])
    history = chat(AGAIN["the same in each turn"])
    compactor = Compactor(window=14_000, reserve=0, policy=pruning)
    check_valid(history, compactor.fit(history))
    assert compactor.folds
