"""OpenAI's Agents SDK: `RunConfig(model_provider=Folding())`."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from agents import FunctionTool, Model, ModelProvider, MultiProvider
from agents.tool_context import ToolContext

from foldline.integrations._asking import Unchanged
from foldline.integrations._conversations import Conversations, declared


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
        self._runs = Conversations(model, {"format": "openai-responses", **options}, states)
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

    def asking(self, input: Any, model: str, system: str | None, named: dict[str, Any]) -> Any:
        """A call of a model; where the provider holds the history the input is only what is new, and is sent as it is."""
        if named.get("previous_response_id") or named.get("conversation_id"):
            return Unchanged(input)
        items = [{"role": "user", "content": input}] if isinstance(input, str) else list(input)
        key = self._runs.beginnings.key(items)
        return self._runs.asking(items, model, key=key, system=system, billed=lambda reply: self._billed(key, reply))

    def _billed(self, key: str, reply: Any) -> Any:
        """The reply that states what was billed; it is noted which conversation its calls are of."""
        if kind := getattr(reply, "type", ""):
            reply = reply.response if kind == "response.completed" else None
        for item in reply.output if reply is not None else ():
            if getattr(item, "name", "") == self.recall.name:
                self._asked[item.call_id] = key
        return reply

    async def _recalled(self, context: ToolContext[Any], arguments: str) -> str:
        return self._runs.recall(self._asked.pop(context.tool_call_id, ""), arguments)


class _Folded(Model):
    """A model that sees its input folded, and gets it once more, smaller, where it was refused as too long."""

    def __init__(self, inner: Model, folding: Folding, name: str) -> None:
        self._inner = inner
        self._folding = folding
        self._name = name

    async def get_response(self, system_instructions: str | None, input: Any, *rest: Any, **named: Any) -> Any:
        asking = self._folding.asking(input, self._name, system_instructions, named)
        return await asking.aask(lambda sent: self._inner.get_response(system_instructions, sent, *rest, **named))

    def stream_response(self, system_instructions: str | None, input: Any, *rest: Any, **named: Any) -> Any:
        asking = self._folding.asking(input, self._name, system_instructions, named)
        return asking.astream(lambda sent: self._inner.stream_response(system_instructions, sent, *rest, **named))

    async def close(self) -> None:
        await self._inner.close()

    def get_retry_advice(self, request: Any) -> Any:
        return self._inner.get_retry_advice(request)
