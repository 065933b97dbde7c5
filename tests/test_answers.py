"""A tool's answer without what clients put around it; the frames are those of recorded sessions."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline import Message
from foldline._facts.answers import unframed
from foldline._facts.reading import facts_of
from foldline.extend import Text, ToolCall, ToolResult

SAID = "12 passed in 0.3s"


@pytest.mark.parametrize(
    "answer",
    [
        SAID,
        f"Chunk ID: cabb9b\nWall time: 0.0000 seconds\nProcess exited with code 0\nOriginal token count: 2007\nOutput:\n{SAID}",
        f"Command: /bin/zsh -lc 'pytest -q'\nChunk ID: dc3c0e\nWall time: 1.2 seconds\nProcess exited with code 0\nOutput:\n{SAID}",
        f"Command: /bin/zsh -lc \"cat > try.py <<'EOF'\nimport os\nEOF\npytest -q\"\nChunk ID: dc3c0e\nWall time: 1.2 seconds\nProcess exited with code 0\nOutput:\n{SAID}",
        f"Exit code: 0\nWall time: 0.1 seconds\nTotal output lines: 1\nOutput:\n\n{SAID}",
        f"Script completed\nWall time 0.1 seconds\nOutput:\n\n{SAID}",
        json.dumps({"chunk_id": "f5fa46", "wall_time_seconds": 5.0, "exit_code": 0, "output": f"{SAID}\n"}, separators=(",", ":")),
        json.dumps({"output": SAID, "metadata": {"exit_code": 0, "duration_seconds": 0.1}}, separators=(",", ":")),
        "Script completed\nWall time 1.0 seconds\nOutput:\n\n" + json.dumps({"chunk_id": "f5fa46", "wall_time_seconds": 1.0, "exit_code": 0, "output": f"{SAID}\n"}, separators=(",", ":")),
        "Script completed\nOutput:\n" + json.dumps({"content": [{"type": "text", "text": SAID}], "isError": False}),
        f"<returncode>0</returncode>\n<output>\n{SAID}\n</output>",
        f"{SAID}\n[The command completed with exit code 0.]\n[Current working directory: /srv]\n[Python interpreter: /usr/bin/python]",
        f"Command: pytest -q\nDirectory: (root)\nOutput: {SAID}\nError: (none)\nExit Code: 0\nSignal: 0\nBackground PIDs: (none)\nProcess Group PGID: 203",
        f"Output: {SAID}\nProcess Group PGID: 203",
        'MCP tool \'push\' reported tool error for function call: {"name":"push","args":{"text":"{\\"a\\": 1}"}} with response: [{"functionResponse":{"name":"push","response":{"content":[{"type":"text","text":"' + SAID + '"}],"isError":true}}}]',
        f"[execute_command for 'cd /srv && pytest -q'] Result:\nCommand executed.\nOutput:\n{SAID}",
        f"[execute_command] Result:\n{SAID}",
        f"{SAID}\n(Open file: n/a)\n(Current directory: /srv)\nbash-$",
    ],
)  # fmt: skip
def test_the_frame_is_no_part_of_an_answer(answer: str) -> None:
    assert unframed(answer) == SAID


@given(st.text())
def test_an_answer_without_a_frame_is_as_it_was(answer: str) -> None:
    assert unframed(f". {answer} .") == f". {answer} ."


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_record_says_what_was_written_into_it(said: str) -> None:
    record = json.dumps({"chunk_id": "f5fa46", "output": said}, separators=(",", ":"))
    assert unframed(record) == said.strip("\n")


def test_a_poll_that_brought_nothing_tells_nothing() -> None:
    record = '{"chunk_id":"f5fa46","wall_time_seconds":5.0,"session_id":24609,"original_token_count":0,"output":""}'
    call = ToolCall("c1", "write_stdin", '{"session_id":24609,"chars":""}')
    facts = facts_of([
        Message("user", (Text("Run the slow tests, please, all of them."),)),
        Message("assistant", (call,)),
        Message("tool", (ToolResult("c1", (Text(record),)),)),
    ])  # fmt: skip
    assert not [p.text for p in facts.pieces if "chunk_id" in p.text or "f5fa46" in p.text]


def test_a_command_that_a_script_wraps_is_the_command() -> None:
    script = 'const r = await tools.exec_command({"cmd":"cargo test systemd --lib","workdir":"/srv"}); text(r.output);'
    call = ToolCall("c1", "exec", json.dumps(script))
    facts = facts_of([
        Message("user", (Text("Run the tests of systemd, please."),)),
        Message("assistant", (call,)),
        Message("tool", (ToolResult("c1", (Text(f"Script completed\nWall time 0.8 seconds\nOutput:\n\n{SAID}"),)),)),
    ])  # fmt: skip
    assert [(c.text, c.outcome, c.note) for c in facts.commands] == [("cargo test systemd --lib", "ok", SAID)]


def test_of_a_result_of_the_protocol_its_data_is_what_was_said() -> None:
    data = {"number": 10973, "state": "open", "node": "MDQ6VXNlcjEwOTExNDEy0"}
    answer = json.dumps({"isError": False, "content": [{"type": "text", "text": "Done."}], "structuredContent": data})
    facts = facts_of([
        Message("user", (Text("Open the pull request for the lock, please."),)),
        Message("assistant", (ToolCall("c1", "mcp__github__create_pull_request", '{"title":"The lock"}'),)),
        Message("tool", (ToolResult("c1", (Text(answer),)),)),
    ])  # fmt: skip
    told = "mcp__github__create_pull_request title=The lock → number: 10973, state: open"
    assert [p.text for p in facts.pieces if p.by == "tool"] == [told]
