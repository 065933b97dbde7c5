"""foldline in OpenHands' SDK, with its own scripted model."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.update(OPENHANDS_SUPPRESS_BANNER="1", LITELLM_LOCAL_MODEL_COST_MAP="True")

import pages
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("openhands.sdk", reason="openhands-sdk is not installed: make integrations")

from openhands.sdk import Agent, Conversation, ImageContent, TextContent
from openhands.sdk import Message as Said
from openhands.sdk.event import ActionEvent, MessageEvent, ObservationEvent
from openhands.sdk.event.condenser import Condensation
from openhands.sdk.llm import MessageToolCall, ThinkingBlock
from openhands.sdk.llm.exceptions import LLMContextWindowExceedError
from openhands.sdk.llm.utils.metrics import TokenUsage
from openhands.sdk.testing import TestLLM
from openhands.sdk.tool import Action, Observation, Tool, ToolDefinition, ToolExecutor, register_tool
from pydantic import PrivateAttr
from round_trips import JSON, WORDS, check
from work import REQUESTS, STEPS, WINDOW, Provider, Sent, TooLong, output, worked

from foldline import Brief, Compactor, Folded, Message, Summary
from foldline.extend import Text, Thinking, extract, replace
from foldline.integrations._shapes.openhands import FORMAT
from foldline.integrations.openhands import Folding, RecallTool


def sent(messages: Sequence[Any]) -> Sent:
    calls = [call.id for message in messages for call in message.tool_calls or ()]
    results = [message.tool_call_id for message in messages if message.role == "tool"]
    words = [item.text for message in messages for item in message.content if isinstance(item, TextContent)]
    return Sent("\n".join(words), tuple(calls), tuple(results))


class Fake(TestLLM):
    """A model that reads one part after the other, or recalls once it sees a summary; it bills what it is sent."""

    _provider: Provider = PrivateAttr()
    _recalls: bool = PrivateAttr(default=False)

    @classmethod
    def of(cls, provider: Provider, *, recalls: bool = False) -> Fake:
        fake = cls(model="gpt-5.4", usage_id="fake")
        fake._provider, fake._recalls = provider, recalls
        return fake

    def completion(self, messages: Any, *rest: Any, **named: Any) -> Any:
        asked = sent(messages)
        try:
            part = self._provider.turn(asked)
        except TooLong as error:
            raise LLMContextWindowExceedError(str(error)) from error
        name, given = "read", {"part": part}
        if self._recalls and "<summary>" in asked.words:
            name, given = "recall", {"query": "part_2 reads setting_14"}
        call = MessageToolCall(id=f"call_{part}", name=name, arguments=json.dumps(given), origin="completion")
        said = [] if part else [TextContent(text="It is part_1.")]
        self._scripted_responses.append(Said(role="assistant", content=said, tool_calls=[call] if part else None))
        reply = super().completion(messages, *rest, **named)
        usage = TokenUsage(prompt_tokens=asked.tokens, completion_tokens=9, response_id=reply.id)
        self.metrics.token_usages.append(usage)
        return reply


class ReadAction(Action):
    part: int


class ReadObservation(Observation):
    pass


class Reads(ToolExecutor[ReadAction, ReadObservation]):
    def __call__(self, action: ReadAction, conversation: Any = None) -> ReadObservation:
        return ReadObservation.from_text(output(action.part))


class ReadTool(ToolDefinition[ReadAction, ReadObservation]):
    @classmethod
    def create(cls, conv_state: Any = None, **rest: Any) -> Sequence[ReadTool]:
        return [
            cls(description="Reads a part.", action_type=ReadAction, observation_type=ReadObservation, executor=Reads())
        ]


register_tool("read", ReadTool)
register_tool("recall", RecallTool)


def options() -> dict[str, Any]:
    return {"window": WINDOW, "reserve": 500, "pinned": lambda message: "PIN:" in message.text}


def talk_of(llm: Any, folder: Path, condenser: Any, *tools: str, **rest: Any) -> Any:
    names = [Tool(name=name) for name in ("read", *tools)]
    given = {"system_prompt": "You read parts.", "include_default_tools": []}
    agent = Agent(llm=llm, tools=names, condenser=condenser, **given)
    return Conversation(agent=agent, workspace=str(folder), visualizer=None, **rest)


def ask(talk: Any, *requests: str) -> None:
    for request in requests:
        talk.send_message(request)
        talk.run()


def test_five_windows_of_work(tmp_path: Path) -> None:
    provider, told = Provider(), []
    talk = talk_of(Fake.of(provider), tmp_path, Folding(on_event=told.append, **options()))
    ask(talk, *REQUESTS)
    worked(provider)
    log = list(talk.state.events)
    assert sum(isinstance(event, ObservationEvent) for event in log) == len(REQUESTS) * (STEPS - 1)
    assert not any(isinstance(event, Condensation) for event in log)
    assert any(isinstance(event, Folded) for event in told)


def test_an_overflow_is_folded_for_and_sent_again_once(tmp_path: Path) -> None:
    provider, told = Provider(window=4_000, steps=14), []
    talk = talk_of(Fake.of(provider), tmp_path, Folding(window=40_000, on_event=told.append))
    ask(talk, REQUESTS[0])
    assert (len(provider.refused), len(provider.sent)) == (1, 14)
    assert any(isinstance(event, Folded) and event.fold.trigger == "overflow" for event in told)
    assert sum(isinstance(event, Condensation) for event in talk.state.events) == 1


def test_a_fold_that_is_asked_for_teaches_no_limit(tmp_path: Path) -> None:
    provider, told = Provider(steps=12), []
    talk = talk_of(Fake.of(provider), tmp_path, Folding(window=40_000, on_event=told.append))
    ask(talk, REQUESTS[0])
    talk.condense()
    ask(talk, REQUESTS[1])
    assert [event.fold.trigger for event in told if isinstance(event, Folded)] == ["manual"]
    assert provider.sent[12].tokens < provider.sent[11].tokens / 2
    assert "<summary>" in provider.sent[12].words


def test_a_conversation_that_is_opened_again_goes_on_with_the_same_prefix_and_pays_no_summary_twice(
    tmp_path: Path,
) -> None:
    asked: list[Brief] = []

    def summarize(brief: Brief, messages: list[Message]) -> Summary:
        asked.append(brief)
        return extract(brief, messages)

    given = {"states": {}, "summarizer": summarize, **options()}
    before, after = Provider(steps=26), Provider(steps=1)
    kept = {"persistence_dir": str(tmp_path / "kept")}
    first = talk_of(Fake.of(before), tmp_path, Folding(**given), **kept)
    ask(first, REQUESTS[0])
    assert asked
    asked.clear()
    ask(talk_of(Fake.of(after), tmp_path, Folding(**given), **kept, conversation_id=first.id), REQUESTS[1])
    assert after.sent[0].words.startswith(before.sent[-1].words)
    assert asked == []


def test_the_model_recalls_what_was_folded(tmp_path: Path) -> None:
    talk = talk_of(Fake.of(Provider(steps=30), recalls=True), tmp_path, Folding(**options()), "recall")
    ask(talk, REQUESTS[0])
    answers = [
        e.observation.text for e in talk.state.events if isinstance(e, ObservationEvent) and e.tool_name == "recall"
    ]
    assert any("<recalled>" in answer and "part_2 reads setting_14 in line 0." in answer for answer in answers)


def call_of(number: int, thought: str = "", **rest: Any) -> ActionEvent:
    call = MessageToolCall(id=f"c{number}", name="read", arguments=f'{{"part": {number}}}', origin="completion")
    given = {"tool_name": "read", "tool_call_id": call.id, "tool_call": call, "llm_response_id": f"r{number}", **rest}
    return ActionEvent(thought=[TextContent(text=thought)] if thought else [], **given)


def result_of(number: int) -> ObservationEvent:
    said = ReadObservation.from_text(output(number))
    return ObservationEvent(observation=said, action_id="a", tool_name="read", tool_call_id=f"c{number}")


def test_nothing_of_an_event_is_lost() -> None:
    picture = ImageContent(image_urls=["https://example.com/a.png", "https://example.com/b.png"])
    asks = Said(role="user", content=[TextContent(text=REQUESTS[0]), picture])
    thinks = {"thinking_blocks": [ThinkingBlock(thinking="Both.", signature="s")], "llm_response_id": "r"}
    history = [
        MessageEvent(source="user", llm_message=asks),
        call_of(1, "I read both.", **thinks),
        call_of(2, llm_response_id="r"),
        result_of(1),
        result_of(2),
    ]
    for number in range(3, 50):
        history += [call_of(number), result_of(number)]
    held = Compactor("gpt-5.4", window=6_000, format=FORMAT)
    assert all(a is b for a, b in zip(held.fit(history[:5]), history))
    folded = held.fit(history)
    assert "<summary>" in sent([folded[0].to_llm_message()]).words
    assert folded[-1] is history[-1]
    assert len(folded) < len(history)
    was = FORMAT.read(history[0])
    changed = FORMAT.edited(history[0], was, replace(was, parts=(Text("[cut]"), *was.parts[1:])))
    assert changed.to_llm_message().content == [TextContent(text="[cut]"), picture]
    was = FORMAT.read(history[1])
    spoken = replace(was, parts=tuple(part for part in was.parts if not isinstance(part, Thinking)))
    changed = FORMAT.edited(history[1], was, spoken)
    assert changed == history[1].model_copy(update={"thinking_blocks": []})


PICTURES = st.builds(ImageContent, image_urls=st.lists(WORDS, min_size=1, max_size=2))
CONTENT = st.lists(
    st.one_of(st.builds(TextContent, text=WORDS, cache_prompt=st.booleans()), PICTURES), min_size=1, max_size=4
)
THOUGHTS = st.lists(st.builds(ThinkingBlock, thinking=WORDS, signature=WORDS), max_size=2)
EXTENDED = st.lists(st.builds(TextContent, text=WORDS), max_size=2)
CALLS = st.builds(MessageToolCall, id=WORDS, name=WORDS, arguments=JSON.map(json.dumps), origin=st.just("completion"))
EVENTS = st.one_of(
    st.builds(
        MessageEvent,
        source=st.just("user"),
        llm_message=st.builds(Said, role=st.just("user"), content=CONTENT),
        extended_content=EXTENDED,
    ),
    CALLS.flatmap(
        lambda call: st.builds(
            ActionEvent,
            thought=EXTENDED,
            thinking_blocks=THOUGHTS,
            tool_name=st.just(call.name),
            tool_call_id=st.just(call.id),
            tool_call=st.just(call),
            llm_response_id=WORDS,
        )
    ),
    st.builds(
        ObservationEvent,
        observation=st.builds(ReadObservation, content=CONTENT),
        action_id=WORDS,
        tool_name=WORDS,
        tool_call_id=WORDS,
        extended_content=EXTENDED,
    ),
)


@given(EVENTS)
def test_round_trips(event: Any) -> None:
    check(FORMAT, event, lambda one, other: one.to_llm_message() == other.to_llm_message())


def test_what_the_page_shows(tmp_path: Path) -> None:
    provider = Provider(steps=3)
    names = pages.run("openhands", llm=Fake.of(provider), tools=[Tool(name="read")])
    ask(Conversation(agent=names["agent"], workspace=str(tmp_path), visualizer=None), REQUESTS[0])
    assert len(provider.sent) == 3
