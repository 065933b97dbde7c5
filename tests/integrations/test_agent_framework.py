"""foldline in Microsoft's Agent Framework, with a chat client of its own kind that is scripted."""

from __future__ import annotations

import asyncio
import json
from copy import deepcopy
from typing import Any

import pages
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("agent_framework", reason="agent-framework-core is not installed: make integrations")

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    InMemoryHistoryProvider,
    tool,
)
from agent_framework import Message as Native
from round_trips import JSON, PNG, WORDS, check
from work import REQUESTS, STEPS, WINDOW, Provider, Sent, faults, output, worked

from foldline import Brief, Compactor, Folded, Message, Summary
from foldline.extend import Text, extract, replace
from foldline.integrations._shapes.agent_framework import FORMAT
from foldline.integrations.agent_framework import Folding


def sent(messages: list[Any]) -> Sent:
    contents = [content for message in messages for content in message.contents]
    calls = [content.call_id for content in contents if content.type == "function_call"]
    results = [content.call_id for content in contents if content.type == "function_result"]
    words = "\n".join(str(content.text or content.result or "") for content in contents)
    return Sent(words, tuple(calls), tuple(results))


class Fake(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):  # type: ignore[misc]
    """A client that reads one part after the other."""

    def __init__(self, provider: Provider, **rest: Any) -> None:
        super().__init__(function_invocation_configuration={"max_iterations": 200}, **rest)
        self.provider = provider
        self.model = "gpt-5.4"

    def _inner_get_response(self, *, messages: Any, options: Any = None, stream: bool = False, **rest: Any) -> Any:
        return self.answer(messages)

    async def answer(self, messages: Any) -> ChatResponse:
        asked = sent(messages)
        part = self.provider.turn(asked)
        said = Content.from_function_call(f"call_{part}", "read", arguments={"part": part}) if part else "part_1"
        usage = {"input_token_count": asked.tokens, "output_token_count": 9, "total_token_count": asked.tokens + 9}
        return ChatResponse(messages=[Native("assistant", [said])], usage_details=usage)


@tool(approval_mode="never_require")
def read(part: int) -> str:
    """Reads a part."""
    return output(part)


def options() -> dict[str, Any]:
    return {"window": WINDOW, "reserve": 500, "pinned": lambda message: "PIN:" in message.text}


def agent_of(provider: Provider, folding: Folding) -> Agent:
    history = InMemoryHistoryProvider()
    return Agent(Fake(provider), "You read parts.", tools=[read], middleware=[folding], context_providers=[history])


def kept_in(session: AgentSession) -> Sent:
    (messages,) = (each["messages"] for each in session.state.values() if isinstance(each, dict) and "messages" in each)
    return sent(messages)


def test_five_windows_of_work() -> None:
    provider, told = Provider(), []
    agent = agent_of(provider, Folding(on_event=told.append, **options()))
    session = agent.create_session()

    async def work() -> None:
        for request in REQUESTS:
            await agent.run(request, session=session)

    asyncio.run(work())
    worked(provider)
    kept = kept_in(session)
    assert len(kept.calls) == len(kept.results) == len(REQUESTS) * (STEPS - 1)
    assert "<summary>" not in kept.words
    assert any(isinstance(event, Folded) for event in told)


def test_an_overflow_is_folded_for_and_sent_again_once() -> None:
    provider, told = Provider(window=4_000, steps=14), []
    agent = agent_of(provider, Folding(window=40_000, on_event=told.append))
    asyncio.run(agent.run(REQUESTS[0], session=agent.create_session()))
    assert (len(provider.refused), len(provider.sent)) == (1, 14)
    assert any(isinstance(event, Folded) and event.fold.trigger == "overflow" for event in told)


def test_a_session_that_is_restored_goes_on_with_the_same_prefix_and_pays_no_summary_twice() -> None:
    asked: list[Brief] = []

    def summarize(brief: Brief, messages: list[Message]) -> Summary:
        asked.append(brief)
        return extract(brief, messages)

    before, after = Provider(steps=26), Provider(steps=1)
    given = {"summarizer": summarize, **options()}

    async def work() -> None:
        agent = agent_of(before, Folding(**given))
        session = agent.create_session()
        await agent.run(REQUESTS[0], session=session)
        assert asked
        asked.clear()
        restored = AgentSession.from_dict(session.to_dict())
        await agent_of(after, Folding(**given)).run(REQUESTS[1], session=restored)

    asyncio.run(work())
    assert after.sent[0].words.startswith(before.sent[-1].words)
    assert asked == []


def test_without_a_session_copies_of_what_was_said_go_on_from_it() -> None:
    asked: list[Brief] = []

    def summarize(brief: Brief, messages: list[Message]) -> Summary:
        asked.append(brief)
        return extract(brief, messages)

    before, after = Provider(steps=26), Provider(steps=1)
    folding = Folding(summarizer=summarize, **options())

    async def work() -> None:
        first = Native("user", [REQUESTS[0]])
        said = await agent_of(before, folding).run([first])
        assert asked
        asked.clear()
        await agent_of(after, folding).run(deepcopy([first, *said.messages, Native("user", [REQUESTS[1]])]))

    asyncio.run(work())
    assert after.sent[0].words.startswith(before.sent[-1].words)
    assert asked == []


def test_sessions_at_once_do_not_mix() -> None:
    folding, providers = Folding(**options()), [Provider(steps=30) for _ in range(3)]

    async def work() -> None:
        agents = [agent_of(each, folding) for each in providers]
        await asyncio.gather(*(agent.run(REQUESTS[0], session=agent.create_session()) for agent in agents))

    asyncio.run(work())
    for each in providers:
        assert (each.refused, len(each.sent), list(faults(each.sent, 30))) == ([], 30, [])


def test_nothing_of_a_message_is_lost() -> None:
    picture = Content.from_uri("data:image/png;base64,iVBORw0KGgo" + "A" * 400, media_type="image/png")
    result = Content.from_function_result("a", result=["a plan", picture])
    history = [
        Native("user", [REQUESTS[0], picture], author_name="me", additional_properties={"mine": 1}),
        Native("assistant", [Content.from_function_call("a", "look", arguments='{"at": 1}')]),
        Native("tool", [result]),
    ]
    for number in range(2, 40):
        history.append(
            Native("assistant", [Content.from_function_call(f"c{number}", "read", arguments={"part": number})])
        )
        history.append(Native("tool", [Content.from_function_result(f"c{number}", result=output(number))]))
    held = Compactor("gpt-5.4", window=20_000, format=FORMAT)
    assert all(a is b for a, b in zip(held.fit(history[:3]), history))
    folded = held.fit(history)
    assert folded[-1] is history[-1]
    assert len(folded) < len(history)
    assert all(a is b for a, b in zip(held.fit(history), folded))
    was = FORMAT.read(history[0])
    changed = FORMAT.edited(history[0], was, replace(was, parts=(Text("[cut]"), was.parts[1])))
    assert [content.type for content in changed.contents] == ["text", "data"]
    assert changed.contents[1] is picture
    assert (changed.author_name, changed.additional_properties) == ("me", {"mine": 1})
    assert history[0].text == REQUESTS[0]


PICTURES = st.builds(Content.from_data, st.just(PNG), media_type=st.just("image/png"), additional_properties=JSON)
TEXTS = st.builds(Content.from_text, WORDS, additional_properties=JSON)
CALLS = st.builds(Content.from_function_call, WORDS, WORDS, arguments=st.one_of(JSON, JSON.map(json.dumps)))
RESULTS = st.builds(
    Content.from_function_result,
    WORDS,
    result=st.one_of(WORDS, st.lists(st.one_of(TEXTS, PICTURES), min_size=1, max_size=3)),
)
THOUGHTS = st.builds(Content.from_text_reasoning, text=WORDS, protected_data=st.one_of(st.none(), WORDS))
REST = {"author_name": WORDS, "message_id": WORDS, "additional_properties": JSON}
MESSAGES = st.one_of(
    st.builds(
        Native,
        st.sampled_from(["user", "system"]),
        st.lists(st.one_of(TEXTS, PICTURES), min_size=1, max_size=4),
        **REST,
    ),
    st.builds(
        Native, st.just("assistant"), st.lists(st.one_of(TEXTS, CALLS, THOUGHTS), min_size=1, max_size=4), **REST
    ),
    st.builds(Native, st.just("tool"), st.lists(RESULTS, min_size=1, max_size=3), **REST),
)


@given(MESSAGES)
def test_round_trips(native: Any) -> None:
    check(FORMAT, native, lambda one, other: one.to_dict() == other.to_dict())


def test_what_the_page_shows() -> None:
    provider = Provider(steps=3)
    agent = pages.run("agent-framework", client=Fake(provider), tools=[read])["agent"]
    asyncio.run(agent.run(REQUESTS[0]))
    assert len(provider.sent) == 3
