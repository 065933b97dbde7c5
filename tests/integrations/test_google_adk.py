"""foldline in Google's Agent Development Kit, with a model of its own kind that is scripted."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pages
import pytest

pytest.importorskip("google.adk", reason="google-adk is not installed: make integrations")

from google.adk.agents import LlmAgent
from google.adk.apps.app import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types
from work import REQUESTS, STEPS, WINDOW, Provider, Sent, faults, output, worked

from foldline import Brief, Folded, Message, Summary
from foldline.extend import extract
from foldline.integrations.google_adk import Folding


def sent(contents: list[Any]) -> Sent:
    parts = [part for content in contents for part in content.parts]
    calls = [json.dumps(part.function_call.args) for part in parts if part.function_call]
    results = [part.function_response.response for part in parts if part.function_response]
    words = [part.text or "" for part in parts] + [str(each.get("result")) for each in results]
    return Sent("\n".join(words), tuple("call" for _ in calls), tuple("call" for _ in results))


class Fake(BaseLlm):
    """A model that reads one part after the other, or recalls once it sees a summary."""

    model: str = "gemini-2.5-pro"
    provider: Any = None
    recalls: bool = False

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        asked = sent(llm_request.contents)
        part = self.provider.turn(asked)
        said = (
            types.Part.from_function_call(name="read", args={"part": part})
            if part
            else types.Part(text="It is part_1.")
        )
        if part and self.recalls and "<summary>" in asked.words:
            said = types.Part.from_function_call(name="recall", args={"query": "part_2 reads setting_14"})
        usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=asked.tokens, candidates_token_count=9)
        yield LlmResponse(content=types.Content(role="model", parts=[said]), usage_metadata=usage)


def read(part: int) -> str:
    """Reads a part."""
    return output(part)


def options() -> dict[str, Any]:
    return {"window": WINDOW, "reserve": 500, "pinned": lambda message: "PIN:" in message.text}


async def run(
    provider: Provider, folding: Folding, requests: tuple[str, ...], service: Any = None, recalls: bool = False
) -> Any:
    tools = [read, *([folding.recall] if recalls else [])]
    model = Fake(provider=provider, recalls=recalls)
    agent = LlmAgent(name="reader", model=model, instruction="You read parts.", tools=tools)
    service = service or InMemorySessionService()
    runner = Runner(app=App(name="parts", root_agent=agent, plugins=[folding]), session_service=service)
    asked = {"app_name": "parts", "user_id": "me", "session_id": "one"}
    if not await service.get_session(**asked):
        await service.create_session(**asked)
    for request in requests:
        said = types.Content(role="user", parts=[types.Part(text=request)])
        async for _ in runner.run_async(user_id="me", session_id="one", new_message=said):
            pass
    return await service.get_session(**asked)


def test_five_windows_of_work() -> None:
    provider, told = Provider(), []
    session = asyncio.run(run(provider, Folding(on_event=told.append, **options()), REQUESTS))
    worked(provider)
    kept = sent([event.content for event in session.events if event.content])
    assert len(kept.calls) == len(kept.results) == len(REQUESTS) * (STEPS - 1)
    assert "<summary>" not in kept.words
    assert json.loads(session.state["foldline:reader"])["folds"]
    assert any(isinstance(event, Folded) for event in told)


def test_an_overflow_is_folded_for_and_sent_again_once() -> None:
    provider, told = Provider(window=4_000, steps=14), []
    asyncio.run(run(provider, Folding(window=40_000, on_event=told.append), REQUESTS[:1]))
    assert (len(provider.refused), len(provider.sent)) == (1, 14)
    assert any(isinstance(event, Folded) and event.fold.trigger == "overflow" for event in told)


def test_another_error_is_raised_as_it_came() -> None:
    class Down(Provider):
        def turn(self, sent: Sent) -> int:
            raise ConnectionError("no route")

    with pytest.raises(ConnectionError, match="no route"):
        asyncio.run(run(Down(), Folding(), REQUESTS[:1]))


def test_a_process_that_starts_again_goes_on_with_the_same_prefix_and_pays_no_summary_twice() -> None:
    asked: list[Brief] = []

    def summarize(brief: Brief, messages: list[Message]) -> Summary:
        asked.append(brief)
        return extract(brief, messages)

    service, before, after = InMemorySessionService(), Provider(steps=26), Provider(steps=1)
    given = {"summarizer": summarize, **options()}
    asyncio.run(run(before, Folding(**given), REQUESTS[:1], service))
    assert asked
    asked.clear()
    asyncio.run(run(after, Folding(**given), REQUESTS[1:2], service))
    spoken = before.sent[-1].words.partition("<summary>")[2].partition("</summary>")[0]
    assert spoken
    assert spoken in after.sent[0].words
    assert asked == []


def test_the_model_recalls_what_was_folded() -> None:
    session = asyncio.run(run(Provider(steps=30), Folding(**options()), REQUESTS[:1], recalls=True))
    results = [
        part.function_response for event in session.events for part in event.content.parts if part.function_response
    ]
    answers = [str(each.response) for each in results if each.name == "recall"]
    assert answers
    assert "part_2 reads setting_14 in line 0." in answers[0]


def test_sessions_at_once_do_not_mix() -> None:
    folding, providers = Folding(**options()), [Provider(steps=30) for _ in range(3)]

    async def all_at_once() -> None:
        await asyncio.gather(
            *(one(f"session-{number}", provider, folding) for number, provider in enumerate(providers))
        )

    async def one(name: str, provider: Provider, plugin: Folding) -> None:
        agent = LlmAgent(name="reader", model=Fake(provider=provider), tools=[read])
        service = InMemorySessionService()
        await service.create_session(app_name="parts", user_id="me", session_id=name)
        runner = Runner(app=App(name="parts", root_agent=agent, plugins=[plugin]), session_service=service)
        said = types.Content(role="user", parts=[types.Part(text=REQUESTS[0])])
        async for _ in runner.run_async(user_id="me", session_id=name, new_message=said):
            pass

    asyncio.run(all_at_once())
    for each in providers:
        assert (each.refused, len(each.sent), list(faults(each.sent, 30))) == ([], 30, [])


def test_what_the_page_shows() -> None:
    agent = LlmAgent(name="reader", model=Fake(provider=Provider(steps=1)), tools=[read])
    app = pages.run("google-adk", agent=agent)["app"]
    assert isinstance(app.plugins[0], Folding)
