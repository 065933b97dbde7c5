"""A model that is asked through a wrapped client looks up what was folded, and nobody else has to do with it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

import foldline
from foldline import recall_tool
from providers import Provider, Reply, Request, status
from strict import DIALECTS, broken_rule
from test_compactor import turns, user

anthropic = pytest.importorskip("anthropic")
boto3 = pytest.importorskip("boto3")
genai = pytest.importorskip("google.genai")
openai = pytest.importorskip("openai")

SECRET = "The launch code is 7714-KILO."
WINDOW = 4_000
BEDROCK_MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"

Item = dict[str, Any]
Calls = list[tuple[str, Item]]
"""What a model calls in one reply: names and arguments."""


# -- each library: how it is asked, and how its provider says a reply ----------------------------------------------


def _chat(said: str | Calls) -> Item:
    message: Item = {"role": "assistant", "content": said if isinstance(said, str) else None}
    if not isinstance(said, str):
        message["tool_calls"] = [
            {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for n, (name, arguments) in enumerate(said)
        ]
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def _responses(said: str | Calls) -> Item:
    if isinstance(said, str):
        content = [{"type": "output_text", "text": said, "annotations": []}]
        output: list[Item] = [
            {"type": "message", "id": "msg", "role": "assistant", "status": "completed", "content": content}
        ]
    else:
        output = [
            {
                "type": "function_call",
                "id": f"fc_{n}",
                "call_id": f"call_{n}",
                "name": name,
                "arguments": json.dumps(arguments),
            }
            for n, (name, arguments) in enumerate(said)
        ]
    return {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": "completed", "output": output}


def _messages(said: str | Calls) -> Item:
    content: list[Item] = (
        [{"type": "text", "text": said}]
        if isinstance(said, str)
        else [
            {"type": "tool_use", "id": f"toolu_{n}", "name": name, "input": arguments}
            for n, (name, arguments) in enumerate(said)
        ]
    )
    usage = {"input_tokens": 100, "output_tokens": 5}
    return {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": content, "usage": usage}


def _gemini(said: str | Calls) -> Item:
    parts = (
        [{"text": said}]
        if isinstance(said, str)
        else [{"functionCall": {"name": name, "args": arguments}} for name, arguments in said]
    )
    return {"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0, "finishReason": "STOP"}]}


def _converse(said: str | Calls) -> Item:
    content: list[Item] = (
        [{"text": said}]
        if isinstance(said, str)
        else [
            {"toolUse": {"toolUseId": f"use_{n}", "name": name, "input": arguments}}
            for n, (name, arguments) in enumerate(said)
        ]
    )
    usage = {"inputTokens": 100, "outputTokens": 5, "totalTokens": 105}
    return {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "end_turn", "usage": usage}


def ask_chat(provider: Provider, **settings: Any) -> Callable[[list[Item]], str]:
    client = foldline.wrap(
        provider.serves(openai.OpenAI(base_url=provider.url, api_key="none", max_retries=0)), **settings
    )
    return lambda history: (
        client.chat.completions.create(model="gpt-5", messages=history, tools=[OWN["openai-chat"]])
        .choices[0]
        .message.content
    )


def ask_responses(provider: Provider, **settings: Any) -> Callable[[list[Item]], str]:
    client = foldline.wrap(
        provider.serves(openai.OpenAI(base_url=provider.url, api_key="none", max_retries=0)), **settings
    )
    return lambda history: (
        client.responses.create(model="gpt-5", input=history, tools=[OWN["openai-responses"]]).output_text
    )


def ask_anthropic(provider: Provider, **settings: Any) -> Callable[[list[Item]], str]:
    client = foldline.wrap(
        provider.serves(anthropic.Anthropic(base_url=provider.root, api_key="none", max_retries=0)), **settings
    )
    return lambda history: (
        client.messages.create(model="claude-sonnet-5", max_tokens=500, messages=history, tools=[OWN["anthropic"]])
        .content[0]
        .text
    )


def ask_google(provider: Provider, **settings: Any) -> Callable[[list[Item]], str]:
    client = foldline.wrap(
        provider.serves(genai.Client(api_key="none", http_options={"base_url": provider.root})), **settings
    )
    roles = {"user": "user", "assistant": "model"}
    config = {"tools": [OWN["gemini"]]}

    def ask(history: list[Item]) -> str:
        contents = [{"role": roles[item["role"]], "parts": [{"text": item["content"]}]} for item in history]
        text: str = client.models.generate_content(model="gemini-2.5-flash", contents=contents, config=config).text
        return text

    return ask


def ask_bedrock(provider: Provider, **settings: Any) -> Callable[[list[Item]], str]:
    keys = {"aws_access_key_id": "none", "aws_secret_access_key": "none", "region_name": "us-east-1"}
    client = foldline.wrap(
        provider.serves(boto3.client("bedrock-runtime", endpoint_url=provider.root, **keys)), **settings
    )

    def ask(history: list[Item]) -> str:
        messages = [{"role": item["role"], "content": [{"text": item["content"]}]} for item in history]
        tools = {"tools": [OWN["bedrock-converse"]]}
        reply = client.converse(modelId=BEDROCK_MODEL, messages=messages, toolConfig=tools)
        text: str = reply["output"]["message"]["content"][0]["text"]
        return text

    return ask


LIBRARIES = {
    "openai chat": (ask_chat, _chat),
    "openai responses": (ask_responses, _responses),
    "anthropic": (ask_anthropic, _messages),
    "google": (ask_google, _gemini),
    "bedrock": (ask_bedrock, _converse),
}
FORMATS = ("openai-chat", "openai-responses", "anthropic", "gemini", "bedrock-converse")
OWN = {name: json.loads(json.dumps(recall_tool(name)).replace('"recall"', '"read"')) for name in FORMATS}
"""A tool of the caller's own, as each library declares one."""

each_library = pytest.mark.parametrize(("ask_with", "said"), LIBRARIES.values(), ids=LIBRARIES)


def replies(said: Callable[[Any], Item], *script: str | Calls) -> list[Reply]:
    return [status(200, said(each)) for each in script]


def folded(question: str = "What was the launch code?") -> list[Item]:
    """A history whose secret stands so far back that it is folded."""
    return [user("Let us begin."), {"role": "assistant", "content": SECRET}, *turns(30), user(question)]


def sent_in(sent: Request) -> list[Item]:
    return next(each for part, each in DIALECTS.items() if part in sent.path).items(sent.body)


def tools_in(sent: Request) -> str:
    return json.dumps([sent.body.get("tools"), sent.body.get("toolConfig")])


def tells_little(brief: Any, messages: Any) -> str:
    return "They asked why, and the parser was to blame."


SETTINGS = {"window": WINDOW, "reserve": 500, "summarizer": tells_little}

LOOKED_UP: Calls = [("recall", {"query": "launch code"})]


@each_library
def test_a_recall_is_answered_and_the_caller_gets_the_reply_to_it(ask_with: Any, said: Any) -> None:
    with Provider(*replies(said, "Folded.", LOOKED_UP, "It is 7714-KILO.")) as provider:
        ask = ask_with(provider, recall=True, **SETTINGS)
        ask([*folded()[:-1], user("Go on.")])
        assert ask(folded()) == "It is 7714-KILO."
        first, asked, answered = provider.requests
    assert "recall" not in tools_in(first), "nothing was folded yet"
    assert '"recall"' in tools_in(asked)
    assert SECRET not in json.dumps(sent_in(asked))
    assert SECRET in json.dumps(sent_in(answered)[len(sent_in(asked)) :])
    assert broken_rule(sent_in(answered)) == ""


@each_library
def test_the_model_sees_again_what_it_looked_up(ask_with: Any, said: Any) -> None:
    with Provider(*replies(said, "Folded.", LOOKED_UP, "It is 7714-KILO.", "You are welcome.")) as provider:
        ask = ask_with(provider, recall=True, **SETTINGS)
        ask([*folded()[:-1], user("Go on.")])
        ask(folded())
        ask([*folded(), {"role": "assistant", "content": "It is 7714-KILO."}, user("Thank you.")])
        answered, later = (sent_in(sent) for sent in provider.requests[-2:])
    assert later[: len(answered)] == answered
    assert len(later) == len(answered) + 2


@each_library
def test_what_is_called_beside_a_recall_is_not_run_and_the_model_is_told(ask_with: Any, said: Any) -> None:
    both: Calls = [*LOOKED_UP, ("read", {"query": "a.py"})]
    with Provider(*replies(said, "Folded.", both, "It is 7714-KILO.")) as provider:
        ask = ask_with(provider, recall=True, **SETTINGS)
        ask([*folded()[:-1], user("Go on.")])
        assert ask(folded()) == "It is 7714-KILO."
        answered = sent_in(provider.requests[-1])
    assert SECRET in json.dumps(answered)
    assert "Not run" in json.dumps(answered)
    assert broken_rule(answered) == ""


def test_a_model_that_recalls_without_end_is_handed_to_the_caller() -> None:
    with Provider(*replies(_chat, "Folded.", LOOKED_UP)) as provider:
        ask = ask_chat(provider, recall=True, **SETTINGS)
        ask([*folded()[:-1], user("Go on.")])
        assert ask(folded()) is None
        assert 3 <= len(provider.requests) <= 10


def test_without_recall_the_tools_are_the_callers() -> None:
    with Provider(*replies(_chat, "Done.")) as provider:
        ask = ask_chat(provider, **SETTINGS)
        ask([*folded()[:-1], user("Go on.")])
        ask(folded())
        assert provider.requests[-1].body["tools"] == [OWN["openai-chat"]]


@pytest.mark.parametrize(
    "fields",
    [
        {"tool_choice": "none"},
        {"tool_choice": {"type": "function", "function": {"name": "read"}}},
        {"n": 2},
        {"tools": [recall_tool("openai-chat")]},
        {"stream": True},
    ],
    ids=[
        "no tool may be called",
        "another must be",
        "several replies",
        "a recall tool of the caller's own",
        "streamed",
    ],
)
def test_the_tool_is_not_added_where_its_calls_could_not_be_answered(fields: Item) -> None:
    with Provider(*replies(_chat, "Done.")) as provider:
        client = provider.serves(openai.OpenAI(base_url=provider.url, api_key="none", max_retries=0))
        wrapped = foldline.wrap(client, recall=True, **SETTINGS)
        asked = {"model": "gpt-5", "tools": [OWN["openai-chat"]], **fields}
        wrapped.chat.completions.create(messages=[*folded()[:-1], user("Go on.")], model="gpt-5")
        wrapped.chat.completions.create(messages=folded(), **asked)
        assert provider.requests[-1].body["tools"] == asked["tools"]


def test_an_awaited_recall_is_answered() -> None:
    async def work(url: str) -> str:
        async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
            wrapped = foldline.wrap(client, recall=True, **SETTINGS)
            await wrapped.chat.completions.create(model="gpt-5", messages=[*folded()[:-1], user("Go on.")])
            reply = await wrapped.chat.completions.create(model="gpt-5", messages=folded())
            return str(reply.choices[0].message.content)

    with Provider(*replies(_chat, "Folded.", LOOKED_UP, "It is 7714-KILO.")) as provider:
        assert asyncio.run(work(provider.url)) == "It is 7714-KILO."


def test_a_raw_response_that_recalls_is_answered() -> None:
    with Provider(*replies(_chat, "Folded.", LOOKED_UP, "It is 7714-KILO.")) as provider:
        client = provider.serves(openai.OpenAI(base_url=provider.url, api_key="none", max_retries=0))
        raw = foldline.wrap(client, recall=True, **SETTINGS).chat.completions.with_raw_response
        raw.create(model="gpt-5", messages=[*folded()[:-1], user("Go on.")])
        reply = raw.create(model="gpt-5", messages=folded())
        assert reply.parse().choices[0].message.content == "It is 7714-KILO."
