"""Streamed replies of a wrapped client: the chunks are the library's own, and what they state is learned on the way."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import foldline
from foldline import Folded
from providers import Provider, Request, says, sends, status
from strict import Strict, _frame
from test_compactor import overflow, turns
from test_overflow import anthropic as anthropic_error
from test_sdk_loops import anthropic_client, bedrock_client, gemini_client, openai_client
from test_wrap import SETTINGS, WINDOW, Heard, sent_in

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

Item = dict[str, Any]
Streams = Callable[[Any, list[Item]], Iterator[Any]]
"""Asks a client, and hands out what comes of its stream."""


def chat(client: Any, history: list[Item]) -> Iterator[Any]:
    yield from client.chat.completions.create(model="gpt-5", messages=history, stream=True)


def chat_events(client: Any, history: list[Item]) -> Iterator[Any]:
    with client.chat.completions.stream(model="gpt-5", messages=history) as stream:
        yield from stream


def responses(client: Any, history: list[Item]) -> Iterator[Any]:
    with client.responses.create(model="gpt-5", input=history, stream=True) as stream:
        yield from stream


def responses_events(client: Any, history: list[Item]) -> Iterator[Any]:
    with client.responses.stream(model="gpt-5", input=history) as stream:
        yield from stream


def messages(client: Any, history: list[Item]) -> Iterator[Any]:
    yield from client.messages.create(model="claude-sonnet-5", max_tokens=500, messages=history, stream=True)


def messages_events(client: Any, history: list[Item]) -> Iterator[Any]:
    with client.messages.stream(model="claude-sonnet-5", max_tokens=500, messages=history) as stream:
        yield from stream


def gemini(client: Any, history: list[Item]) -> Iterator[Any]:
    roles = {"user": "user", "assistant": "model"}
    contents = [{"role": roles[item["role"]], "parts": [{"text": item["content"]}]} for item in history]
    for chunk in client.models.generate_content_stream(model="gemini-2.5-flash", contents=contents):
        yield chunk.model_copy(update={"sdk_http_response": None})


def bedrock(client: Any, history: list[Item]) -> Iterator[Any]:
    said = [{"role": item["role"], "content": [{"text": item["content"]}]} for item in history]
    yield from client.converse_stream(modelId="us.anthropic.claude-sonnet-4-5-20250929-v1:0", messages=said)["stream"]


CLIENTS = {
    chat: openai_client,
    chat_events: openai_client,
    responses: openai_client,
    responses_events: openai_client,
    messages: anthropic_client,
    messages_events: anthropic_client,
    gemini: gemini_client,
    bedrock: bedrock_client,
}
each_stream = pytest.mark.parametrize("stream", CLIENTS, ids=lambda stream: stream.__name__)


def plain(chunk: Any) -> Any:
    return chunk.model_dump(warnings=False) if hasattr(chunk, "model_dump") else chunk


def chunks_of(stream: Streams, provider: Strict, history: list[Item]) -> list[Any]:
    return list(map(plain, stream(CLIENTS[stream](provider), history)))


@each_stream
def test_the_chunks_are_those_of_the_library(stream: Streams) -> None:
    with Strict(100_000) as bare, Strict(100_000, wrap=lambda client: foldline.wrap(client)) as wrapped:
        expected = chunks_of(stream, bare, turns(2))
        assert chunks_of(stream, wrapped, turns(2)) == expected
    assert len(expected) > 1


@each_stream
def test_the_history_is_kept_within_the_window_and_the_bill_is_taken(stream: Streams) -> None:
    heard = Heard()
    settings = {**SETTINGS, "on_event": heard}
    with Strict(WINDOW, wrap=lambda client: foldline.wrap(client, **settings)) as provider:
        client = CLIENTS[stream](provider)
        for count in range(10, 61, 2):
            list(stream(client, turns(count)))
        assert provider.refused == []
    folds = [event.fold for event in heard.of(Folded)]
    assert folds
    for fold in folds:
        assert fold.receipt.error < 0.1, "counted from a bill, not estimated"


def too_long(request: Request) -> Any:
    said = "prompt is too long: 9000 tokens > 4000 maximum"
    if "/model/" in request.path:
        return {"__type": "ValidationException", "message": said}
    return anthropic_error(said) if "/messages" in request.path else overflow(4_000, 9_000)


@each_stream
def test_a_stream_that_is_refused_is_asked_for_again(stream: Streams) -> None:
    with Strict(100_000, wrap=lambda client: foldline.wrap(client)) as provider:
        after = provider.provider.script
        provider.provider.script = [lambda handler, sent: status(400, too_long(sent))(handler, sent), *after]
        assert list(stream(CLIENTS[stream](provider), turns(40)))
        first, second = map(sent_in, provider.provider.requests)
    assert len(json.dumps(second)) < len(json.dumps(first)) * 0.8


def test_an_overflow_that_a_stream_begins_with_is_recovered() -> None:
    failed = sends(
        {
            "error": {
                "message": "Your input exceeds the context window of this model.",
                "code": "context_length_exceeded",
            }
        }
    )
    with Provider(failed, says("Done.")) as provider:
        client = foldline.wrap(provider.serves(openai.OpenAI(base_url=provider.url, api_key="none", max_retries=0)))
        chunks = list(chat(client, turns(40)))
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == "Done."
        assert len(sent_in(provider.requests[1])) < len(sent_in(provider.requests[0]))


def test_another_error_that_a_stream_begins_with_is_the_callers() -> None:
    with Provider(sends({"error": {"message": "Overloaded", "type": "overloaded_error"}})) as provider:
        client = foldline.wrap(provider.serves(openai.OpenAI(base_url=provider.url, api_key="none", max_retries=0)))
        with pytest.raises(openai.APIError, match="Overloaded"):
            list(chat(client, turns(40)))
        assert len(provider.requests) == 1


def test_a_stream_that_breaks_off_since_the_window_is_full_is_not_begun_twice_and_the_next_call_is_shorter() -> None:
    def breaks_off(handler: Any, request: Request) -> None:
        full = {"message": "Input Tokens Exceeded: Number of input tokens exceeds maximum length."}
        handler.stream(iter((_frame("messageStart", {"role": "assistant"}), _exception("validationException", full))))

    with Strict(100_000, wrap=lambda client: foldline.wrap(client)) as provider:
        provider.provider.script.insert(0, breaks_off)
        client = bedrock_client(provider)
        with pytest.raises(Exception, match="Input Tokens Exceeded"):
            list(bedrock(client, turns(40)))
        assert len(provider.provider.requests) == 1
        list(bedrock(client, turns(40)))
        first, second = map(sent_in, provider.provider.requests)
    assert len(json.dumps(second)) < len(json.dumps(first)) * 0.8


def test_a_stream_that_says_in_an_event_that_the_window_is_full_shortens_the_next_call() -> None:
    error = {"code": "context_length_exceeded", "message": "Your input exceeds the context window of this model."}
    failed = {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "output": [],
        "status": "failed",
        "error": error,
    }
    event = {"type": "response.failed", "sequence_number": 0, "response": failed}
    with Strict(100_000, wrap=lambda client: foldline.wrap(client)) as provider:
        provider.provider.script.insert(0, sends(event))
        client = openai_client(provider)
        (said,) = responses(client, turns(40))
        assert said.type == "response.failed"
        list(responses(client, turns(40)))
        first, second = map(sent_in, provider.provider.requests)
    assert len(json.dumps(second)) < len(json.dumps(first)) * 0.8


def _exception(name: str, said: Item) -> bytes:
    return _frame(name, said, kind="exception")


def test_a_stream_is_what_the_library_made_it() -> None:
    with Provider(says("Done.")) as provider:
        client = foldline.wrap(provider.serves(openai.OpenAI(base_url=provider.url, api_key="none", max_retries=0)))
        stream = client.chat.completions.create(model="gpt-5", messages=turns(2), stream=True)
        assert isinstance(stream, openai.Stream)
        assert stream.response.status_code == 200
        with stream as entered:
            next(entered)
        assert stream.response.is_closed


def test_an_awaited_stream_is_what_the_library_made_it() -> None:
    async def work(url: str) -> bool:
        async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
            stream = await foldline.wrap(client).chat.completions.create(model="gpt-5", messages=turns(2), stream=True)
            assert isinstance(stream, openai.AsyncStream)
            await stream.close()
            return hasattr(stream, "__next__")

    with Provider(says("Done.")) as provider:
        assert not asyncio.run(work(provider.url))


def test_awaited_streams() -> None:
    async def work(root: str) -> tuple[list[Any], str]:
        heard = Heard()
        async with openai.AsyncOpenAI(base_url=f"{root}/v1", api_key="none", max_retries=0) as client:
            wrapped = foldline.wrap(client, on_event=heard, **SETTINGS)
            chunks = [
                c async for c in await wrapped.chat.completions.create(model="gpt-5", messages=turns(60), stream=True)
            ]
        async with anthropic.AsyncAnthropic(base_url=root, api_key="none", max_retries=0) as other:
            wrapped = foldline.wrap(other, on_event=heard, **SETTINGS)
            asked = {"model": "claude-sonnet-5", "max_tokens": 500}
            async with wrapped.messages.stream(messages=turns(60), **asked) as stream:
                text = await stream.get_final_text()
        assert len(heard.of(Folded)) == 2
        return chunks, text

    with Strict(WINDOW) as provider:
        chunks, text = asyncio.run(work(provider.provider.root))
        assert provider.refused == []
    assert chunks[-1].usage.prompt_tokens > 0
    assert text == "Looking at part 2."


def test_awaited_streams_of_google() -> None:
    async def work(client: Any) -> list[Any]:
        contents = [{"role": "user", "parts": [{"text": "Why?"}]}]
        stream = await client.aio.models.generate_content_stream(model="gemini-2.5-flash", contents=contents)
        texts = [chunk.text async for chunk in stream if chunk.text]
        await client.aio.aclose()
        return texts

    with Strict(WINDOW, wrap=lambda client: foldline.wrap(client, **SETTINGS)) as provider:
        assert asyncio.run(work(gemini_client(provider))) == ["Looking at part 1."]
