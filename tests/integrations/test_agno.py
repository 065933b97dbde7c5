"""foldline in agno, with a model of its own kind that is scripted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pages
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("agno", reason="agno is not installed: make integrations")

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.media import File, Image
from agno.metrics import MessageMetrics
from agno.models.base import Model
from agno.models.message import Message as Native
from agno.models.openai import OpenAIResponses
from agno.models.response import ModelResponse
from round_trips import JSON, PNG, WORDS, check
from work import REQUESTS, STEPS, WINDOW, Provider, Sent, faults, output, worked

from foldline import Brief, Compactor, Folded, Message, Summary
from foldline.extend import Text, extract, replace
from foldline.integrations._shapes.agno import FORMAT
from foldline.integrations.agno import Folding

AT_ONCE, STREAMED, AWAITED, AWAITED_STREAMED = "at once", "streamed", "awaited", "awaited, streamed"


def sent(messages: list[Any]) -> Sent:
    calls = [call["id"] for message in messages for call in message.tool_calls or []]
    results = [message.tool_call_id for message in messages if message.role == "tool"]
    return Sent("\n".join(str(message.content or "") for message in messages), tuple(calls), tuple(results))


@dataclass
class Fake(Model):
    """A model that reads one part after the other."""

    id: str = "gpt-5.4"
    provider_of: Any = None

    def invoke(self, messages: list[Any], **rest: Any) -> ModelResponse:
        asked = sent(messages)
        part = self.provider_of.turn(asked)
        usage = MessageMetrics(input_tokens=asked.tokens, output_tokens=9, total_tokens=asked.tokens + 9)
        if not part:
            return ModelResponse(role="assistant", content="part_1", response_usage=usage)
        function = {"name": "read", "arguments": json.dumps({"part": part})}
        call = {"id": f"call_{part}", "type": "function", "function": function}
        return ModelResponse(role="assistant", tool_calls=[call], response_usage=usage)

    async def ainvoke(self, **named: Any) -> ModelResponse:
        return self.invoke(**named)

    def invoke_stream(self, **named: Any) -> Iterator[ModelResponse]:
        yield self.invoke(**named)

    async def ainvoke_stream(self, **named: Any) -> AsyncIterator[ModelResponse]:
        yield self.invoke(**named)

    def _parse_provider_response(self, response: Any, **rest: Any) -> Any:
        return response

    def _parse_provider_response_delta(self, response: Any) -> Any:
        return response


def read(part: int) -> str:
    """Reads a part."""
    return output(part)


def options() -> dict[str, Any]:
    return {"window": WINDOW, "reserve": 500, "pinned": lambda message: "PIN:" in message.text}


def agent_of(provider: Provider, folding: Folding, db: Any = None) -> Agent:
    model = folding(Fake(provider_of=provider))
    kept: dict[str, Any] = {"add_history_to_context": True, "num_history_runs": 100, "telemetry": False}
    return Agent(model=model, tools=[read], db=db or InMemoryDb(), system_message="You read parts.", **kept)


def ask(way: str, agent: Agent, request: str, session: str = "one") -> None:
    """A request of a user, in one of the ways that agno runs it."""

    async def awaited() -> None:
        if way == AWAITED:
            await agent.arun(request, session_id=session)
        else:
            async for _ in agent.arun(request, session_id=session, stream=True):
                pass

    if way == AT_ONCE:
        agent.run(request, session_id=session)
    elif way == STREAMED:
        list(agent.run(request, session_id=session, stream=True))
    else:
        asyncio.run(awaited())


@pytest.mark.parametrize("way", [AT_ONCE, STREAMED, AWAITED, AWAITED_STREAMED])
def test_five_windows_of_work(way: str) -> None:
    provider, told = Provider(), []
    agent = agent_of(provider, Folding(on_event=told.append, **options()))
    for request in REQUESTS:
        ask(way, agent, request)
    worked(provider)
    kept = sent(agent.get_session_messages(session_id="one"))
    assert len(kept.calls) == len(kept.results) == len(REQUESTS) * (STEPS - 1)
    assert "<summary>" not in kept.words
    assert all(output(part) in kept.words for part in range(1, STEPS))
    assert any(isinstance(event, Folded) for event in told)


@pytest.mark.parametrize("way", [AT_ONCE, STREAMED, AWAITED, AWAITED_STREAMED])
def test_an_overflow_is_folded_for_and_sent_again_once(way: str) -> None:
    provider, told = Provider(window=4_000, steps=14), []
    ask(way, agent_of(provider, Folding(window=40_000, on_event=told.append)), REQUESTS[0])
    assert (len(provider.refused), len(provider.sent)) == (1, 14)
    assert any(isinstance(event, Folded) and event.fold.trigger == "overflow" for event in told)


def test_another_process_goes_on_with_the_same_prefix_and_pays_no_summary_twice(tmp_path: Path) -> None:
    asked: list[Brief] = []

    def summarize(brief: Brief, messages: list[Message]) -> Summary:
        asked.append(brief)
        return extract(brief, messages)

    given = {"states": {}, "summarizer": summarize, **options()}
    before, after, db = Provider(steps=26), Provider(steps=1), InMemoryDb()
    agent_of(before, Folding(**given), db).run(REQUESTS[0], session_id="one")
    assert asked
    asked.clear()
    agent_of(after, Folding(**given), db).run(REQUESTS[1], session_id="one")
    assert after.sent[0].words.startswith(before.sent[-1].words)
    assert asked == []


def test_sessions_at_once_do_not_mix() -> None:
    folding, providers = Folding(**options()), [Provider(steps=30) for _ in range(3)]

    async def work() -> None:
        agents = [agent_of(each, folding) for each in providers]
        await asyncio.gather(*(a.arun(REQUESTS[0], session_id=str(n)) for n, a in enumerate(agents)))

    asyncio.run(work())
    for each in providers:
        assert (each.refused, len(each.sent), list(faults(each.sent, 30))) == ([], 30, [])


def test_a_copy_of_an_agent_folds_too() -> None:
    provider = Provider(steps=30)
    agent_of(provider, Folding(**options())).deep_copy().run(REQUESTS[0])
    assert (provider.refused, len(provider.sent)) == ([], 30)


def test_a_model_that_folds_leaves_no_history_with_the_provider() -> None:
    model = OpenAIResponses(id="gpt-5.4")
    folded = Folding()(model)
    assert isinstance(folded, OpenAIResponses)
    assert (folded.use_previous_response_id, model.use_previous_response_id) == (False, True)


def test_nothing_of_a_message_is_lost() -> None:
    picture = Image(url="https://example.org/plan.png")
    plan = File(content=b"%PDF-1.7", mime_type="application/pdf")
    history = [Native(role="user", content=REQUESTS[0], images=[picture], files=[plan], name="me")]
    for number in range(1, 40):
        function = {"name": "read", "arguments": json.dumps({"part": number})}
        call = {"id": f"c{number}", "type": "function", "function": function, "mine": 1}
        thought = {"reasoning_content": "I think.", "provider_data": {"signature": "s"}}
        history.append(Native(role="assistant", tool_calls=[call], **thought))
        history.append(Native(role="tool", tool_call_id=f"c{number}", tool_name="read", content=output(number)))
    held = Compactor("gpt-5.4", window=20_000, format=FORMAT)
    assert all(a is b for a, b in zip(held.fit(history[:3]), history))
    folded = held.fit(history)
    assert folded[-1] is history[-1]
    assert len(folded) < len(history)
    assert all(a is b for a, b in zip(held.fit(history), folded))
    was = FORMAT.read(history[0])
    changed = FORMAT.edited(history[0], was, replace(was, parts=(Text("[cut]"), *was.parts[1:])))
    assert changed == history[0].model_copy(update={"content": "[cut]"})
    call = FORMAT.read(history[1])
    assert FORMAT.edited(history[1], call, call) == history[1]
    assert history[0].content == REQUESTS[0]


PICTURES = st.lists(
    st.one_of(st.builds(Image, url=WORDS, detail=WORDS), st.builds(Image, content=st.just(PNG))), max_size=2
)
FUNCTIONS = st.fixed_dictionaries({"name": WORDS, "arguments": JSON.map(json.dumps)})
CALLS = st.fixed_dictionaries(
    {"id": WORDS, "type": st.just("function"), "function": FUNCTIONS, "index": st.integers(0, 9)}
)
REST = {"name": WORDS, "provider_data": JSON, "images": PICTURES}
MESSAGES = st.one_of(
    st.builds(Native, role=st.sampled_from(["user", "system"]), content=WORDS, **REST),
    st.builds(
        Native,
        role=st.just("assistant"),
        content=st.one_of(st.none(), WORDS),
        tool_calls=st.lists(CALLS, max_size=3, unique_by=lambda call: call["id"]),
        reasoning_content=st.one_of(st.none(), WORDS),
        **REST,
    ),
    st.builds(Native, role=st.just("tool"), content=WORDS, tool_call_id=WORDS, tool_call_error=st.booleans(), **REST),
)


@given(MESSAGES)
def test_round_trips(native: Native) -> None:
    check(FORMAT, native)


def test_what_the_page_shows() -> None:
    provider = Provider(steps=3)
    agent = pages.run("agno", model=Fake(provider_of=provider), tools=[read])["agent"]
    agent.run(REQUESTS[0])
    assert len(provider.sent) == 3
