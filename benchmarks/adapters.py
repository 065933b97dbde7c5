"""What foldline costs a step inside each agent framework: 1,000 messages of the framework's own, conversion included.

    python benchmarks/adapters.py ENVIRONMENTS [NAME …]

ENVIRONMENTS is a folder with an environment for each framework by its name, as `make integrations` makes them (`.integrations`).
Measured is a call of the framework's model, whose answer is always the same, through the adapter, less the same call without it:
in a conversation that grows by two messages in each step, whose others are the same objects, or made anew each time as
some frameworks do.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from measuring import Figure, Row, figures_from, milliseconds, table, tell

MESSAGES = 1_000
WINDOW = 100_000_000
STEPS = 12
TARGET = 1.0
"""Milliseconds."""

Send = Callable[[list[Any]], Any]


class Adapter(NamedTuple):
    """One exchange of a framework's messages by its number, and a call of its model with foldline and without."""

    exchange: Callable[[int], list[Any]]
    folded: Send
    plain: Send = lambda messages: None


def output(number: int) -> str:
    return f"{number:5}  total = sum(line.net for line in lines)\n" * 9


def chat(number: int) -> list[Any]:
    function = {"name": "read", "arguments": f'{{"part": {number}}}'}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    result = {"role": "tool", "tool_call_id": f"call_{number}", "content": output(number)}
    return [{"role": "assistant", "content": f"I read {number}.", "tool_calls": [call]}, result]


def awaited(send: Callable[[list[Any]], Awaitable[Any]]) -> Send:
    """A call that is awaited, as one that is not."""
    loop = asyncio.new_event_loop()
    return lambda messages: loop.run_until_complete(send(messages))


async def nothing(*given: Any, **named: Any) -> Any:
    return None


# -- the frameworks --------------------------------------------------------------------------------------------------


def agent_framework() -> Adapter:
    from agent_framework import ChatContext, Content, Message

    from foldline.integrations.agent_framework import Folding

    folding = Folding("gpt-5.4", window=WINDOW)

    def exchange(number: int) -> list[Any]:
        call = Content.from_function_call(f"call_{number}", "read", arguments={"part": number})
        result = Content.from_function_result(f"call_{number}", result=output(number))
        return [Message("assistant", [call]), Message("tool", [result])]

    async def send(messages: list[Any]) -> None:
        await folding.process(ChatContext(SimpleNamespace(model="gpt-5.4"), messages, {}), nothing)

    return Adapter(exchange, awaited(send))


def agno() -> Adapter:
    from agno.models.base import Model
    from agno.models.message import Message
    from agno.models.response import ModelResponse

    from foldline.integrations.agno import Folding

    class Fake(Model):
        def invoke(self, *given: Any, **named: Any) -> Any:
            return ModelResponse()

        ainvoke = invoke_stream = ainvoke_stream = invoke
        _parse_provider_response = _parse_provider_response_delta = invoke

    def exchange(number: int) -> list[Any]:
        asks, told = chat(number)
        return [Message(**asks), Message(**told, tool_name="read")]

    model = Folding("gpt-5.4", window=WINDOW)(Fake("gpt-5.4"))
    return Adapter(exchange, lambda messages: model.invoke(messages=messages))


def google_adk() -> Adapter:
    from google.adk.models import LlmRequest
    from google.genai import types

    from foldline.integrations.google_adk import Folding

    folding = Folding("gemini-3-pro", window=WINDOW)
    session = SimpleNamespace(app_name="a", user_id="u", id="s")
    context: Any = SimpleNamespace(session=session, agent_name="reader", state={})

    def exchange(number: int) -> list[Any]:
        call = types.Part.from_function_call(name="read", args={"part": number})
        result = types.Part.from_function_response(name="read", response={"result": output(number)})
        return [types.Content(role="model", parts=[call]), types.Content(role="user", parts=[result])]

    async def send(messages: list[Any]) -> None:
        request = LlmRequest(model="gemini-3-pro", contents=messages)
        await folding.before_model_callback(callback_context=context, llm_request=request)

    async def plain(messages: list[Any]) -> None:
        LlmRequest(model="gemini-3-pro", contents=messages)

    return Adapter(exchange, awaited(send), awaited(plain))


def inspect_ai() -> Adapter:
    from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, get_model
    from inspect_ai.tool import ToolCall

    from foldline.integrations.inspect_ai import Folding

    class Answer:
        usage = None

    model = get_model("mockllm/model")

    async def generate(*given: Any, **named: Any) -> Any:
        return Answer()

    type(model.api).generate = generate  # type: ignore[method-assign, assignment]
    api: Any = Folding("gpt-5.4", window=WINDOW)(model).api

    def exchange(number: int) -> list[Any]:
        call = ToolCall(id=f"call_{number}", function="read", arguments={"part": number})
        asks = ChatMessageAssistant(content=f"I read {number}.", tool_calls=[call])
        return [asks, ChatMessageTool(content=output(number), tool_call_id=call.id, function="read")]

    return Adapter(exchange, awaited(api.generate))


def langchain() -> Adapter:
    from langchain_core.messages import AIMessage, ToolMessage

    from foldline.integrations.langchain import Folding

    folding = Folding("gpt-5.4", window=WINDOW)
    runtime: Any = SimpleNamespace(execution_info=SimpleNamespace(thread_id="t", checkpoint_ns=""), stream_writer=print)

    class Asked(SimpleNamespace):
        def override(self, **new: Any) -> Any:
            return self

    def exchange(number: int) -> list[Any]:
        call = {"id": f"call_{number}", "name": "read", "args": {"part": number}}
        return [AIMessage(f"I read {number}.", tool_calls=[call]), ToolMessage(output(number), tool_call_id=call["id"])]

    def send(messages: list[Any]) -> None:
        state = {"messages": messages}
        folding.before_model(state, runtime)
        request: Any = Asked(messages=messages, model=None, state=state, runtime=runtime, system_message=None)
        folding.wrap_model_call(request, lambda request: AIMessage("It is part_1."))

    return Adapter(exchange, send)


def litellm() -> Adapter:
    from foldline.integrations.litellm import Folding

    folding = Folding("gpt-5.4", window=WINDOW)

    async def send(messages: list[Any]) -> None:
        kwargs = {"messages": messages, "model": "gpt-5.4", "litellm_call_id": "c"}
        await folding.async_pre_call_deployment_hook(kwargs, "acompletion")
        await folding.async_post_call_success_deployment_hook(kwargs, {}, None)

    return Adapter(chat, awaited(send))


def llama_index() -> Adapter:
    from llama_index.core.base.llms.types import TextBlock, ToolCallBlock
    from llama_index.core.llms import ChatMessage, MockLLM

    from foldline.integrations.llama_index import Folding

    class Fake(MockLLM):
        def chat(self, messages: Any, **named: Any) -> Any:
            return None

    def exchange(number: int) -> list[Any]:
        call = ToolCallBlock(tool_call_id=f"call_{number}", tool_name="read", tool_kwargs={"part": number})
        result = {"role": "tool", "additional_kwargs": {"tool_call_id": f"call_{number}"}}
        return [
            ChatMessage(role="assistant", blocks=[TextBlock(text=f"I read {number}."), call]),
            ChatMessage(content=output(number), **result),
        ]

    return Adapter(exchange, Folding("gpt-5.4", window=WINDOW)(Fake()).chat)


def mini_swe_agent() -> Adapter:
    from foldline.integrations.mini_swe_agent import Folding

    class Fake:
        config = SimpleNamespace(model_name="gpt-5.4")

        def query(self, messages: list[Any]) -> Any:
            return {"role": "assistant", "content": "It is part_1."}

    return Adapter(chat, Folding(Fake(), window=WINDOW).query)


def openai_agents() -> Adapter:
    from agents import Model

    from foldline.integrations.openai_agents import Folding

    class Fake(Model):
        async def get_response(self, *given: Any, **named: Any) -> Any:
            return SimpleNamespace(output=[])

        async def stream_response(self, *given: Any, **named: Any) -> Any:
            yield None

    def exchange(number: int) -> list[Any]:
        call = {
            "type": "function_call",
            "call_id": f"call_{number}",
            "name": "read",
            "arguments": f'{{"part": {number}}}',
        }
        return [call, {"type": "function_call_output", "call_id": f"call_{number}", "output": output(number)}]

    model: Any = Folding("gpt-5.4", window=WINDOW)(Fake())
    return Adapter(exchange, awaited(lambda messages: model.get_response("You read.", messages)))


def openhands() -> Adapter:
    from openhands.sdk.context.view import View
    from openhands.sdk.event import MessageEvent
    from openhands.sdk.llm import Message, TextContent

    from foldline.integrations.openhands import Folding

    folding = Folding("gpt-5.4", window=WINDOW)

    def exchange(number: int) -> list[Any]:
        said = (("assistant", f"I read {number}."), ("user", output(number)))
        messages = [Message(role=role, content=[TextContent(text=text)]) for role, text in said]
        return [MessageEvent(source="agent", llm_message=each, llm_response_id=f"r{number}") for each in messages]

    return Adapter(exchange, lambda messages: folding.condense(View.model_construct(events=messages)))


def pydantic_ai() -> Adapter:
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart

    from foldline.integrations.pydantic_ai import Folding

    folding = Folding("gpt-5.4", window=WINDOW)

    def exchange(number: int) -> list[Any]:
        call = ToolCallPart("read", {"part": number}, f"call_{number}")
        result = ToolReturnPart("read", output(number), f"call_{number}")
        return [ModelResponse([TextPart(f"I read {number}."), call]), ModelRequest([result])]

    async def send(messages: list[Any]) -> None:
        run: Any = SimpleNamespace(conversation_id="c", messages=messages)
        request: Any = SimpleNamespace(messages=messages, model=SimpleNamespace(model_name="gpt-5.4"))
        await folding.before_model_request(run, request)

    return Adapter(exchange, awaited(send))


def smolagents() -> Adapter:
    from smolagents.models import ChatMessage, MessageRole

    from foldline.integrations.smolagents import Folding

    class Fake:
        model_id = "gpt-5.4"

        def generate(self, messages: list[Any]) -> Any:
            return SimpleNamespace(token_usage=None)

    def exchange(number: int) -> list[Any]:
        call = {"id": f"call_{number}", "type": "function", "function": {"name": "read", "arguments": {"part": number}}}
        said = ((MessageRole.TOOL_CALL, f"Calling tools:\n{[call]}"), (MessageRole.TOOL_RESPONSE, output(number)))
        return [ChatMessage(role, [{"type": "text", "text": text}]) for role, text in said]

    return Adapter(exchange, Folding(Fake(), window=WINDOW).generate)


def strands() -> Adapter:
    from foldline.integrations.strands import Folding

    folding = Folding("gpt-5.4", window=WINDOW)
    model = SimpleNamespace(context_window_limit=None, get_config=dict)

    def exchange(number: int) -> list[Any]:
        use = {"toolUseId": f"call_{number}", "name": "read", "input": {"part": number}}
        result = {"toolUseId": f"call_{number}", "status": "success", "content": [{"text": output(number)}]}
        return [
            {"role": "assistant", "content": [{"text": f"I read {number}."}, {"toolUse": use}]},
            {"role": "user", "content": [{"toolResult": result}]},
        ]

    async def send(messages: list[Any]) -> None:
        context: Any = SimpleNamespace(agent=SimpleNamespace(messages=messages, model=model), system_prompt="You read.")
        context.replace = lambda **new: context
        await folding._folded(context)

    return Adapter(exchange, awaited(send))


FRAMEWORKS = (
    agent_framework,
    agno,
    google_adk,
    inspect_ai,
    langchain,
    litellm,
    llama_index,
    mini_swe_agent,
    openai_agents,
    openhands,
    pydantic_ai,
    smolagents,
    strands,
)


# -- measuring -------------------------------------------------------------------------------------------------------


def measured(adapter: Adapter, *, anew: bool) -> Figure:
    """What a step costs beyond the framework's own."""
    whole = [message for number in range(MESSAGES // 2 + STEPS + 1) for message in adapter.exchange(number)]
    steps = [whole[: MESSAGES + 2 * step] for step in range(STEPS + 1)]
    given = [deepcopy(step) for step in steps] if anew else [list(step) for step in steps]
    adapter.folded(given[0])
    folded, plain = iter(given[1:]), iter(given[1:])
    cost = milliseconds(adapter.folded, STEPS, lambda: next(folded))
    spared = milliseconds(adapter.plain, STEPS, lambda: next(plain))
    return Figure(max(0.0, cost.median - spared.median), max(0.0, cost.best - spared.best))


def rows(folder: Path, names: list[str]) -> list[Row]:
    """A row for each framework and way."""
    found = []
    for name in names or [each.__name__ for each in FRAMEWORKS]:
        told = figures_from([str(folder / name / "bin" / "python"), __file__, name])
        for way in ("the same objects", "made anew"):
            figure = told.get(way)
            ours = figure if isinstance(figure, Figure) else None
            found.append(Row(f"{name}, {way}", ours, TARGET, "", None if ours else str(told.get("", "not measured"))))
    return found


def main() -> None:
    """Prints the table; with a framework's name alone, the figures of this environment."""
    known = {each.__name__: each for each in FRAMEWORKS}
    first, *names = sys.argv[1:] or [".integrations"]
    if first in known:
        adapters = (known[first](), known[first]())
        tell(
            {
                way: measured(one, anew=n == 1)
                for n, (way, one) in enumerate(zip(("the same objects", "made anew"), adapters))
            }
        )
    else:
        table(rows(Path(first), names))


if __name__ == "__main__":
    main()
