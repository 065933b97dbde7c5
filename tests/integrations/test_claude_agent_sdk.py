"""foldline in Claude's Agent SDK, whose own program asks a scripted model on loopback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pages
import pytest

pytest.importorskip("claude_agent_sdk", reason="claude-agent-sdk is not installed: make integrations")

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    InMemorySessionStore,
    ResultMessage,
    SessionStore,
    create_sdk_mcp_server,
    project_key_for_directory,
    tool,
)
from claude_agent_sdk.testing import run_session_store_conformance
from work import CHARACTERS, PIN, REQUESTS, RULE, Sent, output

from foldline import Brief, Folded, Message, Summary
from foldline.extend import extract
from foldline.integrations.claude_agent_sdk import Folding
from providers import Provider as Server
from providers import Request, _Handler

WINDOW = 20_000
RUNS = 18
"""How often the session is resumed; each time the model reads ten parts."""

PARTS = 10


def texts(content: Any) -> Iterator[str]:
    """All words of a content, those of the program's own reminders left out."""
    for block in [content] if isinstance(content, str) else content:
        if isinstance(block, str):
            yield block
        elif block["type"] == "text":
            yield block["text"]
        elif block["type"] == "tool_result":
            yield from texts(block["content"])
        elif block["type"] == "tool_use":
            yield json.dumps(block["input"])


def blocks(messages: list[Any], kind: str) -> list[Any]:
    return [b for m in messages if not isinstance(m["content"], str) for b in m["content"] if b["type"] == kind]


class Model:
    """The scripted model: it reads so many parts for each prompt, side by side, and then says that it has."""

    def __init__(self, parts: int = PARTS) -> None:
        self.parts = parts
        self.sent: list[Sent] = []
        self.billed: list[int] = []

    def answer(self, handler: _Handler, request: Request) -> None:
        body = request.body
        if not request.path.endswith("/messages") or not body.get("tools"):
            handler.send(404 if "count" in request.path else 200, json.dumps({"input_tokens": 9}).encode())
            return
        messages = [message for message in body["messages"] if message["role"] != "system"]
        self.billed.append(len(json.dumps(body)) // CHARACTERS)
        calls = [b["id"] for b in blocks(messages, "tool_use")]
        results = [b["tool_use_id"] for b in blocks(messages, "tool_result")]
        self.sent.append(Sent("\n".join(t for m in messages for t in texts(m["content"])), (*calls,), (*results,)))
        done = bool(blocks(messages[-1:], "tool_result"))
        number = len(self.sent)
        content: list[dict[str, Any]] = [{"type": "text", "text": f"I have read them ({number})."}]
        if not done:
            names = range(number * PARTS, number * PARTS + self.parts)
            read = "mcp__parts__read"
            content += [{"type": "tool_use", "id": f"toolu_{n}", "name": read, "input": {"part": n}} for n in names]
        handler.stream(events(body["model"], content, self.billed[-1], "end_turn" if done else "tool_use"))


def events(model: str, content: list[dict[str, Any]], billed: int, stop: str) -> Iterator[bytes]:
    head = {"id": f"msg_{billed}", "type": "message", "role": "assistant", "model": model, "content": []}
    usage = {"input_tokens": billed, "output_tokens": 1}
    told: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**head, "stop_reason": None, "stop_sequence": None, "usage": usage}}
    ]
    for index, block in enumerate(content):
        empty = {"text": ""} if block["type"] == "text" else {"input": {}}
        delta: dict[str, Any] = {"type": "text_delta", "text": block.get("text")}
        if block["type"] == "tool_use":
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        told.append({"type": "content_block_start", "index": index, "content_block": {**block, **empty}})
        told.append({"type": "content_block_delta", "index": index, "delta": delta})
        told.append({"type": "content_block_stop", "index": index})
    told.append({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage})
    for event in (*told, {"type": "message_stop"}):
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


@tool("read", "Reads a part.", {"part": int})
async def read(given: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": output(given["part"])}]}


def options_of(server: Server, folder: Path, store: Any, session: str | None, *tools: Any) -> ClaudeAgentOptions:
    environment = {
        "ANTHROPIC_BASE_URL": server.root,
        "ANTHROPIC_API_KEY": "test",
        "HOME": str(folder),
        "CLAUDE_CONFIG_DIR": str(folder / ".claude"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTO_COMPACT": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",
    }
    return ClaudeAgentOptions(
        session_store=store,
        resume=session,
        env=environment,
        cwd=folder,
        setting_sources=[],
        system_prompt="You read parts.",
        model="claude-sonnet-5",
        tools=[],
        mcp_servers={"parts": create_sdk_mcp_server("parts", tools=[read, *tools])},
        allowed_tools=["mcp__parts"],
    )


async def asked(prompt: str, options: ClaudeAgentOptions) -> str:
    """One run of the agent, in a process of its own; answers the session's id."""
    async with ClaudeSDKClient(options) as client:
        await client.query(prompt)
        async for message in client.receive_response():
            if isinstance(message, ResultMessage):
                assert not message.is_error, message
                session = message.session_id
    return session


def prompt_of(run: int) -> str:
    return {0: REQUESTS[0], RUNS // 2: REQUESTS[1], RUNS - 1: REQUESTS[2]}.get(run, f"Go on, number {run}.")


async def work(server: Server, folder: Path, store: Any, runs: int = RUNS) -> str:
    session = None
    for run in range(runs):
        session = await asked(prompt_of(run), options_of(server, folder, store, session))
    assert session
    return session


def settings() -> dict[str, Any]:
    return {"window": WINDOW, "reserve": 7_000, "pinned": lambda message: "PIN:" in message.text}


def key_of(folder: Path, session: str) -> Any:
    return {"project_key": project_key_for_directory(folder), "session_id": session}


def test_five_windows_of_work_in_a_session_that_is_resumed(tmp_path: Path) -> None:
    model, told, store = Model(), [], InMemorySessionStore()
    with Server(model.answer) as server:
        session = asyncio.run(work(server, tmp_path, Folding(store, on_event=told.append, **settings())))
    assert max(model.billed) <= WINDOW
    assert len(model.sent) == 2 * RUNS
    assert RUNS * PARTS * len(output(400)) / CHARACTERS > 4.9 * WINDOW
    for number, sent in enumerate(model.sent):
        now, pin = prompt_of(number // 2), PIN if number >= RUNS // 2 * 2 else ""
        assert all(words in sent.words for words in (REQUESTS[0], RULE, now, pin))
        assert sorted(sent.calls) == sorted(sent.results)
    assert sum(isinstance(event, Folded) for event in told) > 3
    kept = store.get_entries(key_of(tmp_path, session))
    said = {row["uuid"] for row in kept if row["type"] in ("user", "assistant")}
    assert len(said) >= RUNS * (PARTS * 2 + 2), "all that was said stays in the store"
    assert sum(row.get("subtype") == "compact_boundary" for row in kept) == sum(isinstance(e, Folded) for e in told)


def test_what_was_folded_stays_so_and_no_summary_is_paid_for_twice(tmp_path: Path) -> None:
    asked: list[Brief] = []

    def summarize(brief: Brief, messages: list[Message]) -> Summary:
        asked.append(brief)
        return extract(brief, messages)

    model, store = Model(), InMemorySessionStore()
    with Server(model.answer) as server:
        session = asyncio.run(work(server, tmp_path, store, 3))
    key = key_of(tmp_path, session)
    given = {"summarizer": summarize, **settings()}
    folded = asyncio.run(Folding(store, **given).load(key))
    assert len(asked) == 1
    assert asyncio.run(Folding(store, **given).load(key)) == folded == store.get_entries(key)
    assert len(asked) == 1
    assert "session.jsonl" not in str(folded), "no model is sent to the file that the fold was made in"


def test_the_model_recalls_what_was_folded(tmp_path: Path) -> None:
    model, store = Model(), InMemorySessionStore()
    folding = Folding(store, **settings())

    async def ask() -> list[str]:
        told = [(await folding.recall.handler({"query": "part_11"}))["content"][0]["text"]]
        with Server(model.answer) as server:
            session = await work(server, tmp_path, folding, 4)
        await folding.load(key_of(tmp_path, session))
        return [*told, (await folding.recall.handler({"query": "part_11 reads setting_77"}))["content"][0]["text"]]

    before, behind = asyncio.run(ask())
    assert "not resumed" in before
    assert "part_11 reads setting_77 in line 0." in behind


def test_it_is_a_store_as_the_sdk_wants_one() -> None:
    asyncio.run(run_session_store_conformance(Folding))


def test_what_another_store_lacks_is_not_there() -> None:
    class Least(SessionStore):
        async def append(self, key: Any, entries: list[Any]) -> None: ...

        async def load(self, key: Any) -> None: ...

    assert not hasattr(Folding(Least()), "delete")
    assert hasattr(Folding(), "delete")


def test_what_the_page_shows(tmp_path: Path) -> None:
    model = Model()
    with Server(model.answer) as server:
        store = InMemorySessionStore()
        session = asyncio.run(work(server, tmp_path, store, 1))
        names = pages.run("claude-agent-sdk", store=store, session_id=session)
        given = options_of(server, tmp_path, None, None)
        asyncio.run(
            asked(
                "Go on.", replace(given, session_store=names["options"].session_store, resume=names["options"].resume)
            )
        )
    assert REQUESTS[0] in model.sent[-1].words
