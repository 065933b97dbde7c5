"""What calls cost under a provider's prices."""

from __future__ import annotations

from foldline.messages import Usage
from foldline.models import Model


def price(model: Model, usage: Usage) -> float | None:
    """What a call cost in US dollars, its cached tokens at the cache's prices; None where no price is known."""
    input, output = rates(model, usage.prompt)
    if not input and not output:
        return None
    paid = usage.input + usage.cache_read * model.cache_read + usage.cache_write * model.cache_write
    return (paid * input + usage.output * output) / 1_000_000


def rates(model: Model, prompt: int) -> tuple[float, float]:
    """US dollars per million tokens of a request and of its reply, for a request of `prompt` tokens."""
    for above, input, output in sorted(model.tiers, reverse=True):
        if prompt > above:
            return input, output
    return model.input, model.output
