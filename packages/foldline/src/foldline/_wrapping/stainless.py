"""The libraries of OpenAI and Anthropic, which send all that they send through one method: `client.post`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import methodcaller
from typing import Any

from foldline._wires.usage import stated
from foldline._wrapping.sdk import (
    Call,
    Fields,
    Route,
    Sdk,
    Sending,
    Through,
    given,
    made_in,
    method,
    twin,
    usage_of,
    with_tool,
)

RAW = "X-Stainless-Raw-Response"
"""The header by which a sealed reply is asked for: "true" for a whole one, "stream" for one that its reader reads."""


_PARSED = methodcaller("parse")
"""What a sealed reply says that is whole."""


def _sdk(name: str, routes: Mapping[str, Route]) -> Sdk:
    """A library whose clients send requests of these routes, by the path that they are posted to."""

    def read(post: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Sending | None:
        path, body = (*arguments, "")[0], named.get("body")
        route = routes.get(path.partition("?")[0]) if isinstance(path, str) else None
        if route is None or not isinstance(body, dict):
            return None
        raw = ((named.get("options") or {}).get("headers") or {}).get(RAW)
        streams = named.get("stream") is True

        def send(fields: Fields) -> Any:
            return post(*arguments, **{**named, "body": fields})

        if raw:
            return Sending(route, body, send, opened=_PARSED if raw == "true" and not streams else None)
        return Sending(route, body, send, streams)

    def wrap(client: object, through: Through) -> object:
        call = Call(read, awaited=hasattr(client, "__aenter__"))
        return twin(client, {"post": method(type(client), "post", through, call)}).copy()

    return Sdk(name=name, recognizes=lambda client: made_in(client, name) and hasattr(client, "post"), wrap=wrap)


CHAT = Route(
    format="openai-chat",
    history="messages",
    apart=lambda fields: given(fields, "tools"),
    reply_tokens=lambda fields: fields.get("max_completion_tokens") or fields.get("max_tokens"),
    said=lambda reply: [reply.choices[0].message],
    billed=usage_of,
    offer=with_tool,
)

_RESPONSES = Route(
    format="openai-responses",
    history="input",
    apart=lambda fields: given(fields, "instructions", "tools"),
    reply_tokens=lambda fields: fields.get("max_output_tokens"),
    held=("previous_response_id", "conversation"),
    said=lambda reply: reply.output,
    billed=lambda event: stated(stated(event, "response"), "usage"),
    offer=with_tool,
)

_MESSAGES = Route(
    format="anthropic",
    history="messages",
    apart=lambda fields: given(fields, "system", "tools"),
    reply_tokens=lambda fields: fields.get("max_tokens"),
    said=lambda reply: [{"role": "assistant", "content": reply.content}],
    billed=lambda event: stated(stated(event, "message"), "usage"),
    offer=with_tool,
)

OPENAI = _sdk("openai", {"/chat/completions": CHAT, "/responses": _RESPONSES})
ANTHROPIC = _sdk("anthropic", {"/v1/messages": _MESSAGES})
