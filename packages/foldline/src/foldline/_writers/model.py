"""A summarizer by model: OpenAI, Anthropic, Google, OpenRouter and any server that speaks OpenAI's chat completions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from typing import Any

from foldline._economics import price
from foldline._errors import ConfigError, ContextOverflow, SummaryFailed
from foldline._facts.reading import facts_of, user_words
from foldline._messages import Message, Usage, replace
from foldline._models import model as model_named
from foldline._page.extract import compose
from foldline._tokens.estimate import estimate
from foldline._view import CUT_RULES, Brief, Entry
from foldline._wording import Wording
from foldline._writers import EXTRACT
from foldline._writers.calling import TEMPERATURE, Conduct, Endpoint, ask, connect, retried
from foldline._writers.draft import Draft
from foldline._writers.gate import heard, language_for
from foldline._writers.prompt import PromptParts, asked, fence, request, summary_in, tell

THOUGHT = 4_096
"""Tokens that a reply may take besides the summary: models that reason bill it as output."""

SHARE = 0.8
"""The share of the summarizer's window that a request fills at most: the count of it is a guess."""

SHRINKS = 3
"""How often a request is made smaller after the summarizer itself said that it was too long."""

AROUND = 400
"""Tokens of a request besides the rules, the previous summary and the material."""

LEAST_ROOM = 1_000
"""Tokens of material below which a smaller request makes no sense."""

NEWEST = 0.5
"""The share of the room that the newest messages may take before a page of the older ones."""

_EXCERPT = (
    "as an excerpt that a program made, in the order and in the words of the conversation: lines with `>` are the user's, "
    "those with `-` tell calls and what came of them, the others are the agent's"
)


class ModelSummarizer:
    """Asks a model for a summary; where the history is larger than its window, a page tells it the older messages.

    `model` is spelled as pydantic-ai does (`anthropic:claude-haiku-4-5`); a bare name is its maker's, or served at
    `base_url` in OpenAI's dialect. `fallbacks` are asked in turn where it fails; those of the same provider share its
    URL and key. `timeout` and `backoff` are seconds, `retries` attempts after the first. `instructions` are added to
    the prompt, `prompt` replaces it. Cancelling the task that awaits it aborts the call. Raises `ConfigError` where one
    of the models cannot be called: a package or a key is missing. With "extract" as the last fallback such a model is one
    that fails.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        temperature: float | None = TEMPERATURE,
        max_tokens: int | None = None,
        timeout: float = 120.0,
        retries: int = 2,
        backoff: float = 1.0,
        fallbacks: Sequence[str | Endpoint] = (),
        instructions: str = "",
        prompt: str | None = None,
        window: int | None = None,
    ) -> None:
        first = Endpoint(model, base_url, api_key)
        self.endpoints = [first, *(_beside(first, each) for each in fallbacks if each != EXTRACT)]
        self.conduct = Conduct(temperature, timeout, retries, backoff)
        self.max_tokens = max_tokens
        self.instructions, self.prompt = instructions, prompt
        self.window = window
        self._connected: dict[Endpoint, Any] = {}
        self._missing: dict[Endpoint, str] = {}
        for endpoint in self.endpoints:
            try:
                self._connected[endpoint] = connect(endpoint)
            except ConfigError as missing:
                if EXTRACT not in fallbacks:
                    raise
                self._missing[endpoint] = str(missing)

    async def __call__(self, brief: Brief, messages: Sequence[Message]) -> Draft:
        """A draft by the first model that writes one; raises `SummaryFailed` with what each of them said."""
        said: list[str] = []
        for endpoint in self.endpoints:
            if why := self._missing.get(endpoint):
                said.append(why)
                continue
            try:
                return await self._written(endpoint, brief, messages)
            except SummaryFailed as failure:
                said.append(str(failure))
        raise SummaryFailed("; ".join(said))

    def quote(self, brief: Brief, messages: Sequence[Message]) -> float | None:
        """What a draft by the first model will cost in US dollars, about; None where its prices are not known."""
        model = model_named(self.endpoints[0].model)
        most = int((self.window or model.max_input) * SHARE)
        told = sum(map(estimate, tell(messages, "", most // 2)))
        size = told + estimate(summary_in(messages)) + estimate(self._asked(brief.wording).rules) + AROUND
        return price(model, Usage(min(size, most), brief.max_tokens))

    async def _written(self, endpoint: Endpoint, brief: Brief, messages: Sequence[Message]) -> Draft:
        """A draft by one model, with less in each request where it says that one was too long."""
        model = model_named(endpoint.model)
        window = self.window or min(model.max_input, model.window)
        told = self._asked(brief.wording)
        conduct = self._conduct(brief.wording)
        for left in range(SHRINKS, -1, -1):
            reply = self._reply(brief, window, model.max_output)
            room = int(window * SHARE) - reply - estimate(told.rules) - brief.max_tokens - AROUND
            try:
                text = self._request(brief, messages, max(room, LEAST_ROOM))
                once = partial(ask, self._connected[endpoint], endpoint.model, conduct, told.rules, text, reply)
                draft = await retried(once, endpoint.model, conduct)
                return replace(draft, sections=told.sections)
            except ContextOverflow as overflow:
                stated = overflow.limit or 0
                window = stated if 0 < stated < window else window // 2
                if not left or room < LEAST_ROOM:
                    raise SummaryFailed(f"{endpoint.model}: {overflow}", cause=overflow) from overflow
        raise AssertionError("the last attempt answers or raises")

    def _asked(self, wording: Wording) -> PromptParts:
        """The rules and the sections that are asked for: the user's own prompt goes before a policy's."""
        return asked(wording, self.instructions, self.prompt)

    def _conduct(self, wording: Wording) -> Conduct:
        """How the model is called; a policy's temperature takes the place of the usual one alone."""
        stated = wording.temperature is not None and self.conduct.temperature == TEMPERATURE
        return replace(self.conduct, temperature=wording.temperature) if stated else self.conduct

    def _request(self, brief: Brief, messages: Sequence[Message], room: int) -> str:
        """What is asked, with as much of the messages as `room` tokens hold."""
        mark = fence(heard(messages))
        told = _material(messages, mark, brief, room)
        return request(brief, summary_in(messages), told, mark, language=language_for(messages))

    def _reply(self, brief: Brief, window: int, most: int) -> int:
        """Tokens that a reply may take, thinking included; `most` is the model's own limit, 0 where it states none."""
        if (stated := self.max_tokens or brief.wording.reply) is not None:
            return stated
        return min(2 * brief.max_tokens + THOUGHT, most or window, max(window // 4, 256))


def _beside(first: Endpoint, other: str | Endpoint) -> Endpoint:
    """A fallback; one that is only named shares the URL and the key of the first where it has the same provider."""
    if isinstance(other, Endpoint):
        return other
    provider, colon, _ = other.partition(":")
    same = not colon or first.model.startswith(f"{provider}:")
    return replace(first, model=other) if same else Endpoint(other)


def _material(messages: Sequence[Message], mark: str, brief: Brief, room: int) -> list[str]:
    """Messages as text under `mark` within `room` tokens; a page tells those that have no place as they are."""
    told = tell(messages, mark, int(room * NEWEST))
    sizes = [estimate(text) + 1 for text in told]
    start = _newest(messages, sizes, int(room * NEWEST))
    if sum(sizes) <= room or not start:
        return told
    head = f"#{mark} 1 to {start}, {_EXCERPT}"
    left = room - sum(sizes[start:]) - estimate(head) - 1
    after = (*user_words(messages[start:]), *brief.after)
    older = [message for message in messages[:start] if not message.summary]
    return [f"{head}\n{compose(Brief(left, brief.focus, after=after), facts_of(older))}", *told[start:]]


def _newest(messages: Sequence[Message], sizes: Sequence[int], room: int) -> int:
    """Where the newest messages begin that fit into `room` tokens, where no pair is split if there is such a place."""
    fits = sum(tokens <= room for tokens in accumulate(reversed(sizes)))
    first = len(messages) - max(fits, 1)
    entries = [Entry(str(i), message) for i, message in enumerate(messages)]
    points = set.intersection(*(rule(entries) for rule in CUT_RULES))
    return min((point for point in points if first <= point < len(messages)), default=first)
