"""Objects of the providers' libraries in a history: read as what they stand for, and handed back as the very same."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from anthropic.types import (
    RedactedThinkingBlock,
    ServerToolUseBlock,
    TextBlock,
    ThinkingBlock,
    ToolUseBlock,
    WebSearchToolResultBlock,
)
from google.genai import types as genai
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessage, ParsedChatCompletionMessage
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseFunctionWebSearch,
    ResponseOutputMessage,
    ResponseReasoningItem,
)
from pydantic import BaseModel

from foldline import Compactor, Message, WireError
from foldline import _wires as wire
from foldline.extend import Media, Opaque, Text, Thinking, ToolCall, ToolResult

CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a.py"}'}}
CUSTOM = {"id": "c2", "type": "custom", "custom": {"name": "patch", "input": "free"}}
PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 300


def chat(**said: Any) -> ChatCompletionMessage:
    return ChatCompletionMessage.model_validate({"role": "assistant", "content": None, **said})


def block(kind: Any, **said: Any) -> Any:
    return kind.model_validate(said)


READ = ToolCall("c1", "read", '{"path": "a.py"}')

OBJECTS: list[tuple[str, str, Any, list[Any]]] = [
    ("openai-chat", "words", chat(content="hi", refusal=None, annotations=[]), [Text("hi")]),
    ("openai-chat", "calls", chat(tool_calls=[CALL, CUSTOM]), [READ, ToolCall("c2", "patch", "free")]),
    ("openai-chat", "a refusal", chat(refusal="no"), [Text("no")]),
    ("openai-chat", "thinking of DeepSeek", chat(content="x", reasoning_content="hm"), [Thinking("hm"), Text("x")]),
    (
        "openai-chat",
        "parsed",
        ParsedChatCompletionMessage.model_validate({"role": "assistant", "content": "x", "tool_calls": [CALL]}),
        [Text("x"), READ],
    ),
    (
        "openai-chat",
        "calls in a dict",
        {"role": "assistant", "content": None, "tool_calls": chat(tool_calls=[CALL]).tool_calls},
        [READ],
    ),
    (
        "openai-responses",
        "a call",
        block(ResponseFunctionToolCall, type="function_call", call_id="c1", name="read", arguments='{"path": "a.py"}'),
        [READ],
    ),
    (
        "openai-responses",
        "words",
        block(
            ResponseOutputMessage,
            type="message",
            id="m",
            role="assistant",
            status="completed",
            content=[{"type": "output_text", "text": "hi", "annotations": []}],
        ),
        [Text("hi")],
    ),
    (
        "openai-responses",
        "reasoning",
        block(
            ResponseReasoningItem,
            type="reasoning",
            id="rs",
            summary=[{"type": "summary_text", "text": "hm"}],
            encrypted_content="gAAA",
        ),
        [Thinking("hm", None, "gAAA")],
    ),
    (
        "anthropic",
        "blocks",
        {
            "role": "assistant",
            "content": [
                block(ThinkingBlock, type="thinking", thinking="hm", signature="ErcB"),
                block(RedactedThinkingBlock, type="redacted_thinking", data="Ec4B"),
                block(TextBlock, type="text", text="hi", citations=None),
                block(ToolUseBlock, type="tool_use", id="c1", name="read", input={"path": "a.py"}),
            ],
        },
        [Thinking("hm", "ErcB"), Thinking("", None, "Ec4B"), Text("hi"), READ],
    ),
    (
        "anthropic",
        "blocks in a result",
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": [block(TextBlock, type="text", text="x")]}
            ],
        },
        [ToolResult("c1", (Text("x"),))],
    ),
    (
        "gemini",
        "a call",
        genai.Content(
            role="model",
            parts=[
                genai.Part(text="hm", thought=True),
                genai.Part(text="hi", thought_signature=b"\xff\xfe"),
                genai.Part(function_call=genai.FunctionCall(id="c1", name="read", args={"path": "a.py"})),
            ],
        ),
        [Thinking("hm"), Text("hi"), READ],
    ),
    (
        "gemini",
        "a result",
        genai.Content(
            role="tool",
            parts=[
                genai.Part(
                    function_response=genai.FunctionResponse(id="c1", name="read", response={"result": "x"}),
                )
            ],
        ),
        [ToolResult("c1", (Text("x"),), name="read")],
    ),
    ("gemini", "words", genai.UserContent("hi"), [Text("hi")]),
    ("gemini", "parts in a dict", {"role": "user", "parts": [genai.Part(text="hi")]}, [Text("hi")]),
    ("bedrock-converse", "words", {"role": "user", "content": [{"text": "hi"}]}, [Text("hi")]),
]


def bare(part: Any) -> Any:
    """A part without what its wire says beside it."""
    if isinstance(part, ToolResult):
        part = msgspec.structs.replace(part, parts=tuple(map(bare, part.parts)))
    return msgspec.structs.replace(part, extra={}) if getattr(part, "extra", None) else part


@pytest.mark.parametrize(
    ("format", "item", "parts"), [pytest.param(f, item, parts, id=f"{f}: {t}") for f, t, item, parts in OBJECTS]
)
def test_an_object_is_read_and_handed_back(format: str, item: Any, parts: list[Any]) -> None:
    compactor = Compactor()
    sent = compactor.fit([item])
    assert sent[0] is item
    ((_, message),) = compactor.messages()
    assert message.format in (format, "openai-chat"), "plain words are the same in several formats"
    assert [bare(part) for part in message.parts] == parts


def test_what_only_the_provider_knows_is_carried_whole() -> None:
    search = block(
        ResponseFunctionWebSearch,
        type="web_search_call",
        id="ws",
        status="completed",
        action={"type": "search", "query": "q"},
    )
    ran = {
        "role": "assistant",
        "content": [
            block(ServerToolUseBlock, type="server_tool_use", id="s", name="web_search", input={"query": "q"}),
            block(WebSearchToolResultBlock, type="web_search_tool_result", tool_use_id="s", content=[]),
        ],
    }
    for item, kinds in ((search, ["web_search_call"]), (ran, ["server_tool_use", "web_search_tool_result"])):
        compactor = Compactor()
        assert compactor.fit([item])[0] is item
        ((_, message),) = compactor.messages()
        assert [part.source["type"] for part in message.parts if isinstance(part, Opaque)] == kinds


def test_pictures_of_the_library_are_weighed() -> None:
    content = genai.Content(role="user", parts=[genai.Part.from_bytes(data=PNG, mime_type="image/png")])
    compactor = Compactor("gemini-2.5-flash")
    compactor.fit([content])
    ((_, message),) = compactor.messages()
    assert [part.kind for part in message.parts if isinstance(part, Media)] == ["image"]
    assert compactor.count.tokens >= 258


# -- a fold elsewhere ---------------------------------------------------------------------------------------------

said = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=30)
arguments = st.dictionaries(st.text("abc", min_size=1, max_size=3), st.none() | st.integers(0, 9) | said, max_size=3)


def anthropic_reply(number: int, words: str, given: dict[str, Any]) -> list[Any]:
    blocks = [
        block(ThinkingBlock, type="thinking", thinking=words, signature="ErcB"),
        block(TextBlock, type="text", text=words),
        block(ToolUseBlock, type="tool_use", id=f"c{number}", name="read", input=given),
    ]
    result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": words * 100}
    return [{"role": "assistant", "content": blocks}, {"role": "user", "content": [result]}]


def chat_reply(number: int, words: str, given: dict[str, Any]) -> list[Any]:
    function = {"name": "read", "arguments": msgspec.json.encode(given).decode()}
    call = {"id": f"c{number}", "type": "function", "function": function}
    return [
        chat(content=words, tool_calls=[call]),
        {"role": "tool", "tool_call_id": f"c{number}", "content": words * 100},
    ]


def responses_reply(number: int, words: str, given: dict[str, Any]) -> list[Any]:
    call = {"type": "function_call", "call_id": f"c{number}", "name": "read"}
    summary = [{"type": "summary_text", "text": words}]
    return [
        block(ResponseReasoningItem, type="reasoning", id=f"rs{number}", summary=summary),
        block(ResponseFunctionToolCall, **call, arguments=msgspec.json.encode(given).decode()),
        {"type": "function_call_output", "call_id": f"c{number}", "output": words * 100},
    ]


def gemini_reply(number: int, words: str, given: dict[str, Any]) -> list[Any]:
    call = genai.FunctionCall(id=f"c{number}", name="read", args=given)
    answer = genai.FunctionResponse(id=f"c{number}", name="read", response={"result": words * 100})
    return [
        genai.Content(
            role="model",
            parts=[
                genai.Part(text=words, thought=True),
                genai.Part(text=words),
                genai.Part(function_call=call, thought_signature=b"\xff"),
            ],
        ),
        genai.Content(role="user", parts=[genai.Part(function_response=answer)]),
    ]


REPLIES = {
    "anthropic": anthropic_reply,
    "openai-chat": chat_reply,
    "openai-responses": responses_reply,
    "gemini": gemini_reply,
}


@pytest.mark.parametrize("format", REPLIES)
@given(data=st.data())
def test_every_part_survives_a_fold_elsewhere(format: str, data: st.DataObject) -> None:
    """What no fold touched is the very same object; what one did can be recalled with every part of it."""
    rounds = data.draw(st.lists(st.tuples(said, arguments), min_size=3, max_size=8))
    asked = "Fix the parser."
    first = {"role": "user", "parts": [{"text": asked}]} if format == "gemini" else {"role": "user", "content": asked}
    history: list[Any] = [first]
    compactor = Compactor(window=1_500, reserve=100)
    for number, (words, passed) in enumerate(rounds):
        history += REPLIES[format](number, words, passed)
        sent = compactor.fit(history)
        untouched = [item for item in sent if any(item is mine for mine in history)]
        assert untouched == [item for item in history if any(item is each for each in sent)]
        assert all(isinstance(item, dict) for item in sent if not any(item is mine for mine in history))
    messages = [message for _, message in compactor.messages()]
    assert len(messages) == len(history)
    calls = [call for message in messages for call in message.calls]
    assert [msgspec.json.decode(call.arguments) for call in calls] == [passed for _, passed in rounds]
    results = [result for message in messages for result in message.results]
    assert [result.parts for result in results] == [(Text(words * 100),) for words, _ in rounds]
    assert not [part for message in messages for part in message.parts if isinstance(part, Opaque)]
    assert all(compactor.recall(id) == message for id, message in compactor.messages())


# -- objects of any library ---------------------------------------------------------------------------------------


class Pydantic(BaseModel):
    role: str = "assistant"
    content: str = "hi"
    tool_calls: list[Any] | None = None


class Record(msgspec.Struct):
    role: str = "assistant"
    content: str = "hi"


@dataclass
class Data:
    role: str = "assistant"
    content: list[Any] = field(default_factory=lambda: [TextBlock(type="text", text="hi")])


class Dumping:
    def to_dict(self) -> dict[str, Any]:
        return {"role": "assistant", "content": "hi"}


class Endless:
    """Answers each question with another of its kind, as stand-ins in tests do."""

    def model_dump(self, **how: Any) -> Endless:
        return Endless()


class Mapped(dict[str, Any]):
    """Some libraries hand out dicts of their own."""


@pytest.mark.parametrize(
    "item",
    [Pydantic(), Record(), Data(), Dumping(), Mapped(role="assistant", content="hi")],
    ids=lambda i: type(i).__name__,
)
def test_any_object_that_says_what_it_stands_for(item: Any) -> None:
    compactor = Compactor()
    assert compactor.fit([item])[0] is item
    ((_, message),) = compactor.messages()
    assert (message.role, message.text) == ("assistant", "hi")


@pytest.mark.parametrize(
    ("item", "where", "problem"),
    [
        (Endless(), "messages[1]", "Endless is neither data"),
        (SimpleNamespace(role="user", content="x"), "messages[1]", "a types.SimpleNamespace is neither data"),
        ({"role": "user", "content": (part for part in ())}, "messages[1].content", "a builtins.generator"),
        ({"role": "user", "content": [{"type": "text", "text": object()}]}, "messages[1].content[0].text", "builtins.object"),
        ({"role": "user", "content": [TextBlock]}, "messages[1].content[0]", "append the message as a dict"),
        ({"role": "user", "content": {1, 2}}, "messages[1].content", "a builtins.set"),
    ],
)  # fmt: skip
def test_what_says_nothing_is_refused_with_its_place(item: Any, where: str, problem: str) -> None:
    compactor = Compactor()
    with pytest.raises(WireError) as caught:
        compactor.fit([{"role": "user", "content": "x"}, item])
    assert caught.value.where == where
    assert problem in str(caught.value)
    assert compactor.fit([{"role": "user", "content": "x"}]) == [{"role": "user", "content": "x"}]


def test_nothing_is_taken_from_the_caller() -> None:
    """Plain data stays the very same, at any depth, and a `Message` is one."""
    from foldline._wires.objects import as_data

    deep: dict[str, Any] = {"role": "user", "content": [{"type": "text", "text": "x", "more": {"a": [1, None, b"x"]}}]}
    message = Message("user", (Text("x"),))
    read = as_data([deep, message])
    assert read[0] is deep
    assert read[1] is message
    assert wire.detect(read) == "openai-chat"
