"""Amazon's library: `converse` and `converse_stream` of boto3's client for the Bedrock runtime."""

from __future__ import annotations

from foldline._wires.usage import stated
from foldline._wrapping.sdk import Call, Fields, Route, Sdk, Through, called, given, made_in, method, one_more, twin

METHODS = {"converse": False, "converse_stream": True}
"""The calls, and whether their replies are streamed."""


def _wrap(client: object, through: Through) -> object:
    calls = {name: Call(called(_CONVERSE, streams=streams)) for name, streams in METHODS.items()}
    return twin(client, {name: method(type(client), name, through, call) for name, call in calls.items()})


def _offer(fields: Fields, tool: dict[str, object]) -> Fields | None:
    config = fields.get("toolConfig") or {}
    tools = one_more(config.get("tools"), tool)
    if not tools or "auto" not in config.get("toolChoice", "auto"):
        return None
    return {**fields, "toolConfig": {**config, "tools": tools}}


_CONVERSE = Route(
    format="bedrock-converse",
    history="messages",
    model="modelId",
    apart=lambda fields: given(fields, "system", "toolConfig"),
    reply_tokens=lambda fields: stated(fields.get("inferenceConfig") or {}, "maxTokens"),
    said=lambda reply: [reply["output"]["message"]],
    billed=lambda event: stated(event.get("metadata"), "usage"),
    offer=_offer,
    stream="stream",
)

BEDROCK = Sdk(
    name="boto3",
    recognizes=lambda client: made_in(client, "botocore.client") and hasattr(client, "converse"),
    wrap=_wrap,
)
