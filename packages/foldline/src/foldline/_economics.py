"""What calls cost under a provider's prices."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from foldline._messages import Usage, replace
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


def price(model: Model, usage: Usage) -> float | None:
    """What a call cost in US dollars, its cached tokens at the cache's prices; None where no price is known."""
    model = priced(model)
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
    held = min(held, prompt)
    fresh = prompt - held
    marked = fresh if model.cache_write > 1 else 0
    return price(model, Usage(fresh - marked, output, held, marked))


def rates(model: Model, prompt: int) -> tuple[float, float]:
    """US dollars per million tokens of a request and of its reply, for a request of `prompt` tokens."""
    for above, input, output in sorted(model.tiers, reverse=True):
        if prompt > above:
            return input, output
    return model.input, model.output
