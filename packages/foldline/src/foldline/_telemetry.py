"""What foldline does, told to the application's own telemetry: OpenTelemetry and logging, where the application has loaded them.

Names follow OpenTelemetry's conventions for generative AI (`gen_ai.…`) where these have one, else they are foldline's. Sizes
are tokens, times seconds. No word of a conversation is told. Where the application has set no provider and no handler, nothing
comes of it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

from foldline._fold import Fold
from foldline._models import model as model_named

NAME = "foldline"

Value = str | int | float
Attributes = dict[str, Value]


class _Instruments(NamedTuple):
    """Where spans and figures go."""

    tracer: Any
    freed: Any
    discarded: Any
    waited: Any
    tokens: Any
    seconds: Any
    recalls: Any


@cache
def _made() -> _Instruments | None:
    try:
        from opentelemetry import metrics, trace
    except ImportError:  # a version from before there were metrics
        return None
    meter = metrics.get_meter(NAME)
    return _Instruments(
        trace.get_tracer(NAME),
        meter.create_histogram("foldline.fold.freed", "{token}", "Tokens that a fold freed."),
        meter.create_histogram(
            "foldline.fold.cache_discarded", "{token}", "Tokens that the prompt cache lost by a fold."
        ),
        meter.create_histogram("foldline.fold.wait", "s", "How long an agent stood still for a fold's summaries."),
        meter.create_histogram("gen_ai.client.token.usage", "{token}", "Tokens that a summary was billed."),
        meter.create_histogram("gen_ai.client.operation.duration", "s", "How long a summary took."),
        meter.create_counter("foldline.recalls", "{recall}", "Calls of the recall tool."),
    )


def _instruments() -> _Instruments | None:
    """Where spans and figures go; None in an application that has no use for them."""
    return _made() if "opentelemetry.trace" in sys.modules else None


def log(name: str, reason: str, *, warns: bool = False) -> None:
    """Logs a line under `foldline.NAME`, which nobody sees who has set no handler."""
    if (logging := sys.modules.get("logging")) is None:
        return
    root = logging.getLogger(NAME)
    if not root.handlers:
        root.addHandler(logging.NullHandler())
    logging.getLogger(f"{NAME}.{name}").log(logging.WARNING if warns else logging.INFO, "%s", reason)


def fold_made(fold: Fold, model: str) -> None:
    """Tells of a fold that was made just now, for an agent of that model."""
    receipt = fold.receipt
    sizes = f"{receipt.tokens_before:,} -> {receipt.tokens_after:,} tokens"
    behind = f", round {receipt.round}" if receipt.round else ""
    log("fold", f"{fold.layer or fold.trigger}: {sizes}, {receipt.messages_folded} messages folded{behind}")
    if (to := _instruments()) is None:
        return
    kind = {**_of_model(model), "foldline.trigger": fold.trigger, "foldline.layer": fold.layer}
    now = time.time_ns()
    span = to.tracer.start_span(
        "foldline.fold",
        start_time=now - round(receipt.seconds * 1e9),
        attributes={
            **kind,
            "foldline.fold.id": fold.id,
            "foldline.tokens.before": receipt.tokens_before,
            "foldline.tokens.after": receipt.tokens_after,
            "foldline.tokens.freed": receipt.freed,
            "foldline.cache.discarded": receipt.cache_discarded,
            "foldline.messages.folded": receipt.messages_folded,
            "foldline.facts.kept": receipt.facts_kept,
            "foldline.facts.lost": receipt.facts_lost,
            "foldline.wait": receipt.waited,
        },
    )
    span.end(now)
    to.freed.record(receipt.freed, kind)
    to.discarded.record(receipt.cache_discarded, kind)
    to.waited.record(receipt.waited, kind)


@contextmanager
def summary_asked() -> Iterator[Callable[[Any], None]]:
    """Tells of a summary that is asked for inside of it; what is answered is to be given to what it hands out."""
    if (to := _instruments()) is None:
        yield lambda answer: None
        return
    began = time.perf_counter()
    with to.tracer.start_as_current_span("foldline.summary") as span:
        yield lambda answer: _summary_answered(answer, span, to, time.perf_counter() - began)


def _summary_answered(answer: Any, span: Any, to: _Instruments, seconds: float) -> None:
    """Tells of what a summarizer answered: a draft, a summary, or an error."""
    model = getattr(answer, "model", "")
    kind: Attributes = {"gen_ai.operation.name": "chat", **_of_model(model)}
    if isinstance(answer, BaseException):
        from opentelemetry.trace import StatusCode

        kind["error.type"] = type(getattr(answer, "cause", None) or answer).__name__
        span.set_status(StatusCode.ERROR)
    span.update_name(f"chat {model}" if model else "foldline.summary")
    span.set_attributes(kind)
    to.seconds.record(seconds, kind)
    if (usage := getattr(answer, "usage", None)) is not None:
        spent = {"input": usage.prompt, "output": usage.output}
        span.set_attributes({f"gen_ai.usage.{name}_tokens": tokens for name, tokens in spent.items()})
        for name, tokens in spent.items():
            to.tokens.record(tokens, {**kind, "gen_ai.token.type": name})


@contextmanager
def recall_asked() -> Iterator[None]:
    """Tells of a call of the recall tool that is answered inside of it."""
    if (to := _instruments()) is None:
        yield
        return
    kind: Attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "recall",
        "gen_ai.tool.type": "function",
    }
    with to.tracer.start_as_current_span("execute_tool recall", attributes=kind):
        yield
    to.recalls.add(1)


def _of_model(name: str) -> Mapping[str, Value]:
    if not name:
        return {}
    told = {"gen_ai.request.model": name, "gen_ai.provider.name": model_named(name).provider}
    return {key: value for key, value in told.items() if value}
