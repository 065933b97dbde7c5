"""foldline in Inspect, with its own mock model."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pages
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("inspect_ai", reason="inspect-ai is not installed: make integrations")

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ContentData,
    ContentImage,
    ContentReasoning,
    ContentText,
    Model,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.solver import solver
from inspect_ai.tool import ToolCall, tool
from round_trips import JSON, WORDS, check
from work import REQUESTS, STEPS, WINDOW, Provider, Sent, TooLong, faults, output, worked

from foldline import Brief, Compactor, Folded, Message, Summary
from foldline.extend import Text, extract, replace
from foldline.integrations._shapes.inspect_ai import FORMAT
from foldline.integrations.inspect_ai import Folding


def sent(messages: list[Any]) -> Sent:
    calls = [call.id for message in messages for call in getattr(message, "tool_calls", None) or []]
    results = [message.tool_call_id for message in messages if message.role == "tool"]
    return Sent("\n".join(message.text for message in messages), tuple(calls), tuple(results))


def billed(said: ModelOutput, tokens: int) -> ModelOutput:
    said.usage = ModelUsage(input_tokens=tokens, output_tokens=9, total_tokens=tokens + 9)
    return said


def mock(provider: Provider, raises: bool = False) -> Model:
    """A model that reads one part after the other; what is too long it refuses as Inspect's providers do."""

    def answer(messages: list[Any], *rest: Any) -> ModelOutput:
        asked = sent(messages)
        try:
            part = provider.turn(asked)
        except TooLong as error:
            if raises:
                raise
            refused = ModelOutput.from_content("mockllm/model", str(error), stop_reason="model_length")
            return billed(refused, 0)
        if part:
            called = ModelOutput.for_tool_call("mockllm/model", "read", {"part": part}, tool_call_id=f"call_{part}")
            return billed(called, asked.tokens)
        return billed(ModelOutput.from_content("mockllm/model", "part_1"), asked.tokens)

    return get_model("mockllm/model", custom_outputs=answer, memoize=False)


@tool
def read() -> Any:
    async def execute(part: int) -> str:
        """Reads a part.

        Args:
            part: its number
        """
        return output(part)

    return execute


def options() -> dict[str, Any]:
    return {"window": WINDOW, "reserve": 500, "pinned": lambda message: "PIN:" in message.text}


async def work(model: Model, requests: tuple[str, ...] = REQUESTS, history: tuple[Any, ...] = ()) -> list[Any]:
    """The messages of a conversation once its requests are answered, in Inspect's own loop."""
    messages = list(history)
    for request in requests:
        messages.append(ChatMessageUser(content=request))
        messages += (await model.generate_loop(messages, [read()]))[0]
    return messages


def test_five_windows_of_work_in_a_sample(tmp_path: Path) -> None:
    provider, told = Provider(), []
    model = Folding(on_event=told.append, **options())(mock(provider))

    @solver
    def worker() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            state.messages = await work(model)
            return state

        return solve

    task = Task(dataset=[Sample(input=REQUESTS[0])], solver=worker())
    (log,) = evaluate(task, model=model, log_dir=str(tmp_path), display="none")
    assert log.status == "success", log.error
    worked(provider)
    kept = sent(log.samples[0].messages)
    assert len(kept.calls) == len(kept.results) == len(REQUESTS) * (STEPS - 1)
    assert "<summary>" not in kept.words
    assert all(output(part) in kept.words for part in range(1, STEPS))
    assert any(isinstance(event, Folded) for event in told)


@pytest.mark.parametrize("raises", [False, True])
def test_an_overflow_is_folded_for_and_sent_again_once(raises: bool) -> None:
    provider, told = Provider(window=4_000, steps=14), []
    model = Folding(window=40_000, on_event=told.append)(mock(provider, raises))
    asyncio.run(work(model, REQUESTS[:1]))
    assert (len(provider.refused), len(provider.sent)) == (1, 14)
    assert any(isinstance(event, Folded) and event.fold.trigger == "overflow" for event in told)


def test_a_reply_that_ran_out_of_room_is_no_overflow() -> None:
    cut = billed(ModelOutput.from_content("mockllm/model", "part_1 is read by", stop_reason="model_length"), 9)
    model = Folding(**options())(get_model("mockllm/model", custom_outputs=[cut], memoize=False))
    assert asyncio.run(model.generate("Which part?")).completion == "part_1 is read by"


def test_another_process_goes_on_with_the_same_prefix_and_pays_no_summary_twice() -> None:
    asked: list[Brief] = []

    def summarize(brief: Brief, messages: list[Message]) -> Summary:
        asked.append(brief)
        return extract(brief, messages)

    given = {"states": {}, "summarizer": summarize, **options()}
    before, after = Provider(steps=26), Provider(steps=1)
    kept = asyncio.run(work(Folding(**given)(mock(before)), REQUESTS[:1]))
    assert asked
    asked.clear()
    restored = tuple(message.model_copy(deep=True) for message in kept)
    asyncio.run(work(Folding(**given)(mock(after)), REQUESTS[1:2], restored))
    assert after.sent[0].words.startswith(before.sent[-1].words)
    assert asked == []


def test_samples_at_once_do_not_mix() -> None:
    folding, providers = Folding(**options()), [Provider(steps=30) for _ in range(3)]

    async def all_of_them() -> None:
        await asyncio.gather(*(work(folding(mock(each)), (REQUESTS[0],)) for each in providers))

    asyncio.run(all_of_them())
    for each in providers:
        assert (each.refused, len(each.sent), list(faults(each.sent, 30))) == ([], 30, [])


def test_nothing_of_a_message_is_lost() -> None:
    picture = ContentImage(image="data:image/png;base64,iVBORw0KGgo" + "A" * 400)
    history: list[Any] = [ChatMessageUser(content=[ContentText(text=REQUESTS[0]), picture], metadata={"mine": 1})]
    for number in range(1, 40):
        call = ToolCall(id=f"c{number}", function="read", arguments={"part": number})
        history.append(ChatMessageAssistant(content="I read.", tool_calls=[call], model="m"))
        history.append(ChatMessageTool(content=output(number), tool_call_id=f"c{number}", function="read"))
    held = Compactor("gpt-5.4", window=20_000, format=FORMAT)
    assert all(a is b for a, b in zip(held.fit(history[:3]), history))
    folded = held.fit(history)
    assert folded[-1] is history[-1]
    assert len(folded) < len(history)
    assert all(a is b for a, b in zip(held.fit(history), folded))
    was = FORMAT.read(history[0])
    changed = FORMAT.edited(history[0], was, replace(was, parts=(Text("[cut]"), was.parts[1])))
    assert changed == history[0].model_copy(update={"content": [ContentText(text="[cut]"), picture]})
    assert changed.content[1] is picture
    called = FORMAT.read(history[1])
    assert FORMAT.edited(history[1], called, called) == history[1]
    assert history[0].text == REQUESTS[0]


ITEMS = st.one_of(
    st.builds(ContentText, text=WORDS, refusal=st.booleans()),
    st.builds(ContentImage, image=WORDS, detail=st.just("low")),
    st.builds(ContentData, data=JSON),
)
CONTENT = st.one_of(WORDS, st.lists(ITEMS, min_size=1, max_size=4))
CALLS = st.lists(
    st.builds(ToolCall, id=WORDS, function=WORDS, arguments=JSON), max_size=3, unique_by=lambda call: call.id
)
THOUGHTS = st.builds(ContentReasoning, reasoning=WORDS, signature=WORDS)
REST = {"id": WORDS, "metadata": JSON}
MESSAGES = st.one_of(
    st.builds(ChatMessageUser, content=CONTENT, **REST),
    st.builds(ChatMessageSystem, content=CONTENT, **REST),
    st.builds(ChatMessageTool, content=CONTENT, tool_call_id=WORDS, function=WORDS, **REST),
    st.builds(
        ChatMessageAssistant,
        content=st.one_of(WORDS, st.lists(st.one_of(ITEMS, THOUGHTS), max_size=4)),
        tool_calls=CALLS,
        model=WORDS,
        **REST,
    ),
)


@given(MESSAGES)
def test_round_trips(native: Any) -> None:
    check(FORMAT, native)


def test_what_the_page_shows(tmp_path: Path) -> None:
    end = billed(ModelOutput.for_tool_call("mockllm/model", "submit", {"answer": "part_1"}), 9)
    model = get_model("mockllm/model", custom_outputs=[end], memoize=False)
    agent = pages.run("inspect-ai", model=model, tools=[read()])["agent"]
    task = Task(dataset=[Sample(input=REQUESTS[0])], solver=agent)
    (log,) = evaluate(task, model=model, log_dir=str(tmp_path), display="none")
    assert log.status == "success", log.error
    assert log.samples[0].output.completion.endswith("part_1")
