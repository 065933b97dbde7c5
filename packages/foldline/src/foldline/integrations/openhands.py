"""OpenHands' SDK: `Agent(llm=llm, tools=tools, condenser=Folding())`."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from typing import Any
from uuid import uuid4

from openhands.sdk.context.condenser import CondenserBase
from openhands.sdk.context.view import View
from openhands.sdk.event.condenser import Condensation
from openhands.sdk.tool import Action, Observation, ToolDefinition, ToolExecutor
from pydantic import PrivateAttr

from foldline import Compactor, ContextOverflow
from foldline.integrations._conversations import Conversations, bill, declared
from foldline.integrations._shapes.openhands import FORMAT


class Folding(CondenserBase):
    """A condenser that keeps what agents send to their models inside the window; the event log stays whole.

    It serves any number of conversations, which are told by their first event. `states`, a mapping that may be a database's,
    keeps what foldline knows of them. `model` is for a model that foldline should take theirs for, and `options` are those of
    `Compactor`. What is asked for (`conversation.condense()`), and what a refused request asks for, is folded for as well.
    """

    _talks: Conversations = PrivateAttr()
    _sent: dict[str, str] = PrivateAttr(default_factory=dict)
    """The newest event of what was sent last in each conversation."""

    def __init__(self, model: str = "", *, states: MutableMapping[str, bytes] | None = None, **options: Any) -> None:
        super().__init__()
        self._talks = Conversations(model, {"format": FORMAT, **options}, states)

    def handles_condensation_requests(self) -> bool:
        """Yes."""
        return True

    def condense(self, view: View, agent_llm: Any = None) -> View | Condensation:
        """What the model should see of a conversation."""
        key, compactor = self._compactor(view, agent_llm)
        if not view.unhandled_condensation_request:
            return self._shown(key, view, compactor.fit(view.events))
        return self._answered(key, self._again(key, view, compactor) or compactor.fold(view.events))

    async def acondense(self, view: View, agent_llm: Any = None) -> View | Condensation:
        """The same, while the event loop goes on."""
        key, compactor = self._compactor(view, agent_llm)
        if not view.unhandled_condensation_request:
            return self._shown(key, view, await compactor.afit(view.events))
        return self._answered(key, self._again(key, view, compactor) or await compactor.afold(view.events))

    def recall(self, key: str, arguments: dict[str, Any]) -> str:
        """What a call of the recall tool is answered with in a conversation, which its first event tells."""
        return self._talks.recall(key, arguments)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _compactor(self, view: View, llm: Any) -> tuple[str, Compactor]:
        """The conversation of a view by its key, with what the provider billed for what was sent of it."""
        key = view.events[0].id
        compactor = self._talks.compactor(key, str(getattr(llm, "model", "")))
        usage = next(iter(llm.metrics.token_usages[-1:]), None) if llm is not None else None
        if usage is not None and usage.response_id == _reply(view):
            cached = usage.cache_read_tokens, usage.cache_write_tokens
            compactor.observe(bill(usage.prompt_tokens, usage.completion_tokens, *cached))
        return key, compactor

    def _shown(self, key: str, view: View, events: list[Any]) -> View:
        """A view of what is sent, once the state is kept where a fold was made for it."""
        self._talks.folds(key)
        self._sent[key] = view.events[-1].id
        return View.model_construct(events=events)

    def _again(self, key: str, view: View, compactor: Compactor) -> list[Any]:
        """What to send after a refusal, which is what a request is about where nothing came since; else nothing."""
        refused = self._sent.get(key) == view.events[-1].id
        return compactor.recover(ContextOverflow("the request was refused as too long"), view.events) if refused else []

    def _answered(self, key: str, events: list[Any]) -> Condensation:
        """What tells the log that a request was met. It forgets nothing: what was folded is left out of the next view."""
        return Condensation(llm_response_id=str(uuid4()))


class RecallAction(Action):
    """A call of the recall tool."""

    query: str
    limit: int = 8
    start: int = 0


class RecallObservation(Observation):
    """What a call of the recall tool is answered with."""


class RecallTool(ToolDefinition[RecallAction, RecallObservation]):
    """Lets the model look up what was folded: `register_tool("recall", RecallTool)`, and `Tool(name="recall")` for the agent."""

    @classmethod
    def create(cls, conv_state: Any = None, **rest: Any) -> Sequence[RecallTool]:
        """The tool of a conversation whose condenser is a `Folding`."""
        _, does, _ = declared()
        types: dict[str, Any] = {"action_type": RecallAction, "observation_type": RecallObservation}
        return [cls(description=does, executor=_Recalls(), **types)]


class _Recalls(ToolExecutor[RecallAction, RecallObservation]):
    def __call__(self, action: RecallAction, conversation: Any = None) -> RecallObservation:
        state = conversation.state
        given = {"query": action.query, "limit": action.limit, "start": action.start}
        return RecallObservation.from_text(state.agent.condenser.recall(state.view.events[0].id, given))


def _reply(view: View) -> str:
    """The id of the newest reply in a view."""
    replies = (getattr(event, "llm_response_id", None) for event in reversed(view.events))
    return next(filter(None, replies), "")
