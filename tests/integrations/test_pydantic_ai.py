"""foldline in pydantic-ai, with its own function model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from copy import deepcopy
from typing import Any

import pages
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed: make integrations")

from pydantic_ai import Agent, AgentRunResult, CompactionPart, ModelMessagesTypeAdapter
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import (
    BinaryContent,
    FilePart,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.usage import RequestUsage
from round_trips import JSON, PNG, WORDS, check
from work import REQUESTS, STEPS, WINDOW, Provider, Sent, TooLong, faults, output, worked

from foldline import Brief, CannotFit, Compactor, Folded, Message, Summary
from foldline.extend import Text, extract, replace
from foldline.integrations._shapes.pydantic_ai import FORMAT, Requests
from foldline.integrations.pydantic_ai import Folding, HistoryFolded


def sent(messages: list[ModelMessage]) -> Sent:
    parts = [part for message in messages for part in message.parts]
    calls = [part for part in parts if isinstance(part, ToolCallPart)]
    results = [part for part in parts if isinstance(part, ToolReturnPart)]
    words = "\n".join(str(getattr(part, "content", "") or getattr(part, "args", "")) for part in parts)
    return Sent(words, tuple(c.tool_call_id for c in calls), tuple(r.tool_call_id for r in results))


def agent_of(provider: Provider, folding: Folding) -> Agent[None, str]:
    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked = sent(messages)
        try:
            part = provider.turn(asked)
        except TooLong as error:
            raise ModelHTTPError(400, "fake", {"message": str(error)}) from error
        said = ToolCallPart("read", {"part": part}, f"call_{part}") if part else TextPart("It is part_1.")
        return ModelResponse([said], usage=RequestUsage(input_tokens=asked.tokens, output_tokens=10))

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        for said in answer(messages, info).parts:
            if isinstance(said, ToolCallPart):
                yield {0: DeltaToolCall(said.tool_name, said.args_as_json_str(), tool_call_id=said.tool_call_id)}
            else:
                yield said.content

    agent = Agent(
        FunctionModel(answer, stream_function=stream, model_name="gpt-5.4"),
        capabilities=[folding],
        instructions="You read parts.",
    )

    @agent.tool_plain
    def read(part: int) -> str:
        return output(part)

    return agent


def ran(agent: Agent[None, str], request: str, **rest: Any) -> AgentRunResult[str]:
    return asyncio.run(agent.run(request, **rest))


def options() -> dict[str, Any]:
    return {"window": WINDOW, "reserve": 500, "pinned": lambda message: "PIN:" in message.text}


@pytest.mark.parametrize("persist", [False, True])
def test_five_windows_of_work(persist: bool) -> None:
    provider, folds = Provider(), []
    agent = agent_of(provider, Folding("gpt-5.4", persist=persist, on_event=folds.append, **options()))
    history: list[ModelMessage] = []
    for request in REQUESTS:
        before = history
        history = ran(agent, request, message_history=history, usage_limits=None).all_messages()
        if not persist:
            assert all(a is b for a, b in zip(before, history)), "what is kept is what the user has"
    worked(provider)
    kept = sent(history)
    assert sorted(kept.calls) == sorted(kept.results)
    assert (len(kept.calls) == len(REQUESTS) * (STEPS - 1)) is not persist
    assert any(isinstance(p, CompactionPart) for m in history for p in m.parts) is persist
    assert folds


def test_an_overflow_is_folded_for_and_sent_again_once() -> None:
    provider = Provider(window=4_000, steps=14)
    told = []
    agent = agent_of(provider, Folding("gpt-5.4", window=40_000, on_event=told.append))
    ran(agent, REQUESTS[0])
    assert len(provider.refused) == 1, "the limit is learned from the first refusal"
    assert len(provider.sent) == 14
    assert any(isinstance(event, Folded) and event.fold.trigger == "overflow" for event in told)


def test_what_no_fold_mends_is_raised_as_it_came() -> None:
    agent = agent_of(Provider(window=10), Folding("gpt-5.4"))
    with pytest.raises((ModelHTTPError, CannotFit)):
        ran(agent, REQUESTS[0])


def test_another_process_goes_on_with_the_same_prefix_and_pays_no_summary_twice() -> None:
    asked: list[Brief] = []

    def summarize(brief: Brief, messages: Sequence[Message]) -> Summary:
        asked.append(brief)
        return extract(brief, messages)

    provider = Provider(steps=26)
    history = ran(agent_of(provider, Folding("gpt-5.4", summarizer=summarize, **options())), REQUESTS[0]).all_messages()
    assert asked
    asked.clear()
    restored = ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(history))
    again, after = Folding("gpt-5.4", summarizer=summarize, **options()), Provider(steps=1)
    ran(agent_of(after, again), REQUESTS[1], message_history=restored)
    assert after.sent[0].words.startswith(provider.sent[-1].words)
    assert asked == []


def test_the_model_recalls_what_was_folded() -> None:
    answers: list[str] = []

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        part = len([m for m in messages if isinstance(m, ModelResponse)])
        if "recall" not in [tool.name for tool in info.function_tools]:
            raise AssertionError("no tool")
        results = [p for p in messages[-1].parts if isinstance(p, ToolReturnPart) and p.tool_name == "recall"]
        if results:
            answers.append(str(results[0].content))
            return ModelResponse([TextPart("done")])
        if any(isinstance(p, CompactionPart) for m in messages for p in m.parts):
            return ModelResponse([ToolCallPart("recall", {"query": "part_2 reads setting_14"}, "call_recall")])
        return ModelResponse([ToolCallPart("read", {"part": part}, f"call_{part}")])

    agent = Agent(FunctionModel(answer), capabilities=[Folding("gpt-5.4", recall=True, **options())])
    agent.tool_plain(lambda part: output(part), name="read")
    ran(agent, REQUESTS[0])
    assert "part_2 reads setting_14 in line 0." in answers[0]


def test_nothing_of_a_message_is_lost() -> None:
    picture = BinaryContent(b"\x89PNG\r\n\x1a\n" + bytes(64), media_type="image/png", vendor_metadata={"detail": "low"})
    returns = [
        ToolReturnPart("read", output(1), "a", metadata={"took": 3}),
        ToolReturnPart("look", ["a plan of the parts", picture], "b"),
        UserPromptPart(["And this?", picture, ImageUrl("https://example.com/a.png")]),
    ]
    calls = [
        ThinkingPart("Both.", signature="s", provider_name="anthropic"),
        ToolCallPart("read", {"part": 1}, "a", id="fc_1", provider_name="openai", provider_details={"x": 1}),
        ToolCallPart("look", '{"at": 1}', "b"),
    ]
    history: list[ModelMessage] = [
        ModelRequest([SystemPromptPart("Be brief."), UserPromptPart(REQUESTS[0])], metadata={"mine": 1}),
        ModelResponse(calls, provider_details={"finish": "tool"}),
        ModelRequest(returns, instructions="You read parts.", run_id="r"),
    ]
    for number in range(2, 40):
        history.append(ModelResponse([ToolCallPart("read", {"part": number}, f"c{number}")]))
        history.append(ModelRequest([ToolReturnPart("read", output(number), f"c{number}")]))
    kept = deepcopy(history)
    held = Compactor("gpt-5.4", window=20_000, format=FORMAT)
    requests = Requests()

    def fit(messages: list[ModelMessage]) -> list[ModelMessage]:
        return requests.together(held.fit(requests.apart(messages)))

    assert [id(each) for each in fit(history[:3])] == [id(each) for each in history[:3]]
    folded = fit(history)
    ours = {id(each) for each in history}
    system = next(each for each in folded if any(isinstance(p, SystemPromptPart) for p in each.parts))
    assert system is history[0] or [type(p) for p in system.parts] == [SystemPromptPart]
    assert system.metadata == {"mine": 1}
    assert folded[-1] is history[-1]
    assert any(id(each) not in ours for each in folded)
    assert history == kept
    assert all(a is b for a, b in zip(fit(history), folded))
    only = ToolReturnPart("read", "[pruned]", "a", metadata={"took": 3}, timestamp=returns[0].timestamp)
    was = FORMAT.read(history[2])
    now = replace(was, parts=(replace(was.parts[0], parts=(Text("[pruned]"),)), *was.parts[1:]))
    changed = FORMAT.edited(history[2], was, now)
    assert list(changed.parts) == [only, *returns[1:]]
    assert changed.parts[1] is returns[1]
    assert (changed.instructions, changed.run_id) == ("You read parts.", "r")


def test_conversations_at_once_do_not_mix() -> None:
    folding = Folding("gpt-5.4", **options())
    providers = [Provider(steps=30) for _ in range(4)]

    async def all_at_once() -> None:
        await asyncio.gather(*(agent_of(each, folding).run(REQUESTS[0]) for each in providers))

    asyncio.run(all_at_once())
    for each in providers:
        assert (each.refused, len(each.sent), list(faults(each.sent, 30))) == ([], 30, [])


PICTURES = st.builds(BinaryContent, st.just(PNG), media_type=st.just("image/png"), vendor_metadata=JSON)
ITEMS = st.one_of(WORDS, PICTURES, st.builds(ImageUrl, WORDS), st.builds(TextContent, WORDS, metadata=JSON))
IDS = st.one_of(st.none(), WORDS)
REQUEST = st.one_of(
    st.builds(SystemPromptPart, WORDS),
    st.builds(UserPromptPart, st.one_of(WORDS, st.lists(ITEMS, min_size=1, max_size=4))),
    st.builds(ToolReturnPart, WORDS, st.one_of(WORDS, st.tuples(ITEMS, PICTURES).map(list)), WORDS, metadata=JSON),
)
RESPONSE = st.one_of(
    st.builds(TextPart, WORDS, id=IDS, provider_details=JSON),
    st.builds(ThinkingPart, WORDS, signature=IDS, id=IDS),
    st.builds(ToolCallPart, WORDS, st.one_of(JSON, st.just('{"at":1}')), WORDS, id=IDS, provider_details=JSON),
    st.builds(FilePart, PICTURES, id=IDS),
)
MESSAGES = st.one_of(
    st.builds(ModelRequest, st.lists(REQUEST, min_size=1, max_size=4), instructions=IDS, metadata=JSON),
    st.builds(
        ModelResponse, st.lists(RESPONSE, min_size=1, max_size=4), provider_details=JSON, finish_reason=st.just("stop")
    ),
)


@pytest.mark.filterwarnings("ignore:`RetryPromptPart` is deprecated")
def test_a_call_that_is_to_be_made_again_has_its_answer() -> None:
    retry = ModelRequest([RetryPromptPart("No such part.", tool_name="read", tool_call_id="a")])
    was = FORMAT.read(retry)
    (answer,) = was.results
    assert (answer.call_id, answer.error) == ("a", True)
    now = replace(was, parts=(replace(answer, parts=(Text("[pruned]"),)),))
    (part,) = FORMAT.edited(retry, was, now).parts
    assert (part.tool_call_id, part.content) == ("a", "[pruned]")


@given(MESSAGES)
def test_round_trips(native: ModelMessage) -> None:
    requests = Requests()
    parted = requests.apart([native])
    assert requests.together(parted)[0] is native
    for each in parted:
        check(FORMAT, each)


def test_what_the_page_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    agent = pages.run("pydantic-ai")["agent"]
    provider = Provider(steps=3)
    with agent.override(model=agent_of(provider, Folding()).model):
        agent.tool_plain(lambda part: output(part), name="read")
        ran(agent, REQUESTS[0])
    assert len(provider.sent) == 3


class Listening(AbstractCapability[Any]):
    """Hears the events of a run."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    async def on_event(self, ctx: Any, *, event: Any) -> None:
        self.told.append(event)


def test_folds_are_events_of_the_run() -> None:
    provider, listening = Provider(steps=30), Listening()
    ran(agent_of(provider, Folding("gpt-5.4", **options())), REQUESTS[0], capabilities=[listening])
    receipts = [event.receipt for event in listening.told if isinstance(event, HistoryFolded)]
    assert receipts
    assert all(receipt.tokens_after < receipt.tokens_before for receipt in receipts)
