"""Google's Agent Development Kit: `App(name=…, root_agent=agent, plugins=[Folding()])`."""

from __future__ import annotations

from typing import Any

from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools import FunctionTool, ToolContext
from google.genai import types

from foldline import Compactor
from foldline.integrations._content import KEY
from foldline.integrations._conversations import Conversations


class Folding(BasePlugin):
    """Keeps what the agents of an app send to their models inside the window.

    The session's events stay whole, since a session is only ever appended to; the model sees them folded. What foldline
    knows is a part of the session's state for each agent, kept by its session service with the events. `recall` is a tool
    that an agent may be given. `model` is for a model that foldline should take theirs for, `options` are those of `Compactor`.
    """

    def __init__(self, model: str = "", **options: Any) -> None:
        super().__init__(name=KEY)
        self._agents = Conversations(model, {"format": "gemini", **options})
        self._models: dict[str, Any] = {}
        self._whole: dict[str, list[Any]] = {}
        self.recall = FunctionTool(self._recall_tool())

    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        """Notes which model an agent has, to send to it again."""
        self._models[_key(callback_context)] = getattr(agent, "canonical_model", None)

    async def after_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        """Forgets it."""
        self._models.pop(_key(callback_context), None)
        self._whole.pop(_key(callback_context), None)

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Folds the contents of a request."""
        compactor = self._compactor(callback_context, llm_request)
        system = llm_request.config.system_instruction
        whole = self._whole[_key(callback_context)] = llm_request.contents
        sent = await compactor.afit(whole, system=system)
        llm_request.contents = [_content(each) for each in sent]
        self._keep(callback_context)

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        """Takes what the provider billed."""
        if llm_response.usage_metadata and not llm_response.partial:
            self._agents.compactor(_key(callback_context)).observe(llm_response)

    async def on_model_error_callback(self, *, callback_context: Any, llm_request: Any, error: Exception) -> Any:
        """Folds and sends again, once, what was refused as too long."""
        key = _key(callback_context)
        model, whole = self._models.get(key), self._whole.get(key)
        if model is None or whole is None:
            return None
        try:
            sent = self._compactor(callback_context, llm_request).recover(error, whole)
        except Exception as raised:
            if raised is error:
                return None
            raise
        llm_request.contents = [_content(each) for each in sent]
        self._keep(callback_context)
        replies = [each async for each in model.generate_content_async(llm_request) if not each.partial]
        return replies[-1] if replies else None

    # -- inside ----------------------------------------------------------------------------------------------------

    def _compactor(self, context: Any, request: Any) -> Compactor:
        state = str(context.state.get(_state_key(context), ""))
        return self._agents.compactor(_key(context), request.model or "", state)

    def _keep(self, context: Any) -> None:
        """Puts foldline's state into the session's where a fold was made, with the receipts of the newest folds."""
        if self._agents.folds(_key(context)):
            context.state[_state_key(context)] = self._agents.state(_key(context))

    def _recall_tool(self) -> Any:
        def recall(query: str, tool_context: ToolContext, limit: int = 8, start: int = 0) -> str:
            """Look up earlier messages that are no longer in the context, word for word.

            Give the id that a stub, a notice or a summary names, or words to search for. What comes back is quoted history.
            """
            return self._agents.recall(_key(tool_context), {"query": query, "limit": limit, "start": start})

        return recall


def _key(context: Any) -> str:
    return "/".join((context.session.app_name, context.session.user_id, context.session.id, _state_key(context)))


def _state_key(context: Any) -> str:
    return f"{KEY}:{context.agent_name}"


def _content(item: Any) -> Any:
    """A content as the library has it: the very same where no fold touched it."""
    return types.Content.model_validate(item) if isinstance(item, dict) else item
