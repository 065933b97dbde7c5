"""What no provider bills and no model writes is counted as nothing or refused, and never a crash."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from foldline import Compactor, open_session
from foldline._desk.desk import Desk
from foldline._desk.inspection import inspect
from foldline._desk.revising import edit
from foldline._desk.status import status
from foldline.extend import preset

ODD_FIGURES = [10**12, 10**30, -5, 1.5, "12", "many", True, None, [1], {"a": 1}, float("nan"), float("inf")]

WORDS = "Look at the invoices of May and sum them up. "


def claude(usage: Any) -> list[dict[str, Any]]:
    """A session of Claude Code whose reply was billed so."""
    common = {"isSidechain": False, "sessionId": "s", "version": "2.1.330", "timestamp": "2026-11-20T10:00:00.000Z"}
    reply = {"id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "usage": usage}
    reply["content"] = [{"type": "text", "text": "They come to 1,300."}]
    return [
        {**common, "type": "user", "uuid": "a", "parentUuid": None, "message": {"role": "user", "content": WORDS * 30}},
        {**common, "type": "assistant", "uuid": "b", "parentUuid": "a", "message": reply},
    ]


def pi(usage: Any) -> list[dict[str, Any]]:
    """The same as a session of pi."""
    time = "2026-11-20T10:00:00.000Z"
    user = {"role": "user", "content": [{"type": "text", "text": WORDS * 30}]}
    reply = {"role": "assistant", "content": [{"type": "text", "text": "They come to 1,300."}], "usage": usage}
    reply |= {"provider": "anthropic", "model": "claude-sonnet-4-5", "stopReason": "stop"}
    return [
        {"type": "session", "version": 3, "id": "s", "timestamp": time, "cwd": "/home/u"},
        {"type": "message", "id": "a", "parentId": None, "timestamp": time, "message": user},
        {"type": "message", "id": "b", "parentId": "a", "timestamp": time, "message": reply},
    ]


def codex(usage: Any) -> list[dict[str, Any]]:
    """The same as a rollout of Codex."""
    time = "2026-11-20T10:00:00.000Z"

    def said(role: str, type: str, text: str) -> dict[str, Any]:
        return {"type": "message", "role": role, "content": [{"type": type, "text": text}]}

    info = {"total_token_usage": usage, "last_token_usage": usage, "model_context_window": 200_000}
    return [
        {"timestamp": time, "type": "session_meta", "payload": {"id": "s", "timestamp": time, "cwd": "/home/u"}},
        {"timestamp": time, "type": "response_item", "payload": said("user", "input_text", WORDS * 30)},
        {"timestamp": time, "type": "response_item", "payload": said("assistant", "output_text", "1,300.")},
        {"timestamp": time, "type": "event_msg", "payload": {"type": "token_count", "info": info}},
    ]


SPELLINGS = {
    claude: ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
    pi: ("input", "output", "cacheRead", "cacheWrite", "totalTokens"),
    codex: ("input_tokens", "output_tokens", "cached_input_tokens", "total_tokens"),
}


def written(path: Path, records: list[dict[str, Any]]) -> Desk:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return Desk(open_session(path))


@pytest.mark.parametrize("agent", SPELLINGS)
@pytest.mark.parametrize("figure", ODD_FIGURES, ids=repr)
def test_an_impossible_bill_is_no_bill(tmp_path: Path, agent: Any, figure: Any) -> None:
    unbilled = written(tmp_path / "unbilled.jsonl", agent(None))
    odd = written(tmp_path / "odd.jsonl", agent(dict.fromkeys(SPELLINGS[agent], figure)))
    assert status(odd, preset("default")).tokens == unbilled.tokens
    assert inspect(odd, preset("default")).tokens == unbilled.tokens


@pytest.mark.parametrize("agent", SPELLINGS)
@pytest.mark.parametrize("usage", [*ODD_FIGURES, "", []], ids=repr)
def test_a_usage_that_is_none_is_none(tmp_path: Path, agent: Any, usage: Any) -> None:
    unbilled = written(tmp_path / "unbilled.jsonl", agent(None))
    assert written(tmp_path / "odd.jsonl", agent(usage)).tokens == unbilled.tokens


@pytest.mark.parametrize("damaged", ["world_state", "turn_context"])
def test_surroundings_of_codex_without_a_content_are_not_said_again(tmp_path: Path, damaged: str) -> None:
    told = [{"type": kind, "payload": {"full": True, "model": "gpt-5.4"}} for kind in ("world_state", "turn_context")]
    written(tmp_path / "s.jsonl", [*codex(None), *told, {"type": damaged}])
    session = open_session(tmp_path / "s.jsonl")
    spoken = next(id for id, message in session.context.entries if message.role == "user")
    edit(Desk(session), spoken, "Look at those of June.")
    edited = open_session(tmp_path / "s.jsonl")
    assert any(message.text == "Look at those of June." for message in edited.context.messages)
    rows = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    assert all("payload" in row for row in rows[7:])
    assert edited.undo()


@pytest.mark.parametrize("figure", ODD_FIGURES, ids=repr)
def test_an_impossible_reply_teaches_nothing(figure: Any) -> None:
    compactor = Compactor("gpt-5")
    compactor.fit([{"role": "user", "content": WORDS}])
    before = compactor.count
    compactor.observe({"usage": {"prompt_tokens": figure, "completion_tokens": figure}})
    assert compactor.count == before


def test_half_a_character_is_counted_and_handed_on() -> None:
    history = [{"role": "user", "content": "half of a face: \ud83d " * 50}, {"role": "assistant", "content": "\udc00"}]
    compactor = Compactor("gpt-5")
    assert compactor.fit(history) == history
    assert compactor.count.tokens > 50


@pytest.mark.parametrize("text", ["x" * 50_000_000, "\ud83d" * 2_000_000], ids=["x", "half a character"])
def test_a_message_of_fifty_megabytes_is_cut_to_fit(text: str) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    history: list[dict[str, Any]] = [
        {"role": "user", "content": "Read the log."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": text},
    ]
    compactor = Compactor(window=100_000)
    sent = compactor.fit(history)
    assert compactor.count.tokens <= compactor.budget.limit
    assert sent[0] == history[0]
