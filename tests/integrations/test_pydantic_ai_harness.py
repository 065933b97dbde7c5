"""foldline as a strategy of pydantic-ai-harness: a tier, a fallback, and by hand."""

from __future__ import annotations

import asyncio
from typing import Any

import pages
import pytest

pytest.importorskip("pydantic_ai_harness.compaction", reason="pydantic-ai-harness is not installed: make integrations")

from pydantic_ai import Agent
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ModelAPIError
from pydantic_ai.messages import (
    CompactionPart,
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RequestUsage
from pydantic_ai_harness.compaction import FallbackCompaction, TieredCompaction, compact_now
from work import REQUESTS, WINDOW, Provider, Sent, output, worked

from foldline import Folded
from foldline.integrations.pydantic_ai_harness import Folding


def sent(messages: list[ModelMessage]) -> Sent:
    parts = [part for message in messages for part in message.parts]
    calls = [part.tool_call_id for part in parts if isinstance(part, ToolCallPart)]
    results = [part.tool_call_id for part in parts if isinstance(part, ToolReturnPart)]
    words = "\n".join(str(getattr(part, "content", "") or getattr(part, "args", "")) for part in parts)
    return Sent(words, tuple(calls), tuple(results))


def agent_of(provider: Provider, *capabilities: AbstractCapability[Any]) -> Agent[None, str]:
    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked = sent(messages)
        part = provider.turn(asked)
        said = ToolCallPart("read", {"part": part}, f"call_{part}") if part else TextPart("It is part_1.")
        return ModelResponse([said], usage=RequestUsage(input_tokens=asked.tokens, output_tokens=10))

    agent = Agent(
        FunctionModel(answer, model_name="gpt-5.4"), capabilities=capabilities, instructions="You read parts."
    )
    agent.tool_plain(output, name="read")
    return agent


def worked_on(agent: Agent[None, str], *requests: str) -> list[ModelMessage]:
    history: list[ModelMessage] = []
    for request in requests:
        history = asyncio.run(agent.run(request, message_history=history, usage_limits=None)).all_messages()
    return history


def options() -> dict[str, Any]:
    return {"window": WINDOW, "reserve": 500, "pinned": lambda message: "PIN:" in message.text}


class Broken:
    """A strategy whose model cannot be had."""

    async def compact(self, messages: list[ModelMessage], ctx: Any) -> list[ModelMessage]:
        raise ModelAPIError("fake", "no model")


def tiered(folding: Folding) -> AbstractCapability[Any]:
    return TieredCompaction(tiers=[folding], target_tokens=round(WINDOW * 0.7))


def fallback(folding: Folding) -> AbstractCapability[Any]:
    return FallbackCompaction([Broken(), folding], max_tokens=round(WINDOW * 0.7))


@pytest.mark.parametrize("strategy", [tiered, fallback])
def test_five_windows_of_work(strategy: Any) -> None:
    provider, told = Provider(), []
    agent = agent_of(provider, strategy(Folding("gpt-5.4", on_event=told.append, **options())))
    history = worked_on(agent, *REQUESTS)
    worked(provider)
    assert any(isinstance(part, CompactionPart) for part in history[0].parts), (
        "the harness keeps the history as it is sent"
    )
    assert sorted(sent(history).calls) == sorted(sent(history).results)
    folds = [event for event in told if isinstance(event, Folded)]
    assert 5 < len(folds) < len(provider.sent) / 3


def test_by_hand_with_a_focus() -> None:
    provider = Provider(steps=8)
    history = worked_on(agent_of(provider), REQUESTS[0])
    told: list[Any] = []
    folding = Folding("gpt-5.4", window=WINDOW, on_event=told.append)
    shorter = asyncio.run(compact_now(folding, history, model=TestModel(), focus="setting_7", conversation_id="one"))
    assert any(isinstance(part, CompactionPart) for message in shorter for part in message.parts)
    assert len(sent(shorter).words) < len(sent(history).words) / 2
    (fold,) = (event.fold for event in told if isinstance(event, Folded))
    assert fold.receipt.instruction == "setting_7"
    assert asyncio.run(compact_now(folding, history, model=TestModel(), conversation_id="one")) == shorter


def test_what_the_page_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = Provider(steps=3)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    agent = pages.run("pydantic-ai-harness")["agent"]
    with agent.override(model=agent_of(provider).model):
        agent.tool_plain(output, name="read")
        worked_on(agent, REQUESTS[0])
    assert len(provider.sent) == 3
