"""Who writes the summary of a fold by hand, and how a command waits for it."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from foldline.config import EXTRACT, Summaries, check_summaries
from foldline.errors import SummaryFailed
from foldline.fold import Fold, Receipt
from foldline.messages import replace

if TYPE_CHECKING:
    from foldline.inspection import Opened
    from foldline.policy import Policy
    from foldline.view import View

F = TypeVar("F", bound=Callable[..., Any])

BEAT = 0.5
"""Seconds between two looks of the line that says how long a model has been asked."""


def model_options(command: F) -> F:
    """`--model`, `--fallback`, `--base-url` and `--timeout`."""
    for option in (
        click.option("--timeout", type=click.FloatRange(0, min_open=True), help="Seconds for one call of a model."),
        click.option("--base-url", metavar="URL", help="Where the model is served; OpenAI's dialect unless named."),
        click.option("--fallback", "fallbacks", metavar="MODEL", multiple=True, help="Asked where that one fails."),
        click.option("--model", metavar="PROVIDER:NAME", help=f"Who writes the summary; {EXTRACT} asks no model."),
    ):
        command = option(command)
    return command


def asked_for(
    settings: Summaries, model: str | None, fallbacks: tuple[str, ...], base_url: str | None, timeout: float | None
) -> Summaries:
    """The settings with the flags in their place; a model's URL and fallbacks are its own, so that it replaces all three."""
    if model is not None:
        settings = replace(settings, model=model, base_url=None, fallbacks=())
    if settings.model == EXTRACT and (fallbacks or base_url):
        raise click.UsageError("--fallback and --base-url go with --model")
    settings = replace(
        settings,
        fallbacks=fallbacks or settings.fallbacks,
        base_url=base_url or settings.base_url,
        timeout=timeout or settings.timeout,
    )
    check_summaries(settings, "--model")
    return settings


def by_model(found: Opened, policy: Policy, focus: str, settings: Summaries, *, asks: bool) -> tuple[View, Fold]:
    """The fold with its summary by a model, which `settings` names.

    Where none of the models wrote one that could be used, it is extracted if the settings or, asked, the user say so;
    else `SummaryFailed` is raised. Either way what was spent is told.
    """
    from foldline.summarize.model import ModelSummarizer

    models = [name for name in settings.fallbacks if name != EXTRACT]
    with _waiting(settings.model) as heard:
        summarizer = ModelSummarizer(
            settings.model,
            base_url=settings.base_url,
            temperature=settings.temperature,
            max_tokens=settings.max_tokens,
            timeout=settings.timeout,
            retries=settings.retries,
            fallbacks=models,
            instructions=settings.instructions,
            prompt=settings.prompt,
            stages=_stages(found.session.path),
            on_stage=heard,
        )
        after, fold = found.plan(policy, focus, summarizer)
    receipt = fold.receipt
    if receipt.failures:
        why = f"no summary by {', '.join((settings.model, *models))}: {'; '.join(receipt.failures)}"
        why += f"; spent on it: {spent(receipt)}" if receipt.models else ""
        if EXTRACT in settings.fallbacks:
            click.echo(f"{why}; extraction took its place", err=True)
        elif asks:
            click.echo(why, err=True)
            click.confirm("Fold with a summary by extraction instead?", abort=True)
        else:
            raise SummaryFailed(f"{why}; nothing was written (--model {EXTRACT} folds without a model)")
    return after, fold


def forget_stages(path: str) -> None:
    """Throws away the finished stages of a session that was folded."""
    with suppress(OSError):
        _side_file(path).unlink()


def spent(receipt: Receipt) -> str:
    """Which models were asked, how often, and what that cost."""
    calls = f"{receipt.calls} call{'' if receipt.calls == 1 else 's'}"
    parts = [", ".join(receipt.models), calls + (" on the cached conversation" if receipt.shared else "")]
    if usage := receipt.usage:
        cached = f" ({usage.cache_read:,} cached)" if usage.cache_read else ""
        parts += [f"{usage.prompt:,} tokens in{cached}", f"{usage.output:,} out"]
    parts.append("price not known" if receipt.cost is None else f"${receipt.cost:.4f}")
    return ", ".join(parts)


def _stages(path: str) -> MutableMapping[str, str]:
    """The finished stages of a session's summary, kept until it is folded; in memory where no file can be made."""
    from foldline.summarize.stages import StageFile

    side = _side_file(path)
    try:
        side.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return StageFile(side)
    except OSError:
        return {}


def _side_file(path: str) -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(Path.home(), ".cache")
    name = blake2b(os.fsencode(os.path.realpath(path)), digest_size=12).hexdigest()
    return Path(cache, "foldline", "stages", f"{name}.jsonl")


@contextmanager
def _waiting(model: str) -> Iterator[Callable[[int, int], None]]:
    """One line on a terminal that is written over for as long as a model is asked: which one, and for how long."""
    began, ended = time.monotonic(), threading.Event()
    part = ""

    def heard(covered: int, of: int) -> None:
        nonlocal part
        part = f", {covered} of {of} messages" if covered < of or part else ""

    def told() -> None:
        while not ended.wait(BEAT):
            click.echo(f"\r\033[KAsking {model}{part}: {time.monotonic() - began:.0f} s", err=True, nl=False)

    if not sys.stderr.isatty():
        yield heard
        return
    teller = threading.Thread(target=told, daemon=True)
    teller.start()
    try:
        yield heard
    finally:
        ended.set()
        teller.join()
        click.echo("\r\033[K", err=True, nl=False)
