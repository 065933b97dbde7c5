"""A fold in words, the same at every face: its figures, what stands in the way, what is advised, and what it costs."""

from __future__ import annotations

from foldline._clipping import clipped
from foldline._compactor.degradation import Risk, risk_of
from foldline._fold import Receipt
from foldline._messages import replace
from foldline._view import View


def figures(r: Receipt, messages: int, warn_at: int, quote: float) -> list[tuple[str, str]]:
    """What a fold of so many messages frees, keeps, loses and costs: each figure with its label.

    `warn_at` is the compaction from which a fresh start is advised, and `quote` what a summary will cost besides.
    """
    repaired = f", {r.facts_repaired} of them added to the model's draft" if r.facts_repaired else ""
    told = [
        ("Freed", f"{r.freed:,} tokens (± {r.error:.1%})"),
        ("Messages", f"{r.messages_folded} of {messages} folded{shortened(r)}, the rest word for word"),
        ("Facts", f"{r.facts_kept} in view{repaired}, {r.facts_lost} only by recall"),
        ("Prompt cache", discarded(r, quote)),
        ("Round", f"{r.round} (risk {risk_of(r.round, r.facts_kept, r.facts_lost, warn_at).level.lower()})"),
    ]
    if r.lost:
        told.append(("By recall", ", ".join(_short(fact) for fact in r.lost[:4])))
    if r.models:
        told += [("Summary By", spent(r)), ("Waited", f"{r.waited:.1f} s")]
    if r.native:
        told.append(("Native", _native(r)))
    told += [("Written Again", why) for why in r.rewritten]
    return told + [("Remark", remark) for remark in r.remarks]


def shortened(receipt: Receipt) -> str:
    """That some of the messages folded stay where they were, with less in them; empty where none does."""
    return f", {receipt.messages_pruned} of them only shortened" if receipt.messages_pruned else ""


def fresh_start(risk: Risk) -> list[str]:
    """What is advised where folds may have cost quality."""
    if risk.level == "Medium":
        return ["⚠ A fresh start would keep quality up: hand off or begin a new session at the next natural break"]
    if risk.level == "High":
        why = "this session has been folded so often, or lost so much, that quality suffers"
        return [f"⚠ Start afresh, by `foldline session handoff GOAL`: {why}"]
    return []


def in_the_way(view: View, overhead: int, window: int) -> str:
    """What keeps a session over its window even after a fold; empty where it fits."""
    over = view.tokens + overhead - window
    if over <= 0:
        return ""
    system = sum(e.tokens for e in view.entries if e.message.role == "system")
    summary = sum(e.tokens for e in view.entries if e.message.summary)
    left = (
        (overhead, "that every request carries beside its messages"),
        (system, "of system messages"),
        (summary, "of the summary"),
        (view.tokens - system - summary, "of messages that stay word for word"),
    )
    told = ", ".join(f"{tokens:,} {what}" for tokens, what in left if tokens)
    return f"Still {over:,} tokens over the window of {window:,}. Left are {told}."


def dollars(cost: float) -> str:
    """US dollars, to the cent where there are some, and else to a hundredth of one."""
    return f"${cost:.2f}" if abs(cost) >= 0.1 else f"${cost:.4f}"


def discarded(receipt: Receipt, quote: float) -> str:
    """What a fold discards of the prompt cache, what that costs, and after how many further calls it has paid.

    `quote` is what a summary will cost besides that is still to be written, in US dollars.
    """
    lost = f"{receipt.cache_discarded:,} tokens to be read again"
    if receipt.reset is None:
        return lost
    reset = replace(receipt.reset, once=receipt.reset.once + quote)
    each = f"{dollars(reset.saved)} less for each later call"
    if reset.calls == 0:
        return f"nothing is lost by it, and {each}"
    if reset.calls is None:
        return f"{lost}; {dollars(reset.once)} once, and no later call is cheaper"
    calls = "the next call" if reset.calls == 1 else f"{reset.calls:,} further calls"
    return f"{lost}; {dollars(reset.once)} once, then {each}; it has paid after {calls}"


def spent(receipt: Receipt) -> str:
    """Which models were asked, how often, and what that cost."""
    calls = f"{receipt.calls} call{'' if receipt.calls == 1 else 's'}"
    parts = [", ".join(receipt.models), calls + (" on the cached conversation" if receipt.shared else "")]
    if usage := receipt.usage:
        cached = f" ({usage.cache_read:,} cached)" if usage.cache_read else ""
        parts += [f"{usage.prompt:,} tokens in{cached}", f"{usage.output:,} out"]
    parts.append("price not known" if receipt.cost is None else f"${receipt.cost:.4f}")
    return ", ".join(parts)


def _native(receipt: Receipt) -> str:
    """Who can read the provider's own compaction, and with what."""
    from foldline._writers.native import BETA

    if receipt.native == "sealed":
        return "the provider's own, which only its provider can read"
    return f"the provider's own; requests that hold it need the header anthropic-beta: {BETA}"


def _short(fact: str) -> str:
    """A fact in at most 48 characters: a path loses its middle, since its end tells it from the others."""
    fact = " ".join(fact.split())
    if len(fact) <= 48:
        return fact
    label, _, said = fact.partition(": ")
    if "/" in said and " " not in said and len(label) < 16:
        return f"{label}: …{said[len(label) - 45 :]}"
    return clipped(fact, 48)
