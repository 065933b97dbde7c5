"""Each SDK's own loop, as its documentation has it, over five windows against a provider that refuses what the real ones do.

What the SDK hands out goes into the history as it came: nothing is dumped, copied or converted for foldline.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from foldline import Compactor
from foldline.extend import Opaque, Text
from strict import Strict

WINDOW = 12_000
WINDOWS = 5
SYSTEM = "You are a careful engineer."
OUTPUT = "".join(f"{n}: value_{n} = compute({n})\n" for n in range(200))


def request(turn: int) -> str:
    return f"Request {turn}: find who reads setting_{turn} and tell me."


def read(path: str) -> str:
    return f"# {path}\n{OUTPUT}"


def chat_results(calls: list[Any]) -> list[Any]:
    return [{"role": "tool", "tool_call_id": call.id, "content": read(call.function.arguments)} for call in calls]


def responses_results(calls: list[Any]) -> list[Any]:
    return [{"type": "function_call_output", "call_id": call.call_id, "output": read(call.arguments)} for call in calls]


def anthropic_results(uses: list[Any]) -> list[Any]:
    return [{"type": "tool_result", "tool_use_id": use.id, "content": read(use.input["path"])} for use in uses]


def gemini_results(calls: list[Any]) -> list[Any]:
    from google.genai.types import Part

    return [Part.from_function_response(name=c.name, response={"result": read(c.args["path"])}) for c in calls]


Loop = Callable[[Strict, Compactor], Iterator[list[Any]]]
"""Runs an agent for as long as it is asked, and shows its history after each reply."""


def openai_client(provider: Strict) -> Any:
    openai = pytest.importorskip("openai")
    return provider.wrap(
        provider.provider.serves(openai.OpenAI(base_url=provider.provider.url, api_key="none", max_retries=0))
    )


def openai_chat(provider: Strict, compactor: Compactor) -> Iterator[list[Any]]:
    client = openai_client(provider)
    messages: list[Any] = [{"role": "system", "content": SYSTEM}]
    for turn in range(10_000):
        messages.append({"role": "user", "content": request(turn)})
        while True:
            completion = client.chat.completions.create(model="gpt-5", messages=compactor.fit(messages))
            compactor.observe(completion)
            message = completion.choices[0].message
            messages.append(message)
            yield messages
            if not message.tool_calls:
                break
            messages += chat_results(message.tool_calls)


def openai_chat_in_parts(provider: Strict, compactor: Compactor) -> Iterator[list[Any]]:
    """The message written out by hand, with the calls as they came."""
    client = openai_client(provider)
    messages: list[Any] = []
    for turn in range(10_000):
        messages.append({"role": "user", "content": request(turn)})
        while True:
            completion = client.chat.completions.create(model="gpt-5", messages=compactor.fit(messages))
            compactor.observe(completion)
            message = completion.choices[0].message
            if not message.tool_calls:
                messages.append({"role": "assistant", "content": message.content})
                yield messages
                break
            messages.append({"role": "assistant", "content": message.content, "tool_calls": message.tool_calls})
            yield messages
            messages += chat_results(message.tool_calls)


def openai_chat_streamed(provider: Strict, compactor: Compactor) -> Iterator[list[Any]]:
    client = openai_client(provider)
    messages: list[Any] = []
    options = {"include_usage": True}
    for turn in range(10_000):
        messages.append({"role": "user", "content": request(turn)})
        while True:
            sent = compactor.fit(messages)
            with client.chat.completions.stream(model="gpt-5", messages=sent, stream_options=options) as stream:
                completion = stream.get_final_completion()
            compactor.observe(completion)
            message = completion.choices[0].message
            messages.append(message)
            yield messages
            if not message.tool_calls:
                break
            messages += chat_results(message.tool_calls)


def openai_responses(provider: Strict, compactor: Compactor) -> Iterator[list[Any]]:
    client = openai_client(provider)
    items: list[Any] = [{"role": "developer", "content": SYSTEM}]
    for turn in range(10_000):
        items.append({"role": "user", "content": request(turn)})
        while True:
            response = client.responses.create(model="gpt-5", input=compactor.fit(items))
            compactor.observe(response)
            items += response.output
            yield items
            calls = [item for item in response.output if item.type == "function_call"]
            if not calls:
                break
            items += responses_results(calls)


def openai_responses_streamed(provider: Strict, compactor: Compactor) -> Iterator[list[Any]]:
    client = openai_client(provider)
    items: list[Any] = []
    for turn in range(10_000):
        items.append({"role": "user", "content": request(turn)})
        while True:
            with client.responses.stream(model="gpt-5", input=compactor.fit(items)) as stream:
                response = stream.get_final_response()
            compactor.observe(response)
            items += response.output
            yield items
            calls = [item for item in response.output if item.type == "function_call"]
            if not calls:
                break
            items += responses_results(calls)


def anthropic_client(provider: Strict) -> Any:
    anthropic = pytest.importorskip("anthropic")
    return provider.wrap(
        provider.provider.serves(anthropic.Anthropic(base_url=provider.provider.root, api_key="none", max_retries=0))
    )


def anthropic_messages(provider: Strict, compactor: Compactor) -> Iterator[list[Any]]:
    client = anthropic_client(provider)
    messages: list[Any] = []
    model = {"model": "claude-sonnet-5", "max_tokens": 1_000, "system": SYSTEM}
    for turn in range(10_000):
        messages.append({"role": "user", "content": request(turn)})
        while True:
            response = client.messages.create(messages=compactor.fit(messages), **model)
            compactor.observe(response)
            messages.append({"role": "assistant", "content": response.content})
            yield messages
            uses = [block for block in response.content if block.type == "tool_use"]
            if not uses:
                break
            messages.append({"role": "user", "content": anthropic_results(uses)})


def anthropic_streamed(provider: Strict, compactor: Compactor) -> Iterator[list[Any]]:
    client = anthropic_client(provider)
    messages: list[Any] = []
    for turn in range(10_000):
        messages.append({"role": "user", "content": request(turn)})
        while True:
            sent = compactor.fit(messages)
            with client.messages.stream(model="claude-sonnet-5", max_tokens=1_000, messages=sent) as stream:
                response = stream.get_final_message()
            compactor.observe(response)
            messages.append({"role": response.role, "content": response.content})
            yield messages
            uses = [block for block in response.content if block.type == "tool_use"]
            if not uses:
                break
            messages.append({"role": "user", "content": anthropic_results(uses)})


def gemini_client(provider: Strict) -> Any:
    genai = pytest.importorskip("google.genai")
    return provider.wrap(
        provider.provider.serves(genai.Client(api_key="none", http_options={"base_url": provider.provider.root}))
    )


def gemini(provider: Strict, compactor: Compactor) -> Iterator[list[Any]]:
    client = gemini_client(provider)
    from google.genai import types

    contents: list[Any] = []
    for turn in range(10_000):
        contents.append(types.Content(role="user", parts=[types.Part(text=request(turn))]))
        while True:
            response = client.models.generate_content(model="gemini-2.5-flash", contents=compactor.fit(contents))
            compactor.observe(response)
            contents.append(response.candidates[0].content)
            yield contents
            if not response.function_calls:
                break
            contents.append(types.Content(role="user", parts=gemini_results(response.function_calls)))


def gemini_streamed(provider: Strict, compactor: Compactor) -> Iterator[list[Any]]:
    client = gemini_client(provider)
    from google.genai import types

    contents: list[Any] = []
    for turn in range(10_000):
        contents.append({"role": "user", "parts": [{"text": request(turn)}]})
        while True:
            parts: list[Any] = []
            sent = compactor.fit(contents)
            for chunk in client.models.generate_content_stream(model="gemini-2.5-flash", contents=sent):
                parts += chunk.candidates[0].content.parts
            compactor.observe(chunk)
            contents.append(types.Content(role="model", parts=parts))
            yield contents
            calls = [part.function_call for part in parts if part.function_call]
            if not calls:
                break
            contents.append(types.Content(role="tool", parts=gemini_results(calls)))


def bedrock_client(provider: Strict) -> Any:
    boto3 = pytest.importorskip("boto3")
    keys = {"aws_access_key_id": "none", "aws_secret_access_key": "none", "region_name": "us-east-1"}
    return provider.wrap(
        provider.provider.serves(boto3.client("bedrock-runtime", endpoint_url=provider.provider.root, **keys))
    )


BEDROCK_MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"


def bedrock(provider: Strict, compactor: Compactor) -> Iterator[list[Any]]:
    client = bedrock_client(provider)
    messages: list[Any] = []
    for turn in range(10_000):
        messages.append({"role": "user", "content": [{"text": request(turn)}]})
        while True:
            system = [{"text": SYSTEM}]
            response = client.converse(modelId=BEDROCK_MODEL, messages=compactor.fit(messages), system=system)
            compactor.observe(response)
            message = response["output"]["message"]
            messages.append(message)
            yield messages
            if response["stopReason"] != "tool_use":
                break
            uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
            results = [
                {"toolResult": {"toolUseId": use["toolUseId"], "content": [{"text": read(use["input"]["path"])}]}}
                for use in uses
            ]
            messages.append({"role": "user", "content": results})


def bedrock_streamed(provider: Strict, compactor: Compactor) -> Iterator[list[Any]]:
    """What comes in pieces is put together as Strands and the examples of AWS do."""
    client = bedrock_client(provider)
    messages: list[Any] = []
    for turn in range(10_000):
        messages.append({"role": "user", "content": [{"text": request(turn)}]})
        while True:
            response = client.converse_stream(modelId=BEDROCK_MODEL, messages=compactor.fit(messages))
            content, usage = assembled(response["stream"])
            compactor.observe({"usage": usage})
            messages.append({"role": "assistant", "content": content})
            yield messages
            uses = [block["toolUse"] for block in content if "toolUse" in block]
            if not uses:
                break
            results = [
                {
                    "toolResult": {
                        "toolUseId": use["toolUseId"],
                        "content": [{"json": {"said": read(use["input"]["path"])}}],
                    }
                }
                for use in uses
            ]
            messages.append({"role": "user", "content": results})


def assembled(stream: Any) -> tuple[list[Any], Any]:
    """The blocks that a stream of Converse says, and what it was billed."""
    blocks: dict[int, dict[str, Any]] = {}
    usage: Any = None
    for event in stream:
        match event:
            case {"contentBlockStart": {"contentBlockIndex": i, "start": {"toolUse": use}}}:
                blocks[i] = {"toolUse": {**use, "input": ""}}
            case {"contentBlockDelta": {"contentBlockIndex": i, "delta": {"text": text}}}:
                blocks.setdefault(i, {"text": ""})["text"] += text
            case {"contentBlockDelta": {"contentBlockIndex": i, "delta": {"toolUse": {"input": text}}}}:
                blocks[i]["toolUse"]["input"] += text
            case {"contentBlockDelta": {"contentBlockIndex": i, "delta": {"reasoningContent": more}}}:
                said = blocks.setdefault(i, {"reasoningContent": {"reasoningText": {"text": ""}}})
                reasoned = said["reasoningContent"]["reasoningText"]
                reasoned |= {key: reasoned.get(key, "") + value for key, value in more.items()}
            case {"metadata": {"usage": billed}}:
                usage = billed
    for block in blocks.values():
        if "toolUse" in block:
            block["toolUse"]["input"] = json.loads(block["toolUse"]["input"])
    return list(blocks.values()), usage


def litellm(provider: Strict, compactor: Compactor) -> Iterator[list[Any]]:
    import litellm

    client = provider.wrap(litellm)
    where = {"model": "openai/gpt-5", "api_base": provider.provider.url, "api_key": "none"}
    messages: list[Any] = [{"role": "system", "content": SYSTEM}]
    for turn in range(10_000):
        messages.append({"role": "user", "content": request(turn)})
        while True:
            response = client.completion(messages=compactor.fit(messages), **where)
            compactor.observe(response)
            message = response.choices[0].message
            messages.append(message)
            yield messages
            if not message.tool_calls:
                break
            messages += chat_results(message.tool_calls)


LOOPS: dict[Loop, str] = {
    openai_chat: "gpt-5",
    openai_chat_in_parts: "gpt-5",
    openai_chat_streamed: "gpt-5",
    openai_responses: "gpt-5",
    openai_responses_streamed: "gpt-5",
    anthropic_messages: "claude-sonnet-5",
    anthropic_streamed: "claude-sonnet-5",
    gemini: "gemini-2.5-flash",
    gemini_streamed: "gemini-2.5-flash",
    bedrock: BEDROCK_MODEL,
    bedrock_streamed: BEDROCK_MODEL,
}


def run(loop: Loop) -> None:
    with Strict(WINDOW) as provider:
        compactor = Compactor(LOOPS.get(loop, "gpt-5"), window=WINDOW, reserve=1_000, overhead=100)
        history: list[Any] = []
        for history in loop(provider, compactor):  # noqa: B007 - the last one is looked at
            assert provider.refused == []
            if written(compactor) > WINDOWS * WINDOW * 4:
                break
        check(provider, compactor, history)


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_the_documented_loop(loop: Loop) -> None:
    run(loop)


@pytest.mark.filterwarnings("ignore")
def test_the_documented_loop_of_litellm() -> None:
    """The one library that is not among what the tests install: it takes 300 MB, and warns of itself."""
    if find_spec("litellm") is None:
        pytest.skip("litellm is not installed: its objects are not tested here (pip install litellm)")
    run(litellm)


# -- awaited ------------------------------------------------------------------------------------------------------


async def openai_chat_awaited(provider: Strict, compactor: Compactor) -> list[Any]:
    openai = pytest.importorskip("openai")
    messages: list[Any] = [{"role": "user", "content": request(0)}]
    async with provider.wrap(
        openai.AsyncOpenAI(base_url=provider.provider.url, api_key="none", max_retries=0)
    ) as client:
        while written(compactor) <= WINDOWS * WINDOW * 4:
            sent = await compactor.afit(messages)
            completion = await client.chat.completions.create(model="gpt-5", messages=sent)
            compactor.observe(completion)
            message = completion.choices[0].message
            messages.append(message)
            if not message.tool_calls:
                messages.append({"role": "user", "content": request(len(messages))})
            messages += chat_results(message.tool_calls or [])
    return messages


async def anthropic_awaited(provider: Strict, compactor: Compactor) -> list[Any]:
    anthropic = pytest.importorskip("anthropic")
    messages: list[Any] = [{"role": "user", "content": request(0)}]
    address = provider.provider.root
    async with provider.wrap(anthropic.AsyncAnthropic(base_url=address, api_key="none", max_retries=0)) as client:
        while written(compactor) <= WINDOWS * WINDOW * 4:
            sent = await compactor.afit(messages)
            response = await client.messages.create(model="claude-sonnet-5", max_tokens=1_000, messages=sent)
            compactor.observe(response)
            messages.append({"role": "assistant", "content": response.content})
            uses = [block for block in response.content if block.type == "tool_use"]
            messages.append({"role": "user", "content": anthropic_results(uses) or request(len(messages))})
    return messages


async def gemini_awaited(provider: Strict, compactor: Compactor) -> list[Any]:
    from google.genai import types

    contents: list[Any] = [types.UserContent(request(0))]
    async with gemini_client(provider).aio as client:
        while written(compactor) <= WINDOWS * WINDOW * 4:
            sent = await compactor.afit(contents)
            response = await client.models.generate_content(model="gemini-2.5-flash", contents=sent)
            compactor.observe(response)
            contents.append(response.candidates[0].content)
            contents.append(types.UserContent(gemini_results(response.function_calls or []) or request(len(contents))))
    return contents


AWAITED = {openai_chat_awaited: "gpt-5", anthropic_awaited: "claude-sonnet-5", gemini_awaited: "gemini-2.5-flash"}


@pytest.mark.parametrize("loop", AWAITED, ids=lambda loop: loop.__name__)
def test_the_documented_loop_awaited(loop: Any) -> None:
    with Strict(WINDOW) as provider:
        compactor = Compactor(AWAITED[loop], window=WINDOW, reserve=1_000, overhead=100)
        check(provider, compactor, asyncio.run(loop(provider, compactor)))


def written(compactor: Compactor) -> int:
    """Characters that the history holds, whatever was folded of it."""
    messages = [message for _, message in compactor.messages()]
    results = [part for message in messages for result in message.results for part in result.parts]
    return sum(len(m.text) for m in messages) + sum(len(part.text) for part in results if isinstance(part, Text))


def check(provider: Strict, compactor: Compactor, history: list[Any]) -> None:
    sent = compactor.fit(history)
    assert provider.refused == []
    assert len(compactor.folds) >= 3
    messages = [message for _, message in compactor.messages()]
    assert len(messages) == len(history)
    assert [part for message in messages for part in message.parts if isinstance(part, Opaque)] == []
    assert all(any(isinstance(part, Text) for part in result.parts) for m in messages for result in m.results)
    assert sum(any(item is mine for mine in history) for item in sent) >= len(sent) - 3
