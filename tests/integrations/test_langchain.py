"""foldline in LangChain's agents, which are graphs of LangGraph, and in deepagents, with a fake chat model of theirs."""

from __future__ import annotations

import asyncio
from copy import deepcopy
from typing import Any

import pages
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("langchain", reason="LangChain is not installed: make integrations")

from langchain.agents import create_agent
from langchain_core.exceptions import ContextOverflowError
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from round_trips import JSON, WORDS, check
from work import REQUESTS, STEPS, WINDOW, Provider, Sent, TooLong, faults, output, worked

from foldline import Brief, Compactor, FoldDue, Folded, Message, Summary
from foldline.extend import Text, extract, replace
from foldline.integrations._shapes.langchain import FORMAT
from foldline.integrations.langchain import Folding


def sent(messages: list[AnyMessage]) -> Sent:
    calls = [call["id"] or "" for m in messages if isinstance(m, AIMessage) for call in m.tool_calls]
    results = [m.tool_call_id for m in messages if isinstance(m, ToolMessage)]
    return Sent("\n".join(str(m.content) for m in messages), tuple(calls), tuple(results))


class Fake(BaseChatModel):
    """A chat model that reads one part after the other, or recalls once it sees a summary."""

    provider: Any
    recalls: bool = False
    seen: Any = None

    @property
    def _llm_type(self) -> str:
        return "fake"

    def bind_tools(self, tools: Any, **rest: Any) -> Any:
        return self

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **rest: Any) -> ChatResult:
        asked = sent(messages)
        if self.seen is not None:
            self.seen.append(list(messages))
        try:
            part = self.provider.turn(asked)
        except TooLong as error:
            raise ContextOverflowError(str(error)) from error
        call = {"name": "read", "args": {"part": part}, "id": f"call_{part}"}
        if self.recalls and part and "<summary>" in asked.words:
            call = {"name": "recall", "args": {"query": "part_2 reads setting_14"}, "id": f"call_{part}"}
        usage = {"input_tokens": asked.tokens, "output_tokens": 10, "total_tokens": asked.tokens + 10}
        said = AIMessage("", tool_calls=[call]) if part else AIMessage("It is part_1.")
        said.usage_metadata = usage  # type: ignore[assignment]
        return ChatResult(generations=[ChatGeneration(message=said)])


@tool
def read(part: int) -> str:
    """Reads a part."""
    return output(part)


def options() -> dict[str, Any]:
    return {"window": WINDOW, "reserve": 500, "pinned": lambda message: "PIN:" in message.text}


def thread(name: str = "1") -> Any:
    return {"configurable": {"thread_id": name}, "recursion_limit": 400}


def agent_of(provider: Provider, folding: Folding, saver: Any = None, **rest: Any) -> Any:
    model = Fake(provider=provider, **rest)
    return create_agent(model, [read], system_prompt="You read parts.", middleware=[folding], checkpointer=saver)


@pytest.mark.parametrize("persist", [False, True])
def test_five_windows_of_work(persist: bool) -> None:
    provider, told = Provider(), []
    folding = Folding("gpt-5.4", persist=persist, on_event=told.append, **options())
    agent = agent_of(provider, folding, InMemorySaver())
    for request in REQUESTS:
        agent.invoke({"messages": [HumanMessage(request)]}, thread())
    worked(provider)
    kept = sent(agent.get_state(thread()).values["messages"])
    assert sorted(kept.calls) == sorted(kept.results)
    assert (len(kept.calls) == len(REQUESTS) * (STEPS - 1)) is not persist
    assert ("<summary>" in kept.words) is persist
    assert any(isinstance(event, Folded) for event in told)


@pytest.mark.parametrize("persist", [False, True])
def test_the_agents_own_model_says_the_window(persist: bool) -> None:
    class Named(Fake):
        model_name: str = "gpt-4"

    provider, windows = Provider(window=8_192, steps=24), set()
    told = lambda event: windows.add(event.window) if isinstance(event, FoldDue) else None  # noqa: E731
    folding = Folding(persist=persist, reserve=500, on_event=told)
    agent = create_agent(Named(provider=provider), [read], middleware=[folding], checkpointer=InMemorySaver())
    for request in REQUESTS:
        agent.invoke({"messages": [HumanMessage(request)]}, thread())
    assert (provider.refused, windows) == ([], {8_192})
    kept = sent(agent.get_state(thread()).values["messages"])
    assert ("<summary>" in kept.words) is persist


def test_without_a_checkpointer_the_caller_keeps_the_messages() -> None:
    provider = Provider()
    agent = agent_of(provider, Folding("gpt-5.4", **options()))
    messages: list[Any] = []
    for request in REQUESTS:
        given = {"messages": [*messages, HumanMessage(request)]}
        result = agent.invoke(given, {"recursion_limit": 400})
        assert set(result) == {"messages"}
        messages = result["messages"]
    worked(provider)
    assert len(sent(messages).calls) == len(REQUESTS) * (STEPS - 1)


def test_an_overflow_is_folded_for_and_sent_again_once() -> None:
    provider, told = Provider(window=4_000, steps=14), []
    folding = Folding("gpt-5.4", window=40_000, on_event=told.append)
    agent_of(provider, folding, InMemorySaver()).invoke({"messages": [HumanMessage(REQUESTS[0])]}, thread())
    assert (len(provider.refused), len(provider.sent)) == (1, 14)
    assert any(isinstance(event, Folded) and event.fold.trigger == "overflow" for event in told)


def test_another_error_is_raised_as_it_came() -> None:
    class Down(Fake):
        def _generate(self, *args: Any, **rest: Any) -> ChatResult:
            raise ConnectionError("no route")

    agent = create_agent(Down(provider=None), [], middleware=[Folding("gpt-5.4")])
    with pytest.raises(ConnectionError, match="no route"):
        agent.invoke({"messages": [HumanMessage("Hello")]})


def test_a_process_that_starts_again_goes_on_with_the_same_prefix_and_pays_no_summary_twice() -> None:
    asked: list[Brief] = []

    def summarize(brief: Brief, messages: list[Message]) -> Summary:
        asked.append(brief)
        return extract(brief, messages)

    saver, before, after = InMemorySaver(), Provider(steps=26), Provider(steps=1)
    given = {"summarizer": summarize, **options()}
    agent_of(before, Folding("gpt-5.4", **given), saver).invoke({"messages": [HumanMessage(REQUESTS[0])]}, thread())
    assert asked
    asked.clear()
    agent_of(after, Folding("gpt-5.4", **given), saver).invoke({"messages": [HumanMessage(REQUESTS[1])]}, thread())
    assert after.sent[0].words.startswith(before.sent[-1].words)
    assert asked == []


def test_processes_that_take_turns_on_a_thread_pay_no_summary_twice() -> None:
    def paid(processes: int) -> tuple[int, list[str]]:
        asked: list[Brief] = []

        def summarize(brief: Brief, messages: list[Message]) -> Summary:
            asked.append(brief)
            return extract(brief, messages)

        saver, provider = InMemorySaver(), Provider(steps=6)
        foldings = [Folding("gpt-5.4", summarizer=summarize, **options()) for _ in range(processes)]
        for turn in range(18):
            agent = agent_of(provider, foldings[turn % processes], saver)
            agent.invoke({"messages": [HumanMessage(f"{turn}: {REQUESTS[0]}")]}, thread())
        assert provider.refused == []
        return len(asked), [each.words for each in provider.sent]

    assert paid(1)[0] > 3
    assert paid(3)[0] == paid(1)[0]


def test_the_model_recalls_what_was_folded() -> None:
    agent = agent_of(Provider(steps=30), Folding("gpt-5.4", recall=True, **options()), InMemorySaver(), recalls=True)
    result = agent.invoke({"messages": [HumanMessage(REQUESTS[0])]}, thread())
    answers = [m.content for m in result["messages"] if isinstance(m, ToolMessage) and m.name == "recall"]
    assert answers
    assert "part_2 reads setting_14 in line 0." in answers[0]


def test_threads_at_once_do_not_mix() -> None:
    folding, saver = Folding("gpt-5.4", **options()), InMemorySaver()
    providers = [Provider(steps=30) for _ in range(4)]

    async def all_at_once() -> None:
        agents = [agent_of(each, folding, saver) for each in providers]
        given = {"messages": [HumanMessage(REQUESTS[0])]}
        await asyncio.gather(*(agent.ainvoke(given, thread(str(n))) for n, agent in enumerate(agents)))

    asyncio.run(all_at_once())
    for each in providers:
        assert (each.refused, len(each.sent), list(faults(each.sent, 30))) == ([], 30, [])


def test_folds_are_in_the_stream_of_the_graph() -> None:
    agent = agent_of(Provider(steps=30), Folding("gpt-5.4", **options()))
    stream = agent.stream({"messages": [HumanMessage(REQUESTS[0])]}, {"recursion_limit": 400}, stream_mode="custom")
    told = [each for each in stream if each["type"] == "foldline.folded"]
    assert told
    assert all(each["receipt"]["tokens_after"] < each["receipt"]["tokens_before"] for each in told)


def test_nothing_of_a_message_is_lost() -> None:
    picture = {"type": "image", "base64": "iVBORw0KGgo" + "A" * 400, "mime_type": "image/png"}
    calls = [{"name": "read", "args": {"part": 1}, "id": "a"}, {"name": "look", "args": {"at": 2}, "id": "b"}]
    blocks = [
        {"type": "thinking", "thinking": "Both.", "signature": "s"},
        {"type": "text", "text": "I look.", "cache_control": {"type": "ephemeral"}},
        {"type": "tool_use", "id": "a", "name": "read", "input": {"part": 1}},
    ]
    history: list[Any] = [
        SystemMessage("Be brief."),
        HumanMessage([{"type": "text", "text": REQUESTS[0]}, picture], name="me"),
        AIMessage(blocks, tool_calls=calls, response_metadata={"x": 1}),
        ToolMessage(output(1), tool_call_id="a", artifact={"rows": 3}),
        ToolMessage([{"type": "text", "text": "a plan"}, picture], tool_call_id="b", status="error"),
    ]
    for number in range(2, 40):
        call = {"name": "read", "args": {"part": number}, "id": f"c{number}"}
        history += [AIMessage("", tool_calls=[call]), ToolMessage(output(number), tool_call_id=f"c{number}")]
    kept = deepcopy(history)
    held = Compactor("gpt-5.4", window=20_000, format=FORMAT)
    assert all(a is b for a, b in zip(held.fit(history[:5]), history))
    folded = held.fit(history)
    assert history == kept
    assert folded[0] is history[0]
    assert folded[-1] is history[-1]
    assert all(a is b for a, b in zip(held.fit(history), folded))
    was = FORMAT.read(history[4])
    (result,) = was.results
    now = replace(was, parts=(replace(result, parts=(Text("[shorter]"), result.parts[1])),))
    changed = FORMAT.edited(history[4], was, now)
    assert changed == history[4].model_copy(update={"content": [{"type": "text", "text": "[shorter]"}, picture]})
    was = FORMAT.read(history[2])
    without = replace(was, parts=was.parts[1:])
    changed = FORMAT.edited(history[2], was, without)
    assert changed == history[2].model_copy(update={"content": blocks[1:]})


def test_deepagents_fold_the_same_way() -> None:
    deepagents = pytest.importorskip("deepagents")
    provider, told = Provider(window=30_000, steps=80), []
    folding = Folding("gpt-5.4", window=30_000, reserve=500, on_event=told.append)
    agent = deepagents.create_deep_agent(Fake(provider=provider), [read], middleware=[folding])
    agent.invoke({"messages": [HumanMessage(REQUESTS[0])]}, {"recursion_limit": 800})
    assert (provider.refused, len(provider.sent)) == ([], 80)
    assert list(faults(provider.sent, 80)) == []
    assert any(isinstance(event, Folded) for event in told)


BLOCKS = st.one_of(
    WORDS.map(lambda text: {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}),
    WORDS.map(lambda url: {"type": "image_url", "image_url": {"url": url, "detail": "low"}}),
    WORDS.map(lambda data: {"type": "image", "base64": data, "mime_type": "image/png"}),
    WORDS.map(lambda said: {"type": "of_its_own", "said": said}),
)
THOUGHTS = WORDS.map(lambda text: {"type": "thinking", "thinking": text, "signature": "s"})
CALLS = st.fixed_dictionaries({"id": WORDS, "name": WORDS, "args": JSON, "type": st.just("tool_call")})
CONTENT = st.one_of(WORDS, st.lists(BLOCKS, min_size=1, max_size=4))
REST = {"id": WORDS, "name": WORDS, "additional_kwargs": JSON, "response_metadata": JSON}
MESSAGES = st.one_of(
    st.builds(HumanMessage, CONTENT, **REST),
    st.builds(SystemMessage, CONTENT, **REST),
    st.builds(
        ToolMessage, CONTENT, tool_call_id=WORDS, status=st.sampled_from(["success", "error"]), artifact=JSON, **REST
    ),
    st.builds(
        AIMessage,
        st.one_of(WORDS, st.just(""), st.lists(st.one_of(BLOCKS, THOUGHTS), max_size=4)),
        tool_calls=st.lists(CALLS, max_size=3, unique_by=lambda call: call["id"]),
        **REST,
    ),
)


@given(MESSAGES)
def test_round_trips(native: Any) -> None:
    check(FORMAT, native)


def test_what_the_page_shows() -> None:
    provider = Provider(steps=3)
    agent = pages.run("langchain", model=Fake(provider=provider), tools=[read])["agent"]
    agent.invoke({"messages": [HumanMessage(REQUESTS[0])]})
    assert len(provider.sent) == 3
