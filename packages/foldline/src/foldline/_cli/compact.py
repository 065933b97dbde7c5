"""`foldline compact`: fold a session in place."""

from __future__ import annotations

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
    said,
    undoing,
)
from foldline._cli.printing import columns, room, say, warn
from foldline._cli.summaries import by_model, model_options, policy_option
from foldline._cli.wrapping import wrapped
from foldline._desk.desk import Desk
from foldline._desk.plan import FoldPlan
from foldline._desk.receipts import dollars
from foldline._handoff.new_session import FORMATS
from foldline._visible import visible
from foldline._writers import EXTRACT


@click.command()
@click.option("--focus", default="", metavar="TEXT", callback=said, help="What the summary must keep.")
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
    if (by["fallbacks"] or by["native"] or by["base_url"]) and (by["model"] or desk.settings.summary.model) == EXTRACT:
        asks_none = "--model extract asks no model; --fallback, --native and --base-url go with one"
        raise click.UsageError(asks_none if by["model"] else "--fallback, --native and --base-url go with --model")
    _check(dry_run, yes, format, out)
    planned = desk.asked(policy, focus, by, into=format or "", dry=dry_run)
    warn(planned.warning)
    if by["native"] and (why := planned.why_not_native):
        warn(f"The provider's own compaction is not asked for: {why}.")
    if not planned.writes:
        return CommandAnswer(_told(planned), preview(planned), code=FAILED if planned.over else NOTHING_TO_DO)
    if dry_run:
        return _not_written(planned)
    if not yes:
        _agree(planned)
    shown = planned
    if planned and planned.asks_model:
        planned = by_model(planned, asks=not yes)
    new = planned.write(out)
    what = "Folded into" if planned else "Written as it is"
    done = draw_written(what, new) if new else f"Folded. Undo with: {undoing(desk.session)}"
    receipt = "" if shown is planned and not yes else _receipt(planned)
    told = {**_told(planned, written=True), "new": new and about_new(new)}
    return CommandAnswer(told, receipt + done, done=done)


def _check(dry_run: bool, yes: bool, format: str | None, out: str | None) -> None:
    """Refuses what cannot be meant, or was agreed to by nobody, before anything is planned or shown."""
    if out and not format:
        raise click.UsageError("--out goes with --to")
    if format and not dry_run:
        check_place(format, out, "--out")
    if not (yes or dry_run or may_ask()):
        raise click.UsageError(
            "nothing was written: there is no terminal to confirm on; --yes folds without asking, --dry-run only shows the plan"
        )


def _not_written(planned: FoldPlan) -> CommandAnswer:
    """What would be written, and why it could not be."""
    if not planned:
        as_it_is = "\nWithout --dry-run it is written as it is."
        return CommandAnswer(_told(planned), preview(planned) + as_it_is, code=NOTHING_TO_DO)
    refused = "" if planned.into else planned.desk.read_only
    return CommandAnswer(_told(planned), preview(planned) + (f"\n✗ {refused}" if refused else ""))


def _agree(planned: FoldPlan) -> None:
    """Shows the figures and asks; the summary is a key away. Raises `Abort` where the answer is no."""
    say(preview(planned, whole=False))
    if not planned:
        click.confirm("Write it as it is?", abort=True)
        return
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
        advice=planned.advice,
        new=None,
    )


def _receipt(planned: FoldPlan) -> str:
    """What was written, where nobody has seen it before."""
    return f"{title('Compaction')}\n{figures(planned)}\n" if planned else preview(planned) + "\n"


def preview(planned: FoldPlan, *, whole: bool = True) -> str:
    """What a fold does, in figures; `whole` adds the summary, as it is or as code would write it where a model does."""
    heading, desk = title("Compaction Preview"), planned.desk
    if not planned:
        size = f"{tokens(desk.tokens)} in {counted(len(desk.view.entries), 'message')}"
        if not planned.over:
            return f"{heading}\nNothing to do: {size}, nothing worth folding."
        return f"{heading}\nNothing can be folded: {size}.\n{planned.in_the_way}\n{_beside_a_fold(desk)}"
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
        if desk.read_only or not largest.message.text
        else f"say it shorter, by `foldline session edit {largest.id}`, "
    )
    return f"The largest message is {largest.id}, of {largest.tokens:,} tokens. The way out: {edit}{afresh}."


def figures(planned: FoldPlan, width: int | None = None) -> str:
    """A fold's receipt, one figure a line, and what is advised after it; for lines of `width`, the terminal's unless named."""
    receipt, window, wide = planned.fold.receipt, planned.desk.budget.window, room(43, 24, width)
    sizes = (("Before", receipt.tokens_before), ("After", receipt.tokens_after))
    bars = ((label, f"{tokens(n):<16} {bar(n / window, width=wide)} {percent(n / window)}") for label, n in sizes)
    return "\n".join([*starmap(row, (*bars, *planned.figures)), *planned.notes]) + "\n"
