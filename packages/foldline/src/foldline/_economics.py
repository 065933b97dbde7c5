"""What calls cost under a provider's prices."""

from __future__ import annotations

from foldline._messages import Usage
from foldline._models import Model


def price(model: Model, usage: Usage) -> float | None:
    """What a call cost in US dollars, its cached tokens at the cache's prices; None where no price is known."""
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
