"""foldline in LiteLLM's proxy, by its configuration, as clients of three kinds of APIs meet it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
pytest.importorskip("litellm.proxy.proxy_server", reason="LiteLLM's proxy is not installed: make integrations")

import litellm
from fastapi.testclient import TestClient
from litellm.proxy import proxy_server
from work import CHARACTERS, PIN, REQUESTS, STEPS, WINDOW, output

from providers import Provider as Server
from providers import Request, _Handler

CONFIG = """
model_list:
  - model_name: gpt-5.4
    litellm_params: {{model: openai/gpt-5.4, api_base: "{url}", api_key: none}}
  - model_name: claude
    litellm_params: {{model: anthropic/claude-sonnet-5, api_base: "{root}", api_key: none}}
litellm_settings:
  callbacks: [ours.folding]
"""

OURS = """
from foldline.integrations.litellm import Folding

folding = Folding(window={window}, reserve=500, pinned=lambda message: "PIN:" in message.text)
"""


class Model:
    """A strict model: it calls the tool again and again, and refuses what is over its window."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.refused = 0
        self.paths: set[str] = set()

    def answer(self, handler: _Handler, request: Request) -> None:
        said = json.dumps(request.body.get("messages") or request.body.get("input"), ensure_ascii=False)
        tokens = len(said) // CHARACTERS
        self.paths.add(request.path)
        if tokens > WINDOW:
            self.refused += 1
            handler.send(400, json.dumps({"error": {"message": f"prompt is too long: {tokens} > {WINDOW}"}}).encode())
            return
        self.words.append(said)
        handler.send(200, json.dumps(REPLIES[request.path](len(self.words), tokens)).encode())


def chat_reply(number: int, tokens: int) -> dict[str, Any]:
    function = {"name": "read", "arguments": json.dumps({"part": number})}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    usage = {"prompt_tokens": tokens, "completion_tokens": 9, "total_tokens": tokens + 9}
    choices = [{"index": 0, "message": message, "finish_reason": "tool_calls"}]
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-5.4",
        "choices": choices,
        "usage": usage,
    }


def message_reply(number: int, tokens: int) -> dict[str, Any]:
    content = [{"type": "tool_use", "id": f"toolu_{number}", "name": "read", "input": {"part": number}}]
    head = {"id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-5", "stop_reason": "tool_use"}
    return {**head, "content": content, "stop_sequence": None, "usage": {"input_tokens": tokens, "output_tokens": 9}}


def response_reply(number: int, tokens: int) -> dict[str, Any]:
    call = {
        "type": "function_call",
        "id": f"fc_{number}",
        "call_id": f"call_{number}",
        "name": "read",
        "status": "completed",
    }
    usage = {"input_tokens": tokens, "output_tokens": 9, "total_tokens": tokens + 9}
    head = {"id": "r", "object": "response", "created_at": 1, "status": "completed", "model": "gpt-5.4", "tools": []}
    given = {"parallel_tool_calls": True, "tool_choice": "auto", "error": None, "metadata": {}}
    return {**head, **given, "output": [{**call, "arguments": json.dumps({"part": number})}], "usage": usage}


REPLIES: dict[str, Callable[[int, int], dict[str, Any]]] = {
    "/v1/chat/completions": chat_reply,
    "/v1/messages": message_reply,
    "/v1/responses": response_reply,
}


@pytest.fixture
def model(tmp_path: Path) -> Iterator[Model]:
    made = Model()
    with Server(made.answer) as server:
        (tmp_path / "config.yaml").write_text(CONFIG.format(url=server.url, root=server.root))
        (tmp_path / "ours.py").write_text(OURS.format(window=WINDOW))
        asyncio.run(proxy_server.initialize(config=str(tmp_path / "config.yaml")))
        yield made
    litellm.callbacks = []


def chat(client: TestClient, history: list[Any]) -> list[Any]:
    reply = client.post("/v1/chat/completions", json={"model": "gpt-5.4", "messages": history}).json()
    message = reply["choices"][0]["message"]
    call = message["tool_calls"][0]
    part = json.loads(call["function"]["arguments"])["part"]
    return [message, {"role": "tool", "tool_call_id": call["id"], "content": output(part)}]


def messages(client: TestClient, history: list[Any]) -> list[Any]:
    body = {"model": "claude", "max_tokens": 400, "system": "You read parts.", "messages": history}
    reply = client.post("/v1/messages", json=body).json()
    call = reply["content"][0]
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": output(call["input"]["part"])}
    return [{"role": "assistant", "content": reply["content"]}, {"role": "user", "content": [result]}]


def responses(client: TestClient, history: list[Any]) -> list[Any]:
    reply = client.post("/v1/responses", json={"model": "gpt-5.4", "instructions": "Read.", "input": history}).json()
    call = reply["output"][0]
    part = json.loads(call["arguments"])["part"]
    return [call, {"type": "function_call_output", "call_id": call["call_id"], "output": output(part)}]


@pytest.mark.parametrize("way", [chat, messages, responses])
def test_five_windows_of_work(way: Callable[[TestClient, list[Any]], list[Any]], model: Model) -> None:
    client = TestClient(proxy_server.app)
    history: list[Any] = []
    for request in REQUESTS:
        history.append({"role": "user", "content": request})
        for _ in range(STEPS):
            history += way(client, history)
    assert model.refused == 0
    assert len(model.words) == len(REQUESTS) * STEPS
    assert len(model.words) * len(output(40)) / CHARACTERS > 5 * WINDOW
    for number, words in enumerate(model.words):
        wanted = [REQUESTS[0], REQUESTS[number // STEPS], *([PIN] if number >= STEPS else [])]
        assert all(each in words for each in wanted)
