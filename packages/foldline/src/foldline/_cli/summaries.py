"""Options that say how a fold by hand is made and who writes its summary, and how a command waits for that."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from foldline._cli.printing import say_over, warn
from foldline._errors import SummaryFailed
from foldline._policies import names
from foldline._writers import EXTRACT

if TYPE_CHECKING:
    from foldline._desk.plan import FoldPlan

F = TypeVar("F", bound=Callable[..., Any])


class Seconds(click.FloatRange):
    """So many seconds, more than none."""

    def __init__(self) -> None:
        super().__init__(0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        seconds = super().convert(value, param, ctx)
        if math.isnan(seconds):  # which is neither below the range nor above it
            self.fail(f"{value} is no number of seconds.", param, ctx)
        return seconds


BEAT = 0.5
"""Seconds between two looks of the line that says how long a model has been asked."""


def _policies(_: click.Context, __: click.Parameter, begun: str) -> list[str]:
    """The policies whose names begin so, for a shell."""
    return [name for name in names() if name.startswith(begun)]


policy_option = click.option(
    "--policy",
    metavar="NAME-OR-FILE",
    shell_complete=_policies,
    help="The policy: a name of `foldline policy list`, a file, or module:NAME; without it, what the settings name.",
)

MODEL_OPTIONS = (
    click.option("--timeout", type=Seconds(), metavar="SECONDS", help="For one call of a model."),
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
)
"""By the names that the settings have for them."""


def model_options(command: F) -> F:
    """`--model`, `--fallback`, `--native`, `--base-url` and `--timeout`."""
    for option in MODEL_OPTIONS:
        command = option(command)
    return command


def by_model(plan: FoldPlan, *, asks: bool) -> FoldPlan:
    """The plan with its summary by the model that its writer names.

    Where no model wrote one that could be used, it is extracted if the settings or, asked, the user say so; else
    `SummaryFailed` is raised. Either way what was spent is told.
    """
    with _waiting(plan.writer.model):
        plan = plan.summarized()
    try:
        warn(plan.why_extracted())
    except SummaryFailed as failure:
        if not asks:
            raise
        warn(str(failure))
        click.confirm("Fold with a summary by extraction instead?", abort=True)
    return plan


@contextmanager
def _waiting(model: str) -> Iterator[None]:
    """One line on a terminal that is written over for as long as a model is asked: which one, and for how long."""
    began, ended = time.monotonic(), threading.Event()

    def told() -> None:
        while not ended.wait(BEAT):
            say_over(f"Asking {model}: {time.monotonic() - began:.0f} s")

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
        say_over("")
