"""`foldline compact`: fold a session in place."""

from __future__ import annotations

import os
import shlex
import sys

import click

from foldline.by_hand import forget_stages, refuse_read_only, spent, why_not_native
from foldline.cli import NOTHING_TO_DO
from foldline.cli.drawing import RULE, bar, percent, row, title, tokens, visible
from foldline.cli.options import (
    check_place,
    chosen_policy,
    force_option,
    opened,
    policy_option,
    print_json,
    session_options,
)
from foldline.cli.summaries import asked_for, by_model, model_options
from foldline.fold import Fold
from foldline.handoff.new_session import FORMATS
from foldline.inspection import Opened
from foldline.risk import risk_of
from foldline.transcripts.busy import refuse_busy
from foldline.view import View
from foldline.writers import EXTRACT
from foldline.writers.native import BETA

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
    found = opened(session, strict=strict, window=window)
    if not (dry_run or format or force):
        refuse_busy(found.session.path)
    chosen, settings = chosen_policy(policy)
    writer = asked_for(settings.summary, model, fallbacks, native, base_url, timeout)
    if native and (why := why_not_native(found, writer, format or "")):
        click.echo(f"The provider's own compaction is not asked for: {why}.", err=True)
    after, fold = found.plan(chosen, focus)
    warn_at = settings.compaction.warn_at_compaction
    asks = not (yes or dry_run or as_json) and sys.stdin.isatty()
    if not as_json and (dry_run or asks or writer.model == EXTRACT or not fold):
        summary = next((m.summary.text for m in after.messages if m.summary), "") if dry_run or asks else ""
        click.echo(preview(found, after, fold, summary, writer.model, warn_at))
    if not fold:
        if as_json:
            print_json({"session": found.session.path, "fold": None})
        sys.exit(NOTHING_TO_DO)
    if not (dry_run or format):
        refuse_read_only(found)
    if asks:
        click.confirm("Fold this session?", abort=True)
    if writer.model != EXTRACT and not dry_run:
        after, fold = by_model(found, chosen, focus, writer, into=format or "", asks=asks)
        if not as_json:
            click.echo(f"{title('Compaction')}\n{figures(found, after, fold, warn_at)}")
    done = "" if dry_run else _written(found, after, fold, format, out)
    if as_json:
        print_json({"session": found.session.path, "written": not dry_run, "fold": fold, "over": found.over(after)})
    elif done:
        click.echo(done)


def _written(found: Opened, after: View, fold: Fold, format: str | None, out: str | None) -> str:
    """Writes the fold, in place or as a new session, and says what was done."""
    session = found.session
    if format is None:
        session.fold(found.view, after, fold, found.meter)
        forget_stages(session.path)
        return f"Folded. Undo with: foldline session undo --session {shlex.quote(session.path)}"
    from foldline.cli.export import draw_written
    from foldline.handoff.new_session import write_new

    written = write_new(
        after.messages,
        format,
        out,
        cwd=os.getcwd(),
        model=session.model,
        agent=getattr(session, "agent", "pi"),
        parent=session.path,
        tokens_before=fold.receipt.tokens_before,
    )
    return draw_written("Folded into", written)


def preview(found: Opened, after: View, fold: Fold, summary: str, model: str, warn_at: int) -> str:
    """What a fold does, in figures, with the summary that it installs, or that code would write where a model does."""
    heading = title("Compaction Preview")
    if not fold:
        size = f"{tokens(found.tokens)} in {len(found.view.entries)} messages"
        return f"{heading}\nNothing to do: {size}, nothing worth folding.\n{found.in_the_way(after)}".rstrip()
    lines = [heading, figures(found, after, fold, warn_at)]
    if model != EXTRACT:
        lines.append(row("Summary By", f"{model}, asked once this is folded; here it is by extraction") + "\n")
    if summary:
        lines += ["Summary", RULE, summary, ""]
    return visible("\n".join(lines))


def figures(found: Opened, after: View, fold: Fold, warn_at: int) -> str:
    """A fold's receipt, one figure a line; `warn_at` is the compaction from which the risk is higher."""
    r, window = fold.receipt, found.budget.window
    repaired = f", {r.facts_repaired} of them added to the model's draft" if r.facts_repaired else ""
    lines = [
        row(
            "Before",
            f"{tokens(r.tokens_before):<16} {bar(r.tokens_before / window)} {percent(r.tokens_before / window)}",
        ),
        row("After", f"{tokens(r.tokens_after):<16} {bar(r.tokens_after / window)} {percent(r.tokens_after / window)}"),
        row("Freed", f"{tokens(r.freed)} (± {r.error:.1%})"),
        row("Messages", f"{r.messages_folded} of {len(found.view.entries)} folded, the rest word for word"),
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
    if why := found.in_the_way(after):
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
    return fact[:47] + "…"
