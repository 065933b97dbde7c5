"""A summary that is asked for on top of the agent's own conversation, which the provider has cached.

The request is the agent's next one, byte for byte, with one instruction behind it: same system prompt, same tools, same
messages. What was sent before is read from the cache at a tenth of its price or so. The agent sends it, since only
the agent knows how its requests are made; it may say that no tool is to be chosen, where that leaves the cache alone
(at Anthropic it does not). A tool call for an answer is no summary in either case.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from foldline._economics import price, price_riding
from foldline._errors import SummaryFailed
from foldline._messages import Message, Text, Value
from foldline._models import Model
from foldline._tokens.estimate import estimate
from foldline._view import Brief
from foldline._wires import encode, joined, read_reply, read_usage
from foldline._wires.telling import USUAL
from foldline._wires.usage import LENGTH
from foldline._writers.draft import Draft, Summarizer
from foldline._writers.extraction import extract
from foldline._writers.gate import language_for
from foldline._writers.prompt import asked, riding

REFUSED = ("content_filter", "refusal", "SAFETY", "content_filtered", "guardrail_intervened")
"""Why replies end that are no summary, in the words of several providers."""


class Conversation(Value, frozen=True):
    """What the agent would send next; sizes are tokens."""

    items: tuple[Any, ...]
    """The messages as the agent has them."""
    messages: tuple[Message, ...]
    model: Model
    tokens: int
    """The size of the request, its overhead included."""
    cached: int
    """How much of it the provider's cache still holds."""
    limit: int
    """The most that a request may take."""


class SharedPrefix:
    """A summarizer that rides on a conversation where that is cheaper than what `fresh` would ask, and fits.

    `ask` sends messages as the agent does and answers with the provider's reply, at once or awaited. Where the reply is
    no summary, or the request fails, `fresh` writes it. Of a `fresh` that names no price nothing is known, and it is
    preferred; extraction asks no model, so that beside it every conversation that fits is ridden on.
    """

    def __init__(self, ask: Callable[[list[Any]], Any], fresh: Summarizer, conversation: Conversation) -> None:
        self.ask = ask
        self.fresh = fresh
        self.conversation = conversation
        self.instructions: str = getattr(fresh, "instructions", "")
        self.prompt: str | None = getattr(fresh, "prompt", None)

    def __call__(self, brief: Brief, messages: Sequence[Message]) -> Any:
        """A draft by the conversation's model, or what `fresh` writes."""
        request = self._request(brief, messages)
        if request is None:
            return self.fresh(brief, messages)
        try:
            reply = self.ask(request)
            return self._awaited(reply, brief, messages) if inspect.isawaitable(reply) else self._draft(reply, brief)
        except Exception as error:  # noqa: BLE001
            return self._instead(error, brief, messages)

    async def _awaited(self, reply: Awaitable[object], brief: Brief, messages: Sequence[Message]) -> object:
        try:
            return self._draft(await reply, brief)
        except Exception as error:  # noqa: BLE001
            answer = self._instead(error, brief, messages)
            return await answer if inspect.isawaitable(answer) else answer

    def _instead(self, error: Exception, brief: Brief, messages: Sequence[Message]) -> object:
        if self.fresh is extract:
            raise SummaryFailed(f"on the cached conversation: {type(error).__name__}: {error}", cause=error) from error
        return self.fresh(brief, messages)

    def _request(self, brief: Brief, messages: Sequence[Message]) -> list[object] | None:
        """The conversation with the instruction behind it, or None where another request is better."""
        said = self.conversation
        end = next((i for i in range(len(said.messages), 0, -1) if said.messages[i - 1] == messages[-1]), 0)
        second = bool(brief.faults) and self.fresh is not extract
        if not end or second:
            return None
        language = language_for(messages)
        text = riding(brief, messages, said.messages[end:], self.instructions, self.prompt, language)
        prompt = said.tokens + estimate(text)
        if prompt > said.limit or not self._pays(prompt, brief, messages):
            return None
        format = said.messages[-1].format or USUAL
        return joined([*said.items, encode(Message("user", (Text(text),)), format)], format)

    def _pays(self, prompt: int, brief: Brief, messages: Sequence[Message]) -> bool:
        if self.fresh is extract:
            return True
        quote = getattr(self.fresh, "quote", None)
        theirs = quote(brief, messages) if quote is not None else None
        ours = price_riding(self.conversation.model, prompt, self.conversation.cached, brief.max_tokens)
        return ours is not None and theirs is not None and ours < theirs

    def _draft(self, reply: object, brief: Brief) -> Draft:
        message, end = read_reply(reply)
        usage, model = read_usage(reply), self.conversation.model
        called = any(True for _ in message.calls)
        return Draft(
            "" if called else message.text,
            usage=usage,
            cost=price(model, usage) if usage else None,
            model=model.name,
            instead="a tool call" if called else "a refusal" if end in REFUSED else "",
            complete=end not in (*LENGTH, *REFUSED),
            sections=asked(brief.wording, prompt=self.prompt).sections,
            calls=1,
            shared=True,
        )
