"""LangChain, LangGraph and deepagents: `create_agent(model, tools, middleware=[Folding()])`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, NotRequired

import msgspec
from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.middleware.types import ExtendedModelResponse, ModelRequest, ModelResponse, PrivateStateAttr
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, RemoveMessage
from langchain_core.tools import BaseTool, tool
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command

from foldline import Compactor, Usage
from foldline.integrations._asking import Asking
from foldline.integrations._content import KEY
from foldline.integrations._conversations import Conversations, bill, declared
from foldline.integrations._shapes.langchain import FORMAT

NAMES = ("model_name", "model", "model_id")
"""Where LangChain's chat models have the name of theirs."""


class FoldedState(AgentState[Any]):
    """The state of a graph, with foldline's own beside the messages."""

    foldline: NotRequired[Annotated[str, PrivateStateAttr]]  # type: ignore[valid-type]


class Folding(AgentMiddleware[Any, Any]):
    """Keeps the threads of an agent inside the model's window.

    With `persist` the graph's own messages are folded. Without, they stay whole and the model sees them folded, and what
    foldline knows is a private part of the graph's state, written with each fold before the model is called. `recall` offers
    the model what was folded. Threads are told by `thread_id`, or by their first message. `model` is for a model that foldline
    should take the agent's for, which is known from its first request on; `options` are those of `Compactor`.
    """

    state_schema = FoldedState

    def __init__(self, model: str = "", *, persist: bool = False, recall: bool = False, **options: Any) -> None:
        super().__init__()
        self.persist = persist
        self._model: str | None = model or None
        """The model's name; None until it is known."""
        self._threads = Conversations(model, {"format": FORMAT, **options})
        self.tools: Sequence[BaseTool] = [self._tool()] if recall else []

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Folds where the window fills."""
        if self._model is None:
            return None
        compactor = self._compactor(state, runtime, self._model)
        return self._update(compactor.fit(state["messages"]), state, runtime)

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """The same, while the event loop goes on."""
        if self._model is None:
            return None
        compactor = self._compactor(state, runtime, self._model)
        return self._update(await compactor.afit(state["messages"]), state, runtime)

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[Any], Any]) -> Any:
        """Sends what was folded, and once more where that is refused as too long."""
        reply = self._asking(request).ask(lambda sent: handler(request.override(messages=sent)))
        return self._with_state(reply, request)

    async def awrap_model_call(self, request: ModelRequest[Any], handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """The same, while the event loop goes on."""
        reply = await self._asking(request).aask(lambda sent: handler(request.override(messages=sent)))
        return self._with_state(reply, request)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _compactor(self, state: Any, runtime: Any, model: str) -> Compactor:
        return self._threads.compactor(_key(state, runtime), model, "" if self.persist else state.get(KEY, ""))

    def _asking(self, request: ModelRequest[Any]) -> Asking:
        names = (getattr(request.model, name, None) for name in NAMES)
        self._model = next((str(name) for name in names if name), "")
        compactor = self._compactor(request.state, request.runtime, self._model)
        system = request.system_message.content if request.system_message else None
        return Asking(compactor, request.messages, system=system, kept=lambda: None, billed=_billed)

    def _update(self, folded: list[Any], state: Any, runtime: Any) -> dict[str, Any] | None:
        """What changes in the graph's state: the messages, or what foldline knows."""
        kept = self._kept(state, runtime)
        if not self.persist:
            return kept
        whole = state["messages"]
        same = len(folded) == len(whole) and all(a is b for a, b in zip(folded, whole))
        return None if same else {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *folded]}

    def _kept(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Tells of new folds in the graph's stream; answers foldline's state where there are some."""
        key = _key(state, runtime)
        folds = self._threads.folds(key)
        for fold in folds:
            runtime.stream_writer({"type": "foldline.folded", "receipt": msgspec.to_builtins(fold.receipt)})
        return {KEY: self._threads.state(key)} if folds and not self.persist else None

    def _with_state(self, reply: ModelResponse[Any] | AIMessage, request: ModelRequest[Any]) -> Any:
        """The reply; a fold that an overflow took goes into the graph's state with it."""
        kept = self._kept(request.state, request.runtime)
        if kept is None:
            return reply
        whole = ModelResponse(result=[reply]) if isinstance(reply, AIMessage) else reply
        return ExtendedModelResponse(model_response=whole, command=Command(update=kept))

    def _tool(self) -> BaseTool:
        name, does, _ = declared()

        @tool(name, description=does)
        def recall(query: str, runtime: ToolRuntime, limit: int = 8, start: int = 0) -> str:
            given = {"query": query, "limit": limit, "start": start}
            return self._threads.recall(_key(runtime.state, runtime), given)

        return recall


def _key(state: Any, runtime: Any) -> str:
    """A thread by its id, and of a sub-agent by its place in that; else by the first message."""
    told, first = runtime.execution_info, state["messages"][0]
    within = told.checkpoint_ns.rpartition("|")[0] if told else ""
    return f"{(told and told.thread_id) or first.id or id(first)}/{within}"


def _billed(reply: ModelResponse[Any] | AIMessage) -> Usage | None:
    """What the provider billed."""
    messages = [reply] if isinstance(reply, AIMessage) else reply.result
    usage = next((found for message in reversed(messages) if (found := getattr(message, "usage_metadata", None))), None)
    if usage is None:
        return None
    cached = usage.get("input_token_details", {})
    return bill(usage["input_tokens"], usage["output_tokens"], cached.get("cache_read"), cached.get("cache_creation"))
