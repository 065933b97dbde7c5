"""Google's library: `client.models.generate_content`, and all that goes through it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from foldline._wires.usage import stated
from foldline._wrapping.sdk import Call, Fields, Route, Sdk, Sending, Through, called, made_in, method, one_more, twin

METHODS = {"generate_content": False, "generate_content_stream": True}
"""The calls, and whether their replies are streamed."""


def _wrap(client: Any, through: Through) -> Any:
    aio = {"models": _models(type(client.aio), through, awaited=True)}
    kind = type(client)
    others = {
        "models": _models(kind, through, awaited=False),
        "aio": cached_property(lambda self: twin(kind.aio.__get__(self), aio)),
    }
    return twin(client, others)


def _models(kind: Any, through: Through, *, awaited: bool) -> cached_property[Any]:
    """The models of a client, with other calls, for a class made from its class."""

    def models(self: Any) -> Any:
        given = kind.models.__get__(self)
        calls = {name: Call(_read(streams), awaited) for name, streams in METHODS.items()}
        return twin(given, {name: method(type(given), name, through, call) for name, call in calls.items()})

    return cached_property(models)


def _read(streams: bool) -> Callable[..., Sending | None]:
    """Reads a call whose `contents` are a conversation, and not a question alone."""
    read = called(_CONTENTS, streams=streams)

    def read_conversation(*call: Any) -> Sending | None:
        request = read(*call)
        items = request.history if request else None
        return request if items and all(stated(item, "parts") for item in items) else None

    return read_conversation


def _setting(fields: Fields, *names: str) -> Any:
    config = fields.get("config")
    return next((found for name in names if (found := stated(config, name)) is not None), None)


def _apart(fields: Fields) -> Any:
    apart = _setting(fields, "system_instruction", "systemInstruction"), _setting(fields, "tools")
    return [each for each in apart if each] or None


def _offer(fields: Fields, tool: dict[str, Any]) -> Fields | None:
    tools = one_more(_setting(fields, "tools"), tool)
    if not tools or _setting(fields, "tool_config", "toolConfig") is not None:
        return None
    config = fields.get("config")
    copy = getattr(config, "model_copy", None)
    return {**fields, "config": copy(update={"tools": tools}) if copy else {**(config or {}), "tools": tools}}


_CONTENTS = Route(
    format="gemini",
    history="contents",
    apart=_apart,
    reply_tokens=lambda fields: _setting(fields, "max_output_tokens", "maxOutputTokens"),
    said=lambda reply: [reply.candidates[0].content],
    billed=lambda chunk: stated(chunk, "usage_metadata"),
    offer=_offer,
)

GOOGLE = Sdk(name="google-genai", recognizes=lambda client: made_in(client, "google.genai"), wrap=_wrap)
