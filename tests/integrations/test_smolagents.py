"""foldline in smolagents, with a model of its own kind that is scripted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pages
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("smolagents", reason="smolagents is not installed: make integrations")

from round_trips import JSON, PNG, WORDS, check
from smolagents import ToolCallingAgent, tool
from smolagents.models import (
    ChatMessage,
    ChatMessageStreamDelta,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    ChatMessageToolCallStreamDelta,
    MessageRole,
    Model,
)
from smolagents.monitoring import LogLevel, TokenUsage
from work import REQUESTS, STEPS, WINDOW, Provider, Sent, output, worked

from foldline import Brief, Compactor, Folded, Message, Summary
from foldline.extend import Text, extract, replace
from foldline.integrations._shapes.smolagents import FORMAT
from foldline.integrations.smolagents import Folding


def sent(messages: list[Any]) -> Sent:
    texts = [(m.role, item["text"]) for m in messages for item in m.content if item["type"] == "text"]
    calls = [text for role, text in texts if role == MessageRole.TOOL_CALL]
    results = [text for role, text in texts if role == MessageRole.TOOL_RESPONSE]
    return Sent("\n".join(text for _, text in texts), tuple("call" for _ in calls), tuple("call" for _ in results))


class Fake(Model):
    """A model that reads one part after the other."""

    def __init__(self, provider: Provider) -> None:
        super().__init__(model_id="gpt-5.4")
        self.provider = provider

    def turn(self, messages: list[Any]) -> tuple[Any, TokenUsage]:
        asked = sent(messages)
        part = self.provider.turn(asked)
        name, given = ("read", {"part": part}) if part else ("final_answer", {"answer": "part_1"})
        function = ChatMessageToolCallFunction(name=name, arguments=given)
        return (f"call_{part}", function), TokenUsage(asked.tokens, 9)

    def generate(self, messages: list[Any], **rest: Any) -> ChatMessage:
        (id, function), usage = self.turn(messages)
        call = ChatMessageToolCall(id=id, type="function", function=function)
        return ChatMessage(MessageRole.ASSISTANT, "", tool_calls=[call], token_usage=usage)


class Streaming(Fake):
    """The same, which says it bit by bit."""

    def generate_stream(self, messages: list[Any], **rest: Any) -> Iterator[ChatMessageStreamDelta]:
        (id, function), usage = self.turn(messages)
        function.arguments = json.dumps(function.arguments)
        call = ChatMessageToolCallStreamDelta(index=0, id=id, type="function", function=function)
        yield ChatMessageStreamDelta(tool_calls=[call], token_usage=usage)


@tool
def read(part: int) -> str:
    """Reads a part.

    Args:
        part: its number
    """
    return output(part)


def options() -> dict[str, Any]:
    return {"window": WINDOW, "reserve": 500, "pinned": lambda message: "PIN:" in message.text}


def agent_of(model: Any, **rest: Any) -> ToolCallingAgent:
    given = {"max_steps": 200, "verbosity_level": LogLevel.OFF, **rest}
    agent = ToolCallingAgent(tools=[read], model=model, instructions="", **given)
    agent.prompt_templates["system_prompt"] = "You read parts."
    return agent


@pytest.mark.parametrize("kind", [Fake, Streaming])
def test_five_windows_of_work(kind: type[Fake]) -> None:
    provider, told = Provider(), []
    model = Folding(kind(provider), on_event=told.append, **options())
    agent = agent_of(model, stream_outputs=kind is Streaming)
    for number, request in enumerate(REQUESTS):
        agent.run(request, reset=number == 0)
    worked(provider)
    kept = sent(agent.write_memory_to_messages())
    assert len(kept.calls) == len(kept.results) == len(REQUESTS) * STEPS
    assert "<summary>" not in kept.words
    assert any(isinstance(event, Folded) for event in told)


@pytest.mark.parametrize("kind", [Fake, Streaming])
def test_an_overflow_is_folded_for_and_sent_again_once(kind: type[Fake]) -> None:
    provider, told = Provider(window=4_000, steps=14), []
    model = Folding(kind(provider), window=40_000, on_event=told.append)
    agent_of(model, stream_outputs=kind is Streaming).run(REQUESTS[0])
    assert (len(provider.refused), len(provider.sent)) == (1, 14)
    assert any(isinstance(event, Folded) and event.fold.trigger == "overflow" for event in told)


def test_another_process_goes_on_with_the_same_prefix_and_pays_no_summary_twice() -> None:
    asked: list[Brief] = []

    def summarize(brief: Brief, messages: list[Message]) -> Summary:
        asked.append(brief)
        return extract(brief, messages)

    given = {"states": {}, "summarizer": summarize, **options()}
    before, after = Provider(steps=26), Provider(steps=1)
    agent = agent_of(Folding(Fake(before), **given))
    agent.run(REQUESTS[0])
    assert asked
    asked.clear()
    agent.model = Folding(Fake(after), **given)
    agent.run(REQUESTS[1], reset=False)
    assert after.sent[0].words.startswith(before.sent[-1].words)
    assert asked == []


def test_nothing_of_a_message_is_lost() -> None:
    picture = {"type": "image", "image": object()}
    history = [
        ChatMessage(MessageRole.SYSTEM, [{"type": "text", "text": "You read parts."}]),
        ChatMessage(MessageRole.USER, [{"type": "text", "text": REQUESTS[0]}, picture]),
    ]
    for number in range(1, 50):
        text = f"Observation:\n{output(number)}"
        history.append(
            ChatMessage(MessageRole.ASSISTANT, [{"type": "text", "text": f"I read {number}."}], raw={"x": 1})
        )
        history.append(ChatMessage(MessageRole.TOOL_RESPONSE, [{"type": "text", "text": text}]))
    held = Compactor("gpt-5.4", window=5_000, format=FORMAT)
    assert all(a is b for a, b in zip(held.fit(history[:4]), history))
    folded = held.fit(history)
    assert folded[0] is history[0]
    assert folded[-1] is history[-1]
    assert len(folded) < len(history)
    copies = [ChatMessage(m.role, m.content, m.tool_calls, m.raw) for m in history]
    again = held.fit(copies)
    assert again == folded
    assert again[-1] is copies[-1], "what comes back is what came"
    was = FORMAT.read(history[1])
    changed = FORMAT.edited(history[1], was, replace(was, parts=(Text("[cut]"), was.parts[1])))
    assert changed == replace_content(history[1], [{"type": "text", "text": "[cut]"}, picture])


def replace_content(message: ChatMessage, content: Any) -> ChatMessage:
    return ChatMessage(message.role, content, message.tool_calls, message.raw, message.token_usage)


ITEMS = st.one_of(
    WORDS.map(lambda text: {"type": "text", "text": text}),
    WORDS.map(lambda url: {"type": "image_url", "image_url": {"url": url}}),
    st.just({"type": "image", "image": PNG}),
)
FUNCTIONS = st.fixed_dictionaries({"name": WORDS, "arguments": JSON})
CALLS = st.lists(
    st.fixed_dictionaries({"id": WORDS, "type": st.just("function"), "function": FUNCTIONS}), min_size=1, max_size=3
)
CONTENT = st.one_of(WORDS, st.lists(ITEMS, min_size=1, max_size=4))
SPOKEN = st.sampled_from([MessageRole.SYSTEM, MessageRole.USER, MessageRole.ASSISTANT, MessageRole.TOOL_RESPONSE])
MESSAGES = st.one_of(
    st.builds(ChatMessage, SPOKEN, CONTENT, raw=JSON),
    st.builds(
        ChatMessage,
        st.just(MessageRole.TOOL_CALL),
        CALLS.map(lambda c: [{"type": "text", "text": f"Calling tools:\n{c}"}]),
    ),
)


@given(MESSAGES)
def test_round_trips(native: ChatMessage) -> None:
    check(FORMAT, native)


def test_what_the_page_shows() -> None:
    provider = Provider(steps=3)
    agent = pages.run("smolagents", model=Fake(provider), tools=[read])["agent"]
    agent.run(REQUESTS[0])
    assert len(provider.sent) == 3
