"""A fold: why it is made, what it does to a history, and its receipt of what that cost and kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

import msgspec

from foldline._economics import Reset, reset, still_found
from foldline._messages import Message, Usage, Value, replace
from foldline._models import Model
from foldline._view import Edit, View

Trigger = Literal["threshold", "overflow", "manual", "handoff"]


class Occasion(NamedTuple):
    """Why a view is folded, and by which counts; sizes are tokens."""

    trigger: Trigger = "threshold"
    limit: int | None = None
    """What the view must be brought down to, without the overhead; None where it may stay over every limit."""
    focus: str = ""
    """What the user asks to be kept."""
    ratio: float = 1.0
    """Tokens per estimated token."""
    overhead: int = 0
    """What every request carries besides the view."""
    error: float = 0.0
    """The relative error that nine of ten such counts stay within."""
    rounds: int = 0
    """How many folds the history has seen at least."""
    on_fault: Callable[[str], None] | None = None
    """Hears of a strategy that raises or proposes what is not safe, which is raised where it is None."""
    originals: Mapping[str, Message] = MappingProxyType({})
    """The messages as they were said, by their ids: what a summary tells of those that were cut down since."""
    known: Mapping[str, Message] = MappingProxyType({})
    """What is known of messages that nobody here can read, by their ids: what a summary tells in their place."""
    branch: str = ""
    """The branch of git that the agent's own file names."""


THRESHOLD = Occasion()
"""The window fills up to a mark."""


class Receipt(Value, frozen=True, omit_defaults=True):
    """What one fold cost and kept; sizes are tokens, `error` is the relative error that nine of ten counts stay within."""

    tokens_before: int
    tokens_after: int
    messages_folded: int = 0
    """Messages that left the view or gave way to a stub."""
    messages_pruned: int = 0
    """Of those, the ones that stand on as stubs."""
    error: float = 0.0
    facts_kept: int = 0
    facts_lost: int = 0
    """Facts of the folded messages that neither the summary nor the kept messages show; all stay recallable."""
    lost: tuple[str, ...] = ()
    """The lost facts by name, most important first, cut to a few."""
    cache_discarded: int = 0
    """Tokens behind the first edit, which the provider's prompt cache loses."""
    reset: Reset | None = None
    """What that costs, and what each later call saves; None where no price is known, or nothing of the cache."""
    usage: Usage | None = None
    """What the summarizer was billed; None where no model was asked."""
    cost: float | None = None
    """In US dollars; None where no price is known or no model was asked."""
    seconds: float = 0.0
    round: int = 1
    """How many folds with a summary the history has seen, this one included."""
    instruction: str = ""
    threshold: str = ""
    """The fill that was reached, in words, where nobody asked for the fold."""
    failures: tuple[str, ...] = ()
    """Why a summarizer's drafts were not installed; extraction took their place."""
    rewritten: tuple[str, ...] = ()
    """What was wrong with a first draft, where a second one was installed."""
    remarks: tuple[str, ...] = ()
    """What is doubtful in a model's draft that was installed."""
    facts_repaired: int = 0
    """Of the facts kept, those that a model's draft had left out and code added."""
    repaired: tuple[str, ...] = ()
    """The repaired facts by name, cut to a few."""
    found_in: dict[str, str] = msgspec.field(default_factory=dict)
    """For each fact named in `lost` or `repaired`, the id of the message to recall, where it is known."""
    waited: float = 0.0
    """Seconds that the agent stood still for a summarizer; about 0 where the summary had been prepared."""
    native: Literal["", "readable", "sealed"] = ""
    """Whether the provider's own compaction stands in. In a sealed one, which only the provider can read, facts may
    stand that count as lost; nobody else can tell."""
    asked: int = 0
    """How often a summarizer was asked for a draft, extraction included."""
    models: tuple[str, ...] = ()
    """The models that wrote drafts of the summary."""
    calls: int = 0
    """Requests that were answered with a draft, or with a part of one."""
    shared: bool = False
    """Whether one of them rode on the agent's conversation, which the provider had cached."""

    @property
    def freed(self) -> int:
        """Tokens that came free."""
        return self.tokens_before - self.tokens_after


class Fold(Value, frozen=True, omit_defaults=True):
    """A list of edits made together; empty where there was nothing to do."""

    id: str = ""
    trigger: Trigger = "threshold"
    layer: str = ""
    edits: tuple[Edit, ...] = ()
    first_kept: str | None = None
    receipt: Receipt = Receipt(0, 0)

    def __bool__(self) -> bool:
        return bool(self.edits)


def reckoned(fold: Fold, before: View, after: View, model: Model, overhead: int, held: int | None) -> Fold:
    """A fold of a view into another with what it does to the costs of the calls that follow, in its receipt.

    The prompt cache holds the first `held` tokens of a request, the overhead among them; None where that is not known.
    """
    if not fold or held is None:
        return fold
    found = reset_between(before, after, model, overhead, held, fold.receipt.cost or 0.0)
    return replace(fold, receipt=replace(fold.receipt, reset=found))


def reset_between(
    before: View, after: View, model: Model, overhead: int, held: int, summary: float = 0.0
) -> Reset | None:
    """What it does to the costs of a conversation that a view becomes another one; `summary` is what one cost to write."""
    pairs = enumerate(zip(before.entries, after.entries))
    first = next((at for at, (old, new) in pairs if old.message is not new.message), len(after.entries))
    leading = next((at for at, e in enumerate(after.entries) if e.message.role != "system"), first)
    head, same = (overhead + sum(e.tokens for e in before.entries[:at]) for at in (min(leading, first), first))
    kept = still_found(model, head, same, sum(len(e.message.parts) for e in after.entries[first:]))
    sizes = before.tokens + overhead, after.tokens + overhead
    return reset(model, *sizes, kept, held, summary)


COUNTS = ("round", "automatic")
"""What a summary notes beside its facts: how many folds it has seen, and how many of them nobody asked for."""


def folds_behind(messages: Iterable[Message]) -> int:
    """How many folds the newest summary among the messages has seen."""
    return _noted(messages, "round", 1)


def automatic_folds(messages: Iterable[Message]) -> int:
    """How many of the folds behind the newest summary were made without being asked for."""
    return _noted(messages, "automatic", 0)


def _noted(messages: Iterable[Message], what: str, unknown: int) -> int:
    """The highest count of that name that a summary among the messages notes; `unknown` where one notes none."""
    counts = (s.facts.get(what, unknown) for message in messages if (s := message.summary))
    return max((n for n in counts if isinstance(n, int)), default=0)
