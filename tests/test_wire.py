"""Wire formats: what was decoded encodes to the same JSON, and what says the same is the same."""

from __future__ import annotations

import json
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foldline import Message, Summary, Usage, WireError
from foldline import _wires as wire
from foldline._messages import SHORT_SUMMARY
from foldline._view import identity
from foldline.extend import Media, Opaque, Text, Thinking, ToolCall, ToolResult, replace, text_of

OPENAI, ANTHROPIC = "openai-chat", "anthropic"
RESPONSES, GEMINI = "openai-responses", "gemini"
PAYLOADS = {
    name: json.loads((Path(__file__).parent / "wire_payloads" / f"{name}.json").read_text()) for name in wire.FORMATS
}
ITEMS = [
    pytest.param(format, item, id=f"{format}-{title}-{i}")
    for format, conversations in PAYLOADS.items()
    for title, items in conversations.items()
    for i, item in enumerate(items)
]


def same_json(a: Any, b: Any) -> bool:
    return a == b and json.dumps(a) == json.dumps(b)


def function(id: str, name: str, arguments: Any) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calling(*calls: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}


# -- round trips --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("format", "item"), ITEMS)
def test_an_item_encodes_to_the_same_json(format: str, item: dict[str, Any]) -> None:
    message = wire.decode(item, format)
    assert message.format == format
    assert same_json(wire.encode(message, format), item)


@pytest.mark.parametrize(("format", "item"), ITEMS)
def test_what_is_decoded_does_not_change_with_the_callers_dict(format: str, item: dict[str, Any]) -> None:
    mine = json.loads(json.dumps(item))
    message = wire.decode(mine, format)
    content = mine.get("content", mine.get("parts"))
    for part in content if isinstance(content, list) else []:
        if isinstance(part, dict):
            part["cache_control"] = {"type": "ephemeral"}
    mine["name"] = "changed"
    assert same_json(wire.encode(message, format), item)


@pytest.mark.parametrize(
    ("format", "item"),
    [
        (OPENAI, {"role": "user", "content": "hi"}),
        (OPENAI, {"role": "system", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}),
        (OPENAI, calling(function("c", "f", "{}"))),
        (
            OPENAI,
            {"role": "assistant", "content": "x", "reasoning_content": "r", "tool_calls": [function("c", "f", "{}")]},
        ),
        (OPENAI, {"role": "tool", "tool_call_id": "c", "content": "x"}),
        (ANTHROPIC, {"role": "user", "content": "hi"}),
        (
            ANTHROPIC,
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "t", "signature": "s"},
                    {"type": "tool_use", "id": "t", "name": "f", "input": {}},
                ],
            },
        ),
    ],
)
def test_the_canonical_shape_needs_no_extra(format: str, item: dict[str, Any]) -> None:
    message = wire.decode(item, format)
    assert not message.extra
    assert not any(getattr(part, "extra", None) for part in message.parts)


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec=None), max_size=8)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
words = st.text(st.characters(codec=None), max_size=8)


def shuffled(known: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Dicts with any of the known keys in any order, mostly with a fitting value, and a stranger now and then."""
    keys = {**{key: fitting | fitting | values for key, fitting in known.items()}, "x-unknown": values}
    return st.lists(st.sampled_from(sorted(keys)), unique=True).flatmap(
        lambda order: st.tuples(*(keys[key] for key in order)).map(lambda said: dict(zip(order, said)))
    )


openai_parts = shuffled(
    {
        "type": st.sampled_from(["text", "refusal", "image_url", "input_audio", "file", "tool_output", "other"]),
        "text": words,
        "refusal": words,
        "image_url": st.just({"url": "u"}),
        "audio": values,
        "function_call": values,
    }
)
openai_calls = shuffled(
    {
        "id": words,
        "type": st.sampled_from(["function", "custom"]),
        "function": shuffled({"name": words, "arguments": words | values}),
        "custom": shuffled({"name": words, "input": words}),
        "index": st.integers(0, 3),
    }
)
openai_items = st.tuples(
    st.sampled_from(["system", "developer", "user", "assistant", "tool", "function"]),
    shuffled(
        {
            "content": words | st.none() | st.lists(openai_parts | words, max_size=3),
            "name": words,
            "tool_call_id": words,
            "tool_calls": st.lists(openai_calls | openai_calls | values, max_size=3),
            "function_call": shuffled({"name": words, "arguments": words}),
            "refusal": words | st.none(),
            "audio": shuffled({"id": words}),
            "reasoning_content": words,
            "reasoning": words,
            "reasoning_details": st.lists(shuffled({"type": words, "text": words, "data": words}), max_size=2),
        }
    ),
    st.integers(0, 9),
)
anthropic_simple = shuffled(
    {
        "type": st.sampled_from(
            ["text", "image", "document", "thinking", "redacted_thinking", "tool_use", "server_tool_use"]
        ),
        "text": words,
        "thinking": words,
        "signature": words,
        "data": words,
        "id": words,
        "name": words,
        "input": st.dictionaries(words, values, max_size=3),
        "source": st.just({"type": "url", "url": "u"}),
        "cache_control": st.just({"type": "ephemeral"}),
    }
)
anthropic_results = shuffled(
    {
        "type": st.just("tool_result"),
        "tool_use_id": words,
        "content": words | st.lists(anthropic_simple | words, max_size=3),
        "is_error": st.booleans(),
        "cache_control": st.just({"type": "ephemeral"}),
    }
)
anthropic_items = st.tuples(
    st.sampled_from(["system", "user", "assistant"]),
    shuffled({"content": words | st.lists(anthropic_simple | anthropic_results | words, max_size=3), "id": words}),
    st.integers(0, 9),
)


responses_items = shuffled(
    {
        "type": st.sampled_from(
            [
                *("message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"),
                *("reasoning", "compaction", "item_reference", "shell_call", "shell_call_output", "mcp_call"),
                *("local_shell_call_output", "computer_call_output", "tool_search_output", "mcp_approval_response"),
            ]
        ),
        "id": words,
        "call_id": words,
        "approval_request_id": words,
        "name": words,
        "arguments": words | values,
        "input": words,
        "action": values,
        "summary": st.lists(shuffled({"type": words, "text": words}), max_size=2),
        "encrypted_content": words,
        "tools": values,
        "status": st.sampled_from(["completed", "failed"]),
        "output": words
        | values
        | st.lists(shuffled({"type": st.sampled_from(["input_text", "input_image"]), "text": words}), max_size=2),
        "content": words
        | st.none()
        | st.lists(
            shuffled(
                {
                    "type": st.sampled_from(["input_text", "output_text", "text", "refusal", "input_image"]),
                    "text": words,
                    "refusal": words,
                    "annotations": values,
                }
            )
            | words,
            max_size=3,
        ),
    }
)
gemini_bodies = shuffled(
    {
        "id": words | st.none() | st.just("unstated-3-0"),
        "name": words,
        "args": st.dictionaries(words, values, max_size=2),
        "toolType": words,
        "response": values
        | st.dictionaries(st.sampled_from(["output", "result", "error", "x"]), words | values, max_size=2),
        "parts": st.lists(st.just({"inlineData": {"mimeType": "image/png", "data": "iVBOR"}}) | values, max_size=2),
        "mimeType": st.sampled_from(["image/png", "audio/wav", "text/plain"]),
    }
)
gemini_parts = shuffled(
    {
        "text": words,
        "thought": st.booleans(),
        "thoughtSignature": words,
        **dict.fromkeys(("functionCall", "function_response", "functionResponse", "toolCall"), gemini_bodies),
        **dict.fromkeys(("inlineData", "file_data", "executableCode"), gemini_bodies),
    }
)
gemini_items = shuffled(
    {"role": st.sampled_from(["user", "model"]), "parts": st.lists(gemini_parts | words, max_size=3) | words | values}
)


def with_role(role: str, rest: dict[str, Any], at: int) -> dict[str, Any]:
    pairs = list(rest.items())
    return dict([*pairs[:at], ("role", role), *pairs[at:]])


# A busy machine is not a fault of the format.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@unhurried
@given(openai_items)
def test_any_openai_item_round_trips(said: tuple[str, dict[str, Any], int]) -> None:
    item = with_role(*said)
    assert same_json(wire.encode(wire.decode(item, OPENAI), OPENAI), item)


@unhurried
@given(anthropic_items)
def test_any_anthropic_item_round_trips(said: tuple[str, dict[str, Any], int]) -> None:
    item = with_role(*said)
    assert same_json(wire.encode(wire.decode(item, ANTHROPIC), ANTHROPIC), item)


@unhurried
@given(
    st.one_of(
        st.tuples(st.just(RESPONSES), responses_items, st.sampled_from(["user", "assistant", "developer"])),
        st.tuples(st.just(GEMINI), gemini_items, st.sampled_from(["user", "model", "system", "function"])),
    )
)
def test_any_item_of_the_newer_formats_round_trips(said: tuple[str, dict[str, Any], str]) -> None:
    format, item, role = said
    item = item if isinstance(item.get("role"), str) and item["role"] in ("user", "model") else {**item, "role": role}
    if format == RESPONSES and item["role"] == "model":
        item["role"] = "assistant"
    assert same_json(wire.encode(wire.decode(item, format), format), item)


@unhurried
@given(
    st.lists(st.sampled_from([*range(8)]), max_size=8),
    openai_items | anthropic_items,
    st.sampled_from([OPENAI, ANTHROPIC]),
)
def test_an_edited_message_still_encodes(kept: list[int], said: tuple[str, dict[str, Any], int], format: str) -> None:
    """Whatever an edit leaves of the parts, and whatever it adds, is written as JSON."""
    item = with_role(*said)
    if format == ANTHROPIC and item["role"] not in ("system", "user", "assistant"):
        item["role"] = "user"
    message = wire.decode(item, format)
    parts = tuple(message.parts[i] for i in kept if i < len(message.parts))
    if message.role != "tool" and not any(message.results):
        parts += (Text("added"), ToolCall("new", "f", '{"shortened"'))
    edited = replace(message, parts=parts)
    if format == OPENAI and len(list(edited.results)) > 1:
        return
    written = wire.encode(edited, format)
    assert json.loads(json.dumps(written)) == written
    assert "added" in json.dumps(written) or parts == tuple(p for p in parts if p != Text("added"))


# -- what decodes to what -----------------------------------------------------------------------------------------


def test_openai_parts() -> None:
    def parts(item: dict[str, Any]) -> tuple[Any, ...]:
        return wire.decode(item, OPENAI).parts

    assert parts(calling(function("c", "f", "{"), content="hm")) == (Text("hm"), ToolCall("c", "f", "{"))
    assert parts({"role": "tool", "tool_call_id": "c", "name": "f", "content": "x"}) == (
        ToolResult("c", (Text("x"),), name="f"),
    )
    assert parts({"role": "assistant", "content": "x", "reasoning_content": "why"}) == (Thinking("why"), Text("x"))
    [thinking] = parts({"role": "assistant", "reasoning_details": [{"text": "a"}, {"summary": "b"}, {"data": "E"}]})
    assert (thinking.text, thinking.data) == ("a\nb", "E")
    [image] = parts({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]})
    assert image == Media("image", {"type": "image_url", "image_url": {"url": "u"}})
    assert wire.decode({"role": "developer", "content": "x"}, OPENAI).role == "system"
    assert wire.decode({"role": "assistant", "content": None, "refusal": "no"}, OPENAI).text == "no"
    [custom] = parts(calling({"id": "c", "type": "custom", "custom": {"name": "patch", "input": "free text"}}))
    assert (custom.id, custom.name, custom.arguments) == ("c", "patch", "free text")
    named = {"role": "tool", "tool_call_id": "c", "content": [{"type": "tool_output", "text": "Exit code: 1"}]}
    assert text_of(wire.decode(named, OPENAI).parts[0]) == "Exit code: 1"
    assert parts({"role": "user", "content": [{"type": "mystery"}]}) == (Opaque({"type": "mystery"}),)


def test_anthropic_parts() -> None:
    def part(block: dict[str, Any]) -> Any:
        return wire.decode({"role": "user", "content": [block]}, ANTHROPIC).parts[0]

    call = part({"type": "tool_use", "id": "t", "name": "f", "input": {"b": 12345678901234567890123, "a": "é"}})
    assert (call.id, call.name, call.arguments) == ("t", "f", '{"b": 12345678901234567890123, "a": "é"}')
    result = part(
        {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "x"}], "is_error": True}
    )
    assert (result.call_id, text_of(result), result.error) == ("t", "x", True)
    assert part({"type": "redacted_thinking", "data": "E"}) == Thinking(data="E")
    assert part({"type": "thinking", "thinking": "x", "signature": "s"}) == Thinking("x", "s")
    assert part({"type": "document", "source": {}}).kind == "document"
    block = {"type": "compaction", "content": "x", "signature": "s"}
    assert part(block) == Summary("x", {}, block)


# -- identity -----------------------------------------------------------------------------------------------------

MARK = {"cache_control": {"type": "ephemeral"}}
SAME = [
    (OPENAI, {"role": "user", "content": "x"}, {"role": "user", "content": [{"type": "text", "text": "x"}]}),
    (OPENAI, {"role": "user", "content": ""}, {"role": "user", "content": [{"type": "text", "text": ""}]}),
    (OPENAI, {"role": "user", "content": "x"}, {"content": [{"text": "x", "type": "text", **MARK}], "role": "user"}),
    (
        OPENAI,
        {"role": "assistant", "content": "x"},
        {"content": "x", "refusal": None, "role": "assistant", "tool_calls": None},
    ),
    (
        OPENAI,
        {"role": "tool", "tool_call_id": "c", "content": "x"},
        {"role": "tool", "content": [{"type": "text", "text": "x", **MARK}], "tool_call_id": "c"},
    ),
    (
        OPENAI,
        calling(function("c", "f", "{}")),
        {
            "tool_calls": [{"function": {"arguments": "{}", "name": "f"}, "id": "c", "type": "function"}],
            "role": "assistant",
        },
    ),
    (
        OPENAI,
        {"role": "assistant", "content": "x", "reasoning_content": "r"},
        {"role": "assistant", "content": "x", "reasoning_content": "r", "reasoning": "r"},
    ),
    (ANTHROPIC, {"role": "user", "content": "x"}, {"role": "user", "content": [{"type": "text", "text": "x", **MARK}]}),
    (
        ANTHROPIC,
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x"}]},
        {
            "role": "user",
            "content": [
                {
                    "tool_use_id": "t",
                    "type": "tool_result",
                    "content": [{"type": "text", "text": "x", **MARK}],
                    "is_error": False,
                    **MARK,
                }
            ],
        },
    ),
    (
        ANTHROPIC,
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}, **MARK}]},
    ),
]


@pytest.mark.parametrize(("format", "one", "other"), SAME)
def test_what_says_the_same_is_the_same(format: str, one: dict[str, Any], other: dict[str, Any]) -> None:
    assert identity(wire.decode(one, format)) == identity(wire.decode(other, format))


@pytest.mark.parametrize(
    ("format", "one", "other"),
    [
        (OPENAI, {"role": "user", "content": "x"}, {"role": "user", "content": "y"}),
        (OPENAI, {"role": "user", "content": "x"}, {"role": "system", "content": "x"}),
        (OPENAI, calling(function("c", "f", "{}")), calling(function("d", "f", "{}"))),
        (OPENAI, {"role": "user", "content": 1}, {"role": "user", "content": 2}),
        (OPENAI, calling(content="\ud83d"), calling(content="\ude00")),
    ],
)
def test_what_says_another_thing_is_another(format: str, one: dict[str, Any], other: dict[str, Any]) -> None:
    assert identity(wire.decode(one, format)) != identity(wire.decode(other, format))


# -- edited messages ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (
            {"role": "tool", "tool_call_id": "c", "content": "long"},
            {"role": "tool", "tool_call_id": "c", "content": "stub"},
        ),
        (
            {"role": "tool", "content": [{"type": "text", "text": "a"}, {"type": "image_url"}], "tool_call_id": "c"},
            {"role": "tool", "content": "stub", "tool_call_id": "c"},
        ),
        (
            {"role": "tool", "content": [{"type": "text", "text": "a", **MARK}], "tool_call_id": "c", "x": 1},
            {"role": "tool", "content": "stub", "tool_call_id": "c", "x": 1},
        ),
        (
            {"role": "tool", "content": None, "tool_call_id": "c"},
            {"role": "tool", "content": "stub", "tool_call_id": "c"},
        ),
        ({"role": "function", "name": "f", "content": 5}, {"role": "function", "name": "f", "content": "stub"}),
    ],
)
def test_a_stubbed_openai_result(item: dict[str, Any], expected: dict[str, Any]) -> None:
    message = wire.decode(item, OPENAI)
    [result] = message.results
    assert same_json(wire.encode(replace(message, parts=(replace(result, parts=(Text("stub"),)),)), OPENAI), expected)


@pytest.mark.parametrize(
    "content", ["long", [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], None, 5, []]
)
def test_a_stubbed_anthropic_result(content: Any) -> None:
    item = {
        "role": "user",
        "content": [{"tool_use_id": "t", "type": "tool_result", "content": content, "is_error": False, **MARK}],
    }
    message = wire.decode(item, ANTHROPIC)
    [result] = message.results
    [block] = wire.encode(replace(message, parts=(replace(result, parts=(Text("stub"),)),)), ANTHROPIC)["content"]
    assert same_json(block, {"tool_use_id": "t", "type": "tool_result", "content": "stub", "is_error": False, **MARK})


@pytest.mark.parametrize("arguments", ['{"a": 1}', {"a": 1}, None])
def test_shortened_openai_arguments(arguments: Any) -> None:
    message = wire.decode(calling(function("c", "f", arguments), refusal=None), OPENAI)
    [call] = message.calls
    written = wire.encode(replace(message, parts=(replace(call, arguments='{"b": 2}'),)), OPENAI)
    expected = '{"b": 2}' if isinstance(arguments, str) else {"b": 2}
    assert written == calling(function("c", "f", expected), refusal=None)


@pytest.mark.parametrize(
    ("arguments", "expected"), [('{"b": 2}', {"b": 2}), ('{"b', {"arguments": '{"b'}), ("3", {"arguments": "3"})]
)
def test_shortened_anthropic_input(arguments: str, expected: dict[str, Any]) -> None:
    item = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}, **MARK}]}
    message = wire.decode(item, ANTHROPIC)
    [call] = message.calls
    [block] = wire.encode(replace(message, parts=(replace(call, arguments=arguments),)), ANTHROPIC)["content"]
    assert same_json(block, {"type": "tool_use", "id": "t", "name": "f", "input": expected, **MARK})


def test_thinking_that_was_dropped_leaves_no_trace() -> None:
    openai = {
        "role": "assistant",
        "reasoning_content": "r",
        "content": "x",
        "reasoning": "r",
        "reasoning_details": [{"text": "r", "signature": "s"}],
        "tool_calls": [function("c", "f", "{}")],
    }
    anthropic = {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "t", "signature": "s"}, {"type": "text", "text": "x"}],
    }
    for format, item, expected in (
        (OPENAI, openai, {"role": "assistant", "content": "x", "tool_calls": [function("c", "f", "{}")]}),
        (ANTHROPIC, anthropic, {"role": "assistant", "content": "x"}),
    ):
        message = wire.decode(item, format)
        rest = tuple(part for part in message.parts if type(part) is not Thinking)
        assert same_json(wire.encode(replace(message, parts=rest), format), expected)


def test_calls_that_were_dropped_take_their_key_along() -> None:
    calls = [function("c", "f", "{}"), "junk", function("d", "f", "{}")]
    message = wire.decode({"role": "assistant", "tool_calls": calls, "content": "x"}, OPENAI)
    words, _, last = message.parts
    assert wire.encode(replace(message, parts=(words,)), OPENAI) == {"role": "assistant", "content": "x"}
    written = wire.encode(replace(message, parts=(words, last)), OPENAI)
    assert written == {"role": "assistant", "tool_calls": [function("d", "f", "{}"), "junk"], "content": "x"}


# -- messages from elsewhere --------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", [OPENAI, ANTHROPIC])
def test_a_summary_is_a_users_text(format: str) -> None:
    long = "We built it. " * SHORT_SUMMARY
    head = "The conversation history before this point was compacted into the following summary:\n\n"
    for words, before in (("We built it.", ""), (long[:SHORT_SUMMARY], ""), (long[: SHORT_SUMMARY + 1], head)):
        written = wire.encode(Message("user", (Summary(words, {"files": ["a"]}),)), format)
        text = f"{before}<summary>\n{words}\n</summary>"
        assert same_json(written, {"role": "user", "content": text})
        assert wire.decode(written, format).parts == (Text(text),)


@pytest.mark.parametrize("format", [OPENAI, ANTHROPIC])
def test_extras_of_another_format_are_ignored(format: str) -> None:
    message = Message("user", (Text("x", MARK),), extra={"content": None, "name": "n"}, format="elsewhere")
    assert same_json(wire.encode(message, format), {"role": "user", "content": "x"})


def test_a_result_of_another_format() -> None:
    openai = wire.decode(
        {"role": "tool", "content": [{"type": "text", "text": "x", **MARK}], "tool_call_id": "c"}, OPENAI
    )
    assert wire.encode(openai, ANTHROPIC) == {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "c", "content": "x"}],
    }
    block = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "image", "source": {}}], "is_error": True}
    one = wire.decode({"role": "user", "content": [block]}, ANTHROPIC)
    assert wire.encode(one, OPENAI) == {
        "role": "tool",
        "tool_call_id": "t",
        "content": [{"type": "text", "text": "[image]"}],
    }
    two = wire.decode({"role": "user", "content": [block, block]}, ANTHROPIC)
    with pytest.raises(WireError, match="an item each"):
        wire.encode(two, OPENAI)


def test_thinking_of_another_format_is_left_out() -> None:
    signed = wire.decode(
        {
            "role": "assistant",
            "content": [{"type": "thinking", "thinking": "t", "signature": "s"}, {"type": "text", "text": "x"}],
        },
        ANTHROPIC,
    )
    assert wire.encode(signed, OPENAI) == {"role": "assistant", "content": "x"}
    unsigned = wire.decode({"role": "assistant", "content": "x", "reasoning_content": "r"}, OPENAI)
    assert wire.encode(unsigned, ANTHROPIC) == {"role": "assistant", "content": "x"}


# -- detection ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("items", "format"),
    [
        ([], OPENAI),
        ([{"role": "user", "content": "x"}], OPENAI),
        ([{"role": "user", "content": "x"}, calling(function("c", "f", "{}"))], OPENAI),
        ([{"role": "developer", "content": "x"}], OPENAI),
        ([{"role": "user", "content": [{"type": "image_url"}]}], OPENAI),
        ([{"role": "user", "content": [{"type": "image", "source": {}}]}], ANTHROPIC),
        ([{"role": "user", "content": "x"}, {"role": "assistant", "content": [{"type": "tool_use"}]}], ANTHROPIC),
        ([{"role": "assistant", "content": [{"type": "web_search_tool_result"}]}], ANTHROPIC),
        ([{"role": "assistant", "content": [{"type": "redacted_thinking", "data": "E"}]}], ANTHROPIC),
        ([{"role": "user", "content": [{"type": "document", "source": {}}]}], ANTHROPIC),
        ([None, 5, {"role": ["x"], "content": 5}, {"content": [None, {"type": {}}]}], OPENAI),
    ],
)
def test_detection(items: Any, format: str) -> None:
    assert wire.detect(items) == format


def test_detection_says_when_nothing_tells() -> None:
    assert wire.detect([{"role": "user", "content": "x"}], default="") == ""


@pytest.mark.parametrize(
    ("format", "title"),
    [
        *((OPENAI, title) for title in ("parallel tools", "developer", "a dumped reply", "reasoning")),
        *((ANTHROPIC, title) for title in ("a tool round", "thinking", "server tools", "media")),
        *((format, title) for format in (RESPONSES, GEMINI) for title in PAYLOADS[format] if title != "odd contents"),
    ],
)
def test_recorded_conversations_are_recognized(format: str, title: str) -> None:
    assert wire.detect(PAYLOADS[format][title]) == format


# -- usage --------------------------------------------------------------------------------------------------------

USAGES: list[tuple[Any, Usage | None]] = [
    ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}, Usage(10, 5)),
    (
        {
            "prompt_tokens": 100,
            "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
        },
        Usage(10, 5, 60, 30),
    ),
    ({"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": None}, Usage(100, 5)),
    ({"prompt_tokens": 100, "completion_tokens": 5, "prompt_cache_hit_tokens": 64}, Usage(36, 5, 64)),
    ({"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 60}}, Usage(10, 5, 60)),
    ({"input_tokens": 100, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 60}}, Usage(40, 5, 60)),
    (
        {
            "input_tokens": 100,
            "output_tokens": 5,
            "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 40},
        },
        Usage(0, 5, 60, 40),
    ),
    (
        {"input_tokens": 3, "output_tokens": 5, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 7},
        Usage(3, 5, 60, 7),
    ),
    (
        {
            "input_tokens": 3,
            "output_tokens": 5,
            "cache_creation": {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 2},
        },
        Usage(3, 5, 0, 3),
    ),
    (
        {
            "input_tokens": 300,
            "output_tokens": 50,
            "cache_read_input_tokens": 334_000,
            "iterations": [
                {"type": "message", "input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": 3},
                {"type": "message", "input_tokens": 4, "output_tokens": 5, "cache_read_input_tokens": 63_000},
                {"type": "compaction", "input_tokens": 7, "output_tokens": 8},
            ],
        },
        Usage(4, 5, 63_000),
    ),
    (
        {
            "input_tokens": 1,
            "iterations": [{"type": "message", "input_tokens": 2}, {"type": "fallback_message", "input_tokens": 3}],
        },
        Usage(3),
    ),
    ({"input_tokens": 9, "output_tokens": 1, "iterations": [{"type": "compaction", "input_tokens": 7}]}, Usage(9, 1)),
    ({"input_tokens": 9, "output_tokens": 1, "iterations": None}, Usage(9, 1)),
    ({"output_tokens": 5}, Usage(0, 5)),
    (
        {
            "promptTokenCount": 12,
            "toolUsePromptTokenCount": 65,
            "candidatesTokenCount": 71,
            "thoughtsTokenCount": 89,
            "cachedContentTokenCount": 10,
            "totalTokenCount": 237,
        },
        Usage(67, 160, 10),
    ),
    ({"prompt_token_count": 12, "candidates_token_count": 3, "cached_content_token_count": None}, Usage(12, 3)),
    ({"prompt_tokens": 0, "completion_tokens": 0}, None),
    ({"prompt_tokens": -5, "completion_tokens": 5}, Usage(0, 5)),
    ({"prompt_tokens": 2_000_000_000, "completion_tokens": 5}, Usage(0, 5)),
    ({"prompt_tokens": 10.5, "completion_tokens": "7"}, None),
    ({"prompt_tokens": True, "completion_tokens": 1}, Usage(0, 1)),
    ({"prompt_tokens": 10, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": -3}}, Usage(10, 1)),
    ({"prompt_tokens": 10, "completion_tokens": 1, "prompt_tokens_details": [1]}, Usage(10, 1)),
    ({"something": 1}, None),
    ({}, None),
    (None, None),
    ("nonsense", None),
    (7, None),
]


def as_object(value: Any) -> Any:
    if isinstance(value, dict):
        return SimpleNamespace(**{key: as_object(each) for key, each in value.items()})
    return [as_object(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize(("given", "expected"), USAGES)
def test_usage(given: Any, expected: Usage | None) -> None:
    for said in (given, as_object(given)):
        assert wire.read_usage(said) == expected
        assert wire.read_usage({"id": "r", "usage": said}) == expected
        assert wire.read_usage({"usageMetadata": said}) == expected
        assert wire.read_usage(SimpleNamespace(usage_metadata=said)) == expected


# -- bad input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", wire.FORMATS)
@pytest.mark.parametrize(
    ("item", "where", "problem"),
    [
        (None, "messages[3]", "must be a mapping, not NoneType"),
        ("hi", "messages[3]", "must be a mapping, not str"),
        ([], "messages[3]", "must be a mapping, not list"),
        ({}, "messages[3].role", "without a role"),
        ({"content": "x"}, "messages[3].role", "without a role"),
        ({"role": None, "content": "x"}, "messages[3].role", "no such role: None"),
        ({"role": ["user"], "content": "x"}, "messages[3].role", "no such role"),
        ({"role": "narrator", "content": "x"}, "messages[3].role", "no such role: 'narrator'"),
        ({"role": 5, "content": "x", "tool_calls": []}, "messages[3].role", "no such role: 5"),
        ({"role": {}, "tool_call_id": "c", "content": "x"}, "messages[3].role", "no such role"),
    ],
)
def test_bad_input_names_its_place(format: str, item: Any, where: str, problem: str) -> None:
    with pytest.raises(WireError) as caught:
        wire.decode(item, format, where="messages[3]")
    assert caught.value.where == where
    assert caught.value.format == format
    assert problem in str(caught.value)


def test_no_such_format() -> None:
    for call in (lambda: wire.decode({}, "morse"), lambda: wire.encode(Message("user"), "morse")):
        with pytest.raises(WireError, match="no such wire format: 'morse'; there are openai-chat, "):
            call()


@pytest.mark.parametrize("format", [OPENAI, ANTHROPIC])
def test_any_mapping_will_do(format: str) -> None:
    item = {"role": "user", "content": ({"type": "text", "text": "x"},), "name": "n"}
    assert wire.encode(wire.decode(MappingProxyType(item), format), format) == {**item, "content": [*item["content"]]}


def test_values_that_are_no_json_are_kept() -> None:
    odd = {1, 2}
    openai = calling(function("c", "f", odd))
    anthropic = {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {"x": odd}}]}
    assert wire.encode(wire.decode(openai, OPENAI), OPENAI) == openai
    assert wire.encode(wire.decode(anthropic, ANTHROPIC), ANTHROPIC) == anthropic
