"""The conversation of a new request holds nothing that its provider would refuse, whatever session it was read from."""

import json
from pathlib import Path
from typing import Any

import pytest

from foldline import Message, Summary, open_session
from foldline import _wires as wire
from foldline._desk.desk import Desk
from foldline._handoff.new_session import NewSession, write_new
from foldline.extend import Text, Thinking, ToolCall, ToolResult
from provider_arrays import refusals

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
SESSIONS = sorted(
    p for p in CORPUS.glob("**/*") if p.is_file() and p.parent != CORPUS and p.suffix not in (".md", ".tsv")
)

FORMATS = ("openai-chat", "openai-responses", "anthropic", "gemini", "bedrock-converse")
each_format = pytest.mark.parametrize("format", FORMATS)

ASKED = Message("user", (Text("Fix it."),))
CALL = ToolCall("call-1", "read", '{"path": "a.py"}')
CALLED = Message("assistant", (CALL,))
RESULT = Message("tool", (ToolResult("call-1", (Text("x = 1"),)),))
DONE = Message("assistant", (Text("Done."),))

HISTORIES = {
    "a call without a result": [ASKED, CALLED, Message("user", (Text("Go on."),)), DONE],
    "a call at the end": [ASKED, CALLED],
    "a result without a call": [ASKED, RESULT, DONE],
    "a result that came twice": [ASKED, CALLED, RESULT, RESULT, DONE],
    "a system message between call and result": [ASKED, CALLED, Message("system", (Text("Be terse."),)), RESULT, DONE],
    "a user between call and result": [ASKED, CALLED, Message("user", (Text("Hurry."),)), RESULT, DONE],
    "results out of order": [
        ASKED,
        Message("assistant", (CALL, ToolCall("call-2", "ls"))),
        Message("tool", (ToolResult("call-2", (Text("a.py"),)),)),
        RESULT,
    ],
    "two replies before their results": [
        ASKED,
        CALLED,
        Message("assistant", (ToolCall("call-2", "ls"),)),
        RESULT,
        Message("tool", (ToolResult("call-2", (Text("a.py"),)),)),
    ],
    "ids that are used again": [ASKED, CALLED, RESULT, CALLED, RESULT],
    "calls without ids": [
        ASKED,
        Message("assistant", (ToolCall("", "ls"),)),
        Message("tool", (ToolResult("", (Text("a.py"),)),)),
    ],
    "ids and names that no provider takes": [
        ASKED,
        Message("assistant", (ToolCall("call|1.é", "functions.read file"),)),
        Message("tool", (ToolResult("call|1.é", (Text("x"),), name="functions.read file"),)),
    ],
    "blank words": [ASKED, Message("assistant", (Text(" \n"), Text("Done."), Text("")))],
    "a message of blank words": [ASKED, Message("assistant", (Text("\n"),)), DONE],
    "a result of blank words": [ASKED, CALLED, Message("tool", (ToolResult("call-1", (Text(""), Text(" "))),))],
    "a failed result without words": [ASKED, CALLED, Message("tool", (ToolResult("call-1", (), error=True),))],
    "a freeform call": [ASKED, Message("assistant", (ToolCall("call-1", "patch", "*** Begin Patch"),)), RESULT],
    "broken arguments": [ASKED, Message("assistant", (ToolCall("call-1", "read", '{"path": "a'),)), RESULT],
    "a reply first": [DONE, ASKED],
    "a call first": [Message("system", (Text("Be terse."),)), CALLED, RESULT],
    "one role twice": [ASKED, ASKED, DONE, DONE, CALLED, RESULT, ASKED],
    "thinking alone": [ASKED, Message("assistant", (Thinking("hm"),)), DONE],
}


def written(messages: list[Message], format: str, folder: Path) -> tuple[Any, NewSession]:
    new = write_new(messages, format, str(folder / f"{format}.json"))
    return json.loads(Path(new.path).read_bytes()), new


@each_format
@pytest.mark.parametrize("kind", HISTORIES)
def test_what_a_session_lacks_is_made_good(kind: str, format: str, tmp_path: Path) -> None:
    document, _ = written(HISTORIES[kind], format, tmp_path)
    assert refusals(document, format) == []


@each_format
@pytest.mark.parametrize("kind", HISTORIES)
def test_histories_of_the_format_itself_are_made_good(kind: str, format: str, tmp_path: Path) -> None:
    own = [Message(m.role, m.parts, format=format) for m in HISTORIES[kind]]
    document, _ = written(own, format, tmp_path)
    assert refusals(document, format) == []


@each_format
def test_a_freeform_call_keeps_its_words(format: str, tmp_path: Path) -> None:
    _, new = written(HISTORIES["a freeform call"], format, tmp_path)
    [call] = [call for message in open_session(new.path).view().messages for call in message.calls]
    assert json.loads(call.arguments) == {"input": "*** Begin Patch"}


@each_format
def test_a_result_without_a_call_is_named(format: str, tmp_path: Path) -> None:
    document, new = written(HISTORIES["a result without a call"], format, tmp_path)
    assert new.left_out == {"result without a call": 1}
    assert "x = 1" not in json.dumps(document)


@each_format
def test_parallel_calls_keep_their_results(format: str, tmp_path: Path) -> None:
    _, new = written(HISTORIES["results out of order"], format, tmp_path)
    results = [result for message in open_session(new.path).view().messages for result in message.results]
    assert [part.text for result in results for part in result.parts if isinstance(part, Text)] == ["x = 1", "a.py"]
    assert new.left_out == {}


@each_format
def test_calls_that_share_an_id_keep_their_own_results(format: str, tmp_path: Path) -> None:
    again = [ASKED, CALLED, RESULT, CALLED, Message("tool", (ToolResult("call-1", (Text("x = 2"),)),))]
    document, _ = written(again, format, tmp_path)
    assert refusals(document, format) == []
    said = json.dumps(document)
    assert said.index("x = 1") < said.index("x = 2")


def test_keys_and_blocks_of_others_are_left_out(tmp_path: Path) -> None:
    """A tool that extends a provider's format keeps notes in it, which the provider refuses."""
    reference = {"type": "tool_reference", "tool_name": "grep"}
    items = [
        {"role": "user", "content": [{"type": "text", "text": "Fix it."}], "ts": 1},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I look.", "ts": 2},
            {"type": "tool_use", "id": "t1", "name": "read", "input": {}, "isNativeToolCall": True}], "modelInfo": {}},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [reference], "metrics": {}}]},
    ]  # fmt: skip
    document, new = written(wire.decode_all(items, "anthropic"), "anthropic", tmp_path)
    assert refusals(document, "anthropic") == []
    assert new.left_out == {"thinking": 1, "tool_reference": 1}
    call: dict[str, Any] = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}, "index": 0}
    chat = [
        {"role": "user", "content": "Fix it."},
        {"role": "assistant", "content": None, "tool_calls": [call], "provider_specific_fields": {}, "reasoning": "hm"},
        {"role": "tool", "tool_call_id": "c1", "content": "a.py", "raw_output": "a.py"},
    ]
    document, _ = written(wire.decode_all(chat, "openai-chat"), "openai-chat", tmp_path)
    assert refusals(document, "openai-chat") == []


def test_what_a_transcript_names_in_its_own_way_is_said_as_its_provider_has_it(tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    told = [{"type": "tool_call", "tool_call_id": "c1", "name": "ls", "arguments": "{}"}]
    chat = [
        {
            "role": "user",
            "content": [{"type": "input_text", "text": "Fix it."}, {"type": "input_text", "text": "Now."}],
        },
        {"role": "assistant", "content": told, "tool_calls": [call], "_metadata": {}},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "tool_output", "text": "a.py"}], "_metadata": {}},
        {"role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
    ]
    document, new = written(wire.decode_all(chat, "openai-chat"), "openai-chat", tmp_path)
    assert refusals(document, "openai-chat") == []
    assert all(said in json.dumps(document) for said in ("Fix it.", "Now.", "a.py", "Done."))
    assert new.left_out == {}


def test_what_a_provider_takes_stays_as_it_is(tmp_path: Path) -> None:
    items = [
        {"role": "user", "content": [{"type": "text", "text": "Fix it.", "cache_control": {"type": "ephemeral"}}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "tool_use", "id": "t1", "name": "read", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "x = 1"}]},
        {"role": "assistant", "content": "Done."},
    ]  # fmt: skip
    assert written(wire.decode_all(items, "anthropic"), "anthropic", tmp_path)[0] == items
    custom = {"id": "c1", "type": "custom", "custom": {"name": "patch", "input": "*** Begin Patch"}}
    chat = [
        {"role": "user", "content": "Fix it."},
        {"role": "assistant", "content": None, "tool_calls": [custom]},
        {"role": "tool", "tool_call_id": "c1", "content": ""},
    ]
    assert written(wire.decode_all(chat, "openai-chat"), "openai-chat", tmp_path)[0] == chat


@each_format
def test_a_summary_may_come_first(format: str, tmp_path: Path) -> None:
    document, _ = written([Message("user", (Summary("Earlier: a.py."),)), DONE], format, tmp_path)
    assert refusals(document, format) == []
    assert "not in the session" not in json.dumps(document)


@each_format
def test_a_projects_instructions_are_carried(format: str, tmp_path: Path) -> None:
    """Codex says them to the model in a user's message, and says them anew behind a fold; a provider does not."""
    rules = "# AGENTS.md instructions for /repo\n\n<INSTRUCTIONS>\nNever edit vendor/.\n</INSTRUCTIONS>"
    rows: list[dict[str, Any]] = [{"type": "session_meta", "payload": {"id": "s", "cwd": "/repo"}}]
    said = [("user", rules)]
    for n in range(12):
        said += [("user", f"Prompt {n}. " + "word " * 400), ("assistant", f"Answer {n}. " + "word " * 400)]
    for role, text in said:
        kind = "output_text" if role == "assistant" else "input_text"
        item = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        rows.append({"type": "response_item", "payload": item})
    path = tmp_path / "rollout-2026-11-22T10-00-00-s.jsonl"
    path.write_text("".join(json.dumps({"timestamp": "2026-11-22T10:00:00Z", **row}) + "\n" for row in rows))
    desk = Desk(open_session(path))
    planned = desk.plan(desk.settings.to_policy(), into=format)
    assert planned.fold.receipt.messages_folded > 10
    document = json.loads(Path(planned.write(str(tmp_path / "new.json")).path).read_bytes())
    assert refusals(document, format) == []
    assert json.dumps(document).count(json.dumps(rules)[1:-1]) == 1


@each_format
@pytest.mark.parametrize("said", [7, True, [7], [[]]], ids=str)
def test_what_is_no_content_stands_in_no_new_session(format: str, said: object, tmp_path: Path) -> None:
    key = "parts" if format == "gemini" else "content"
    odd = [wire.decode({"role": "user", key: said}, format) for _ in range(2)]
    document, _ = written([ASKED, DONE, *odd], format, tmp_path)
    assert refusals(document, format) == []


@pytest.mark.parametrize("said", [7, {"a": 1}, [{"text": None}]], ids=str)
def test_a_reply_without_content_is_no_end_of_a_new_session_of_claude_code(said: object, tmp_path: Path) -> None:
    odd = [wire.decode({"role": role, "content": said}, "anthropic") for role in ("user", "assistant", "user")]
    new = write_new([ASKED, DONE, *odd], "claude-code", str(tmp_path / "new.jsonl"), cwd="/demo")
    assert [m.text for m in open_session(new.path).context.messages][:2] == ["Fix it.", "Done."]


@pytest.mark.skipif(not SESSIONS, reason="the corpus of real sessions is not here: nothing of it was judged")
@pytest.mark.parametrize("session", SESSIONS, ids=lambda path: path.name[-24:])
def test_no_provider_refuses_a_real_session(session: Path, tmp_path: Path) -> None:
    desk = Desk(open_session(session))
    planned = desk.plan(desk.settings.to_policy(), into="pi")
    for format in FORMATS:
        for messages in (desk.view.messages, planned.after.messages):
            document, new = written(messages, format, tmp_path)
            assert refusals(document, format) == []
            Path(new.path).unlink()
