"""foldline in LiteLLM, with a provider of its own that is registered as LiteLLM says."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from typing import Any

import pages
import pytest

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
pytest.importorskip("litellm", reason="LiteLLM is not installed: make integrations")

import litellm
from litellm import CustomLLM, ModelResponse
from litellm.exceptions import ContextWindowExceededError
from work import REQUESTS, STEPS, WINDOW, Provider, Sent, TooLong, output, worked

from foldline import Brief, Folded, Message, Summary
from foldline.extend import extract
from foldline.integrations.litellm import Folding


def sent(messages: list[Any]) -> Sent:
    calls = [call["id"] for message in messages for call in message.get("tool_calls") or []]
    results = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    return Sent("\n".join(str(message.get("content") or "") for message in messages), tuple(calls), tuple(results))


class Fake(CustomLLM):
    """A provider of LiteLLM's own kind, which refuses what is over its window."""

    def __init__(self, provider: Provider) -> None:
        super().__init__()
        self.provider = provider

    def completion(self, *args: Any, **named: Any) -> ModelResponse:
        asked = sent(named["messages"])
        try:
            part = self.provider.turn(asked)
        except TooLong as error:
            raise ContextWindowExceededError(str(error), "fake/gpt-5.4", "fake") from error
        function = {"name": "read", "arguments": json.dumps({"part": part})}
        call = {"id": f"call_{part}", "type": "function", "function": function}
        message = {
            "role": "assistant",
            "content": None if part else "It is part_1.",
            **({"tool_calls": [call]} if part else {}),
        }
        usage = {"prompt_tokens": asked.tokens, "completion_tokens": 9, "total_tokens": asked.tokens + 9}
        return ModelResponse(choices=[{"index": 0, "message": message, "finish_reason": "stop"}], usage=usage)

    async def acompletion(self, *args: Any, **named: Any) -> ModelResponse:
        return self.completion(*args, **named)


@pytest.fixture
def provider() -> Iterator[Provider]:
    made = Provider()
    litellm.custom_provider_map = [{"provider": "fake", "custom_handler": Fake(made)}]
    yield made
    litellm.custom_provider_map, litellm.callbacks = [], []


def options() -> dict[str, Any]:
    return {"window": WINDOW, "reserve": 500, "pinned": lambda message: "PIN:" in message.text}


async def work(send: Any, requests: tuple[str, ...] = REQUESTS) -> list[Any]:
    """A loop as a caller of LiteLLM writes it, who keeps the whole history."""
    messages: list[Any] = [{"role": "system", "content": "You read parts."}]
    for request in requests:
        messages.append({"role": "user", "content": request})
        while True:
            reply = send(model="fake/gpt-5.4", messages=messages)
            message = (await reply if asyncio.iscoroutine(reply) else reply).choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                break
            for call in message.tool_calls:
                content = output(json.loads(call.function.arguments)["part"])
                messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    return messages


@pytest.mark.parametrize("way", ["completion", "acompletion", "callback", "router"])
def test_five_windows_of_work(way: str, provider: Provider) -> None:
    told: list[Any] = []
    folding = Folding(on_event=told.append, **options())
    send: Any = getattr(folding, way, None)
    if way in ("callback", "router"):
        litellm.callbacks = [folding]
        send = litellm.acompletion
    if way == "router":
        send = litellm.Router([{"model_name": "fake/gpt-5.4", "litellm_params": {"model": "fake/gpt-5.4"}}]).acompletion
    messages = asyncio.run(work(send))
    worked(provider)
    kept = sent(messages)
    assert len(kept.calls) == len(kept.results) == len(REQUESTS) * (STEPS - 1)
    assert any(isinstance(event, Folded) for event in told)


@pytest.mark.parametrize("way", ["completion", "acompletion"])
def test_an_overflow_is_folded_for_and_sent_again_once(way: str, provider: Provider) -> None:
    provider.window, provider.steps = 4_000, 14
    told: list[Any] = []
    asyncio.run(work(getattr(Folding(window=40_000, on_event=told.append), way), REQUESTS[:1]))
    assert (len(provider.refused), len(provider.sent)) == (1, 14)
    assert any(isinstance(event, Folded) and event.fold.trigger == "overflow" for event in told)


def test_an_overflow_in_a_router_is_folded_for_where_it_tries_again(provider: Provider) -> None:
    provider.window, provider.steps = 4_000, 14
    litellm.callbacks = [Folding(window=40_000)]
    names = ("fake/gpt-5.4", "again")
    deployments = [{"model_name": name, "litellm_params": {"model": "fake/gpt-5.4"}} for name in names]
    router = litellm.Router(deployments, context_window_fallbacks=[{names[0]: [names[1]]}])
    asyncio.run(work(router.acompletion, REQUESTS[:1]))
    assert (len(provider.refused), len(provider.sent)) == (1, 14)


def test_another_process_goes_on_with_the_same_prefix_and_pays_no_summary_twice(provider: Provider) -> None:
    asked: list[Brief] = []

    def summarize(brief: Brief, messages: list[Message]) -> Summary:
        asked.append(brief)
        return extract(brief, messages)

    given = {"states": {}, "summarizer": summarize, **options()}
    provider.steps = 26
    messages = asyncio.run(work(Folding(**given).completion, REQUESTS[:1]))
    assert asked
    asked.clear()
    again = [*json.loads(json.dumps(messages)), {"role": "user", "content": REQUESTS[1]}]
    Folding(**given).completion(model="fake/gpt-5.4", messages=again)
    assert provider.sent[26].words.startswith(provider.sent[25].words)
    assert asked == []


def test_conversations_that_begin_alike_find_their_own_folds_in_another_process(provider: Provider) -> None:
    asked: list[Brief] = []

    def summarize(brief: Brief, messages: list[Message]) -> Summary:
        asked.append(brief)
        return extract(brief, messages)

    given = {"states": {}, "summarizer": summarize, **options()}
    folding = Folding(**given)
    provider.steps = 24
    one = asyncio.run(work(folding.completion, REQUESTS[:1]))
    provider.steps = 50  # the other one goes on from part 25
    other = asyncio.run(work(folding.completion, REQUESTS[:1]))
    ended = provider.sent[23].words, provider.sent[49].words
    asked.clear()
    folding = Folding(**given)
    for new in ([{"role": "user", "content": REQUESTS[0]}], other, one):
        messages = [*json.loads(json.dumps(new)), {"role": "user", "content": REQUESTS[1]}]
        folding.completion(model="fake/gpt-5.4", messages=messages)
    assert asked == []
    assert provider.sent[51].words.startswith(ended[1])
    assert provider.sent[52].words.startswith(ended[0])


def test_the_model_recalls_what_was_folded(provider: Provider) -> None:
    provider.steps = 30
    folding = Folding(**options())
    messages = asyncio.run(work(folding.completion, REQUESTS[:1]))
    answer = folding.recall('{"query": "part_2 reads setting_14"}', messages=messages)
    assert "part_2 reads setting_14 in line 0." in answer


def test_what_the_page_shows(provider: Provider) -> None:
    provider.steps = 1
    names = pages.run("litellm", messages=[{"role": "user", "content": REQUESTS[0]}], model="fake/gpt-5.4")
    assert names["reply"].choices[0].message.content == "It is part_1."
    assert litellm.callbacks == [names["folding"]]
