"""`foldline compact`: fold a session in place."""

from __future__ import annotations

import os
import shlex
import sys

import click

from foldline._cli import NOTHING_TO_DO
from foldline._cli.drawing import RULE, bar, percent, row, title, tokens, visible
from foldline._cli.options import (
    check_place,
    chosen_policy,
    force_option,
    opened,
    policy_option,
    print_json,
    session_options,
)
from foldline._cli.summaries import asked_for, by_model, model_options
from foldline._clipping import clipped
from foldline._compactor.degradation import risk_of
from foldline._desk.plan import FoldPlan, plan
from foldline._desk.summaries import spent
from foldline._handoff.new_session import FORMATS
from foldline._writers.native import BETA

_NATIVE = {
    "readable": f"the provider's own; requests that hold it need the header anthropic-beta: {BETA}",
    "sealed": "the provider's own, which only its provider can read",
}


@click.command()
@click.option("--focus", default="", metavar="TEXT", help="What the summary must keep.")
@click.option("--dry-run", is_flag=True, help="Show what would be folded, and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask before writing; without a terminal nothing is asked.")
@click.option(
    "--to",
    "format",
    type=click.Choice(FORMATS),
    help="Write a new session in this format instead; of any but pi, --out names its file.",
)
@click.option("--out", metavar="FILE", help="The new session's file; with --to.")
@model_options
@force_option
@policy_option
@session_options
def compact(
    focus: str,
    dry_run: bool,
    yes: bool,
    format: str | None,
    out: str | None,
    model: str | None,
    fallbacks: tuple[str, ...],
    native: bool | None,
    base_url: str | None,
    timeout: float | None,
    force: bool,
    policy: str | None,
    session: str | None,
    as_json: bool,
    strict: bool,
    window: int | None,
) -> None:
    """Fold a session: old history becomes a summary, the newest part stays word for word.

    The file is only appended to; `session undo` takes the fold back and `recall` brings back any message of it. Sessions
    of agents that cannot be folded in place are written as new ones with --to. A --model writes the summary where one is
    named, with its key from the environment; what it forgets is added, and where it fails nothing is written, unless a
    --fallback says otherwise.
    """
    if out and not format:
        raise click.UsageError("--out goes with --to")
    if format and not dry_run:
        check_place(format, out, "--out")
    desk = opened(session, strict=strict, window=window)
    if not (dry_run or format):
        desk.check_writable(force=force)
    chosen, settings = chosen_policy(policy)
    writer = asked_for(settings.summary, model, fallbacks, native, base_url, timeout)
    planned = plan(desk, chosen, focus, writer, into=format or "")
    if native and (why := planned.why_not_native):
        click.echo(f"The provider's own compaction is not asked for: {why}.", err=True)
    warn_at = settings.compaction.warn_at_compaction
    asks = not (yes or dry_run or as_json) and sys.stdin.isatty()
    if not as_json and (dry_run or asks or not planned.asks_model or not planned):
        click.echo(preview(planned, warn_at, whole=dry_run or asks))
    if not planned:
        if as_json:
            print_json({"session": desk.session.path, "fold": None})
        sys.exit(NOTHING_TO_DO)
    if asks:
        click.confirm("Fold this session?", abort=True)
    if planned.asks_model and not dry_run:
        planned = by_model(planned, asks=asks)
        if not as_json:
            click.echo(f"{title('Compaction')}\n{figures(planned, warn_at)}")
    done = "" if dry_run else _written(planned, out)
    if as_json:
        over = desk.over(planned.after)
        print_json({"session": desk.session.path, "written": not dry_run, "fold": planned.fold, "over": over})
    elif done:
        click.echo(done)


def _written(planned: FoldPlan, out: str | None) -> str:
    """Writes the fold, in place or as a new session, and says what was done."""
    if planned.into:
        from foldline._cli.export import draw_written

        return draw_written("Folded into", planned.write_new(out, cwd=os.getcwd()))
    planned.write()
    return f"Folded. Undo with: foldline session undo --session {shlex.quote(planned.desk.session.path)}"


def preview(planned: FoldPlan, warn_at: int, *, whole: bool) -> str:
    """What a fold does, in figures; `whole` adds the summary, as it is or as code would write it where a model does."""
    heading, desk = title("Compaction Preview"), planned.desk
    if not planned:
        size = f"{tokens(desk.tokens)} in {len(desk.view.entries)} messages"
        return f"{heading}\nNothing to do: {size}, nothing worth folding.\n{desk.in_the_way(planned.after)}".rstrip()
    lines = [heading, figures(planned, warn_at)]
    if planned.asks_model:
        lines.append(
            row("Summary By", f"{planned.writer.model}, asked once this is folded; here it is by extraction") + "\n"
        )
    if whole and planned.summary:
        lines += ["Summary", RULE, planned.summary, ""]
    return visible("\n".join(lines))


def figures(planned: FoldPlan, warn_at: int) -> str:
    """A fold's receipt, one figure a line; `warn_at` is the compaction from which the risk is higher."""
    r, window = planned.fold.receipt, planned.desk.budget.window
    repaired = f", {r.facts_repaired} of them added to the model's draft" if r.facts_repaired else ""
    lines = [
        row(
            "Before",
            f"{tokens(r.tokens_before):<16} {bar(r.tokens_before / window)} {percent(r.tokens_before / window)}",
        ),
        row("After", f"{tokens(r.tokens_after):<16} {bar(r.tokens_after / window)} {percent(r.tokens_after / window)}"),
        row("Freed", f"{tokens(r.freed)} (± {r.error:.1%})"),
        row("Messages", f"{r.messages_folded} of {len(planned.desk.view.entries)} folded, the rest word for word"),
        row("Facts", f"{r.facts_kept} in view{repaired}, {r.facts_lost} only by recall"),
        row("Prompt cache", f"{tokens(r.cache_discarded)} to be read again"),
        row("Round", f"{r.round} (risk {risk_of(r.round, r.facts_kept, r.facts_lost, warn_at).level.lower()})"),
    ]
    if r.lost:
        lines.append(row("By recall", ", ".join(_short(fact) for fact in r.lost[:4])))
    if r.models:
        lines += [row("Summary By", spent(r)), row("Waited", f"{r.waited:.1f} s")]
    if r.native:
        lines.append(row("Native", _NATIVE[r.native]))
    lines += [row("Written Again", why) for why in r.rewritten]
    lines += [row("Remark", remark) for remark in r.remarks]
    if why := planned.desk.in_the_way(planned.after):
        lines.append(f"✗ {why}")
    return "\n".join(lines) + "\n"


def _short(fact: str) -> str:
    """A fact in at most 48 characters: a path loses its middle, since its end tells it from the others."""
    fact = " ".join(fact.split())
    if len(fact) <= 48:
        return fact
    label, _, said = fact.partition(": ")
    if "/" in said and " " not in said and len(label) < 16:
        return f"{label}: …{said[len(label) - 45 :]}"
    return clipped(fact, 48)
