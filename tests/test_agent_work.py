"""The agent at work: five windows of it at a strict provider, overflows, replies that are cut off, and processes that are killed."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import random
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from chatting import agent_in, kept, of, ran, told
from foldline import Message, Session, SessionError
from foldline.extend import ToolCall, text_of
from foldline_agent.agent import Agent
from foldline_agent.asking import LanguageModel
from foldline_agent.events import Event, Failed, FoldEnded, ReplyEnded, ReplyStarted, RunEnded
from killing import echo
from providers import Provider, Reply, resets, says
from strict import CHARACTERS, Strict

RULE = "Never touch config/prod.yaml."
REQUESTS = (f"Write every part. {RULE}", "The port is 8443. What is left?", "And what is left now?")
WINDOW = 8_000
STEPS = 15
"""Replies to each request; all but the last of them call a tool."""


def part(number: int) -> str:
    """A file of about 1,800 tokens."""
    return "".join(f"setting_{number * 7 + row} = 'part {number} reads it in line {row}'\n" for row in range(160))


def working(number: int) -> tuple[str, dict[str, Any]]:
    """Each part is written, read, mended and shown, and what was said of the first one is recalled."""
    at, now = divmod(number - 1, 5)
    path = f"src/part_{at + 1}.py"
    calls: tuple[tuple[str, dict[str, Any]], ...] = (
        ("write", {"path": path, "content": part(at + 1)}),
        ("read", {"path": path}),
        ("edit", {"path": path, "oldText": "in line 7'", "newText": "in line seven'"}),
        ("bash", {"command": f"cat {path}"}),
        ("recall", {"query": "setting_7 in part 1"}),
    )
    return calls[now]


class Chat:
    """`foldline chat --rpc` in a process of its own, driven by lines as a program does."""

    def __init__(self, path: Path, *options: str) -> None:
        program = "from foldline_agent.command import chat; chat()"
        command = [sys.executable, "-c", program, "--rpc", "--yes", "--session", str(path), *options]
        self.process = subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True, cwd=path.parent)
        self.heard: list[dict[str, Any]] = []

    def ask(self, until: str, **command: Any) -> dict[str, Any]:
        """Says a line and hears others until one of that type."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            self.heard.append(json.loads(line))
            if self.heard[-1]["type"] == until:
                return self.heard[-1]
        raise EOFError(f"it ended before {until}: {self.heard[-3:]}")

    def kinds(self, kind: str) -> list[dict[str, Any]]:
        return [line for line in self.heard if line["type"] == kind]

    def __enter__(self) -> Chat:
        return self

    def __exit__(self, *failed: object) -> None:
        with self.process:
            if any(failed):
                self.process.kill()


def work_for(chat: Chat, path: Path) -> None:
    """Three requests of a user, who pins what became of the first one."""
    for number, request in enumerate(REQUESTS):
        chat.ask("agent_settled", type="prompt", message=request)
        if number == 0:
            session = Session(path)
            session.pin([id for id, _ in session.messages()][-1])


@pytest.mark.parametrize(
    ("name", "place"),
    [("m", "/v1"), ("anthropic:claude-sonnet-5", ""), ("openai-responses:gpt-5.4", "/v1")],
    ids=["chat", "anthropic", "responses"],
)
def test_five_windows_of_work_at_a_strict_provider(
    tmp_path: Path, name: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for provider in ("ANTHROPIC", "OPENAI"):
        monkeypatch.setenv(f"{provider}_API_KEY", "none")
    path = tmp_path / "s.jsonl"
    with Strict(WINDOW, STEPS, calls=working) as strict:
        at = ("--model", name, "--base-url", strict.provider.root + place, "--window", str(WINDOW))
        with Chat(path, *at) as chat:
            work_for(chat, path)
        assert strict.refused == []
        requests = [request.text for request in strict.provider.requests]
    session = Session(path)
    assert chat.kinds("error") == []
    assert [line["end"] for line in chat.kinds("agent_end")] == ["stop"] * 3
    assert len(session.folds()) == len(chat.kinds("compaction_end")) > 1
    assert len(requests) == STEPS * len(REQUESTS)
    assert said_in(session) // CHARACTERS > 5 * WINDOW
    assert [result for _, m, _ in session.lineage() for result in m.results if result.error] == []
    (pinned,) = {m.text for m in session.context.pinned}
    for number, each in enumerate(requests):
        must = [REQUESTS[0], REQUESTS[number // STEPS], *([pinned] if number >= STEPS else [])]
        assert [words for words in must if words not in each] == [], f"request {number}"


def said_in(session: Session) -> int:
    """Characters of all that was said, called and answered."""
    return sum(
        len(m.text) + sum(len(c.arguments) for c in m.calls) + sum(len(text_of(r)) for r in m.results)
        for _, m, _ in session.lineage()
    )


def test_what_is_refused_as_too_long_is_folded_for_and_sent_again(tmp_path: Path) -> None:
    count = {"call": "bash", "arguments": {"command": "seq 2000"}}
    agent = agent_in(tmp_path, *[count] * 4, {"say": "Counted."}, window=18_000)
    agent.begin(model=replace(agent.model, window=60_000))
    events = ran(agent.run("Count to 2000, four times."))
    assert [fold.reason for fold in of(FoldEnded, events)] == ["overflow"]
    assert of(ReplyEnded, events)[-1].message.text == "Counted."
    assert len(of(ReplyStarted, events)) == len(of(ReplyEnded, events)) + 1
    assert agent.compactor.budget.window == 18_000


def test_a_fold_tells_what_the_script_is_billed_next(tmp_path: Path) -> None:
    agent = agent_in(tmp_path, window=8_000)
    events = [event for number in range(5) for event in ran(agent.run(f"Write part {number}."))]
    folded = next(place for place, event in enumerate(events) if isinstance(event, FoldEnded))
    (receipt,) = (fold.fold.receipt for fold in of(FoldEnded, events[: folded + 1]) if fold.fold)
    usage = of(ReplyEnded, events[folded:])[0].message.usage
    assert usage
    assert usage.prompt == pytest.approx(receipt.tokens_after, rel=receipt.error)


def test_a_throttle_is_no_overflow(tmp_path: Path) -> None:
    count = {"call": "bash", "arguments": {"command": "seq 1500"}}
    busy = (
        "Rate limit reached on tokens per min (TPM): Limit 30000, Used 29500, Requested 1200. Please try again in 1.4s."
    )
    agent = agent_in(tmp_path, *[count] * 3, {"refuse": busy}, {"say": "Counted."}, window=22_000)
    events = ran(agent.run("Count to 1500, three times."))
    assert [busy in failed.error for failed in of(Failed, events)] == [True]
    assert ran(agent.run())[-1] == RunEnded("stop")
    assert kept(agent)[-1] == "Counted."
    assert agent.session.folds() == []


def test_a_reply_whose_connection_breaks_is_asked_for_once_more(tmp_path: Path) -> None:
    async def asked(*script: Reply) -> list[Event]:
        with Provider(*script) as provider:
            model = LanguageModel.named("openai-chat:demo", base_url=provider.url, window=60_000)
            async with model.native:
                session = Session.create(tmp_path / f"{len(script)}.jsonl", cwd=str(tmp_path))
                return await told(Agent(session, model).run("Tell me."))

    events = asyncio.run(asked(resets, says("Here it is.")))
    assert [event.message.text for event in of(ReplyEnded, events)] == ["Here it is."]
    events = asyncio.run(asked(resets))
    assert len(of(ReplyStarted, events)) == 2
    assert of(Failed, events)


def test_a_reply_that_the_window_cut_off_is_asked_for_once_more(tmp_path: Path) -> None:
    count = {"call": "bash", "arguments": {"command": "seq 1500"}}
    cut = {
        "say": "I begin to " + "go on " * 1_600,
        "call": "bash",
        "arguments": {"command": "touch cut"},
        "stop": "length",
    }
    agent = agent_in(tmp_path, *[count] * 3, cut, {"say": "Counted."}, window=15_000)
    events = ran(agent.run("Count to 1500, three times."))
    assert events[-1] == RunEnded("stop")
    assert kept(agent)[-1] == "Counted."
    assert not any(said.startswith("I begin to") for said in kept(agent))
    assert not (tmp_path / "cut").exists()
    assert [fold.reason for fold in of(FoldEnded, events)] == ["overflow"]


def test_a_reply_that_no_fold_would_help_ends_the_run_by_name(tmp_path: Path) -> None:
    cut = {"say": "I begin to", "call": "bash", "arguments": {"command": "touch cut"}, "stop": "length"}
    agent = agent_in(tmp_path, cut)
    events = ran(agent.run("Go."))
    assert events[-1] == RunEnded("length")
    assert kept(agent) == ["Go.", "I begin to"]
    assert not (tmp_path / "cut").exists()
    assert not of(FoldEnded, events)


def test_a_fold_that_is_stopped_leaves_the_session_as_it_was(tmp_path: Path) -> None:
    agent = agent_in(tmp_path, window=9_000)
    for number in range(5):
        ran(agent.run(f"Write part {number}."))
    before = Path(agent.session.path).read_bytes()

    async def never(brief: Any, messages: Any) -> str:
        agent.steer("And then?")
        asyncio.get_running_loop().call_soon(agent.abort)
        await asyncio.Event().wait()
        return ""

    agent.compactor.summarizer = never
    events = ran(agent.compact())
    assert [(fold.fold, fold.aborted) for fold in of(FoldEnded, events)] == [(None, True)]
    assert events[-1] == RunEnded("aborted")
    assert Path(agent.session.path).read_bytes() == before
    assert agent.waiting == ("And then?",)


# -- killed --------------------------------------------------------------------------------------------------------

KILLS = int(os.environ.get("FOLDLINE_KILLS", "10"))
"""How often a process is killed; some hundreds take minutes."""

KILLS_PER_SESSION = 25

CHILD = """
import asyncio, os, signal, sys
from pathlib import Path
from foldline import Compactor, Message, Session
from foldline.extend import Text
from foldline_agent.agent import Agent
from foldline_agent.asking import LanguageModel
from killing import die_at_call, paying

said = [Message("user", (Text(f"{n}: part {n} reads setting_{n} in config/prod.yaml. " * 20),)) for n in range(40)]
Compactor(window=5_000).fold(said)  # with all that each child would load and compile

folder, provider, kind, deaths = Path(sys.argv[1]), sys.argv[2], sys.argv[3], map(int, sys.argv[4:])

async def live(death):
    path = folder / "session.jsonl"
    session = Session(path) if path.exists() else Session.create(path, cwd=str(folder))
    agent = Agent(session, LanguageModel.named("test", window=5_000), allowed=True)
    agent.compactor.summarizer = paying(provider, path.name)
    if kind == "inside":
        die_at_call(10_000 * death)
        death = 0
    while True:
        number = sum(m.role == "user" for _, m, _ in session.lineage()) + 1
        async for event in agent.run(f"Message {number}. Never touch config/prod.yaml."):
            death -= 1
            if not death:
                os.kill(os.getpid(), signal.SIGKILL)

for death in deaths:
    if not (child := os.fork()):
        asyncio.run(live(death))
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1]), "it ended otherwise"
"""


@pytest.mark.parametrize("kind", ["between", "inside"])
def test_processes_that_are_killed_lose_nothing_and_pay_no_summary_twice(tmp_path: Path, kind: str) -> None:
    """Between two events of a run, or at any call of a function: then one whose fold did not stand yet is made again."""
    chance = random.Random(7)
    deaths = [str(chance.randint(1, 60)) for _ in range(KILLS)]
    for first in range(0, KILLS, KILLS_PER_SESSION):
        folder = tmp_path / str(first)
        folder.mkdir()
        killed_in(folder, kind, deaths[first : first + KILLS_PER_SESSION])


def killed_in(folder: Path, kind: str, deaths: list[str]) -> None:
    """Kills processes that work on one session, and looks at what it holds in the end."""
    environment = {"FOLDLINE_COMPACTION__MAX_AUTO_COMPACTIONS": "0", "PYTHONPATH": os.pathsep.join(sys.path)}
    with Provider(echo) as provider:
        command = [sys.executable, "-c", CHILD, str(folder), provider.root, kind, *deaths]
        subprocess.run(command, check=True, env={**os.environ, **environment})
        paid = Counter(request.text for request in provider.requests)
    session = Session(folder / "session.jsonl", strict=kind == "between")
    said = [message for _, message, _ in session.lineage()]
    asked = [message.text for message in said if message.role == "user"]
    assert asked == [f"Message {number}. Never touch config/prod.yaml." for number in range(1, len(asked) + 1)]
    calls = [call.id for message in said for call in message.calls]
    results = [result.call_id for message in said for result in message.results]
    assert len(calls) == len(set(calls))
    assert calls[: len(results)] == results
    assert len(calls) - len(results) <= 1, "the last one was killed before its call was answered"
    folds = [fold for fold in session.folds() if fold.receipt.asked]
    assert folds
    assert len(paid) >= len(folds), "what was paid for was folded with once"
    lost = paid.total() - len(folds)
    assert lost <= (1 if kind == "between" else len(deaths)), (
        "one may have been killed between its answer and its record"
    )
    assert kind == "inside" or paid.total() == len(paid)
    print(
        f"{len(deaths)} kills, {len(said)} messages, {len(folds)} folds, paid {paid.total()}, killed before {lost} of them stood"
    )
    another = agent_in(folder, window=5_000)
    assert ran(another.run("Are you still there?"))[-1] == RunEnded("stop")


HOLDER = """
import sys
from pathlib import Path
from foldline import Session
from foldline_agent.agent import Agent
from foldline_agent.asking import LanguageModel

agent = Agent(Session(sys.argv[1]), LanguageModel.named("test"))
print("here", flush=True)
sys.stdin.read()
"""


def test_one_process_at_a_time_works_on_a_session(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    session = Session.create(path, cwd=str(tmp_path))
    session.append(Message("assistant", (ToolCall("call_1", "bash", "{}"),)))
    model = LanguageModel.named("test")
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdin=PIPE, stdout=PIPE) as other:
        assert other.stdout
        assert other.stdout.readline() == b"here\n"
        before = path.read_bytes()
        with pytest.raises(SessionError, match=r"s\.jsonl.*another agent works on it: end that one first"):
            Agent(Session(path), model)
        elsewhere = Agent(Session.create(tmp_path / "t.jsonl"), model)
        with pytest.raises(SessionError):
            elsewhere.begin(session=Session(path))
        assert elsewhere.session.path == str(tmp_path / "t.jsonl")
        assert path.read_bytes() == before, "the call of the other one is left open"
        Session(path).pin(Session(path).context.entries[0][0])
        other.kill()
    elsewhere.begin(session=Session(path))
    assert sorted(each.name for each in tmp_path.iterdir()) == ["s.jsonl", "s.jsonl.lock", "t.jsonl"]
    del elsewhere
    gc.collect()
    assert not (tmp_path / "s.jsonl.lock").exists()
