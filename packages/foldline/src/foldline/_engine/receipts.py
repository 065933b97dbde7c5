"""The receipt of a fold: what it freed, kept and lost, and what its summaries cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

from foldline._engine.summaries import Told
from foldline._facts.reading import facts_of
from foldline._facts.verify import audit, origins
from foldline._fold import Occasion, Receipt, folds_behind
from foldline._framing import is_sealed
from foldline._messages import ToolResult, replace
from foldline._view import Edit, View
from foldline._writers.draft import both

NAMED = 12
"""How many facts a receipt names of those lost, and of those repaired."""

SEALED = "a compaction that only its provider can read"
"""What a receipt names where such a one was folded and none stands in."""


def receipt_of(
    before: View, after: View, edits: Sequence[Edit], told: Sequence[Told], occasion: Occasion, seconds: float
) -> Receipt:
    """The receipt of a fold that led from one view to the other by some edits; of none, what its summaries cost all the same.

    `told` are the summaries that were written on the way, those that were not installed included.
    """
    sizes = before.tokens + occasion.overhead, after.tokens + occasion.overhead
    receipt = replace(_cost(told), tokens_before=sizes[0], tokens_after=sizes[1], seconds=seconds)
    if not edits:
        return receipt
    touched = {id for edit in edits for id in edit.drop}
    folded = [entry for entry in before.entries if entry.id in touched]
    known = next((each.facts for each in told if touched == {*each.drop, *each.also}), None)
    facts = known or facts_of(entry.message for entry in folded)
    found = audit(facts, visible(after))
    sealed = [entry.id for entry in folded if is_sealed(entry.message)]
    unread = {SEALED: sealed[-1]} if sealed and not any(map(is_sealed, after.messages)) else {}
    lost = (*unread, *found.lost)
    missing = set(lost)
    repaired = tuple(name for each in told for name in each.written.repaired if name not in missing)
    made = {edit.drop for edit in edits}
    native = [message for each in told if each.drop in made for message in each.written.native]
    named = (*lost[:NAMED], *repaired[:NAMED])
    return replace(
        receipt,
        messages_folded=len(folded),
        messages_pruned=sum(1 for entry in folded if entry.id in after.index),
        error=occasion.error,
        instruction=occasion.focus,
        facts_kept=found.kept,
        facts_lost=len(lost),
        lost=lost[:NAMED],
        facts_repaired=len(repaired),
        repaired=repaired[:NAMED],
        found_in=origins(facts, [(entry.id, entry.message) for entry in folded], named) | unread,
        cache_discarded=sum(entry.tokens for entry in before.entries[before.index[folded[0].id] :]),
        round=folds_behind(after.messages),
        native="" if not native else "sealed" if any(map(is_sealed, native)) else "readable",
    )


def _cost(told: Sequence[Told]) -> Receipt:
    """A receipt that says what summaries cost, and what became of their drafts, those that were thrown away included."""
    written = [each.written for each in told]
    drafts = [draft for each in written for draft in each.drafts]
    prices = [draft.cost for draft in drafts if draft.cost is not None]
    return Receipt(
        0,
        0,
        usage=reduce(both, (draft.usage for draft in drafts), None),
        cost=sum(prices) if prices else None,
        models=tuple(dict.fromkeys(draft.model for draft in drafts if draft.model)),
        calls=sum(draft.calls for draft in drafts),
        shared=any(draft.shared for draft in drafts),
        failures=tuple(reason for each in written for reason in each.failures),
        rewritten=tuple(reason for each in written for reason in each.rewritten),
        remarks=tuple(remark for each in written for remark in each.remarks),
        waited=sum(each.waited for each in written),
        asked=sum(each.asked for each in written),
    )


def visible(view: View) -> Iterator[str]:
    """The texts that the model reads in a view."""
    for message in view.messages:
        for part in message.parts:
            match part:
                case ToolResult(parts=parts):
                    yield from (p.text for p in parts if hasattr(p, "text"))
                case _ if hasattr(part, "arguments"):
                    yield part.arguments
                case _ if hasattr(part, "text"):
                    yield part.text
