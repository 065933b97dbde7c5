"""A provider's own compaction as a summarizer: Anthropic's, on demand and readable, and OpenAI's, sealed.

What comes back stands at the head of the history, as it came; Anthropic's needs the header `anthropic-beta:
compact-2026-09-04` on every later request of the agent as well.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

from foldline import _wires as wire
from foldline._economics import price
from foldline._errors import ConfigError, ContextOverflow, SummaryFailed, WireError
from foldline._messages import Message, Usage, replace
from foldline._models import Model
from foldline._models import model as model_named
from foldline._view import Brief
from foldline._wires import anthropic, openai_responses
from foldline._writers.calling import Conduct, retried
from foldline._writers.draft import Draft, Summarizer, both
from foldline._writers.extraction import extract
from foldline._writers.prompt import RULES, added


class Offer(NamedTuple):
    """A provider's compaction: the one format that a history with it can have, and the variable that holds its key."""

    format: str
    variable: str


OFFERS = {
    "anthropic-on-demand": Offer(anthropic.NAME, "ANTHROPIC_API_KEY"),
    "openai-compact": Offer(openai_responses.NAME, "OPENAI_API_KEY"),
}

MAKERS = ("", "anthropic", "openai", "openai-chat", "openai-responses")
"""What stands before a model's name where its own maker serves it; others have other servers and other keys."""

BETA = "compact-2026-09-04"
MAX_INSTRUCTIONS = 16_384
"""Characters of instructions that Anthropic takes; they replace its own prompt."""

REPLY = 16_384
"""Tokens that Anthropic's summary may take, thinking included."""


class NativeSummarizer:
    """Asks the provider of `model` to compact, where it offers that and the history is in its own format.

    It is asked only for what stands at the head of a history, where alone its answer may stand. Elsewhere, and where it
    fails or refuses, `fallback` writes the summary. `system` and `tools` are those that the agent sends, which Anthropic
    wants to see. A key or a URL that is not given is what the provider's own client finds in the environment. `timeout`
    and `backoff` are seconds, `retries` attempts after the first, as for a `ModelSummarizer`.
    """

    def __init__(
        self,
        model: str | Model,
        *,
        api_key: str | None = None,
        base_url: str | None = None,
        system: Any = None,
        tools: Sequence[Any] = (),
        instructions: str = "",
        timeout: float = 120.0,
        retries: int = 2,
        backoff: float = 1.0,
        fallback: Summarizer = extract,
    ) -> None:
        if not all(map(find_spec, ("anthropic", "openai", "tenacity"))):
            raise ConfigError("a provider's compaction needs more packages: pip install 'foldline[llm]'", path="native")
        self.model = model_named(model) if isinstance(model, str) else model
        self.offer = offered(model)
        self.spelled = model if isinstance(model, str) else model.name
        self.name = self.spelled.partition(":")[2] or self.spelled
        self.api_key = api_key
        self.base_url = base_url
        self.system = system
        self.tools = list(tools)
        self.instructions = instructions
        self.conduct = Conduct(timeout=timeout, retries=retries, backoff=backoff)
        self.fallback = fallback

    def __call__(self, brief: Brief, messages: Sequence[Message]) -> Any:
        """The provider's compaction as a draft, or what the fallback writes."""
        if self.offer is None or not brief.leads or any(m.format not in (self.offer.format, "") for m in messages):
            return self.fallback(brief, messages)
        if not brief.faults:
            return self._compacted(self.offer, brief, messages)
        # an extraction given back here would pass for an answer, and the breaker would never open
        if self.fallback is extract:
            raise SummaryFailed(brief.faults[0])
        return self.fallback(brief, messages)

    async def _compacted(self, offer: Offer, brief: Brief, messages: Sequence[Message]) -> Any:
        try:
            if offer.format == openai_responses.NAME:
                return await self._openai(messages)
            return await self._anthropic(brief, messages)
        except SummaryFailed as failure:
            if self.fallback is extract:
                raise
            return await self._instead(failure, brief, messages)

    async def _instead(self, failure: Exception, brief: Brief, messages: Sequence[Message]) -> Any:
        """What the fallback writes, with the reason why it had to; where it fails too, both reasons."""
        try:
            answer = self.fallback(brief, messages)
            written = await answer if inspect.isawaitable(answer) else answer
        except SummaryFailed as second:
            raise SummaryFailed(f"{failure}; {second}", cause=second) from second
        draft = Draft(written) if isinstance(written, str) else written
        return replace(draft, before=(str(failure),)) if isinstance(draft, Draft) else draft

    async def _anthropic(self, brief: Brief, messages: Sequence[Message]) -> Draft:
        from anthropic import AsyncAnthropic

        body: dict[str, Any] = {"model": self.name, "max_tokens": self.model.max_output or REPLY}
        body["messages"] = _encoded(messages, anthropic.NAME)
        if self.system:
            body["system"] = self.system
        if self.tools:
            body["tools"] = self.tools
        body["compaction"] = {"type": "summarize", **self._told(brief)}

        async def ask() -> Any:
            async with AsyncAnthropic(**self._client()) as client:
                return await client.beta.messages.with_raw_response.create(**body, betas=[BETA])

        reply = await self._reply(ask)
        usage, stop = _passes(reply.get("usage")), reply.get("stop_reason")
        match reply.get("content"):
            case [{"type": "compaction", "content": str(said), "signature": str()} as block] if said.strip():
                if stop == "compaction":
                    made = anthropic.decode({"role": "assistant", "content": [block]})
                    return self._draft((made,), said, usage)
        return self._draft((), "", usage, f"no compaction, but {stop or 'an answer without an end'}")

    async def _openai(self, messages: Sequence[Message]) -> Draft:
        from openai import AsyncOpenAI

        body: dict[str, Any] = {"model": self.name, "input": _encoded(messages, openai_responses.NAME)}
        if isinstance(self.system, str):
            body["instructions"] = self.system

        async def ask() -> Any:
            async with AsyncOpenAI(**self._client()) as client:
                return await client.responses.with_raw_response.compact(**body)

        reply = await self._reply(ask)
        made, usage = _made(reply.get("output")), wire.read_usage(reply)
        return self._draft(made, "", usage, "" if made else "no compaction")

    def _client(self) -> dict[str, Any]:
        """What the provider's client is made with: `retried` keeps the time and asks again, as for every model."""
        key = self.api_key or (os.environ.get(self.offer.variable) if self.offer else None) or "none"
        return {"api_key": key, "base_url": self.base_url, "timeout": None, "max_retries": 0}

    def _told(self, brief: Brief) -> dict[str, str]:
        """Our instructions where the user has a wish; they take the place of Anthropic's own, which are better without."""
        if not self.instructions and not brief.focus:
            return {}
        wish = f"\n\nThe user asks to keep above all: {brief.focus}" if brief.focus else ""
        return {"instructions": (added(RULES, self.instructions) + wish)[:MAX_INSTRUCTIONS]}

    def _draft(self, made: tuple[Message, ...], text: str, usage: Usage | None, instead: str = "") -> Draft:
        cost = price(self.model, usage) if usage else None
        return Draft(text, usage, cost, self.spelled, instead, calls=1, native=made)

    async def _reply(self, ask: Callable[[], Awaitable[Any]]) -> Mapping[str, Any]:
        """What is answered, as it came; raises `SummaryFailed` where that is nothing, or no object of JSON."""

        async def attempt() -> Any:
            return (await ask()).http_response.json()

        try:
            said = await retried(attempt, self.spelled, self.conduct)
        except ContextOverflow as overflow:
            raise SummaryFailed(f"{self.spelled}: {overflow}", cause=overflow) from overflow
        if not isinstance(said, dict):
            raise SummaryFailed(f"{self.spelled}: the reply is no object")
        return said


def offered(model: str | Model) -> Offer | None:
    """The compaction that whoever serves the model offers, if any."""
    if isinstance(model, Model):
        return OFFERS.get(model.compaction)
    provider = model.partition(":")[0] if ":" in model else ""
    return OFFERS.get(model_named(model).compaction) if provider in MAKERS else None


def _encoded(messages: Sequence[Message], format: str) -> list[dict[str, Any]]:
    try:
        return [wire.encode(message, format) for message in messages]
    except WireError as error:
        raise SummaryFailed(f"the history cannot be sent: {error}", cause=error) from error


def _made(output: Any) -> tuple[Message, ...]:
    """The user's messages and the one compaction behind them, or nothing where that is not what came back."""
    try:
        made = tuple(openai_responses.decode(item) for item in output)
    except (WireError, TypeError):
        return ()
    sealed = made[-1].summary if made else None
    whole = sealed is not None and bool(sealed.source.get("encrypted_content"))
    return made if whole and all(message.role in ("user", "system") for message in made[:-1]) else ()


def _passes(usage: Any) -> Usage | None:
    """What Anthropic billed: the compaction stands among the passes, and not in the sum."""
    passes = usage.get("iterations") if isinstance(usage, dict) else None
    spent: Usage | None = None
    for each in passes if isinstance(passes, list) else [usage]:
        spent = both(spent, wire.read_usage(each))
    return spent
