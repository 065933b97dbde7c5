"""Which format a history is of: a hint is not a finding, and what cannot be told is asked for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations import FORMATS, conversations
from foldline import Compactor, WireError
from foldline import _wires as wire
from foldline.extend import ToolCall, ToolResult

Item = dict[str, Any]


def user(words: str) -> Item:
    return {"role": "user", "content": words}


def text(words: str, **more: Any) -> Item:
    return {"type": "text", "text": words, **more}


CHAT_CALL: list[Item] = [
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
]
RESPONSES_CALL: list[Item] = [
    {"type": "reasoning", "id": "rs_1", "summary": []},
    {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "ls", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": "a.py"},
]
ANTHROPIC_CALL: list[Item] = [
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "ls", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "a.py"}]},
]
BEDROCK_CALL: list[Item] = [
    {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "ls", "input": {}}}]},
    {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "a.py"}]}}]},
]
MISTRALS = {"role": "assistant", "content": [{"type": "thinking", "thinking": [text("hm")]}, text("hello")]}
UNSIGNED = {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, text("hello")]}
MARKED = {"role": "user", "content": [text("y", cache_control={"type": "ephemeral"})]}


@pytest.mark.parametrize(
    ("first", "then"),
    [
        pytest.param([{"role": "developer", "content": "x"}, user("y")], RESPONSES_CALL, id="a developer's message"),
        pytest.param([{"role": "developer", "content": "x"}, user("y")], CHAT_CALL, id="a developer's message, chat"),
        pytest.param([{"role": "system", "content": "x"}, user("y")], RESPONSES_CALL, id="a system's message"),
        pytest.param([user("hi"), MISTRALS, user("list")], CHAT_CALL, id="Mistral's thinking"),
        pytest.param([user("hi"), UNSIGNED, user("list")], CHAT_CALL, id="thinking that nobody signed, chat"),
        pytest.param([user("hi"), UNSIGNED, user("list")], ANTHROPIC_CALL, id="thinking that nobody signed"),
        pytest.param([MARKED], ANTHROPIC_CALL, id="a cache marker"),
        pytest.param([MARKED], CHAT_CALL, id="a cache marker through a gateway"),
        pytest.param([{"role": "user", "content": [text("y")]}], ANTHROPIC_CALL, id="a list of texts"),
        pytest.param([{"role": "user", "content": [{"text": "y"}]}], BEDROCK_CALL, id="a text without a type"),
        pytest.param([{"role": "user", "content": []}], BEDROCK_CALL, id="an empty content"),
    ],
)
def test_what_comes_later_decides(first: list[Item], then: list[Item]) -> None:
    """The call and its result are read, whatever the beginning looked like, and all is handed out as it came."""
    compactor = Compactor()
    assert compactor.fit(first) == first
    sent = compactor.fit([*first, *then])
    assert all(a is b for a, b in zip(sent, [*first, *then], strict=True))
    parts = [part for _, message in compactor.messages() for part in message.parts]
    assert [(p.id, p.name) for p in parts if isinstance(p, ToolCall)] == [("c1", "ls")]
    assert [p.call_id for p in parts if isinstance(p, ToolResult)] == ["c1"]


def test_a_fold_made_before_it_was_told_stays() -> None:
    """Plain words are the same in several formats, and so are the summaries of them."""
    history: list[Item] = []
    compactor = Compactor(window=6_000)
    for turn in range(40):
        history += [user(f"Request {turn}. " + "word " * 80), {"role": "assistant", "content": "Done. " + "word " * 80}]
        compactor.fit(history)
    folds = len(compactor.folds)
    assert folds
    before = compactor.fit(history)
    sent = compactor.fit([*history, user("go on"), *ANTHROPIC_CALL])
    assert len(compactor.folds) == folds
    assert sent == [*before, user("go on"), *ANTHROPIC_CALL]


def test_what_was_told_of_an_earlier_conversation_is_forgotten_with_it() -> None:
    compactor = Compactor()
    compactor.fit([user("one"), *ANTHROPIC_CALL])
    assert compactor.fit([user("two"), *CHAT_CALL]) == [user("two"), *CHAT_CALL]


@pytest.mark.parametrize(
    ("history", "problem"),
    [
        (
            [user("x"), *ANTHROPIC_CALL, CHAT_CALL[0]],
            r"messages\[3\]: a message of openai-chat among those of anthropic",
        ),
        ([user("x"), *ANTHROPIC_CALL, CHAT_CALL[1]], r"messages\[3\]\.role: no such role: 'tool'"),
        ([{"speaker": "me", "says": "x"}], r"messages\[0\]\.role: a message without a role"),
        ([user("x"), {"role": "narrator", "content": "x"}], r"messages\[1\]\.role: no such role: 'narrator'"),
        (
            [{"role": "user", "parts": [text("x")]}],
            r"messages\[0\]: nothing tells which wire format .*Compactor\(format=",
        ),
        ([user("x"), "hello"], r"messages\[1\]: a message must be a mapping, not str"),
    ],
)
def test_what_cannot_be_told_is_asked_for(history: list[Any], problem: str) -> None:
    compactor = Compactor()
    with pytest.raises(WireError, match=problem):
        compactor.fit(history)
    assert compactor.fit([user("x")]) == [user("x")], "an error leaves everything as it was"


def test_another_formats_calls_are_not_swallowed_by_a_named_one() -> None:
    with pytest.raises(WireError, match=r"messages\[1\]: a message of anthropic among those of openai-chat"):
        Compactor(format="openai-chat").fit([user("x"), *ANTHROPIC_CALL])


def test_a_named_format_is_not_asked_again() -> None:
    mixed = [user("x"), *ANTHROPIC_CALL, {"role": "assistant", "content": "y", "refusal": None}]
    assert Compactor(format="anthropic").fit(mixed) == mixed


@pytest.mark.parametrize("format", FORMATS)
@given(data=st.data())
def test_any_conversation_is_recognized(format: str, data: st.DataObject) -> None:
    """As soon as it has a call, and whatever was taken of it before."""
    talk = data.draw(conversations(format, turns=3))
    told = wire.detect(talk.items, default="")
    calls = any(True for message in wire.decode_all(talk.items, format) for _ in message.calls)
    assert told == format if calls else told in ("", format)


# -- what no format knows -----------------------------------------------------------------------------------------

CHAT, ANTHROPIC, BEDROCK = "openai-chat", "anthropic", "bedrock-converse"


def said(part: Any, role: str = "assistant") -> list[Any]:
    return [user("x"), {"role": role, "content": [text("y"), part]}]


@pytest.mark.parametrize(
    ("format", "history", "where", "cure"),
    [
        (ANTHROPIC, said({"toolUse": {"toolUseId": "t"}}), "messages[1].content[1]", "format='bedrock-converse'"),
        (CHAT, said("words"), "messages[1].content[1]", "as the provider's documentation does"),
        (CHAT, said({"words": "y"}), "messages[1].content[1]", "would be lost in a fold"),
        (CHAT, said({"type": "tool-call", "toolCallId": "t", "toolName": "f"}), "messages[1].content[1]", "Vercel"),
        (
            ANTHROPIC,
            said({"type": "tool_result", "tool_use_id": "t", "content": [{"says": "x"}]}, "user"),
            "messages[1].content[1].content[0]",
            "would be lost in a fold",
        ),
        (
            CHAT,
            [user("x"), {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "name": "f", "args": {}}]}],
            "messages[1].tool_calls[0]",
            "would be lost in a fold",
        ),
        (
            BEDROCK,
            [{"role": "assistant", "content": [{"text": "y"}, {"toolUse": "odd"}]}],
            "messages[0].content[1]",
            "no part of bedrock-converse",
        ),
        (
            BEDROCK,
            [{"role": "user", "content": "words"}],
            "messages[0].content",
            "no part of bedrock-converse",
        ),
        ("gemini", [{"role": "user", "parts": ["words"]}], "messages[0].parts[0]", "no part of gemini"),
    ],
)  # fmt: skip
def test_a_part_that_nobody_knows_is_refused_with_its_place(
    format: str, history: list[Any], where: str, cure: str
) -> None:
    with pytest.raises(WireError) as caught:
        Compactor(format=format).fit(history)
    assert caught.value.where == where
    assert cure in str(caught.value)


REPLIES = {
    "reply.choices[0].message": {"id": "c", "choices": [{"message": {"role": "assistant", "content": "x"}}]},
    "*reply.output": {"id": "r", "output": [{"type": "message", "role": "assistant", "content": "x"}]},
    "reply.candidates[0].content": {"candidates": [{"content": {"parts": [{"text": "x"}]}}]},
    'reply["output"]["message"]': {"output": {"message": {"role": "assistant", "content": [{"text": "x"}]}}},
}


@pytest.mark.parametrize("cure", REPLIES)
def test_a_reply_that_is_appended_whole_is_refused_with_the_cure(cure: str) -> None:
    with pytest.raises(WireError) as caught:
        Compactor().fit([user("x"), REPLIES[cure]])
    assert caught.value.where == "messages[1]"
    assert str(caught.value).endswith(f"append the message in it: {cure}")


def test_typed_parts_that_are_new_are_carried() -> None:
    """A provider's own new kind of block goes where it came from, word for word."""
    item = {"role": "assistant", "content": [text("x"), {"type": "hologram", "beam": [1]}]}
    sent = Compactor(format="anthropic").fit([user("x"), item])
    assert sent[1] is item
