"""`foldline compact`: fold a session in place."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import starmap

import click

from foldline._cli.commands import FAILED, NOTHING_TO_DO
from foldline._cli.drawing import RULE, bar, counted, percent, row, title, tokens
from foldline._cli.options import (
    Choice,
    CommandAnswer,
    about,
    about_new,
    answering,
    check_place,
    draw_written,
    force_option,
    may_ask,
    on_session,
    undoing,
)
from foldline._cli.printing import columns, room, say, warn
from foldline._cli.summaries import by_model, model_options, policy_option
from foldline._cli.wrapping import wrapped
from foldline._desk.desk import Desk
from foldline._desk.plan import FoldPlan
from foldline._desk.receipts import advice, dollars, in_the_way, notes
from foldline._desk.receipts import figures as told
from foldline._errors import SessionError
from foldline._handoff.new_session import FORMATS
from foldline._visible import visible
from foldline._writers import EXTRACT


@click.command()
@click.option("--focus", default="", metavar="TEXT", help="What the summary must keep.")
@click.option("--dry-run", is_flag=True, help="Show what would be folded, and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask before writing; needed where there is no terminal to ask on.")
@click.option(
    "--to",
    "format",
    type=Choice(FORMATS),
    help="Write a new session in this format instead; of a provider, --out names its file.",
)
@click.option("--out", metavar="FILE", help="The new session's file; with --to.")
@model_options
@force_option
@policy_option
@answering
@on_session
def compact(
    desk: Desk,
    focus: str,
    dry_run: bool,
    yes: bool,
    format: str | None,
    out: str | None,
    policy: str | None,
    **by: object,
) -> CommandAnswer:
    """Fold a session: old history becomes a summary, the newest part stays word for word.

    The file is only appended to; `session undo` takes the fold back and `recall` brings back any message of it. Sessions
    of agents that cannot be folded in place are written as new ones with --to. A --model writes the summary where one is
    named, with its key from the environment; what it forgets is added, and where it fails nothing is written, unless a
    --fallback says otherwise.
    """
    _check(desk, dry_run, yes, format, out, by)
    planned = desk.asked(policy, focus, by, into=format or "", dry=dry_run)
    warn(planned.warning)
    if by["native"] and (why := planned.why_not_native):
        warn(f"The provider's own compaction is not asked for: {why}.")
    if not planned and format and desk.view.entries and not planned.over:
        return _as_it_is(planned, out, dry_run=dry_run, yes=yes)
    if not planned:
        stuck = planned.over
        return CommandAnswer(_told(planned), preview(planned, whole=True), code=FAILED if stuck else NOTHING_TO_DO)
    if dry_run:
        return CommandAnswer(_told(planned), preview(planned, whole=True) + ("" if format else _read_only(desk)))
    if not yes:
        _agree(planned)
    shown = planned
    if planned.asks_model:
        planned = by_model(planned, asks=not yes)
    new = None
    if format:
        new = planned.write_new(out, cwd=os.getcwd())
        done = draw_written("Folded into", new)
    else:
        planned.write()
        done = f"Folded. Undo with: {undoing(desk.session)}"
    receipt = "" if shown is planned and not yes else f"{title('Compaction')}\n{figures(planned)}\n"
    return CommandAnswer({**_told(planned, written=True), "new": new and about_new(new)}, receipt + done)


def _as_it_is(planned: FoldPlan, out: str | None, *, dry_run: bool, yes: bool) -> CommandAnswer:
    """A session of which nothing is worth folding, written whole in the format that was asked for."""
    told = preview(planned, whole=True)
    if dry_run:
        return CommandAnswer(_told(planned), f"{told}\nWithout --dry-run it is written as it is.", code=NOTHING_TO_DO)
    if not yes:
        say(told)
        click.confirm("Write it as it is?", abort=True)
    new = planned.write_new(out, cwd=os.getcwd())
    done = draw_written("Written as it is", new)
    return CommandAnswer({**_told(planned, written=True), "new": about_new(new)}, f"{told}\n{done}" if yes else done)


def _check(desk: Desk, dry_run: bool, yes: bool, format: str | None, out: str | None, by: Mapping[str, object]) -> None:
    """Refuses what cannot be meant, or was agreed to by nobody, before anything is planned or shown."""
    if out and not format:
        raise click.UsageError("--out goes with --to")
    if (by["fallbacks"] or by["native"] or by["base_url"]) and (by["model"] or desk.settings.summary.model) == EXTRACT:
        raise click.UsageError("--fallback, --native and --base-url go with --model")
    if format and not dry_run:
        check_place(format, out, "--out")
    if not (yes or dry_run or may_ask()):
        raise click.UsageError(
            "nothing was written: there is no terminal to confirm on; --yes folds without asking, --dry-run only shows the plan"
        )


def _read_only(desk: Desk) -> str:
    """Why the session could not be folded in place, and the way out; empty where it can be."""
    try:
        desk.session.check_writable()
    except SessionError as refused:
        return f"\n✗ {refused}"
    return ""


def _agree(planned: FoldPlan) -> None:
    """Shows the figures and asks; the summary is a key away. Raises `Abort` where the answer is no."""
    say(preview(planned, whole=False))
    while True:
        answer = click.prompt("Fold this session? [y/N, v shows the summary]", default="n", show_default=False)
        if answer[:1].lower() != "v":
            break
        click.echo_via_pager(wrapped(visible(planned.summary), columns()))
    if answer[:1].lower() != "y":
        raise click.Abort


def _told(planned: FoldPlan, *, written: bool = False) -> dict[str, object]:
    """A fold as JSON tells it; `over` is by how many tokens the window is still exceeded."""
    return about(
        planned.desk.session,
        written=written,
        fold=planned.fold if planned else None,
        over=planned.over,
        advice=advice(planned),
        new=None,
    )


def preview(planned: FoldPlan, *, whole: bool) -> str:
    """What a fold does, in figures; `whole` adds the summary, as it is or as code would write it where a model does."""
    heading, desk = title("Compaction Preview"), planned.desk
    if not planned:
        size = f"{tokens(desk.tokens)} in {counted(len(desk.view.entries), 'message')}"
        if not (why := in_the_way(planned)):
            return f"{heading}\nNothing to do: {size}, nothing worth folding."
        return f"{heading}\nNothing can be folded: {size}.\n{why}\n{_beside_a_fold(desk)}"
    lines = [heading, figures(planned)]
    if planned.asks_model:
        cost = "its price is not known" if planned.quote is None else f"about {dollars(planned.quote)}"
        by = f"{planned.writer.model}, asked once this is folded ({cost}); here it is by extraction"
        lines.append(row("Summary By", by) + "\n")
    if whole and planned.summary:
        lines += ["Summary", RULE, planned.summary, ""]
    return "\n".join(lines)


def _beside_a_fold(desk: Desk) -> str:
    """What is to be done about a session that no fold brings under its window."""
    largest = max(desk.view.entries, key=lambda entry: entry.tokens, default=None)
    afresh = "start afresh, by `foldline session handoff GOAL`, or name a larger --window that the model has"
    if largest is None:
        return f"The way out: {afresh}."
    edit = (
        ""
        if _read_only(desk) or not largest.message.text
        else f"say it shorter, by `foldline session edit {largest.id}`, "
    )
    return f"The largest message is {largest.id}, of {largest.tokens:,} tokens. The way out: {edit}{afresh}."


def figures(planned: FoldPlan, width: int | None = None) -> str:
    """A fold's receipt, one figure a line, and what is advised after it; for lines of `width`, the terminal's unless named."""
    receipt, window, wide = planned.fold.receipt, planned.desk.budget.window, room(43, 24, width)
    sizes = (("Before", receipt.tokens_before), ("After", receipt.tokens_after))
    bars = ((label, f"{tokens(n):<16} {bar(n / window, width=wide)} {percent(n / window)}") for label, n in sizes)
    return "\n".join([*starmap(row, (*bars, *told(planned))), *notes(planned)]) + "\n"
