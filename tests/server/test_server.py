"""A real model server on loopback: three dialects, a real tokenizer, real overflows, a real prefix cache.

The model is too small to write a summary that stands; that what it writes is asked for, billed, checked and replaced is
what is tested here. `make server` installs both and runs this.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from foldline import Brief, Compactor, Layer, Message, ModelSummarizer, Session
from foldline._cli.commands import foldline
from foldline._overflow import read as read_overflow
from foldline.extend import Text, policy, summarize_older
from sessions import Log

PACKAGES = os.environ.get("SERVER_PACKAGES", "")
pytestmark = pytest.mark.skipif(not PACKAGES, reason="SERVER_PACKAGES names no server (see install.sh)")

WINDOW = 2_048
DIALECTS = {"openai-chat:smollm2": "/v1", "openai-responses:smollm2": "/v1", "anthropic:smollm2": ""}
PATHS = {"/v1/chat/completions": "messages", "/v1/messages": "messages", "/v1/responses": "input"}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Where the server listens."""
    command = [sys.executable, str(Path(__file__).with_name("serve.py")), PACKAGES, str(WINDOW)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as serving:
        assert serving.stdin is not None
        assert serving.stdout is not None
        yield serving.stdout.readline().decode().strip()
        serving.stdin.close()


def post(url: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)


@pytest.mark.parametrize("model", DIALECTS)
def test_a_session_is_folded_whatever_the_model_writes(server: str, tmp_path: Path, model: str) -> None:
    log = Log()
    for n in range(4):
        log.step(n, 5)
    path = log.write(tmp_path / "session.jsonl")
    settings = {"FOLDLINE_SUMMARY__MAX_TOKENS": "16", "FOLDLINE_SUMMARY__PROMPT": "Summarize."}
    env = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), **settings}
    asked = ["--model", model, "--base-url", server + DIALECTS[model], "--fallback", "extract", "--timeout", "300"]
    done = CliRunner().invoke(foldline, ["compact", "--yes", *asked, "--session", str(path)], env=env)
    assert done.exit_code == 0, done.output
    (fold,) = Session(path).folds()
    receipt = fold.receipt
    assert receipt.models == (model,)
    assert receipt.usage is not None
    assert 200 * receipt.calls < receipt.usage.prompt < WINDOW * receipt.calls
    assert 0 < receipt.usage.output <= 16 * receipt.calls
    assert "do not touch settings_0.toml" in fold.summary


@pytest.mark.parametrize("path", PATHS)
def test_an_overflow_is_known_by_its_numbers(server: str, path: str) -> None:
    body = {"model": "smollm2", PATHS[path]: [{"role": "user", "content": "word " * 3_000}], "max_tokens": 8}
    with pytest.raises(urllib.error.HTTPError) as refused:
        post(server + path, body)
    with refused.value:
        overflow = read_overflow(json.load(refused.value))
    assert overflow is not None
    assert overflow.limit == WINDOW
    assert overflow.tokens is not None
    assert 3_000 <= overflow.tokens < 3_100


def test_a_history_that_overflows_the_model_is_told_by_what_it_takes(server: str) -> None:
    summarizer = ModelSummarizer(
        "openai-chat:smollm2", base_url=f"{server}/v1", max_tokens=16, timeout=300, prompt="Summarize."
    )
    messages = [Message("user", (Text(f"Question {i}. " + "Why is the sky blue? " * 80),)) for i in range(6)]
    draft = asyncio.run(summarizer(Brief(64), messages))
    assert draft.usage is not None
    assert 0 < draft.usage.prompt < WINDOW


def test_a_request_on_the_cached_conversation_hits_the_cache(server: str) -> None:
    def ask(messages: list[dict[str, Any]]) -> dict[str, Any]:
        system = {"role": "system", "content": "You are an agent."}
        body = {"model": "smollm2", "messages": [system, *messages], "max_tokens": 8, "cache_prompt": True}
        return post(f"{server}/v1/chat/completions", body)

    said = [f"Message {i}: " + "the parser reads nested lists now. " * 16 for i in range(10)]
    history = [{"role": ("user", "assistant")[i % 2], "content": words} for i, words in enumerate(said)]
    layers = policy("summarizing", [Layer("summarize", 0.8, 0.4, (summarize_older(keep=200),))])
    compactor = Compactor(window=WINDOW, reserve=0, policy=layers, ask=ask)
    sent = ask(compactor.fit(history))
    compactor.observe(sent)
    compactor.fold(history)
    usage = compactor.folds[0].receipt.usage
    assert compactor.folds[0].receipt.shared
    assert usage is not None
    assert usage.cache_read > 0.9 * sent["usage"]["prompt_tokens"]
