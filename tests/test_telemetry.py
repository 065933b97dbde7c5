"""Folds, summaries and recalls are seen in an application's telemetry, by OpenTelemetry's names, and nowhere else."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from foldline import Compactor, handle
from foldline.extend import Draft, Usage
from test_compactor import turns

trace = pytest.importorskip("opentelemetry.trace")
metrics = pytest.importorskip("opentelemetry.metrics")

Figures = dict[str, list[tuple[float, dict[str, Any]]]]


class Span(trace.NonRecordingSpan):  # type: ignore[misc, name-defined]
    """A span that keeps what it is told."""

    def __init__(self, name: str, attributes: Any = None, start_time: int = 0, parent: Any = None) -> None:
        super().__init__(trace.INVALID_SPAN_CONTEXT)
        self.name = name
        self.attributes = dict(attributes or {})
        self.times = [start_time]
        self.parent = parent
        self.status: Any = None

    def set_attributes(self, attributes: Any) -> None:
        self.attributes |= attributes

    def set_status(self, status: Any, description: str | None = None) -> None:
        self.status = status

    def update_name(self, name: str) -> None:
        self.name = name

    def end(self, end_time: int | None = None) -> None:
        self.times.append(end_time or 0)


class Kept(trace.TracerProvider, trace.Tracer, metrics.MeterProvider, metrics.Meter):  # type: ignore[misc, name-defined]
    """What an application sets: it keeps the spans and the figures that it is given."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.figures: Figures = defaultdict(list)

    def get_tracer(self, *_: Any, **__: Any) -> Kept:
        return self

    def get_meter(self, *_: Any, **__: Any) -> Kept:
        return self

    def start_span(self, name: str, *_: Any, attributes: Any = None, start_time: int = 0, **__: Any) -> Span:
        self.spans.append(Span(name, attributes, start_time, trace.get_current_span()))
        return self.spans[-1]

    @contextmanager
    def start_as_current_span(self, name: str, *_: Any, **more: Any) -> Iterator[Span]:
        with trace.use_span(self.start_span(name, attributes=more.get("attributes")), end_on_exit=True) as span:
            yield span

    def create_histogram(self, name: str, *_: Any, **__: Any) -> Any:
        return _Figure(self.figures[name])

    create_counter = create_up_down_counter = create_gauge = create_histogram

    def create_observable_counter(self, *_: Any, **__: Any) -> Any: ...

    create_observable_gauge = create_observable_up_down_counter = create_observable_counter


class _Figure:
    def __init__(self, kept: list[tuple[float, dict[str, Any]]]) -> None:
        self._kept = kept

    def record(self, value: float, attributes: Any = None, *_: Any) -> None:
        self._kept.append((value, dict(attributes or {})))

    add = record


APPLICATION = Kept()


@pytest.fixture
def kept() -> Kept:
    """What the application keeps; it sets its providers once, as OpenTelemetry wants it."""
    trace.set_tracer_provider(APPLICATION)
    metrics.set_meter_provider(APPLICATION)
    APPLICATION.spans.clear()
    for figures in APPLICATION.figures.values():
        figures.clear()
    return APPLICATION


def writes(brief: Any, messages: Any) -> Draft:
    return Draft("They asked why, and the parser was to blame.", usage=Usage(900, 40), model="gpt-5-mini", calls=1)


def fails(brief: Any, messages: Any) -> Draft:
    raise ConnectionError("no line, sk-ant-api03-" + "a" * 40)


def folded(**settings: Any) -> Compactor:
    compactor = Compactor("gpt-5", window=4_000, reserve=500, **settings)
    compactor.fit(turns(30))
    return compactor


def test_a_fold_is_a_span_with_its_receipt(kept: Kept) -> None:
    (fold,) = folded().folds
    (span,) = kept.spans
    assert span.name == "foldline.fold"
    assert span.attributes["gen_ai.request.model"] == "gpt-5"
    assert span.attributes["gen_ai.provider.name"] == "openai"
    assert span.attributes["foldline.tokens.freed"] == fold.receipt.tokens_before - fold.receipt.tokens_after
    assert span.attributes["foldline.cache.discarded"] == fold.receipt.cache_discarded
    start, end = span.times
    assert (end - start) / 1e9 == pytest.approx(fold.receipt.seconds, abs=1e-6)
    assert [value for value, _ in kept.figures["foldline.fold.freed"]] == [fold.receipt.freed]
    assert [value for value, _ in kept.figures["foldline.fold.wait"]] == [fold.receipt.waited]


def test_a_summary_is_a_span_of_its_model_and_its_bill_is_a_figure(kept: Kept) -> None:
    seen: list[Any] = []

    def asks(brief: Any, messages: Any) -> Draft:
        seen.append(trace.get_current_span())
        return writes(brief, messages)

    folded(summarizer=asks)
    summary = kept.spans[0]
    assert seen == [summary], "what a client traces stands inside of it"
    assert summary.name == "chat gpt-5-mini"
    assert summary.attributes["gen_ai.operation.name"] == "chat"
    assert summary.attributes["gen_ai.usage.input_tokens"] == 900
    assert summary.attributes["gen_ai.usage.output_tokens"] == 40
    tokens = {told["gen_ai.token.type"]: value for value, told in kept.figures["gen_ai.client.token.usage"]}
    assert tokens == {"input": 900, "output": 40}
    assert len(kept.figures["gen_ai.client.operation.duration"]) == 1


def test_a_summary_that_failed_is_one_too(kept: Kept) -> None:
    folded(summarizer=fails)
    assert kept.spans[0].attributes["error.type"] == "ConnectionError"
    assert kept.spans[0].status == trace.StatusCode.ERROR
    assert kept.spans[-1].name == "foldline.fold"


def test_a_recall_is_a_span_of_a_tool(kept: Kept) -> None:
    compactor = folded()
    handle({"query": "parser"}, source=compactor)
    assert kept.spans[-1].name == "execute_tool recall"
    assert kept.spans[-1].attributes["gen_ai.tool.name"] == "recall"
    assert [value for value, _ in kept.figures["foldline.recalls"]] == [1]


def test_no_word_of_a_conversation_is_told(kept: Kept, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "foldline")
    handle({"query": "why is it so"}, source=folded(summarizer=fails))
    told = json.dumps([[span.name, span.attributes] for span in kept.spans]) + caplog.text
    assert "why is it so" not in told
    assert "parser" not in told
    assert "sk-ant" not in told


def test_what_happens_is_logged_by_name(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "foldline")
    folded(summarizer=fails)
    by_name = {(record.name, record.levelname) for record in caplog.records}
    assert {("foldline.fold", "INFO"), ("foldline.events", "WARNING")} <= by_name


def test_nothing_is_loaded_and_nothing_printed_in_an_application_without() -> None:
    code = (
        "import sys; from foldline import Compactor; c = Compactor(window=4_000, reserve=500, summarizer=lambda b, m: 1 / 0);"
        "c.fit([{'role': ('user', 'assistant')[n % 2], 'content': f'{n} because ' * 60} for n in range(61)]);"
        "assert c.folds; assert 'opentelemetry' not in sys.modules, 'opentelemetry'"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
