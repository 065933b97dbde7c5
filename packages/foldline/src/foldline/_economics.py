"""What calls cost under a provider's prices, what its prompt cache saves of that, and what an edit of the past does to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from math import ceil
from typing import Any, NamedTuple

from foldline._messages import Usage, Value, replace
from foldline._models import Model, key_of
from foldline._models import model as model_named

_OF_CACHE = {
    "cache_read": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
    "cache_write_long": "cache_write_1h_mtok",
}
"""What genai-prices calls the prices of a cache."""


def priced(model: Model) -> Model:
    """The model at the prices that genai-prices states at this time, where it is installed and knows that model.

    Prices of a user's own stay. What a process keeps new by `genai_prices.UpdatePrices` counts; nothing is fetched here.
    Its import takes half a second, so that it is asked for prices alone, and windows are those of the table.
    """
    table = model_named(model.name)
    if any(getattr(model, name) != getattr(table, name) for name in ("input", "output", "tiers", *_OF_CACHE)):
        return model
    try:
        from genai_prices.data_snapshot import get_snapshot
    except ImportError:
        return model
    name = model.name if model.known else model.name.rpartition(":")[2]
    try:
        _, info = get_snapshot().find_provider_model(name, None, model.provider or None, None)
    except LookupError:
        return model
    stated = prices_on(info, datetime.now(UTC))
    another = model.known and key_of(info.id) != key_of(name)
    return model if another or not stated["input"] else replace(model, **stated)


def prices_on(info: Any, day: datetime) -> dict[str, Any]:
    """What a model of genai-prices costs on a day, in the fields of `Model`, as far as it is stated."""
    prices = info.get_prices(day)
    input, inputs = _parted(prices.input_mtok)
    output, outputs = _parted(prices.output_mtok)
    starts = sorted(inputs.keys() | outputs.keys())
    tiers = tuple((start, inputs.get(start, input), outputs.get(start, output)) for start in starts)
    cached = {field: _parted(getattr(prices, name))[0] for field, name in _OF_CACHE.items()}
    shares = {field: round(each / input, 4) for field, each in cached.items() if each and input}
    return {"input": input, "output": output, "tiers": tiers, **shares}


def _parted(price: Any) -> tuple[float, dict[int, float]]:
    """Dollars per million tokens, and those above each threshold."""
    tiers = {tier.start: float(tier.price) for tier in getattr(price, "tiers", ())}
    return float(getattr(price, "base", price) or 0), tiers


def weighed(model: Model) -> Model:
    """The model, at a price of one where none is known: what is set against each other hangs on its shares alone."""
    return model if model.input or model.output else replace(model, input=1.0)


def price(model: Model, usage: Usage) -> float | None:
    """What a call cost in US dollars, its cached tokens at the cache's prices; None where no price is known."""
    return _charge(priced(model), usage)


def _charge(model: Model, usage: Usage) -> float | None:
    """What a call cost at the prices that the model states."""
    input, output = rates(model, usage.prompt)
    if not input and not output:
        return None
    paid = usage.input + usage.cache_read * model.cache_read + usage.cache_write * model.cache_write
    return (paid * input + usage.output * output) / 1_000_000


def cached(model: Model, billed: Usage, age: float) -> int:
    """Tokens that the provider's cache still holds of a request that was billed so, `age` seconds ago.

    Where writing to the cache costs extra, the agent marks what is written; where it does not, everything is.
    """
    held = billed.cache_read + billed.cache_write if model.cache_write > 1 else billed.prompt
    return held if age < model.cache_ttl and held >= model.min_cacheable else 0


def price_riding(model: Model, prompt: int, held: int, output: int) -> float | None:
    """What a request of `prompt` tokens costs that begins with the `held` tokens of a cache, and writes the rest to it."""
    return price(model, replace(_billed(model, prompt, held), output=output))


def rates(model: Model, prompt: int) -> tuple[float, float]:
    """US dollars per million tokens of a request and of its reply, for a request of `prompt` tokens."""
    for above, input, output in sorted(model.tiers, reverse=True):
        if prompt > above:
            return input, output
    return model.input, model.output


# -- the prompt cache ------------------------------------------------------------------------------------------------


class Lookup(Value, frozen=True):
    """How a provider finds what its cache holds of a request; prices, life and least prefix are the model's own."""

    grain: int = 1
    """Tokens of which what is read is a whole multiple."""
    look_back: int = 0
    """Where entries end only at marks: how many parts before a mark an earlier entry is found. 0 where any prefix is."""


LOOKUPS: Mapping[str, Lookup] = {
    "anthropic": Lookup(look_back=20),
    "openai": Lookup(grain=128),
    "azure": Lookup(grain=128),
    "deepseek": Lookup(grain=64),
}
"""By the provider, as each documents its prompt cache: Anthropic's entries end at marks, of which a request has four, and
20 blocks before a mark are looked at; OpenAI counts in steps of 128 tokens, DeepSeek in units of 64. Others state nothing,
and are taken to find any prefix."""


class Request(Value, frozen=True):
    """One request of a conversation as its provider's cache meets it; sizes are tokens."""

    tokens: int
    same: int = 0
    """How much of its beginning is that of the request before."""
    head: int = 0
    """The system prompt and the tools, which clients mark."""
    parts: int = 1
    """The parts of messages behind what is the same."""
    idle: float = 0.0
    """Seconds since the request before."""


class Bill(NamedTuple):
    """What a request is billed, without its reply, and what that costs in US dollars; None where no price is known."""

    usage: Usage
    cost: float | None


def lookup_of(model: Model) -> Lookup:
    """How the cache of a model's provider finds a prefix; Claude's is the same wherever it is served."""
    return LOOKUPS.get("anthropic" if model.family.startswith("claude") else model.provider, Lookup())


def bills(model: Model, requests: Iterable[Request]) -> Iterator[Bill]:
    """What each request of one conversation is billed, in order, under the prompt cache and the prices of its model.

    The client marks the head, the end of each request, and the end of the one before, as Anthropic advises.
    """
    model, sent = priced(model), 0
    grain = lookup_of(model).grain
    for request in requests:
        warm = sent and request.idle < model.cache_ttl
        goes_on = request.same == sent
        found = request.same if goes_on else still_found(model, request.head, request.same, request.parts)
        held = found - found % grain if warm and found >= model.min_cacheable else 0
        usage, sent = _billed(model, request.tokens, held), request.tokens
        yield Bill(usage, _charge(model, usage))


def still_found(model: Model, head: int, same: int, parts: int) -> int:
    """Tokens that a warm cache still finds of a request whose first `same` tokens are those of the one before.

    Where entries end at marks alone and more parts stand behind them than are looked back over, only the head is found.
    """
    look_back = lookup_of(model).look_back
    return min(head, same) if look_back and parts > look_back else same


def _billed(model: Model, prompt: int, held: int) -> Usage:
    """A request that begins with what a cache holds; the rest is written to it, where that costs extra."""
    fresh = prompt - min(held, prompt)
    written = fresh if model.cache_write > 1 and prompt >= model.min_cacheable else 0
    return Usage(fresh - written, 0, prompt - fresh, written)


# -- whether an edit pays --------------------------------------------------------------------------------------------


class Reset(Value, frozen=True):
    """What an edit of the past costs once, beside the call as it would have been, and what each later call saves by it.

    Both are US dollars, by the prices of foldline's own table. An edit of what is cold costs less than nothing: it would
    have been read anew in any case.
    """

    once: float
    saved: float

    @property
    def calls(self) -> int | None:
        """After how many further calls it has paid; 0 where at once, None where it never does."""
        if self.once <= 0:
            return 0
        return ceil(self.once / self.saved) if self.saved > 0 else None


def reset(model: Model, before: int, after: int, kept: int, held: int, summary: float = 0.0) -> Reset | None:
    """What it does to the costs of a conversation that a request of `before` tokens becomes one of `after`.

    The cache holds the first `held` tokens, and of them it still finds `kept` behind the edit; `summary` is what writing
    one costs in US dollars. None where no price is known. In tokens of the price of the input this is the rule
    `[summary + (w-r) survivors + w inserted - r removed] / [r (removed - inserted)]`, price cliffs included.
    """
    sizes = ((after, min(kept, held)), (before, held), (before, before), (after, after))
    costs = [_charge(model, _billed(model, size, found)) for size, found in sizes]
    folded, unfolded, later, less = (0.0 if cost is None else cost for cost in costs)
    return None if None in costs else Reset(folded - unfolded + summary, later - less)
