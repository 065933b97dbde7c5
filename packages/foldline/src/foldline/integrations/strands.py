"""Strands: `Agent(model=model, conversation_manager=Folding())`."""

from __future__ import annotations

from typing import Any

from strands import ToolContext, tool
from strands.agent.conversation_manager import ConversationManager
from strands.hooks import AfterModelCallEvent, AgentInitializedEvent, BeforeModelCallEvent
from strands.middleware import InvokeModelStage

from foldline import Compactor
from foldline.integrations._content import KEY
from foldline.integrations._conversations import Conversations, declared


class Folding(ConversationManager):
    """Keeps an agent inside its model's window; each agent has one of its own, as with every conversation manager.

    With `persist` the agent's own messages are folded. Without, `agent.messages` stay whole and the model sees them folded.
    Either way what foldline knows is the manager's state, which session managers keep and give back. `recall` is a tool that
    the agent may be given. `model` is for a model that foldline should take its own for, `options` are those of `Compactor`.
    """

    def __init__(self, model: str = "", *, persist: bool = False, **options: Any) -> None:
        super().__init__()
        self.persist = persist
        self._model = model
        self._options = {"format": "bedrock-converse", **options}
        self._talk: Conversations | None = None
        self._restored = ""
        self.recall = self._recall_tool()

    def register_hooks(self, registry: Any, **rest: Any) -> None:
        """Hears of each call of the model."""
        super().register_hooks(registry, **rest)
        registry.add_callback(AfterModelCallEvent, self._billed)
        if self.persist:
            registry.add_callback(BeforeModelCallEvent, self._fold_messages)
        else:
            registry.add_callback(AgentInitializedEvent, self._show_folded)

    def apply_management(self, agent: Any, **rest: Any) -> None:
        """Nothing: it is folded for each call of the model, not after a turn."""

    def reduce_context(self, agent: Any, e: Exception | None = None, **rest: Any) -> None:
        """Folds after a request was refused as too long, before the agent sends it once more."""
        if e is not None:
            folded = self._compactor(agent).recover(e, list(agent.messages))
            self._take(agent, folded)

    def get_state(self) -> dict[str, Any]:
        """What a session manager keeps: the folds, and what was learned of sizes and limits."""
        return {**super().get_state(), KEY: self._talk.state(KEY) if self._talk else self._restored}

    def restore_from_session(self, state: dict[str, Any]) -> list[Any] | None:
        """Goes on from what a session manager kept."""
        self._restored = str(state.get(KEY, ""))
        return super().restore_from_session(state)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _compactor(self, agent: Any) -> Compactor:
        """The agent's compactor; its model's window is known once there is an agent."""
        if self._talk is None:
            window = agent.model.context_window_limit
            self._talk = Conversations(self._model, {"window": window, **self._options})
            name = str((agent.model.get_config() or {}).get("model_id", ""))
            return self._talk.compactor(KEY, name, self._restored)
        return self._talk.compactor(KEY)

    def _show_folded(self, event: Any) -> None:
        event.agent.add_middleware(InvokeModelStage.Input, self._folded)

    async def _folded(self, context: Any) -> Any:
        """A call of the model with the messages folded; the agent's own stay as they are."""
        messages, system = list(context.agent.messages), context.system_prompt
        return context.replace(messages=await self._compactor(context.agent).afit(messages, system=system))

    async def _fold_messages(self, event: Any) -> None:
        agent = event.agent
        self._take(agent, await self._compactor(agent).afit(list(agent.messages), system=agent.system_prompt))

    def _take(self, agent: Any, folded: list[Any]) -> None:
        if self.persist:
            agent.messages[:] = folded

    def _billed(self, event: Any) -> None:
        """Takes what the provider billed."""
        if event.stop_response is not None:
            usage = event.stop_response.message.get("metadata", {}).get("usage")
            self._compactor(event.agent).observe({"usage": usage})

    def _recall_tool(self) -> Any:
        name, does, _ = declared()

        @tool(name=name, description=does, context=True)
        def recall(query: str, tool_context: ToolContext, limit: int = 8, start: int = 0) -> str:
            self._compactor(tool_context.agent)
            return self._talk.recall(KEY, {"query": query, "limit": limit, "start": start}) if self._talk else ""

        return recall
