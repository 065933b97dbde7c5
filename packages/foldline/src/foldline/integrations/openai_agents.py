"""OpenAI's Agents SDK: `RunConfig(model_provider=Folding())`."""

from __future__ import annotations

from collections.abc import AsyncIterator, MutableMapping
from typing import Any

from agents import FunctionTool, Model, ModelProvider, MultiProvider
from agents.tool_context import ToolContext

from foldline import Compactor
from foldline.integrations._beginnings import Beginnings
from foldline.integrations._conversations import Conversations, declared
from foldline.integrations._history import ITEMS
from foldline.integrations._streamed import astreamed


class Folding(ModelProvider):
    """Keeps the runs of the SDK inside the model's window: a provider whose models see their input folded.

    Sessions stay whole: they hold what was said, and the model sees it folded. Conversations are told by their beginnings;
    `states`, a mapping that may be a database's, keeps what foldline knows of them, so that another process goes on from
    there. `recall` is a tool that an agent may be given. `inner` is the provider of the models, `model` is for a model that
    foldline should take them for, and `options` are those of `Compactor`. Called with a model, it gives one that folds.
    """

    def __init__(
        self,
        model: str = "",
        *,
        inner: ModelProvider | None = None,
        states: MutableMapping[str, bytes] | None = None,
        **options: Any,
    ) -> None:
        self._inner = inner or MultiProvider()
        self._runs: Conversations[Any] = Conversations(ITEMS, model, {"format": "openai-responses", **options}, states)
        self._beginnings = Beginnings()
        self._asked: dict[str, str] = {}
        name, does, parameters = declared()
        self.recall = FunctionTool(name, does, parameters, self._recalled, strict_json_schema=False)

    def get_model(self, model_name: str | None) -> Model:
        """The inner provider's model, which folds."""
        return self(self._inner.get_model(model_name), model_name or "")

    def __call__(self, model: Model, name: str = "") -> Model:
        """A model that sees its input folded."""
        return _Folded(model, self, name or str(getattr(model, "model", "")))

    async def aclose(self) -> None:
        """Closes the inner provider."""
        await self._inner.aclose()

    def run(self, items: list[Any], model: str) -> tuple[str, Compactor]:
        """The key of the conversation that the items are of, and its compactor."""
        key = self._beginnings.key(items)
        return key, self._runs.history(key, model).compactor

    def keep(self, key: str, sent: list[Any]) -> list[Any]:
        """What is sent, once the state is kept where a fold was made for it."""
        self._runs.folds(key)
        return sent

    def billed(self, key: str, compactor: Compactor, reply: Any) -> None:
        """Takes what the provider billed for a reply, and notes which conversation its calls are of."""
        compactor.observe(reply)
        for item in reply.output:
            if getattr(item, "name", "") == self.recall.name:
                self._asked[item.call_id] = key

    async def _recalled(self, context: ToolContext[Any], arguments: str) -> str:
        return self._runs.recall(self._asked.pop(context.tool_call_id, ""), arguments)


class _Folded(Model):
    """A model that sees its input folded, and gets it once more, smaller, where it was refused as too long."""

    def __init__(self, inner: Model, folding: Folding, name: str) -> None:
        self._inner = inner
        self._folding = folding
        self._name = name

    async def get_response(self, system_instructions: str | None, input: Any, *rest: Any, **named: Any) -> Any:
        if _kept_by_the_provider(named):
            return await self._inner.get_response(system_instructions, input, *rest, **named)
        items = _items(input)
        key, compactor = self._folding.run(items, self._name)
        sent = self._folding.keep(key, await compactor.afit(items, system=system_instructions))
        try:
            reply = await self._inner.get_response(system_instructions, sent, *rest, **named)
        except Exception as error:  # noqa: BLE001 - what is no overflow is raised again
            sent = self._folding.keep(key, compactor.recover(error, items))
            reply = await self._inner.get_response(system_instructions, sent, *rest, **named)
        self._folding.billed(key, compactor, reply)
        return reply

    async def stream_response(
        self, system_instructions: str | None, input: Any, *rest: Any, **named: Any
    ) -> AsyncIterator[Any]:
        if _kept_by_the_provider(named):
            async for event in self._inner.stream_response(system_instructions, input, *rest, **named):
                yield event
            return
        items = _items(input)
        key, compactor = self._folding.run(items, self._name)
        async for event in astreamed(
            lambda sent: self._inner.stream_response(system_instructions, sent, *rest, **named),
            self._folding.keep(key, await compactor.afit(items, system=system_instructions)),
            lambda error: self._folding.keep(key, compactor.recover(error, items)),
        ):
            if event.type == "response.completed":
                self._folding.billed(key, compactor, event.response)
            yield event

    async def close(self) -> None:
        await self._inner.close()

    def get_retry_advice(self, request: Any) -> Any:
        return self._inner.get_retry_advice(request)


def _items(input: Any) -> list[Any]:
    return [{"role": "user", "content": input}] if isinstance(input, str) else list(input)


def _kept_by_the_provider(named: Any) -> bool:
    """Whether the provider holds the history, so that the input is only what is new."""
    return bool(named.get("previous_response_id") or named.get("conversation_id"))
