"""OpenAI's Responses and Gemini: what their items mean, what an edit makes of them, and how they become other formats."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from conversations import said_in
from foldline import Compactor, Message, Summary, WireError, open_session, recall_tool
from foldline import _wires as wire
from foldline._handoff.new_session import write_new
from foldline._tokens.media import image_size
from foldline._view import identity
from foldline._wires.reply import read_reply
from foldline.extend import Media, Model, Opaque, Text, Thinking, ToolCall, ToolResult, replace, text_of, weigh
from provider_rules import check_valid, pairing_faults

RESPONSES, GEMINI = "openai-responses", "gemini"


def read(item: dict[str, Any]) -> Message:
    return wire.decode(item, wire.detect([item]))


def output(kind: str, said: Any, **more: Any) -> dict[str, Any]:
    return {"type": f"{kind}_output", "call_id": "c", "output": said, **more}


def gemini_call(name: str, **stated: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {}, **stated}}


def gemini_result(name: str, said: Any, **stated: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": said, **stated}}


# -- what decodes to what -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("item", "role", "parts"),
    [
        (
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{"},
            "assistant",
            (ToolCall("c", "f", "{"),),
        ),
        (
            {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "free"},
            "assistant",
            (ToolCall("c", "patch", "free"),),
        ),
        (
            {"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"]}},
            "assistant",
            (ToolCall("c", "shell", '{"commands": ["ls"]}'),),
        ),
        (output("function_call", "x"), "tool", (ToolResult("c", (Text("x"),)),)),
        (output("apply_patch_call", "no", status="failed"), "tool", (ToolResult("c", (Text("no"),), True),)),
        (
            {"type": "mcp_call", "id": "m", "name": "f", "arguments": "{}", "output": None, "error": {"code": 1}},
            "assistant",
            (ToolCall("m", "f"), ToolResult("m", (), True, "f")),
        ),
        (
            {"type": "mcp_approval_response", "approval_request_id": "r", "approve": True},
            "tool",
            (ToolResult("r"),),
        ),
        (
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "x"}]},
            "system",
            (Text("x"),),
        ),
        (
            {"type": "additional_tools", "role": "developer", "tools": []},
            "system",
            (Opaque({"type": "additional_tools", "role": "developer", "tools": []}),),
        ),
        (
            {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "f", "args": {"a": 1}}}]},
            "assistant",
            (ToolCall("c", "f", '{"a": 1}', {"functionCall": {"id": None, "name": None, "args": None}}),),
        ),
        (
            {"role": "user", "parts": [{"hologram": {}}, {"text": "x"}]},
            "user",
            (Opaque({"hologram": {}}), Text("x")),
        ),
    ],
)
def test_parts(item: dict[str, Any], role: str, parts: tuple[Any, ...]) -> None:
    message = read(item)
    assert (message.role, message.parts) == (role, parts)


def test_reasoning_and_thoughts() -> None:
    summary = [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}]
    [sealed] = read({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "E"}).parts
    assert isinstance(sealed, Thinking)
    assert (sealed.text, sealed.data) == ("a\n\nb", "E")
    [thought, words] = read(
        {"role": "model", "parts": [{"text": "hm", "thought": True, "thoughtSignature": "S"}, {"text": "x"}]}
    ).parts
    assert isinstance(thought, Thinking)
    assert (thought.text, thought.signature, words) == ("hm", "S", Text("x"))


def test_a_response_of_gemini_is_its_words_or_its_json() -> None:
    parts = [
        gemini_result("f", {"output": "x"}),
        gemini_result("f", {"error": "no"}),
        gemini_result("f", {"stdout": "x", "code": 0}),
    ]
    results = list(read({"role": "user", "parts": parts}).results)
    assert [text_of(r) for r in results] == ["x", "no", '{"stdout": "x", "code": 0}']
    assert [r.error for r in results] == [False, True, False]


def png(width: int, height: int) -> str:
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return base64.b64encode(head + bytes(400)).decode()


@pytest.mark.parametrize(
    "item",
    [
        {"role": "user", "content": [{"type": "input_image", "image_url": f"data:image/png;base64,{png(1024, 1024)}"}]},
        {"type": "image_generation_call", "id": "ig", "result": png(1024, 1024), "status": "completed"},
        output("computer_call", {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{png(1024, 1024)}"}),
        {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": png(1024, 1024)}}]},
        {"role": "user", "parts": [gemini_result("f", {}, parts=[{"inlineData": {"mimeType": "image/png", "data": png(1024, 1024)}}])]},
    ],
)  # fmt: skip
def test_a_picture_weighs_what_its_pixels_cost(item: dict[str, Any]) -> None:
    """A tiled model takes 85 tokens and 170 for each of four tiles; the frames around it are small."""
    assert 765 <= weigh(read(item)) <= 765 + 40


def test_what_says_the_same_is_the_same() -> None:
    for one, other in (
        (
            {"role": "user", "content": "x"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "x"}], "id": "msg_1"},
        ),
        (
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
            {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{}", "status": "done"},
        ),
    ):
        assert identity(wire.decode(one, RESPONSES)) == identity(wire.decode(other, RESPONSES))
    camel = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "S"}]}
    snake = {"role": "model", "parts": [{"function_call": {"id": None, "args": {}, "name": "f"}}]}
    assert identity(wire.decode(camel, GEMINI)) == identity(wire.decode(snake, GEMINI))


# -- calls that state no id ---------------------------------------------------------------------------------------

ROUNDS = [
    said_in(GEMINI, "go"),
    {"role": "model", "parts": [gemini_call("read"), gemini_call("bash"), gemini_call("read")]},
    {"role": "user", "parts": [gemini_result("bash", {"output": "b"}), gemini_result("read", {"output": "r1"})]},
    {"role": "user", "parts": [gemini_result("read", {"output": "r2"}), gemini_result("read", {"output": "none"})]},
    {"role": "model", "parts": [gemini_call("read", id="own"), gemini_call("read")]},
    {"role": "user", "parts": [gemini_result("read", {"output": "r3"}), gemini_result("read", {"output": "o"}, id="own")]},
]  # fmt: skip


def test_a_result_without_an_id_answers_the_first_open_call_of_its_name() -> None:
    messages = wire.decode_all(ROUNDS, GEMINI)
    ids = [call.id for message in messages for call in message.calls]
    assert len(set(ids)) == 5
    read1, bash, read2, own, read3 = ids
    answers = [(r.call_id, text_of(r)) for message in messages for r in message.results]
    assert answers == [(bash, "b"), (read1, "r1"), (read2, "r2"), ("", "none"), (read3, "r3"), (own, "o")]
    assert [wire.encode(message, GEMINI) for message in messages] == ROUNDS


def test_a_result_that_states_an_id_answers_the_open_call_of_its_name_that_states_none() -> None:
    rounds = [
        {"role": "model", "parts": [gemini_call("read"), gemini_call("read", id="own"), gemini_call("bash")]},
        {"role": "user", "parts": [gemini_result("read", {"output": "o"}, id="own"), gemini_result("bash", {"output": "b"}, id="bash-17")]},
        {"role": "user", "parts": [gemini_result("read", {"output": "r"}, id="read-17")]},
        {"role": "user", "parts": [gemini_result("read", {"output": "none"}, id="read-18")]},
    ]  # fmt: skip
    messages = wire.decode_all(rounds, GEMINI)
    read, own, bash = (call.id for call in messages[0].calls)
    assert [r.call_id for m in messages for r in m.results] == [own, bash, read, "read-18"]
    assert [wire.encode(message, GEMINI) for message in messages] == rounds


def test_ids_are_the_same_however_a_history_grows() -> None:
    whole = wire.decode_all(ROUNDS, GEMINI)
    for cut in range(len(ROUNDS) + 1):
        first = wire.decode_all(ROUNDS[:cut], GEMINI)
        assert first + wire.decode_all(ROUNDS[cut:], GEMINI, first) == whole


# -- what an edit makes of an item --------------------------------------------------------------------------------


def stubbed(item: dict[str, Any]) -> dict[str, Any]:
    message = read(item)
    parts = tuple(replace(p, parts=(Text("stub"),)) if isinstance(p, ToolResult) else p for p in message.parts)
    return wire.encode(replace(message, parts=parts), message.format)


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (output("function_call", "long", id="o"), output("function_call", "stub", id="o")),
        (output("function_call", [{"type": "input_image", "image_url": "u"}]), output("function_call", "stub")),
        (output("custom_tool_call", "long"), output("custom_tool_call", "stub")),
        (
            output("shell_call", [{"stdout": "long", "stderr": "", "outcome": {"type": "timeout"}}]),
            output("shell_call", [{"stdout": "stub", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]),
        ),
        (
            {"type": "tool_search_output", "call_id": "c", "tools": [{"type": "function"}], "status": "completed"},
            {"type": "tool_search_output", "call_id": "c", "tools": [], "status": "completed"},
        ),
        (
            {"type": "mcp_call", "id": "m", "server_label": "s", "name": "f", "arguments": "{}", "output": "long"},
            {"type": "mcp_call", "id": "m", "server_label": "s", "name": "f", "arguments": "{}", "output": "stub"},
        ),
        (
            {"role": "user", "parts": [gemini_result("f", {"error": "long"}, id="c")]},
            {"role": "user", "parts": [gemini_result("f", {"error": "stub"}, id="c")]},
        ),
        (
            {"role": "user", "parts": [gemini_result("f", {"a": [1], "b": "long"})]},
            {"role": "user", "parts": [gemini_result("f", {"output": "stub"})]},
        ),
    ],
)
def test_a_stubbed_result(item: dict[str, Any], expected: dict[str, Any]) -> None:
    assert stubbed(item) == expected


def test_a_stubbed_screen_is_still_a_screenshot() -> None:
    screen = {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{png(1024, 768)}"}
    said = stubbed(output("computer_call", screen))["output"]
    assert said["type"] == "computer_screenshot"
    assert image_size(base64.b64decode(said["image_url"].partition(",")[2])) == (1, 1)


def test_words_in_place_of_a_picture_that_was_an_item() -> None:
    made = read({"type": "image_generation_call", "id": "ig_1", "result": png(8, 8), "status": "completed"})
    written = wire.encode(replace(made, parts=(Text("[an image]"),)), RESPONSES)
    assert written == {"role": "assistant", "content": "[an image]"}


def test_shortened_arguments_keep_what_stands_beside_them() -> None:
    call = {"functionCall": {"name": "f", "args": {"a": "long"}}, "thoughtSignature": "S"}
    message = read({"role": "model", "parts": [call]})
    [made] = message.calls
    short = replace(message, parts=(replace(made, arguments='{"a": "s"}'),))
    assert wire.encode(short, GEMINI)["parts"] == [{**call, "functionCall": {"name": "f", "args": {"a": "s"}}}]


@pytest.mark.parametrize("format", [RESPONSES, GEMINI])
def test_a_summary_is_a_users_text(format: str) -> None:
    words = "We built it. " * 200
    written = wire.encode(Message("user", (Summary(words),)), format)
    assert written == said_in(format, f"{wire.SUMMARY_PREFIX}{words}{wire.SUMMARY_SUFFIX}")
    written = wire.encode(Message("user", (Summary("We built it."),)), format)
    assert written == said_in(format, f"<summary>\nWe built it.{wire.SUMMARY_SUFFIX}")


# -- other formats ------------------------------------------------------------------------------------------------


def test_thinking_does_not_cross_over() -> None:
    sealed = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E"}
    thought = {"role": "model", "parts": [{"text": "hm", "thought": True, "thoughtSignature": "S"}, {"text": "x"}]}
    for item in (sealed, thought):
        message = read(item)
        for format in set(wire.FORMATS) - {message.format}:
            assert not any(type(p) is Thinking for p in wire.decode(wire.encode(message, format), format).parts)


def test_what_takes_several_items_is_refused_by_name() -> None:
    message = Message("assistant", (Text("x"), ToolCall("c", "f")))
    with pytest.raises(WireError, match="an item each"):
        wire.encode(message, RESPONSES)


CONVERSATION = [
    {"role": "developer", "content": "Be terse."},
    {"role": "user", "content": [{"type": "input_text", "text": "see"}, {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="}]},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "E"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Looking.", "annotations": []}]},
    {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}", "id": "fc_1"},
    {"type": "mcp_call", "id": "m1", "name": "fetch", "arguments": "{}", "output": "page", "server_label": "s"},
    {"type": "function_call", "call_id": "c2", "name": "bash", "arguments": "{}", "id": "fc_2"},
    {"type": "function_call_output", "call_id": "c1", "output": "r"},
    {"type": "function_call_output", "call_id": "c2", "output": "b"},
    {"type": "web_search_call", "id": "ws_1", "status": "completed"},
    {"role": "assistant", "content": "Done."},
]  # fmt: skip


@pytest.mark.parametrize("format", wire.FORMATS)
def test_a_conversation_in_every_format(format: str, tmp_path: Path) -> None:
    """Nothing is split, and what cannot be carried is counted by name."""
    path = tmp_path / "new.json"
    left = write_new(wire.decode_all(CONVERSATION, RESPONSES), format, str(path)).left_out
    document = json.loads(path.read_text())
    items = document if isinstance(document, list) else document.get("messages", document.get("contents"))
    assert not pairing_faults(items)
    assert all(words in path.read_text() for words in ("Be terse.", "see", "Looking.", "page", "iVBORw0KGgo=", "Done."))
    assert left == ({} if format == RESPONSES else {"thinking": 1, "web_search_call": 1})


@pytest.mark.parametrize("format", wire.FORMATS)
def test_gemini_in_every_format(format: str, tmp_path: Path) -> None:
    path = tmp_path / "new.json"
    write_new(wire.decode_all(ROUNDS[:3], GEMINI), format, str(path))
    assert not pairing_faults(json.loads(path.read_text())), "the call without a result got one"


@pytest.mark.parametrize(
    "body",
    [
        {"model": "gpt-5.4", "instructions": "Be terse.", "input": CONVERSATION[1:]},
        {"systemInstruction": {"parts": [{"text": "Be terse."}]}, "contents": ROUNDS},
    ],
)
def test_a_request_in_a_file_is_read(body: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "request.json"
    path.write_text(json.dumps(body))
    session = open_session(str(path))
    said = [message for _, message in session.messages()]
    assert said[0].text == "Be terse."
    given = body.get("input") or body["contents"]
    assert [wire.encode(message, wire.detect(given)) for message in said[1:]] == given


@pytest.mark.parametrize("format", wire.FORMATS)
def test_the_recall_tool_is_declared_in_every_format(format: str) -> None:
    assert '"recall"' in json.dumps(recall_tool(format))


@pytest.mark.parametrize(
    ("reply", "end"),
    [
        ({"status": "completed", "output": [CONVERSATION[2], CONVERSATION[3]]}, "completed"),
        (
            {
                "status": "incomplete",
                "incomplete_details": {"reason": "max_output_tokens"},
                "output": CONVERSATION[3:4],
            },
            "max_output_tokens",
        ),
        ({"candidates": [{"content": {"parts": [{"text": "Looking."}]}, "finishReason": "STOP"}]}, "STOP"),
    ],
)
def test_whole_replies(reply: dict[str, Any], end: str) -> None:
    message, ended = read_reply(reply)
    assert (message.role, message.text, ended) == ("assistant", "Looking.", end)


# -- folding ------------------------------------------------------------------------------------------------------


def test_reasoning_stays_with_the_item_that_follows_it() -> None:
    """References stand for items that only OpenAI has: what follows them may need them."""
    history = [{"role": "user", "content": "go"}]
    for i in range(30):
        history += [
            {"type": "reasoning", "id": f"rs_{i}", "summary": [], "encrypted_content": "E" * 600},
            {"type": "item_reference", "id": f"fc_{i}"},
            {"type": "function_call", "call_id": f"c{i}", "name": "read", "arguments": "{}", "id": f"f_{i}"},
            output("function_call", f"line {i}\n" * 40) | {"call_id": f"c{i}"},
        ]
    for window in range(2_000, 4_000, 250):
        sent = Compactor(Model("m"), window=window).fit(history)
        check_valid(history, sent)
        kept = {item["id"][3:] for item in sent if item.get("type") == "item_reference"}
        assert kept == {item["call_id"][1:] for item in sent if item.get("type") == "function_call"}
        assert len(sent) < len(history)


def test_media_kinds() -> None:
    parts = [{"fileData": {"mimeType": mime, "fileUri": "u"}} for mime in ("image/png", "audio/wav", "text/x")]
    kinds = [p.kind for p in read({"role": "user", "parts": parts}).parts if isinstance(p, Media)]
    assert kinds == ["image", "audio", "document"]
