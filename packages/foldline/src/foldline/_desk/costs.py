"""What a fold does to the costs of a session, in words and money, for every face alike."""

from __future__ import annotations

from foldline._economics import Reset
from foldline._fold import Receipt
from foldline._messages import replace


def dollars(cost: float) -> str:
    """US dollars, to the cent where there are some, and else to a hundredth of one."""
    return f"${cost:.2f}" if abs(cost) >= 0.1 else f"${cost:.4f}"


def discarded(receipt: Receipt, quote: float = 0.0) -> str:
    """What a fold discards of the prompt cache, what that costs, and after how many further calls it has paid.

    `quote` is what a summary will cost besides that is still to be written, in US dollars.
    """
    lost = f"{receipt.cache_discarded:,} tokens to be read again"
    if (reset := receipt.reset) is None:
        return lost
    return f"{lost}; {_paid(replace(reset, once=reset.once + quote))}"


def _paid(reset: Reset) -> str:
    each = f"{dollars(reset.saved)} less for each later call"
    if reset.calls == 0:
        return f"nothing is lost by it, and {each}"
    if reset.calls is None:
        return f"{dollars(reset.once)} once, and no later call is cheaper"
    calls = "the next call" if reset.calls == 1 else f"{reset.calls:,} further calls"
    return f"{dollars(reset.once)} once, then {each}; it has paid after {calls}"
