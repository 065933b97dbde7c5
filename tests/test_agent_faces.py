"""The agent's faces: text, lines of JSON, pi's RPC, and an editor's protocol, driven by the client of that protocol."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")
pytest.importorskip("acp")

from acp import RequestError, connect_to_agent, run_agent, text_block
from acp.schema import AllowedOutcome, DeniedOutcome, RequestPermissionResponse
from click.testing import CliRunner, Result

from chatting import agent_in
from foldline import Message, Session
from foldline.extend import Text
from foldline_agent.agent import Agent
from foldline_agent.asking import LanguageModel
from foldline_agent.command import chat
from foldline_agent.commands import Command
from foldline_agent.editor import Editor
from foldline_agent.events import Event
from foldline_agent.rpc import Remote

WRITE = {"say": "I write it.", "call": "write", "arguments": {"path": "a.txt", "content": "new"}}
DONE = {"say": "Done."}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def chatted(*words: str, steps: tuple[dict[str, Any], ...] = (WRITE, DONE)) -> Result:
    Path("script.jsonl").write_text("\n".join(map(json.dumps, steps)))
    return CliRunner().invoke(chat, ["--script", "script.jsonl", *words])


def test_text_is_what_the_agent_says() -> None:
    done = chatted("-p", "Write it.", "--yes")
    assert (done.exit_code, done.stdout) == (0, "I write it.\nDone.\n")
    assert "· write" in done.stderr
    assert Path("a.txt").read_text() == "new"


def test_what_nobody_can_be_asked_about_is_not_done() -> None:
    assert chatted("-p", "Write it.").exit_code == 0
    assert not Path("a.txt").exists()


def test_a_tool_that_was_refused_or_failed_is_a_line_beside_the_text() -> None:
    read = {"call": "read", "arguments": {"path": "missing.txt"}}
    done = chatted("-p", "Write it.", steps=(WRITE, read, {"call": "fly"}, DONE))
    assert done.stdout == "I write it.\nDone.\n"
    told = done.stderr.splitlines()
    assert "· write refused: --yes allows it" in told
    assert any(re.match("· read failed: .*missing.txt", line) for line in told)
    assert any(line.startswith("· fly failed: There is no tool 'fly'") for line in told)
    assert told[-1] == "· calls that were refused: 1; --yes allows them"
    assert "--yes" not in chatted("-p", "Write it.", "--yes").stderr


def test_what_is_no_utf_8_is_asked_and_kept_with_a_mark_for_what_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    assert chatted("-p", os.fsdecode(b"caf\xe9"), "--session", str(path), steps=(DONE,)).exit_code == 0
    assert Session(path).context.messages[0].text == "caf\N{REPLACEMENT CHARACTER}"
    assert b"\\udc" not in path.read_bytes()
    done = CliRunner().invoke(chat, ["--script", "script.jsonl", "-p", "--session", str(path)], input=b"\xff\xfe")
    assert done.exit_code == 0, done.exception
    assert Session(path).context.messages[2].text == 2 * "\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize("face", ["-p", "--json"])
def test_a_script_that_was_not_asked_for_is_told(face: str) -> None:
    told = "the model plays a script; --model PROVIDER:NAME takes a real one"
    assert told in CliRunner().invoke(chat, [face, "Write it."]).stderr
    assert told not in CliRunner().invoke(chat, [face, "Write it.", "--model", "test"]).stderr
    assert told not in chatted(face, "Write it.").stderr


@pytest.mark.parametrize("faces", [("-p", "--json"), ("--rpc", "--acp")])
def test_two_faces_at_once_are_refused(faces: tuple[str, ...]) -> None:
    done = chatted(*faces, "Write it.")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "one can be taken" in done.stderr


def test_lines_are_those_of_pi() -> None:
    done = chatted("--json", "Write it.", "--yes")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [line["type"] for line in lines if line["type"] not in ("message_update", "context_usage")]
    said, turn = ["message_start", "message_end"], ["turn_start", "message_start", "message_end"]
    tool = ["tool_execution_start", "tool_execution_end", *said, "turn_end"]
    assert kinds == ["session", "agent_start", *said, *turn, *tool, *turn, "turn_end", "agent_end", "agent_settled"]
    messages = lines[-2]["messages"]
    roles = [message["role"] for message in messages]
    assert roles == ["user", "assistant", "toolResult", "assistant"]
    ends = [message["stopReason"] for message in messages if message["role"] == "assistant"]
    assert ends == ["toolUse", "stop"]


def test_a_fold_is_told_on_lines(tmp_path: Path) -> None:
    """ "Print/JSON: Compaction events emitted as output" (the plan for pi's compaction)."""
    long = {"call": "bash", "arguments": {"command": "seq 3000"}}
    done = chatted("--json", "Count.", "--yes", "--window", "6000", steps=(long, long, DONE))
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    begun = [line for line in lines if line["type"] == "compaction_start"]
    ended = [line for line in lines if line["type"] == "compaction_end"]
    assert len(begun) == len(ended) >= 1
    assert all(line["reason"] in ("threshold", "overflow") for line in begun)
    assert ended[0]["result"]["tokensBefore"] > ended[0]["result"]["estimatedTokensAfter"]


@pytest.mark.parametrize(
    ("words", "told"),
    [(("--session", "/nowhere/s.jsonl"), "/nowhere/s.jsonl"), (("--model", "openai:gpt-5.4"), "OPENAI_API_KEY")],
)
def test_what_fails_is_a_line_too(words: tuple[str, ...], told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """ "In JSON/RPC mode: emit {"type": "error", "error": "message"}" (the plan for pi's compaction)."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = chatted("--json", "Hello", *words)
    line = json.loads(done.stdout)
    assert (done.exit_code, line["type"]) == (1, "error")
    assert told in line["error"]


def test_a_new_session_is_where_pi_keeps_those_of_the_directory(tmp_path: Path) -> None:
    chatted("-p", "Write it.")
    (path,) = (tmp_path / "home/.pi/agent/sessions").glob("*/*.jsonl")
    assert path.parent.name == f"--{str(tmp_path).strip('/').replace('/', '-')}--"
    assert Session(path).model == "scripted"


def test_a_session_is_gone_on_with_by_its_place_its_id_or_as_the_newest(tmp_path: Path) -> None:
    chatted("-p", "One.", "--yes")
    (path,) = (tmp_path / "home/.pi/agent/sessions").glob("*/*.jsonl")
    for words in (("--session", str(path)), ("--session", Session(path).id), ("--continue",)):
        assert chatted("-p", "Again.", *words, steps=(WRITE, DONE, DONE, DONE, DONE)).exit_code == 0
    said = [message.text for _, message in Session(path).messages() if message.role == "user"]
    assert said == ["One.", "Again.", "Again.", "Again."]


# -- what the page says --------------------------------------------------------------------------------------------

PAGE = (Path(__file__).parent.parent / "docs" / "chat.md").read_text("utf-8")


def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    exec(compile(block, "chat.md", "exec"), {})
    said = capsys.readouterr().out
    assert "ledger/part_5.py is done: it prints 4100." in said
    assert "folded: " in said
    exec(compile(block.replace("range(1, 6)", "range(1, 2)"), "chat.md", "exec"), {})
    assert "ledger/part_6.py is done: it prints 4920." in capsys.readouterr().out, "it goes on"


def test_the_page_names_every_event_and_every_command() -> None:
    shown = set(re.findall(r"[`\"](\w+)[`\"]", PAGE))
    assert {kind.__name__ for kind in Event.__subclasses__()} <= shown
    assert {kind.__struct_config__.tag for kind in Command.__subclasses__()} <= shown


# -- RPC -----------------------------------------------------------------------------------------------------------


class Client:
    """A program that drives the agent: it says a line, and hears lines until one fits."""

    def __init__(self, agent: Agent) -> None:
        self.heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._said: asyncio.Queue[str] = asyncio.Queue()
        self._serving = asyncio.create_task(Remote(agent, self.heard.put_nowait).serve(self._lines()))

    def say(self, **command: Any) -> None:
        self._said.put_nowait(json.dumps(command))

    async def until(self, **wanted: Any) -> dict[str, Any]:
        while True:
            line = await self.heard.get()
            if wanted.items() <= line.items():
                return line

    async def ask(self, **command: Any) -> dict[str, Any]:
        self.say(id="1", **command)
        return await self.until(type="response", id="1", command=command["type"])

    async def end(self) -> None:
        self._said.put_nowait("")
        await self._serving

    async def _lines(self) -> AsyncIterator[str]:
        while line := await self._said.get():
            yield line


def test_a_program_prompts_compacts_and_asks_how_it_stands(tmp_path: Path) -> None:
    """ "RPC: Compaction events sent to client" (the plan for pi's compaction)."""

    async def drive() -> None:
        client = Client(agent_in(tmp_path, window=12_000))
        for part in range(4):
            assert (await client.ask(type="prompt", message=f"Write part {part}."))["success"]
            await client.until(type="agent_end")
        client.say(id="1", type="compact", customInstructions="Keep the sums.")
        assert (await client.until(type="compaction_start"))["reason"] == "manual"
        assert (await client.until(type="compaction_end"))["result"]["firstKeptEntryId"]
        folded = await client.until(type="response", id="1", command="compact")
        assert set(folded["data"]) >= {"summary", "firstKeptEntryId", "tokensBefore", "details"}
        stats = (await client.ask(type="get_session_stats"))["data"]
        assert (stats["userMessages"], stats["toolCalls"], stats["toolResults"]) == (4, 16, 16)
        assert stats["tokens"]["total"] == sum(n for name, n in stats["tokens"].items() if name != "total") > 0
        assert stats["contextUsage"]["contextWindow"] == 12_000
        assert await client.ask(type="set_auto_compaction", enabled=False)
        state = (await client.ask(type="get_state"))["data"]
        assert (state["autoCompactionEnabled"], state["isStreaming"], state["isCompacting"]) == (False, False, False)
        messages = (await client.ask(type="get_messages"))["data"]["messages"]
        assert messages[0]["role"] == "compactionSummary"
        assert len(messages) == state["messageCount"]
        assert (await client.ask(type="get_last_assistant_text"))["data"] == {
            "text": "ledger/part_4.py is done: it prints 3280."
        }
        await client.end()

    asyncio.run(drive())


def test_a_program_steers_stops_and_allows(tmp_path: Path) -> None:
    wait = {"call": "bash", "arguments": {"command": "sleep 60"}}

    async def drive() -> None:
        client = Client(agent_in(tmp_path, WRITE, wait, DONE, {"say": "Two."}, allowed=False))
        client.say(type="prompt", message="Begin.")
        asked = await client.until(method="confirm")
        refused = await client.ask(type="prompt", message="Now?")
        assert (refused["success"], "streamingBehavior" in refused["error"]) == (False, True)
        assert (await client.ask(type="prompt", message="Then?", streamingBehavior="followUp"))["success"]
        client.say(type="extension_ui_response", id=asked["id"], confirmed=True)
        asked = await client.until(method="confirm")
        client.say(type="extension_ui_response", id=asked["id"], confirmed=True)
        assert (await client.ask(type="abort"))["success"]
        assert (await client.ask(type="get_state"))["data"]["pendingMessageCount"] == 1
        client.say(type="prompt", message="Go on.")
        await client.until(type="agent_end", end="stop")
        await client.end()

    asyncio.run(drive())
    said = [m.text for _, m in Session(tmp_path / "session.jsonl").messages() if m.text]
    assert said == ["Begin.", "I write it.", "Go on.", "Done.", "Then?", "Two."]
    assert (tmp_path / "a.txt").read_text() == "new"


def test_a_program_takes_back_what_waits_behind_a_run_that_it_stops(tmp_path: Path) -> None:
    wait = {"call": "bash", "arguments": {"command": "sleep 60"}}

    async def drive() -> None:
        client = Client(agent_in(tmp_path, wait, {"say": "Two."}))
        client.say(type="prompt", message="Begin.")
        await client.until(type="tool_execution_start")
        client.say(type="steer", message="Not so.")
        client.say(type="follow_up", message="And then?")
        assert (await client.ask(type="abort"))["success"]
        taken = await client.ask(type="clear_queue")
        assert taken["data"] == {"steering": ["Not so."], "followUp": ["And then?"]}
        client.say(type="prompt", message="Go on.")
        await client.until(type="agent_end", end="stop")
        await client.end()

    asyncio.run(drive())
    said = [m.text for _, m in Session(tmp_path / "session.jsonl").messages() if m.text and m.role != "tool"]
    assert said == ["Begin.", "Go on.", "Two."]


def test_messages_are_told_of_a_session_that_another_program_wrote_to(tmp_path: Path) -> None:
    async def drive() -> list[str]:
        client = Client(agent_in(tmp_path, {"say": "One."}, {"say": "Two."}))
        client.say(type="prompt", message="Begin.")
        await client.until(type="agent_end")
        Session(tmp_path / "session.jsonl").append(Message("user", (Text("Said elsewhere."),)))
        client.say(type="prompt", message="Go on.")
        messages = (await client.until(type="agent_end"))["messages"]
        await client.end()
        return [message["content"][0]["text"] for message in messages]

    assert asyncio.run(drive()) == ["Go on.", "Two."]


@pytest.mark.parametrize(
    ("line", "command", "told"),
    [
        ("{", "parse", "truncated"),
        ('{"type": "fly", "deep": ' + "[" * 100_000, "parse", "fly"),
        ('{"type": "fly"}', "parse", "fly"),
        ('{"type": "prompt"}', "parse", "message"),
        ('{"type": "prompt", "message": "Look.", "images": [{}]}', "parse", "images"),
        ('{"type": "switch_session", "sessionPath": "/nowhere"}', "switch_session", "/nowhere"),
        ('{"type": "compact"}', "compact", "nothing to fold"),
    ],
)
def test_a_command_that_cannot_be_done_is_answered(tmp_path: Path, line: str, command: str, told: str) -> None:
    heard: list[dict[str, Any]] = []

    async def lines() -> AsyncIterator[str]:
        yield line

    asyncio.run(Remote(agent_in(tmp_path), heard.append).serve(lines()))
    assert (heard[-1]["command"], heard[-1]["success"]) == (command, False)
    assert told in heard[-1]["error"]


def test_an_answer_carries_the_id_as_it_came() -> None:
    lines = (
        b'{"type": "get_state", "id": 7}',
        b'{"type": "fly", "id": "8"}',
        b'{"type": "prompt", "id": 9}',
        b"\xff\xfe",
    )
    done = CliRunner().invoke(chat, ["--rpc"], input=b"\n".join(lines))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(line.get("id"), line["success"]) for line in answers] == [
        (7, True),
        ("8", False),
        (9, False),
        (None, False),
    ]
    assert done.exit_code == 0


# -- an editor -----------------------------------------------------------------------------------------------------


class EditorClient:
    """The editor's side: it keeps what it is shown, and allows what it is asked, or not."""

    def __init__(self, *, allows: bool) -> None:
        self.allows = allows
        self.shown: list[Any] = []

    def on_connect(self, conn: Any) -> None:
        pass

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.shown.append(update)

    async def request_permission(self, options: list[Any], **_: Any) -> RequestPermissionResponse:
        if not self.allows:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        allowed = next(option for option in options if option.kind == "allow_once")
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=allowed.option_id))

    def said(self, kind: str = "agent_message_chunk") -> list[str]:
        return [each.content.text for each in self.shown if each.session_update == kind]


@asynccontextmanager
async def connected(client: EditorClient, script: Path | None = None, window: int | None = None) -> AsyncIterator[Any]:
    """The client's connection to an agent behind a pair of sockets."""
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours)
    agent_reader, agent_writer = await asyncio.open_connection(sock=theirs)

    def agent_for(session: Session) -> Agent:
        return Agent(session, LanguageModel.named("test", window=window, script_file=script))

    editor: Any = Editor(agent_for)
    serving = asyncio.create_task(run_agent(editor, agent_writer, agent_reader))
    side: Any = client
    connection = connect_to_agent(side, writer, reader)
    yield connection
    await connection.close()
    for each in (writer, agent_writer):
        each.close()
    await serving


@pytest.mark.parametrize("allows", [True, False])
def test_an_editor_prompts_and_is_asked(tmp_path: Path, allows: bool) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text(f"{json.dumps(WRITE)}\n{json.dumps(DONE)}")
    client = EditorClient(allows=allows)

    async def drive() -> None:
        async with connected(client, script) as connection:
            about = await connection.initialize(protocol_version=1)
            assert about.agent_capabilities.load_session
            session = await connection.new_session(cwd=str(tmp_path), mcp_servers=[])
            done = await connection.prompt(session_id=session.session_id, prompt=[text_block("Write it.")])
            assert done.stop_reason == "end_turn"
            await connection.load_session(cwd=str(tmp_path), session_id=session.session_id, mcp_servers=[])
            with pytest.raises(RequestError):
                await connection.prompt(session_id="none", prompt=[text_block("Hello?")])

    asyncio.run(drive())
    assert (tmp_path / "a.txt").exists() is allows
    assert client.said() == ["I write it.", "Done."] * 2
    assert client.said("user_message_chunk") == ["Write it."]
    calls = [each for each in client.shown if each.session_update == "tool_call_update"]
    assert [each.status for each in calls] == ["completed" if allows else "failed"] * 2


def test_an_editor_folds_by_hand_and_stops(tmp_path: Path) -> None:
    client = EditorClient(allows=True)

    async def drive() -> None:
        async with connected(client, window=8_000) as connection:
            session = (await connection.new_session(cwd=str(tmp_path), mcp_servers=[])).session_id
            for part in range(3):
                await connection.prompt(session_id=session, prompt=[text_block(f"Write part {part}.")])
            assert (
                await connection.prompt(session_id=session, prompt=[text_block("/compact the sums")])
            ).stop_reason == "end_turn"

    asyncio.run(drive())
    folds = [each for each in client.shown if getattr(each, "tool_call_id", "") == "fold"]
    assert [each.status for each in folds] == ["in_progress", "completed"]
    assert folds[-1].title.startswith("Folded from")
    assert next(each.size for each in client.shown if each.session_update == "usage_update") == 8_000


def test_a_line_that_is_no_message_is_answered_and_the_next_one_too(caplog: pytest.LogCaptureFixture) -> None:
    begin = {"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": {"protocolVersion": 1}}
    unknown = {"jsonrpc": "2.0", "id": 2, "method": "fly", "params": {}}
    told = {"jsonrpc": "2.0", "method": "fly", "params": {}}
    odd = [[], {"id": []}, {"id": 3, "method": 4}, {"id": 5, "method": "initialize", "params": 6}]
    lines = [
        b"garbage",
        b"\xff\xfe",
        b"[" * 100_000,
        *(json.dumps(line).encode() for line in (*odd, told, unknown, begin)),
    ]
    done = CliRunner().invoke(chat, ["--acp"], input=b"\n".join(lines))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    codes = [(line["id"], line["error"]["code"]) for line in answers if "error" in line]
    assert codes == [(None, -32700)] * 3 + [(None, -32600)] * 2 + [(3, -32600), (5, -32600), (2, -32601)]
    assert [line["id"] for line in answers if "result" in line] == ["a"]
    assert (done.exit_code, [record for record in caplog.records if record.exc_info]) == (0, [])


def sessions() -> list[Path]:
    """The files of sessions that are kept below the user's home."""
    return [*Path.home().rglob("*.jsonl")]


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (("--rpc",), [{"type": "get_state"}]),
        (("--rpc",), [{"type": "new_session"}, {"type": "new_session"}]),
        (("--rpc", "--policy", "nowhere"), []),
        (("--acp",), [{"id": 1, "method": "session/new", "params": {"cwd": ".", "mcpServers": []}}]),
        (
            ("--acp", "--policy", "nowhere"),
            [{"id": 1, "method": "session/new", "params": {"cwd": ".", "mcpServers": []}}],
        ),
    ],
)
def test_a_session_in_which_nothing_was_said_is_not_kept(words: tuple[str, ...], lines: list[Any]) -> None:
    begin = {"id": 0, "method": "initialize", "params": {"protocolVersion": 1}}
    said = [{"jsonrpc": "2.0", **line} for line in (begin, *lines)] if "--acp" in words else lines
    done = CliRunner().invoke(chat, words, input="\n".join(map(json.dumps, said)))
    assert len(done.stdout.splitlines()) >= len(lines)
    assert sessions() == []


def test_a_session_in_which_something_was_said_is_kept() -> None:
    chatted("-p", "Write it.")
    CliRunner().invoke(chat, ["--rpc", "-c"], input=json.dumps({"type": "new_session"}))
    [kept] = sessions()
    assert [*Session(kept).messages()]


@pytest.mark.parametrize(("face", "stdin"), [("--rpc", "<&-"), ("--acp", "</dev/null")])
def test_a_program_that_says_nothing_ends_it(face: str, stdin: str) -> None:
    program = "from foldline_agent.command import chat; chat()"
    command = f'exec "{sys.executable}" -c "{program}" {face} --model test {stdin}'
    done = subprocess.run(command, shell=True, capture_output=True, timeout=30, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")
