"""`foldline session handoff`: a new session for a goal, with what it needs of the old one."""

from __future__ import annotations

import os
import sys

import click

from foldline._cli import NOTHING_TO_DO
from foldline._cli.export import draw_written, into_option, to_option
from foldline._cli.options import check_place, opened, print_json, session_options
from foldline._handoff.goal import TOKENS, draft, hand_off


@click.command()
@click.argument("goal")
@click.option("--print", "only_print", is_flag=True, help="Print the opening prompt, and write nothing.")
@click.option("--yes", is_flag=True, help="Do not open the draft in an editor.")
@click.option(
    "--tokens",
    type=click.IntRange(200),
    metavar="N",
    default=TOKENS,
    show_default=True,
    help="The draft's size at most.",
)
@to_option
@into_option
@session_options
def handoff(
    goal: str,
    only_print: bool,
    yes: bool,
    tokens: int,
    format: str,
    into: str | None,
    session: str | None,
    as_json: bool,
    strict: bool,
    window: int | None,
) -> None:
    """Open a new session for GOAL with the constraints, files and decisions of the old one that bear on it.

    On a terminal the opening prompt is shown in your editor first; emptied, nothing is written.
    """
    if not goal.strip():
        raise click.UsageError("GOAL is empty")
    if not only_print:
        check_place(format, into, "--into")
    found = opened(session, strict=strict, window=window).session
    made = draft(found, goal, tokens=tokens)
    if only_print:
        if as_json:
            print_json(made)
        else:
            click.echo(made.text)
        return
    text: str | None = made.text
    if sys.stdin.isatty() and not yes and not as_json:
        text = click.edit(made.text, extension=".md", require_save=False)
    if not (text or "").strip():
        click.echo("the draft was emptied; nothing was written", err=True)
        sys.exit(NOTHING_TO_DO)
    if format == found.agent:
        into = into or os.path.dirname(os.path.abspath(found.path))
    written = hand_off(found, text or "", format, into, cwd=found.cwd or os.getcwd())
    if as_json:
        print_json({"draft": made, "written": written})
    else:
        click.echo(draw_written("Handed off", written))
