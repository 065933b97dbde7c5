"""Options that say who writes the summary of a fold by hand, and how a command waits for it."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from foldline._config import Summaries, check_summaries
from foldline._errors import SummaryFailed
from foldline._messages import replace
from foldline._writers import EXTRACT

if TYPE_CHECKING:
    from foldline._desk.plan import FoldPlan

F = TypeVar("F", bound=Callable[..., Any])

BEAT = 0.5
"""Seconds between two looks of the line that says how long a model has been asked."""


def model_options(command: F) -> F:
    """`--model`, `--fallback`, `--native`, `--base-url` and `--timeout`."""
    for option in (
        click.option(
            "--timeout", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="For one call of a model."
        ),
        click.option("--base-url", metavar="URL", help="Where the model is served; OpenAI's dialect unless named."),
        click.option(
            "--native/--no-native",
            default=None,
            help="The provider's own compaction first; with --to, in the provider's format.",
        ),
        click.option(
            "--fallback",
            "fallbacks",
            metavar="MODEL",
            multiple=True,
            help=f"Asked where --model fails, in turn where given more than once; {EXTRACT} asks no model.",
        ),
        click.option(
            "--model",
            metavar="PROVIDER:NAME",
            help=f"Who writes the summary: a model, or a package's summarizer by its name; {EXTRACT} asks none.",
        ),
    ):
        command = option(command)
    return command


def asked_for(
    settings: Summaries,
    model: str | None,
    fallbacks: tuple[str, ...],
    native: bool | None,
    base_url: str | None,
    timeout: float | None,
) -> Summaries:
    """The settings with the flags in their place; a model's URL and fallbacks are its own, so that it replaces all three."""
    if model is not None:
        settings = replace(settings, model=model, base_url=None, fallbacks=())
    if settings.model == EXTRACT and (fallbacks or native or base_url):
        raise click.UsageError("--fallback, --native and --base-url go with --model")
    settings = replace(
        settings,
        fallbacks=fallbacks or settings.fallbacks,
        native=settings.native if native is None else native,
        base_url=base_url or settings.base_url,
        timeout=timeout or settings.timeout,
    )
    check_summaries(settings, "--model")
    return settings


def by_model(plan: FoldPlan, *, asks: bool) -> FoldPlan:
    """The plan with its summary by the model that its writer names.

    Where no model wrote one that could be used, it is extracted if the settings or, asked, the user say so; else
    `SummaryFailed` is raised. Either way what was spent is told.
    """
    with _waiting(plan.writer.model):
        plan = plan.summarized()
    try:
        if told := plan.why_extracted():
            click.echo(told, err=True)
    except SummaryFailed as failure:
        if not asks:
            raise
        click.echo(failure, err=True)
        click.confirm("Fold with a summary by extraction instead?", abort=True)
    return plan


@contextmanager
def _waiting(model: str) -> Iterator[None]:
    """One line on a terminal that is written over for as long as a model is asked: which one, and for how long."""
    began, ended = time.monotonic(), threading.Event()

    def told() -> None:
        while not ended.wait(BEAT):
            click.echo(f"\r\033[KAsking {model}: {time.monotonic() - began:.0f} s", err=True, nl=False)

    if not sys.stderr.isatty():
        yield
        return
    teller = threading.Thread(target=told, daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()
        click.echo("\r\033[K", err=True, nl=False)
