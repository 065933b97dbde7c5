"""How full a session is and how it fares."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from foldline._compactor.degradation import Risk, risk_of
from foldline._compactor.writer import Breaker
from foldline._desk.desk import Desk
from foldline._desk.marks import SUGGEST_AT
from foldline._desk.receipts import fresh_start
from foldline._engine.steps import caps
from foldline._fold import Receipt, automatic_folds
from foldline._messages import Value
from foldline._policy import Policy
from foldline._sessions.reading import PastFold
from foldline._tokens.media import media_bytes
from foldline._tokens.payload import media_in


class Status(Value, frozen=True, omit_defaults=False):
    """How full a session is; sizes are tokens, those of media bytes; a cap of 0 is none that is known."""

    session: str
    path: str
    model: str
    window_known: bool
    tokens: int
    count_error: float
    """The share by which the count may be off; `error` is what a command says that failed."""
    basis: str
    window: int
    fill: float
    images: int
    media_bytes: int
    max_images: int
    max_bytes: int
    auto_enabled: bool
    """Whether foldline folds the session by itself: the settings let it, and it was put into the session's agent, or whoever
    writes the session has it do so."""
    auto_at: float
    compactions: int
    last_compaction: str
    failing: str
    """Why the newest folds had to do without their model's summary, and since when; empty where they had not."""
    risk: Risk
    recommendations: tuple[str, ...]
    faults: tuple[str, ...]


def status(desk: Desk, policy: Policy, *, installed: bool = False) -> Status:
    """How full a session is and how it fares; `installed` is whether foldline was put into its agent and folds there."""
    automatic = policy.automatic
    session, count = desk.session, desk.size
    newest = session.newest_fold
    n = session.compactions
    last = newest.receipt if newest else Receipt(0, 0)
    risk = risk_of(n if newest else 0, last.facts_kept, last.facts_lost, automatic.warn_at)
    by_itself = automatic_folds(message for _, message in session.context.entries)
    fill = desk.tokens / desk.budget.window
    media = media_in(message for _, message in session.context.entries)
    refused = any(step.measure(desk.view) > step.mark for step in caps(desk.budget)) if media else False
    at = desk.share_at(policy.layers[policy.first].at, policy)
    return Status(
        session.id,
        session.path,
        session.model,
        desk.window_known,
        desk.tokens,
        count.error,
        count.basis,
        desk.budget.window,
        fill,
        sum(1 for each in media if each.kind == "image"),
        sum(media_bytes(each.source) for each in media),
        desk.budget.images,
        desk.budget.bytes,
        automatic.enabled and (installed or by_itself > 0),
        at,
        n,
        newest.timestamp if newest else "",
        failing(session.folds()) if last.failures else "",
        risk,
        tuple(_recommendations(fill, at, risk, automatic.spent(by_itself), refused)),
        tuple(str(fault) for fault in session.faults),
    )


def failing(folds: Sequence[PastFold]) -> str:
    """The state of a summarizer as its folds tell it, oldest first; one that asked no model tells nothing."""
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
    advice += fresh_start(risk)
    if spent:
        advice.append(f"⚠ {spent}")
    return advice
