"""Calls a model over pydantic-ai's direct API: which one, with which retries, and what its failures mean."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from inspect import signature
from typing import Any, TypeVar

from foldline._clipping import clipped
from foldline._economics import price
from foldline._errors import ConfigError, SummaryFailed
from foldline._messages import Usage, Value
from foldline._models import model as model_named
from foldline._models import nearest
from foldline._overflow import read as read_overflow
from foldline._writers.draft import Draft

T = TypeVar("T")

AGAIN = frozenset((408, 409, 425, 429))
"""Statuses below 500 after which the same request may succeed."""

TEMPERATURE = 0.3
"""The temperature unless told otherwise: a summary is to be factual."""

LONGEST_WAIT = 60.0
"""Seconds that a provider may ask to wait; where it asks for more, the next model is asked."""

_NO_TEMPERATURE = ("openai_supports_reasoning", "anthropic_disallows_sampling_settings")
"""What pydantic-ai knows of models that take no temperature; it would leave it out and warn."""

_QUOTA = "ModelQuotaExceededError"
_VARIABLE = re.compile(r"`([A-Z][A-Z0-9_]+)` environment variable")


class Endpoint(Value, frozen=True):
    """A model and where it is served: `provider:name` as pydantic-ai spells it, or a bare name.

    Without a provider, a name is served by its maker, or by the OpenAI-compatible server at `base_url`. A key that is
    not given comes from the provider's own environment variable; a server of one's own may do without.
    """

    model: str
    base_url: str | None = None
    api_key: str | None = None


class Conduct(Value, frozen=True):
    """How a model is called: seconds for one attempt, attempts after the first, seconds before the first of these."""

    temperature: float | None = TEMPERATURE
    timeout: float = 120.0
    retries: int = 2
    backoff: float = 1.0


def connect(endpoint: Endpoint, *, path: str = "summarizer") -> Any:
    """The pydantic-ai model of an endpoint; raises `ConfigError` where it cannot be made, at `path`."""
    if find_spec("pydantic_ai") is None:
        raise ConfigError("a summary by a model needs more packages: pip install 'foldline[llm]'", path=path)
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model
    from pydantic_ai.providers import infer_provider_class

    def provider(name: str) -> Any:
        kind = infer_provider_class(name)
        try:
            return _provider(kind, endpoint.base_url, endpoint.api_key)
        except UserError:
            if endpoint.base_url is None or endpoint.api_key is not None:
                raise
            return _provider(kind, endpoint.base_url, "none")

    try:
        return infer_model(spelled(endpoint), provider)
    except (UserError, ImportError, ValueError, TypeError) as error:
        keyless = _VARIABLE.search(str(error))
        why = (
            f"its key is missing: set {keyless[1]} in the environment"
            if keyless
            else clipped(" ".join(str(error).split()), 300)
        )
        if "Unknown provider" in why:
            why += "; known are anthropic, openai, google, openrouter and the others of pydantic-ai"
        if keyless and ":" not in endpoint.model and not model_named(endpoint.model).known:
            why += f"; no model of this name is known{nearest(endpoint.model)}; PROVIDER:NAME says whose it is"
        raise ConfigError(f"{endpoint.model} cannot be called: {why}", path=path) from error


def _provider(kind: Any, url: str | None, key: str | None) -> Any:
    """A provider, at a URL where one is given; one that knows only its own is given another through OpenAI's client."""
    given = {} if key is None else {"api_key": key}
    if url is None:
        return kind(**given)
    if "base_url" in signature(kind).parameters:
        return kind(**given, base_url=url)
    from openai import AsyncOpenAI

    made = kind(**given)
    if not isinstance(made.client, AsyncOpenAI):
        raise ValueError("it is served at its own URL only")
    made.client.base_url = url
    return made


def spelled(endpoint: Endpoint) -> str:
    """The name with its provider; a server of one's own speaks OpenAI's chat completions unless told otherwise."""
    provider, colon, name = endpoint.model.partition(":")
    if endpoint.base_url is not None and (not colon or provider == "openai"):
        return f"openai-chat:{name if colon else endpoint.model}"
    if colon:
        return endpoint.model
    return f"{model_named(endpoint.model).provider or 'openai'}:{endpoint.model}"


async def retried(attempt: Callable[[], Awaitable[T]], name: str, conduct: Conduct) -> T:
    """What an attempt to ask the model `name` answers; it is made again after failures that pass.

    Raises `ContextOverflow` where the request was too long, and `SummaryFailed` where nothing helped.
    """
    import asyncio

    from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt
    from tenacity.wait import wait_exception, wait_exponential_jitter

    async def timed() -> T:
        async with asyncio.timeout(conduct.timeout):
            return await attempt()

    tries = AsyncRetrying(
        stop=stop_after_attempt(conduct.retries + 1),
        wait=wait_exponential_jitter(conduct.backoff, jitter=conduct.backoff) + wait_exception(_asked_to_wait),
        retry=retry_if_exception(_passes),
        reraise=True,
    )
    try:
        return await tries(timed)
    except Exception as error:
        if overflow := read_overflow(error):
            raise overflow from error
        raise SummaryFailed(f"{name}: {_named(error)}", cause=error) from error


async def ask(model: Any, name: str, conduct: Conduct, rules: str, request: str, max_tokens: int) -> Draft:
    """A model's answer as a draft, streamed, since gateways cut a connection on which nothing is heard for a minute."""
    from pydantic_ai.direct import model_request_stream
    from pydantic_ai.messages import ModelRequest, TextPart, ToolCallPart, UserPromptPart

    settings: dict[str, Any] = {"max_tokens": max_tokens, "max_retries": 0, "timeout": conduct.timeout}
    settings["extra_headers"] = {"Connection": "close"}
    if conduct.temperature is not None and not any(model.profile.get(key) for key in _NO_TEMPERATURE):
        settings["temperature"] = conduct.temperature
    messages = [ModelRequest(parts=[UserPromptPart(request)], instructions=rules)]
    async with model_request_stream(model, messages, model_settings=settings) as stream:  # type: ignore[arg-type]
        async for _ in stream:
            pass
        reply = stream.get()
    text = "".join(part.content for part in reply.parts if isinstance(part, TextPart))
    instead = ""
    if not text.strip():
        called = any(isinstance(part, ToolCallPart) for part in reply.parts)
        instead = "a tool call" if called else "thinking alone" if reply.parts else "nothing"
    usage = _usage(reply.usage)
    return Draft(
        text,
        usage=usage,
        cost=price(model_named(name), usage) if usage else None,
        model=name,
        complete=reply.finish_reason in ("stop", "tool_call"),
        instead="a refusal" if reply.finish_reason == "content_filter" else instead,
        calls=1,
    )


def _usage(usage: Any) -> Usage | None:
    """The usage of a call; pydantic-ai counts cached tokens within the input."""
    read, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    fresh = max(0, (usage.input_tokens or 0) - read - written)
    found = Usage(fresh, usage.output_tokens or 0, read, written)
    return found if found.context else None


def _asked_to_wait(error: BaseException) -> float:
    """Seconds that the provider asks to wait, 0 where it says nothing; the vendors' clients leave that in the reply."""
    headers = getattr(getattr(error, "response", None), "headers", {})
    try:
        return float(getattr(error, "retry_after", None) or headers.get("retry-after", 0))
    except ValueError:
        return 0.0


def _passes(error: BaseException) -> bool:
    """Whether the same request may succeed soon: not after a refusal, and not after a time-out, which would cost as much again."""
    if isinstance(error, TimeoutError) or type(error).__name__ in ("ModelTimeoutError", _QUOTA):
        return False
    if _asked_to_wait(error) > LONGEST_WAIT or read_overflow(error):
        return False
    status, told = getattr(error, "status_code", None), _told(error)
    if isinstance(told, dict) and "insufficient_quota" in (told.get("code"), told.get("type")):
        return False
    if isinstance(status, int) and status >= 300:
        return status >= 500 or status in AGAIN
    return type(error).__module__.partition(".")[0] in ("pydantic_ai", "httpx", "httpx2", "openai", "anthropic", "json")


def _told(error: BaseException) -> Any:
    """What the provider said of an error, in its own shape."""
    body = getattr(error, "body", None)
    return body.get("error", body) if isinstance(body, dict) else body


def _named(error: Exception) -> str:
    """An error in one line of at most 300 characters: what the provider said, where it said something."""
    told = _told(error)
    said = told.get("message") if isinstance(told, dict) else told
    words = " ".join(str(said or error).split())
    status = getattr(error, "status_code", None)
    name = f"HTTP {status}" if status else type(error).__name__
    line = f"{name}: {words}" if words else name
    return clipped(line, 300)
