"""`foldline compact`: fold a session in place."""

from __future__ import annotations

import os
import sys

import click

from foldline.cli import NOTHING_TO_DO
from foldline.cli.drawing import RULE, bar, row, title, tokens
from foldline.cli.options import (
    chosen_policy,
    force_option,
    opened,
    policy_option,
    print_json,
    refuse_busy,
    session_options,
)
from foldline.fold import Fold
from foldline.inspection import Opened, risk_of
from foldline.view import View

NEW_FORMATS = ("pi", "openai-chat", "anthropic")
"""What a folded session can be written as, `handoff.new_session.FORMATS`."""


@click.command()
@click.option("--focus", default="", metavar="TEXT", help="What the summary must keep.")
@click.option("--dry-run", is_flag=True, help="Show what would be folded, and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask before writing.")
@click.option("--to", "format", type=click.Choice(NEW_FORMATS), help="Write a new session in this format instead.")
@click.option("--out", metavar="FILE", help="The new session's file; with --to.")
@force_option
@policy_option
@session_options
def compact(
    focus: str,
    dry_run: bool,
    yes: bool,
    format: str | None,
    out: str | None,
    force: bool,
    policy: str | None,
    session: str | None,
    as_json: bool,
    strict: bool,
    window: int | None,
) -> None:
    """Fold a session: old history becomes a summary, the newest part stays word for word.

    The file is only appended to; `session undo` takes the fold back and `recall` brings back any message of it. Sessions
    of agents that cannot be folded in place are written as new ones with --to.
    """
    if out and not format:
        raise click.UsageError("--out goes with --to")
    found = opened(session, strict=strict, window=window)
    if not (dry_run or format):
        refuse_busy(found.session.path, force=force)
    chosen, _ = chosen_policy(policy)
    after, fold = found.plan(chosen, focus)
    asks = not (yes or dry_run or as_json) and sys.stdin.isatty()
    if not as_json:
        summary = next((m.summary.text for m in after.messages if m.summary), "") if dry_run or asks else ""
        click.echo(preview(found, fold, summary))
    if not fold:
        if as_json:
            print_json({"session": found.session.path, "fold": None})
        sys.exit(NOTHING_TO_DO)
    if asks:
        click.confirm("Fold this session?", abort=True)
    done = "" if dry_run else _written(found, after, fold, format, out)
    if as_json:
        print_json({"session": found.session.path, "written": not dry_run, "fold": fold})
    elif done:
        click.echo(done)


def _written(found: Opened, after: View, fold: Fold, format: str | None, out: str | None) -> str:
    """Writes the fold, in place or as a new session, and says what was done."""
    session = found.session
    if format is None:
        session.fold(found.view, after, fold, found.meter)
        return f"Folded. Undo with: foldline session undo --session {session.path}"
    from foldline.cli.export import draw_written
    from foldline.handoff.new_session import write_new

    written = write_new(
        after,
        format,
        out,
        cwd=os.getcwd(),
        model=session.model,
        agent=getattr(session, "agent", "pi"),
        parent=session.path,
        tokens_before=fold.receipt.tokens_before,
    )
    return draw_written("Folded into", written)


def preview(found: Opened, fold: Fold, summary: str) -> str:
    """What a fold does, in figures, with the summary that it installs."""
    lines = [title("Compaction Preview")]
    if not fold:
        size = f"{tokens(found.tokens)} in {len(found.view.entries)} messages"
        return "\n".join([*lines, f"Nothing to do: {size}, nothing worth folding."])
    r, window = fold.receipt, found.budget.window
    lines += [
        row("Before", f"{tokens(r.tokens_before):<16} {bar(r.tokens_before / window)} {r.tokens_before / window:.0%}"),
        row("After", f"{tokens(r.tokens_after):<16} {bar(r.tokens_after / window)} {r.tokens_after / window:.0%}"),
        row("Freed", f"{tokens(r.freed)} (± {r.error:.1%})"),
        row("Messages", f"{r.messages_folded} of {len(found.view.entries)} folded, the rest word for word"),
        row("Facts", f"{r.facts_kept} in view, {r.facts_lost} only by recall"),
        row("Prompt cache", f"{tokens(r.cache_discarded)} to be read again"),
        row("Round", f"{r.round} (risk {risk_of(r.round, r.facts_kept, r.facts_lost).level.lower()})"),
    ]
    if r.lost:
        lines.append(row("By recall", ", ".join(_short(fact) for fact in r.lost[:4])))
    if summary:
        lines += ["", "Summary", RULE, summary]
    return "\n".join(lines) + "\n"


def _short(fact: str) -> str:
    fact = " ".join(fact.split())
    return fact if len(fact) <= 48 else fact[:47] + "…"
