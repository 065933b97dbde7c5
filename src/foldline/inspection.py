"""What a session holds and how it fares: the figures behind `context status`, `inspect` and `history`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from foldline.errors import CannotFit
from foldline.fold import Fold, Receipt, automatic_folds
from foldline.messages import Message, ToolResult, Value
from foldline.models import Model
from foldline.models import model as model_named
from foldline.policy import Budget, Layer, Policy, budget_for
from foldline.risk import Risk, risk_of
from foldline.session import PastFold, Session
from foldline.steps import caps, steps_by_hand
from foldline.tokens.media import media_bytes
from foldline.tokens.meter import Count, Meter
from foldline.tokens.payload import media_in
from foldline.tokens.weigh import weigh_part
from foldline.transcripts.transcript import Transcript
from foldline.view import View

if TYPE_CHECKING:
    from foldline.writers.draft import Summarizer

SUGGEST_AT = 0.80
"""The fill from which a fold by hand, at a moment of the user's choosing, is suggested."""


class Status(Value, frozen=True, omit_defaults=False):
    """How full a session is; sizes are tokens, those of media bytes; a cap of 0 is none that is known."""

    session: str
    path: str
    model: str
    window_known: bool
    tokens: int
    error: float
    basis: str
    window: int
    fill: float
    images: int
    media_bytes: int
    max_images: int
    max_bytes: int
    auto_enabled: bool
    auto_at: float
    compactions: int
    last_compaction: str
    failing: str
    """Why the newest folds had to do without their model's summary, and since when; empty where they had not."""
    risk: Risk
    recommendations: tuple[str, ...]
    faults: tuple[str, ...]


class Share(Value, frozen=True, omit_defaults=False):
    """One kind of content: how many pieces, and their tokens."""

    name: str
    tokens: int
    count: int
    unit: str


class Saving(Value, frozen=True, omit_defaults=False):
    """What a layer would free now, in tokens."""

    layer: str
    tokens: int


class Inspection(Value, frozen=True, omit_defaults=False):
    """What fills a session; sizes are tokens."""

    session: str
    path: str
    tokens: int
    window: int
    shares: tuple[Share, ...]
    protected: int
    compactable: int
    savings: tuple[Saving, ...]
    largest: tuple[Share, ...]


class Opened:
    """A session with its meter, its view and its budget: what every command starts from."""

    def __init__(self, session: Session | Transcript, *, model: str = "", window: int | None = None) -> None:
        self.session: Session | Transcript = session
        self.model: Model = model_named(model or session.model)
        self.budget: Budget = budget_for(self.model, window)

    @cached_property
    def meter(self) -> Meter:
        """A meter that learned from the session's bills."""
        return self.session.meter(self.model.family)

    @cached_property
    def view(self) -> View:
        """What the model sees, sized by the meter."""
        return self.session.view(self.meter)

    @cached_property
    def size(self) -> Count:
        """The size of the next request, its overhead included."""
        return self.session.context.size(self.model.family)

    @property
    def tokens(self) -> int:
        """The size of the next request in tokens."""
        return self.size.tokens

    def plan(self, policy: Policy, focus: str = "", summarizer: Summarizer | None = None) -> tuple[View, Fold]:
        """The view and the fold that a command by hand would make, by extraction without a summarizer; nothing is written."""
        from foldline.engine import folding, run
        from foldline.page.extract import extract

        since = self.session.context.since
        steps = steps_by_hand(policy, self.view, self.budget, self.meter.overhead, since)
        return run(
            folding(
                self.view,
                steps,
                trigger="manual",
                focus=focus,
                ratio=self.meter.ratio,
                overhead=self.meter.overhead,
                error=self.size.error,
                rounds=self.session.compactions,
            ),
            summarizer or extract,
        )

    def over(self, view: View) -> int:
        """By how many tokens a request with a view of this session is over the window; 0 where it fits."""
        return max(0, view.tokens + self.meter.overhead - self.budget.window)

    def in_the_way(self, view: View) -> str:
        """What keeps a view over the window, in words; empty where it fits."""
        if not (over := self.over(view)):
            return ""
        system = sum(e.tokens for e in view.entries if e.message.role == "system")
        summary = sum(e.tokens for e in view.entries if e.message.summary)
        left = (
            (self.meter.overhead, "that every request carries beside its messages"),
            (system, "of system messages"),
            (summary, "of the summary"),
            (view.tokens - system - summary, "of messages that stay word for word"),
        )
        told = ", ".join(f"{tokens:,} {what}" for tokens, what in left if tokens)
        return f"Still {over:,} tokens over the window of {self.budget.window:,}. Left are {told}."


def status(opened: Opened, policy: Policy) -> Status:
    """How full a session is and how it fares."""
    automatic = policy.automatic
    session, count = opened.session, opened.size
    newest = session.newest_fold
    n = session.compactions
    last = newest.receipt if newest else Receipt(0, 0)
    risk = risk_of(n if newest else 0, last.facts_kept, last.facts_lost, automatic.warn_at)
    spent = automatic.spent(automatic_folds(message for _, message in session.context.entries))
    fill = opened.tokens / opened.budget.window
    media = media_in(message for _, message in session.context.entries)
    refused = any(step.measure(opened.view) > step.mark for step in caps(opened.budget)) if media else False
    at = next((layer.at for layer in policy.layers if layer.kind == "summarize"), policy.layers[0].at)
    return Status(
        session.id,
        session.path,
        session.model,
        opened.model.known,
        opened.tokens,
        count.error,
        count.basis,
        opened.budget.window,
        fill,
        sum(1 for each in media if each.kind == "image"),
        sum(media_bytes(each.source) for each in media),
        opened.budget.images,
        opened.budget.bytes,
        automatic.enabled,
        at,
        n,
        newest.timestamp if newest else "",
        failing(session.folds()) if last.failures else "",
        risk,
        tuple(_recommendations(fill, at, risk, spent, refused)),
        tuple(str(fault) for fault in session.faults),
    )


def failing(folds: Sequence[PastFold]) -> str:
    """The state of a summarizer as its folds tell it, oldest first; one that asked no model tells nothing."""
    from foldline.guards import Breaker

    breaker = Breaker()
    for fold in folds:
        if fold.receipt.failures:
            breaker = breaker.failed("; ".join(fold.receipt.failures), _seconds(fold.timestamp))
        elif fold.receipt.models:
            breaker = Breaker()
    return breaker.state


def _seconds(timestamp: str) -> float:
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except ValueError:
        return 0.0


def _recommendations(fill: float, at: float, risk: Risk, spent: str, refused: bool) -> list[str]:
    advice = []
    if refused:
        advice.append("✗ More pictures or bytes than the provider takes in a request: compact now, the oldest make way")
    elif fill >= at:
        advice.append("✗ Over the mark: compact now, the next reply may not fit")
    elif fill >= SUGGEST_AT:
        advice.append("💡 Compact now, at a moment of your choosing, to preserve more detail")
    else:
        advice.append("✓ Context healthy")
    if risk.level == "Medium":
        advice.append(
            "⚠ A fresh start would keep quality up: hand off or begin a new session at the next natural break"
        )
    elif risk.level == "High":
        advice.append("⚠ Start afresh: this session has been folded so often, or lost so much, that quality suffers")
    if spent:
        advice.append(f"⚠ {spent}")
    return advice


def inspect(opened: Opened, policy: Policy) -> Inspection:
    """What fills a session, what a fold would keep, and what each layer would free."""
    entries, meter = opened.view.entries, opened.meter
    outputs = [(e, r) for e in entries for r in e.message.results]
    system = [e for e in entries if e.message.role == "system"]
    output_tokens = round(sum(weigh_part(r, meter.family) for _, r in outputs) * meter.ratio)
    system_tokens = sum(e.tokens for e in system)
    talk = [e for e in entries if e.message.role != "system"]
    conversation = opened.view.tokens - output_tokens - system_tokens
    after, fold = opened.plan(policy)
    kept = {e.id for e in after.entries}
    protected = sum(e.tokens for e in entries if e.id in kept and e.message.role != "system")
    return Inspection(
        opened.session.id,
        opened.session.path,
        opened.tokens,
        opened.budget.window,
        (
            Share("Conversation", conversation, sum(1 for e in talk if e.message.speaker != "tool"), "messages"),
            Share("Tool Outputs", output_tokens, len(outputs), "outputs"),
            Share("System Prompt", max(0, system_tokens + meter.overhead), len(system), "messages"),
        ),
        protected,
        opened.view.tokens - protected - system_tokens,
        tuple(_savings(opened, policy, fold)),
        tuple(_largest(opened.view)),
    )


def _savings(opened: Opened, policy: Policy, by_hand: Fold) -> list[Saving]:
    savings = []
    for layer in policy.layers:
        if layer.kind == "prune":
            savings.append(Saving(layer.name, _freed(opened.view, layer)))
        elif layer.kind == "summarize":
            savings.append(Saving(layer.name, by_hand.receipt.freed))
    return savings


def _freed(view: View, layer: Layer) -> int:
    after = view
    try:
        for strategy in layer.strategies:
            after = after.replay(strategy(after, after.tokens))
    except CannotFit:
        return 0
    return view.tokens - after.tokens


def _largest(view: View, most: int = 5) -> list[Share]:
    large = sorted(view.entries, key=lambda e: -e.tokens)[:most]
    return [Share(e.id, e.tokens, 1, what(e.message)) for e in large if e.tokens]


def what(message: Message, most: int = 60) -> str:
    """A message in a few words: who speaks and how it begins, in at most so many characters."""
    result = next(message.results, None)
    call = next(message.calls, None)
    if result is not None:
        said = f"{result.name}: {_result_text(result)}" if result.name else _result_text(result)
    elif call is not None and not message.text.strip():
        said = f"calls {call.name} {call.arguments}"
    else:
        said = message.text
    said = " ".join(said[:400].split())
    return f"{message.speaker}: {said[:most]}{'…' if len(said) > most else ''}"


def _result_text(result: ToolResult) -> str:
    return next((p.text for p in result.parts if hasattr(p, "text")), "")
