"""Each framework at a strict provider on loopback, through its own client: what reaches the wire breaks no rule, for five windows of work."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import pytest
from work import PIN, REQUESTS, RULE

from strict import CHARACTERS, Strict

WINDOW = 8_000
STEPS = 9
"""Replies of the model to each request; all but the last of them call the tool."""

MODEL = "gpt-5.4"
OPTIONS: dict[str, Any] = {"window": WINDOW, "reserve": 500, "pinned": lambda message: "PIN:" in message.text}


def read(path: str) -> str:
    """Reads a file.

    Args:
        path: Where it stands.
    """
    return "".join(f"{path} reads setting_{row} in line {row * 3}, and nothing else\n" for row in range(130))


def awaited(asks: Callable[[str], Awaitable[object]]) -> None:
    """Makes the three requests in one event loop."""

    async def work() -> None:
        for request in REQUESTS:
            await asks(request)

    asyncio.run(work())


# -- the frameworks, each with the client that its users have ----------------------------------------------------------


def agent_framework(url: str) -> None:
    from agent_framework import Agent
    from agent_framework.openai import OpenAIChatCompletionClient

    from foldline.integrations.agent_framework import Folding

    client = OpenAIChatCompletionClient(model=MODEL, base_url=url, api_key="none")
    agent = Agent(client, "You read parts.", tools=[read], middleware=[Folding(**OPTIONS)])
    session = agent.create_session()
    awaited(lambda request: agent.run(request, session=session))


def agno(url: str) -> None:
    from agno.agent import Agent
    from agno.db.in_memory import InMemoryDb
    from agno.models.openai import OpenAIChat

    from foldline.integrations.agno import Folding

    model = Folding(**OPTIONS)(OpenAIChat(id=MODEL, base_url=url, api_key="none"))
    kept: dict[str, Any] = {"db": InMemoryDb(), "add_history_to_context": True, "num_history_runs": 9}
    agent = Agent(model=model, tools=[read], telemetry=False, **kept)
    for request in REQUESTS:
        agent.run(request, session_id="one")


def google_adk(url: str) -> None:
    from google.adk.agents import LlmAgent
    from google.adk.apps.app import App
    from google.adk.models import Gemini
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    from foldline.integrations.google_adk import Folding

    class Local(Gemini):
        @property
        def api_client(self) -> Any:
            from google.genai import Client

            return Client(api_key="none", http_options=types.HttpOptions(base_url=url.removesuffix("/v1")))

    agent = LlmAgent(name="reader", model=Local(model="gemini-3-pro"), instruction="You read parts.", tools=[read])
    runner = InMemoryRunner(app=App(name="parts", root_agent=agent, plugins=[Folding(**OPTIONS)]))

    async def work() -> None:
        session = await runner.session_service.create_session(app_name="parts", user_id="u")
        for request in REQUESTS:
            said = types.Content(role="user", parts=[types.Part(text=request)])
            async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=said):
                pass

    asyncio.run(work())


def inspect_ai(url: str) -> None:
    from inspect_ai.model import ChatMessageUser, get_model
    from inspect_ai.tool import tool

    from foldline.integrations.inspect_ai import Folding

    @tool(name="read")
    def reading() -> Any:
        async def execute(path: str) -> str:
            """Reads a file.

            Args:
                path: Where it stands.
            """
            return read(path)

        return execute

    inner = get_model(f"openai/{MODEL}", base_url=url, api_key="none", responses_api=False)
    model, messages = Folding(**OPTIONS)(inner), []

    async def ask(request: str) -> None:
        messages.append(ChatMessageUser(content=request))
        messages.extend((await model.generate_loop(messages, [reading()]))[0])

    awaited(ask)


def langchain(url: str) -> None:
    from langchain.agents import create_agent
    from langchain_openai import ChatOpenAI
    from langgraph.checkpoint.memory import InMemorySaver

    from foldline.integrations.langchain import Folding

    model = ChatOpenAI(model=MODEL, base_url=url, api_key="none")
    agent = create_agent(model, [read], middleware=[Folding(**OPTIONS)], checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "one"}, "recursion_limit": 200}
    for request in REQUESTS:
        agent.invoke({"messages": [("user", request)]}, config)


def litellm(url: str) -> None:
    from foldline.integrations.litellm import Folding

    folding, messages = Folding(**OPTIONS), []
    declared = {"name": "read", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}
    asked = {"api_base": url, "api_key": "none", "tools": [{"type": "function", "function": declared}]}
    for request in REQUESTS:
        messages.append({"role": "user", "content": request})
        while True:
            reply = folding.completion(model=f"openai/{MODEL}", messages=messages, **asked).choices[0].message
            messages.append(reply.model_dump(exclude_none=True))
            if not reply.tool_calls:
                break
            for call in reply.tool_calls:
                content = read(**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": content})


def llama_index(url: str) -> None:
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.memory import ChatMemoryBuffer
    from llama_index.core.workflow import Context
    from llama_index.llms.openai_like import OpenAILike

    from foldline.integrations.llama_index import Folding

    llm = OpenAILike(MODEL, api_base=url, api_key="none", is_chat_model=True, is_function_calling_model=True)
    agent = FunctionAgent(llm=Folding(**OPTIONS)(llm), tools=[read], streaming=False)
    context: Any = Context(agent)
    kept = {"memory": ChatMemoryBuffer.from_defaults(token_limit=10_000_000), "max_iterations": 100}

    async def ask(request: str) -> None:
        await agent.run(request, ctx=context, **kept)

    awaited(ask)


def mini_swe_agent(url: str) -> None:
    from minisweagent.models.litellm_model import LitellmModel

    from foldline.integrations.mini_swe_agent import Folding

    class Reading(LitellmModel):
        """Its own only tool is a shell."""

        def _parse_actions(self, response: Any) -> list[Any]:
            return []

    kwargs = {"api_base": url, "api_key": "none"}
    inner = Reading(model_name=f"openai/{MODEL}", model_kwargs=kwargs, cost_tracking="ignore_errors")
    model, messages = Folding(inner, **OPTIONS), []
    for request in REQUESTS:
        messages.append({"role": "user", "content": request})
        for _ in range(STEPS):
            messages.append(model.query(messages))
            for call in messages[-1].get("tool_calls") or ():
                content = read(**json.loads(call["function"]["arguments"]))
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})


def openai_agents(url: str) -> None:
    from agents import Agent, OpenAIProvider, RunConfig, Runner, SQLiteSession, function_tool, set_tracing_disabled

    from foldline.integrations.openai_agents import Folding

    set_tracing_disabled(True)
    agent = Agent(name="reader", model=MODEL, instructions="You read parts.", tools=[function_tool(read)])
    config = RunConfig(model_provider=Folding(inner=OpenAIProvider(base_url=url, api_key="none"), **OPTIONS))
    session = SQLiteSession("one")
    awaited(lambda request: Runner.run(agent, request, run_config=config, session=session, max_turns=100))


def openhands(url: str) -> None:
    from openhands.sdk import LLM, Agent, Conversation
    from openhands.sdk.tool import Action, Observation, Tool, ToolDefinition, ToolExecutor, register_tool

    from foldline.integrations.openhands import Folding

    class PathAction(Action):
        path: str

    class PathObservation(Observation):
        pass

    class Reads(ToolExecutor[PathAction, PathObservation]):
        def __call__(self, action: PathAction, conversation: Any = None) -> PathObservation:
            return PathObservation.from_text(read(action.path))

    class ReadPathTool(ToolDefinition[PathAction, PathObservation]):
        name = "read"

        @classmethod
        def create(cls, conv_state: Any = None, **rest: Any) -> Any:
            types: Any = {"action_type": PathAction, "observation_type": PathObservation}
            return [cls(description="Reads a file.", executor=Reads(), **types)]

    register_tool("read", ReadPathTool)
    llm = LLM(model=f"openai/{MODEL}", base_url=url, api_key="none", usage_id="one", num_retries=0)
    given: dict[str, Any] = {"system_prompt": "You read parts.", "include_default_tools": []}
    agent = Agent(llm=llm, tools=[Tool(name="read")], condenser=Folding(**OPTIONS), **given)
    with TemporaryDirectory() as folder:
        talk = Conversation(agent=agent, workspace=folder, visualizer=None)
        for request in REQUESTS:
            talk.send_message(request)
            talk.run()


def pydantic_ai(url: str) -> None:
    from foldline.integrations.pydantic_ai import Folding

    _pydantic_ai(url, Folding(**OPTIONS))


def pydantic_ai_harness(url: str) -> None:
    from pydantic_ai_harness.compaction import TieredCompaction

    from foldline.integrations.pydantic_ai_harness import Folding

    _pydantic_ai(url, TieredCompaction(tiers=[Folding(MODEL, **OPTIONS)], target_tokens=round(WINDOW * 0.6)))


def _pydantic_ai(url: str, capability: Any) -> None:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=url, api_key="none"))
    agent = Agent(model, tools=[read], capabilities=[capability])
    history: list[Any] = []

    async def work() -> None:
        async with model:
            for request in REQUESTS:
                history[:] = (await agent.run(request, message_history=history)).all_messages()

    asyncio.run(work())


def smolagents(url: str) -> None:
    from smolagents import OpenAIModel, Tool, ToolCallingAgent
    from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction

    from foldline.integrations.smolagents import Folding

    class Reading(Tool):
        name, description, output_type = "read", "Reads a file.", "string"
        inputs: ClassVar[Any] = {"path": {"type": "string", "description": "Where it stands."}}

        def forward(self, path: str) -> str:
            return read(path)

    class Answering(OpenAIModel):
        """Its agents end with a call of a tool of theirs, and not with words."""

        def generate(self, *given: Any, **named: Any) -> Any:
            reply = super().generate(*given, **named)
            answer = ChatMessageToolCallFunction(name="final_answer", arguments={"answer": reply.content})
            reply.tool_calls = reply.tool_calls or [ChatMessageToolCall(function=answer, id="done", type="function")]
            return reply

    model = Folding(Answering(MODEL, api_base=url, api_key="none"), **OPTIONS)
    agent = ToolCallingAgent(tools=[Reading()], model=model, max_steps=100, verbosity_level=0)
    for number, request in enumerate(REQUESTS):
        agent.run(request, reset=number == 0)


def strands(url: str) -> None:
    from strands import Agent, tool
    from strands.models.openai import OpenAIModel

    from foldline.integrations.strands import Folding

    model = OpenAIModel(client_args={"base_url": url, "api_key": "none"}, model_id=MODEL)
    agent = Agent(model=model, tools=[tool(read)], conversation_manager=Folding(**OPTIONS), callback_handler=None)
    for request in REQUESTS:
        agent(request)


FRAMEWORKS = {
    "agent_framework": (agent_framework, "agent_framework.openai"),
    "agno": (agno, "agno"),
    "google_adk": (google_adk, "google.adk"),
    "inspect_ai": (inspect_ai, "inspect_ai"),
    "langchain": (langchain, "langchain_openai"),
    "litellm": (litellm, "litellm"),
    "llama_index": (llama_index, "llama_index.llms.openai_like"),
    "mini_swe_agent": (mini_swe_agent, "minisweagent"),
    "openai_agents": (openai_agents, "agents"),
    "openhands": (openhands, "openhands.sdk"),
    "pydantic_ai": (pydantic_ai, "pydantic_ai"),
    "pydantic_ai_harness": (pydantic_ai_harness, "pydantic_ai_harness"),
    "smolagents": (smolagents, "smolagents"),
    "strands": (strands, "strands"),
}


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_five_windows_of_work(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    work, package = FRAMEWORKS[name]
    try:
        __import__(package)
    except ImportError:
        pytest.skip(f"{package} is not installed: make integrations")
    with Strict(WINDOW, STEPS) as strict:
        work(strict.provider.url)
        assert strict.refused == []
        sent = [request.text for request in strict.provider.requests]
    assert len(sent) == STEPS * len(REQUESTS)
    assert (STEPS - 1) * len(REQUESTS) * len(read("src/part_1.py")) > 5 * WINDOW * CHARACTERS
    for number, text in enumerate(sent):
        now = REQUESTS[number // STEPS]
        must = (REQUESTS[0], now, RULE, *([PIN] if number >= STEPS else []))
        assert [each for each in must if json.dumps(each)[1:-1] not in text] == [], f"request {number}"
