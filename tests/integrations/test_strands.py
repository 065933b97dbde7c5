"""foldline in Strands, with a model of its own kind that is scripted."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from copy import deepcopy
from typing import Any

import pages
import pytest

pytest.importorskip("strands", reason="strands-agents is not installed: make integrations")

from strands import Agent, tool
from strands.models import Model
from strands.session.file_session_manager import FileSessionManager
from strands.types.exceptions import ContextWindowOverflowException
from work import REQUESTS, STEPS, WINDOW, Provider, Sent, TooLong, output, worked

from foldline import Brief, Folded, Message, Summary
from foldline.extend import extract
from foldline.integrations.strands import Folding


def sent(messages: list[Any]) -> Sent:
    blocks = [block for message in messages for block in message["content"]]
    calls = [block["toolUse"]["toolUseId"] for block in blocks if "toolUse" in block]
    results = [block["toolResult"] for block in blocks if "toolResult" in block]
    words = [block.get("text", "") for block in blocks] + [str(result["content"]) for result in results]
    return Sent("\n".join(words), tuple(calls), tuple(result["toolUseId"] for result in results))


class Fake(Model):
    """A model that reads one part after the other, or recalls once it sees a summary."""

    def __init__(self, provider: Provider, window: int | None = None, recalls: bool = False) -> None:
        self.provider = provider
        self.recalls = recalls
        self.config = {"model_id": "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "context_window_limit": window}

    def update_config(self, **config: Any) -> None:
        self.config.update(config)

    def get_config(self) -> Any:
        return self.config

    async def structured_output(self, *args: Any, **rest: Any) -> AsyncIterator[Any]:
        yield {}

    async def stream(self, messages: Any, tool_specs: Any = None, system_prompt: Any = None, **rest: Any) -> Any:
        asked = sent(messages)
        try:
            part = self.provider.turn(asked)
        except TooLong as error:
            raise ContextWindowOverflowException(str(error)) from error
        name, given = "read", {"part": part}
        if self.recalls and "<summary>" in asked.words:
            name, given = "recall", {"query": "part_2 reads setting_14"}
        yield {"messageStart": {"role": "assistant"}}
        start = {"toolUse": {"name": name, "toolUseId": f"call_{part}"}} if part else {}
        yield {"contentBlockStart": {"start": start}}
        delta = {"toolUse": {"input": json.dumps(given)}} if part else {"text": "It is part_1."}
        yield {"contentBlockDelta": {"delta": delta}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if part else "end_turn"}}
        usage = {"inputTokens": asked.tokens, "outputTokens": 9, "totalTokens": asked.tokens + 9}
        yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 1}}}


@tool
def read(part: int) -> str:
    """Reads a part."""
    return output(part)


def options() -> dict[str, Any]:
    return {"window": WINDOW, "reserve": 500, "pinned": lambda message: "PIN:" in message.text}


def agent_of(provider: Provider, folding: Folding, *tools: Any, **rest: Any) -> Agent:
    model = Fake(provider, recalls=bool(tools))
    given = {"tools": [read, *tools], "system_prompt": "You read parts.", "callback_handler": None}
    return Agent(model=model, conversation_manager=folding, **given, **rest)


@pytest.mark.parametrize("persist", [False, True])
def test_five_windows_of_work(persist: bool) -> None:
    provider, told = Provider(), []
    agent = agent_of(provider, Folding(persist=persist, on_event=told.append, **options()))
    for request in REQUESTS:
        agent(request)
    worked(provider)
    kept = sent(agent.messages)
    assert sorted(kept.calls) == sorted(kept.results)
    assert (len(kept.calls) == len(REQUESTS) * (STEPS - 1)) is not persist
    assert ("<summary>" in kept.words) is persist
    assert any(isinstance(event, Folded) for event in told)


@pytest.mark.parametrize("persist", [False, True])
def test_an_overflow_is_folded_for_and_sent_again_once(persist: bool) -> None:
    provider, told = Provider(window=4_000, steps=14), []
    agent_of(provider, Folding(persist=persist, window=40_000, on_event=told.append))(REQUESTS[0])
    assert (len(provider.refused), len(provider.sent)) == (1, 14)
    assert any(isinstance(event, Folded) and event.fold.trigger == "overflow" for event in told)


def test_the_window_is_the_models_own() -> None:
    provider = Provider(steps=30)
    agent = Agent(
        model=Fake(provider, window=WINDOW), tools=[read], conversation_manager=Folding(), callback_handler=None
    )
    agent(REQUESTS[0])
    assert (provider.refused, len(provider.sent)) == ([], 30)


@pytest.mark.parametrize("persist", [False, True])
def test_a_session_that_is_restored_goes_on_with_the_same_prefix_and_pays_no_summary_twice(
    persist: bool, tmp_path: Any
) -> None:
    asked: list[Brief] = []

    def summarize(brief: Brief, messages: list[Message]) -> Summary:
        asked.append(brief)
        return extract(brief, messages)

    def run(provider: Provider, request: str) -> None:
        sessions = FileSessionManager(session_id="one", storage_dir=str(tmp_path))
        folding = Folding(persist=persist, summarizer=summarize, **options())
        agent_of(provider, folding, session_manager=sessions, agent_id="reader")(request)

    before, after = Provider(steps=26), Provider(steps=1)
    run(before, REQUESTS[0])
    assert asked
    asked.clear()
    run(after, REQUESTS[1])
    spoken = before.sent[-1].words.partition("<summary>")[2].partition("</summary>")[0]
    assert spoken
    assert spoken in after.sent[0].words
    assert asked == []


def test_the_model_recalls_what_was_folded() -> None:
    folding = Folding(**options())
    agent = agent_of(Provider(steps=30), folding, folding.recall)
    agent(REQUESTS[0])
    answers = [
        str(block["toolResult"]["content"]) for m in agent.messages for block in m["content"] if "toolResult" in block
    ]
    assert any("<recalled>" in answer and "part_2 reads setting_14 in line 0." in answer for answer in answers)


def test_pictures_and_results_that_are_data_stay_what_they_are() -> None:
    provider = Provider(steps=30)
    picture = {"image": {"format": "png", "source": {"bytes": b"\x89PNG\r\n\x1a\n" + bytes(64)}}}
    agent = agent_of(provider, Folding(**options()))
    agent.messages = [
        {"role": "user", "content": [{"text": REQUESTS[0]}, picture]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "read", "input": {"part": 0}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "status": "success", "content": [{"json": {"x": 1}}, picture]}}]},
        {"role": "assistant", "content": [{"text": "Seen."}]},
    ]  # fmt: skip
    first = deepcopy([each["content"] for each in agent.messages])
    agent(REQUESTS[0])
    assert [each["content"] for each in agent.messages[:4]] == first
    assert (provider.refused, len(provider.sent)) == ([], 30)


def test_what_the_page_shows() -> None:
    provider = Provider(steps=3)
    agent = pages.run("strands", model=Fake(provider), tools=[read])["agent"]
    agent(REQUESTS[0])
    assert len(provider.sent) == 3
