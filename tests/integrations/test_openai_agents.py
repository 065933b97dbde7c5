"""foldline in OpenAI's Agents SDK, with its own scripted model."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pages
import pytest

pytest.importorskip("agents.testing", reason="openai-agents is not installed: make integrations")

from agents import Agent, ModelProvider, RunConfig, Runner, SQLiteSession, Usage, function_tool, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call
from work import REQUESTS, STEPS, WINDOW, Provider, Sent, faults, output, worked

from foldline import Brief, Folded, Message, Summary
from foldline.extend import extract
from foldline.integrations.openai_agents import Folding

set_tracing_disabled(True)


def sent(items: list[Any]) -> Sent:
    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    results = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    words = "\n".join(str(item.get("content") or item.get("output") or item.get("arguments")) for item in items)
    return Sent(words, tuple(calls), tuple(results))


class Fake(ScriptedModel, ModelProvider):
    """The SDK's scripted model, which refuses what is over its window, and is its own provider."""

    def __init__(self, provider: Provider, recalls: bool = False) -> None:
        super().__init__()
        self.provider = provider
        self.recalls = recalls

    def get_model(self, model_name: str | None) -> Any:
        return self

    def play(self, input: Any) -> None:
        """Puts what is answered to a request into the script."""
        asked = sent(input)
        part = self.provider.turn(asked)
        said = function_call("read", {"part": part}, call_id=f"call_{part}") if part else assistant_message("part_1")
        if part and self.recalls and "<summary>" in asked.words:
            said = function_call("recall", {"query": "part_2 reads setting_14"}, call_id=f"call_{part}")
        self.set_default_usage(
            Usage(requests=1, input_tokens=asked.tokens, output_tokens=9, total_tokens=asked.tokens + 9)
        )
        self.enqueue([said])

    async def get_response(self, system_instructions: Any, input: Any, *rest: Any, **named: Any) -> Any:
        self.play(input)
        return await super().get_response(system_instructions, input, *rest, **named)

    async def stream_response(self, system_instructions: Any, input: Any, *rest: Any, **named: Any) -> Any:
        self.play(input)
        async for event in super().stream_response(system_instructions, input, *rest, **named):
            yield event


@function_tool
def read(part: int) -> str:
    """Reads a part."""
    return output(part)


def options() -> dict[str, Any]:
    return {"window": WINDOW, "reserve": 500, "pinned": lambda message: "PIN:" in message.text}


async def run(request: Any, folding: Folding, session: Any = None, *tools: Any) -> Any:
    agent = Agent(name="reader", instructions="You read parts.", model="gpt-5.4", tools=[read, *tools])
    config = RunConfig(model_provider=folding)
    return await Runner.run(agent, request, session=session, run_config=config, max_turns=200)


def test_five_windows_of_work() -> None:
    provider, told = Provider(), []

    async def work() -> list[Any]:
        folding = Folding(inner=Fake(provider), on_event=told.append, **options())
        session = SQLiteSession("one")
        for request in REQUESTS:
            await run(request, folding, session)
        items = await session.get_items()
        session.close()
        return items

    kept = sent(asyncio.run(work()))
    worked(provider)
    assert len(kept.calls) == len(kept.results) == len(REQUESTS) * (STEPS - 1)
    assert "<summary>" not in kept.words
    assert any(isinstance(event, Folded) for event in told)


def test_a_stream_is_folded_for_and_billed_the_same_way() -> None:
    provider = Provider()

    async def work() -> None:
        agent = Agent(name="reader", model="gpt-5.4", tools=[read])
        config = RunConfig(model_provider=Folding(inner=Fake(provider), **options()))
        items: list[Any] = []
        for request in REQUESTS:
            result = Runner.run_streamed(
                agent, [*items, {"role": "user", "content": request}], run_config=config, max_turns=200
            )
            async for _ in result.stream_events():
                pass
            items = result.to_input_list()

    asyncio.run(work())
    worked(provider)


@pytest.mark.parametrize("streamed", [False, True])
def test_an_overflow_is_folded_for_and_sent_again_once(streamed: bool) -> None:
    provider, told = Provider(window=4_000, steps=14), []
    folding = Folding(inner=Fake(provider), window=40_000, on_event=told.append)

    async def work() -> None:
        if not streamed:
            await run(REQUESTS[0], folding)
            return
        agent = Agent(name="reader", model="gpt-5.4", tools=[read])
        result = Runner.run_streamed(agent, REQUESTS[0], run_config=RunConfig(model_provider=folding), max_turns=200)
        async for _ in result.stream_events():
            pass

    asyncio.run(work())
    assert (len(provider.refused), len(provider.sent)) == (1, 14)
    assert any(isinstance(event, Folded) and event.fold.trigger == "overflow" for event in told)


def test_a_process_that_starts_again_goes_on_with_the_same_prefix_and_pays_no_summary_twice() -> None:
    asked: list[Brief] = []

    def summarize(brief: Brief, messages: list[Message]) -> Summary:
        asked.append(brief)
        return extract(brief, messages)

    states: dict[str, bytes] = {}
    before, after = Provider(steps=26), Provider(steps=1)
    given = {"summarizer": summarize, "states": states, **options()}

    async def work() -> None:
        session = SQLiteSession("one")
        await run(REQUESTS[0], Folding(inner=Fake(before), **given), session)
        assert asked
        asked.clear()
        await run(REQUESTS[1], Folding(inner=Fake(after), **given), session)
        session.close()

    asyncio.run(work())
    assert after.sent[0].words.startswith(before.sent[-1].words)
    assert asked == []
    assert json.loads(next(iter(states.values())))["folds"]


def test_the_model_recalls_what_was_folded() -> None:
    folding = Folding(inner=Fake(Provider(steps=30), recalls=True), **options())
    result = asyncio.run(run(REQUESTS[0], folding, None, folding.recall))
    answers = [str(item.get("output")) for item in result.to_input_list() if item.get("type") == "function_call_output"]
    assert any("part_2 reads setting_14 in line 0." in answer and "<recalled>" in answer for answer in answers)


def test_conversations_that_begin_alike_do_not_mix() -> None:
    providers = [Provider(steps=30) for _ in range(3)]

    class Several(Fake):
        """Answers each conversation by its own provider, told by a name in the instructions."""

        def __init__(self) -> None:
            super().__init__(providers[0])

        async def get_response(self, system_instructions: Any, input: Any, *rest: Any, **named: Any) -> Any:
            fake = Fake(providers[int(system_instructions)])
            return await fake.get_response(system_instructions, input, *rest, **named)

    folding = Folding(inner=Several(), **options())

    async def one(number: int) -> None:
        await asyncio.sleep(0)
        agent = Agent(name="reader", instructions=str(number), model="gpt-5.4", tools=[read])
        request = f"{number}: {REQUESTS[0]}" if number else REQUESTS[0]
        await Runner.run(agent, request, run_config=RunConfig(model_provider=folding), max_turns=200)

    async def all_at_once() -> None:
        await asyncio.gather(*(one(number) for number in range(3)))
        await one(0)

    asyncio.run(all_at_once())
    for each in providers:
        assert each.refused == []
        assert list(faults(each.sent[:30], 30)) == []
    assert len(providers[0].sent) == 60


def test_what_the_page_shows() -> None:
    provider = Provider(steps=3)
    names = pages.run("openai-agents")
    names["agent"].tools = [read]
    names["config"].model_provider._inner = Fake(provider)
    asyncio.run(Runner.run(names["agent"], REQUESTS[0], run_config=names["config"]))
    assert len(provider.sent) == 3
