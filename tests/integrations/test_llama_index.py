"""foldline in LlamaIndex, with its own mock of a model that calls functions."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pages
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("llama_index.core", reason="llama-index-core is not installed: make integrations")

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ThinkingBlock, ToolCallBlock
from llama_index.core.llms import ChatMessage, ImageBlock, TextBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import ChatMemoryBuffer
from round_trips import JSON, PNG, WORDS, check
from work import REQUESTS, STEPS, WINDOW, Provider, Sent, faults, output, worked

from foldline import Brief, Compactor, Folded, Message, Summary
from foldline.extend import Text, extract, replace
from foldline.integrations._shapes.llama_index import FORMAT
from foldline.integrations.llama_index import Folding

WHOLE = 10_000_000
"""Tokens of a memory that leaves nothing out."""


def sent(messages: Any) -> Sent:
    blocks = [block for message in messages for block in message.blocks]
    calls = [block.tool_call_id for block in blocks if isinstance(block, ToolCallBlock)]
    results = [m.additional_kwargs["tool_call_id"] for m in messages if m.role.value == "tool"]
    return Sent("\n".join(m.content or "" for m in messages), tuple(calls), tuple(results))


def mock(provider: Provider) -> MockFunctionCallingLLM:
    """A model that reads one part after the other."""

    def answer(messages: Any, **rest: Any) -> ChatMessage:
        part = provider.turn(sent(messages))
        if not part:
            return ChatMessage(role="assistant", content="part_1")
        call = ToolCallBlock(tool_call_id=f"call_{part}", tool_name="read", tool_kwargs={"part": part})
        return ChatMessage(role="assistant", blocks=[call])

    return MockFunctionCallingLLM(response_generator=answer, is_chat_model=True)


def read(part: int) -> str:
    """Reads a part."""
    return output(part)


def options() -> dict[str, Any]:
    return {"window": WINDOW, "reserve": 500, "pinned": lambda message: "PIN:" in message.text}


async def work(llm: Any, memory: Any, requests: tuple[str, ...] = REQUESTS, streaming: bool = False) -> None:
    agent = FunctionAgent(llm=llm, tools=[read], system_prompt="You read parts.", streaming=streaming)
    for request in requests:
        await agent.run(request, memory=memory, max_iterations=200)


def memory_of(messages: Any = ()) -> ChatMemoryBuffer:
    return ChatMemoryBuffer.from_defaults(chat_history=list(messages), token_limit=WHOLE)


@pytest.mark.parametrize("streaming", [False, True])
def test_five_windows_of_work(streaming: bool) -> None:
    provider, told, memory, states = Provider(), [], memory_of(), {}
    llm = Folding(states=states, on_event=told.append, **options())(mock(provider))
    asyncio.run(work(llm, memory, streaming=streaming))
    worked(provider)
    kept = sent(memory.get_all())
    assert len(kept.calls) == len(kept.results) == len(REQUESTS) * (STEPS - 1)
    assert "<summary>" not in kept.words
    assert all(output(part) in kept.words for part in range(1, STEPS))
    assert any(isinstance(event, Folded) for event in told)
    assert len(states) == 1, "what is folded is not folded again"


@pytest.mark.parametrize("streaming", [False, True])
def test_an_overflow_is_folded_for_and_sent_again_once(streaming: bool) -> None:
    provider, told = Provider(window=4_000, steps=14), []
    llm = Folding(window=40_000, on_event=told.append)(mock(provider))
    asyncio.run(work(llm, memory_of(), REQUESTS[:1], streaming))
    assert (len(provider.refused), len(provider.sent)) == (1, 14)
    assert any(isinstance(event, Folded) and event.fold.trigger == "overflow" for event in told)


def test_another_process_goes_on_with_the_same_prefix_and_pays_no_summary_twice() -> None:
    asked: list[Brief] = []

    def summarize(brief: Brief, messages: list[Message]) -> Summary:
        asked.append(brief)
        return extract(brief, messages)

    given = {"states": {}, "summarizer": summarize, **options()}
    before, after, memory = Provider(steps=26), Provider(steps=1), memory_of()
    asyncio.run(work(Folding(**given)(mock(before)), memory, REQUESTS[:1]))
    assert asked
    asked.clear()
    restored = memory_of(ChatMessage.model_validate(each.model_dump()) for each in memory.get_all())
    asyncio.run(work(Folding(**given)(mock(after)), restored, REQUESTS[1:2]))
    assert after.sent[0].words.startswith(before.sent[-1].words)
    assert asked == []


def test_agents_at_once_do_not_mix() -> None:
    folding, providers = Folding(**options()), [Provider(steps=30) for _ in range(3)]

    async def all_of_them() -> None:
        await asyncio.gather(*(work(folding(mock(each)), memory_of(), REQUESTS[:1]) for each in providers))

    asyncio.run(all_of_them())
    for each in providers:
        assert (each.refused, len(each.sent), list(faults(each.sent, 30))) == ([], 30, [])


def test_a_conversation_without_an_agent_folds_too() -> None:
    provider = Provider(steps=30)
    llm, messages = Folding(**options())(mock(provider)), [ChatMessage(content=REQUESTS[0])]
    for number in range(30):
        reply = list(llm.stream_chat(messages))[-1] if number % 2 else llm.chat(messages)
        said = reply.message
        answers = [
            ChatMessage(role="tool", content=output(number + 1), additional_kwargs={"tool_call_id": call.tool_call_id})
            for call in said.blocks
            if isinstance(call, ToolCallBlock)
        ]
        messages += [said, *answers]
    assert (provider.refused, len(provider.sent), list(faults(provider.sent, 30))) == ([], 30, [])


def test_nothing_of_a_message_is_lost() -> None:
    picture = ImageBlock(url="https://example.org/plan.png")
    history = [ChatMessage(blocks=[TextBlock(text=REQUESTS[0]), picture], additional_kwargs={"mine": 1})]
    for number in range(1, 40):
        call = ToolCallBlock(tool_call_id=f"c{number}", tool_name="read", tool_kwargs={"part": number})
        history.append(ChatMessage(role="assistant", blocks=[call]))
        history.append(
            ChatMessage(role="tool", content=output(number), additional_kwargs={"tool_call_id": f"c{number}"})
        )
    held = Compactor("gpt-5.4", window=20_000, format=FORMAT)
    assert all(a is b for a, b in zip(held.fit(history[:3]), history))
    folded = held.fit(history)
    assert folded[-1] is history[-1]
    assert len(folded) < len(history)
    assert all(a is b for a, b in zip(held.fit(history), folded))
    was = FORMAT.read(history[0])
    changed = FORMAT.edited(history[0], was, replace(was, parts=(Text("[cut]"), was.parts[1])))
    assert changed == history[0].model_copy(update={"blocks": [TextBlock(text="[cut]"), picture]})
    assert changed.blocks[1] is picture
    assert history[0].content == REQUESTS[0]


PICTURES = st.one_of(
    st.builds(ImageBlock, image=st.just(PNG), detail=WORDS), st.builds(ImageBlock, url=st.just("https://a.b/c.png"))
)
BLOCKS = st.one_of(st.builds(TextBlock, text=WORDS), PICTURES)
CALLS = st.builds(ToolCallBlock, tool_call_id=WORDS, tool_name=WORDS, tool_kwargs=st.one_of(JSON, JSON.map(json.dumps)))
THOUGHTS = st.builds(ThinkingBlock, content=WORDS, additional_information=JSON)
MESSAGES = st.one_of(
    st.builds(
        ChatMessage,
        role=st.sampled_from(["user", "system", "developer"]),
        blocks=st.lists(BLOCKS, min_size=1, max_size=4),
        additional_kwargs=JSON,
    ),
    st.builds(
        ChatMessage,
        role=st.just("assistant"),
        blocks=st.lists(st.one_of(BLOCKS, CALLS, THOUGHTS), min_size=1, max_size=5),
        additional_kwargs=JSON,
    ),
    st.builds(
        ChatMessage,
        role=st.just("tool"),
        blocks=st.lists(BLOCKS, min_size=1, max_size=3),
        additional_kwargs=st.fixed_dictionaries({"tool_call_id": WORDS}),
    ),
)


@given(MESSAGES)
def test_round_trips(native: Any) -> None:
    check(FORMAT, native)


def test_what_the_page_shows() -> None:
    provider = Provider(steps=3)
    agent = pages.run("llama-index", llm=mock(provider), tools=[read])["agent"]

    async def ask() -> None:
        await agent.run(REQUESTS[0])

    asyncio.run(ask())
    assert len(provider.sent) == 3
