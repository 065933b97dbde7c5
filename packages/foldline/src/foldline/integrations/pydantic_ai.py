"""pydantic-ai: `Agent("openai:gpt-5.4", capabilities=[Folding()])`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_ai import CapabilityEvent, RetryModelRequest, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import Tool
from pydantic_ai.toolsets import FunctionToolset

from foldline import Receipt
from foldline.integrations._beginnings import remember
from foldline.integrations._content import KEY
from foldline.integrations._conversations import Conversations, bill, declared
from foldline.integrations._shapes.pydantic_ai import FORMAT, Requests


@dataclass(kw_only=True)
class HistoryFolded(CapabilityEvent, namespace=KEY):
    """A fold was made; the event stream carries its receipt."""

    receipt: Receipt


class Folding(AbstractCapability[Any]):
    """Keeps the conversations of an agent inside the model's window.

    With `persist` the run's own history is folded, and `result.all_messages()` is what the model sees. Without, it stays
    whole: the model sees it folded, and foldline's state stands in the metadata of the newest request that a fold was made
    for, so that a process that is given the messages goes on from there. `recall` offers the model what was folded.
    `model` is for a model that foldline should take this one for; `options` are those of `Compactor`.
    """

    def __init__(self, model: str = "", *, persist: bool = False, recall: bool = False, **options: Any) -> None:
        self.persist = persist
        self.recall = recall
        self._talks = Conversations(model, {"format": FORMAT, **options})
        self._requests: dict[str, Requests] = {}
        self._again: dict[str, list[ModelMessage]] = {}

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """The recall tool, where it is wished."""
        name, does, arguments = declared()

        def recall(ctx: RunContext[Any], **given: Any) -> str:
            return self._talks.recall(_key(ctx), given)

        return (
            FunctionToolset([Tool.from_schema(recall, name, does, arguments, takes_ctx=True)]) if self.recall else None
        )

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Folds where the window fills."""
        key, whole = _key(ctx), ctx.messages if self.persist else request_context.messages
        compactor = self._talks.compactor(key, request_context.model.model_name, "" if self.persist else _state(whole))
        requests = self._requests_of(key)
        folded = requests.together(await compactor.afit(requests.apart(whole)))
        request_context.messages = list(folded)
        if self.persist:
            ctx.messages[:] = folded
        await self._tell(ctx, key)
        return request_context

    async def prepare_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Sends what was folded after an overflow."""
        if (again := self._again.pop(_key(ctx), None)) is not None:
            request_context.messages = again
        return request_context

    async def after_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        """Takes what the provider billed."""
        usage = response.usage
        billed = bill(usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
        self._talks.compactor(_key(ctx)).observe(billed)
        return response

    async def on_model_request_error(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, error: Exception
    ) -> ModelResponse:
        """Folds and sends again, once, what was refused as too long."""
        if request_context.attempt > 1:
            raise error
        key, whole = _key(ctx), ctx.messages
        requests = self._requests_of(key)
        folded = requests.together(self._talks.compactor(key).recover(error, requests.apart(whole)))
        if self.persist:
            ctx.messages[:] = folded
        self._again[key] = folded
        await self._tell(ctx, key)
        raise RetryModelRequest from error

    def _requests_of(self, key: str) -> Requests:
        requests = self._requests.get(key) or Requests()
        remember(self._requests, key, requests)
        return requests

    async def _tell(self, ctx: RunContext[Any], key: str) -> None:
        """Tells of new folds in the run's events, and keeps the state with the messages."""
        if not (folds := self._talks.folds(key)):
            return
        if not self.persist:
            for message in ctx.messages:
                if message.metadata and KEY in message.metadata:
                    message.metadata = {name: kept for name, kept in message.metadata.items() if name != KEY} or None
            newest = ctx.messages[-1]
            newest.metadata = {**(newest.metadata or {}), KEY: self._talks.state(key)}
        for fold in folds:
            await ctx.emit(HistoryFolded(receipt=fold.receipt))


def _key(ctx: RunContext[Any]) -> str:
    return ctx.conversation_id or ctx.run_id or ""


def _state(messages: Sequence[ModelMessage]) -> str:
    told = (each.metadata[KEY] for each in reversed(messages) if each.metadata and KEY in each.metadata)
    return str(next(told, ""))
