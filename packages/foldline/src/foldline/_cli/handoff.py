"""`foldline session handoff`: a new session for a goal, with what it needs of the old one."""

from __future__ import annotations

import os

import click

from foldline._cli.commands import NOTHING_TO_DO
from foldline._cli.export import into_option
from foldline._cli.options import (
    Choice,
    CommandAnswer,
    about,
    about_new,
    answering,
    check_place,
    draw_written,
    may_ask,
    on_session,
    words,
)
from foldline._cli.printing import Exact, warn
from foldline._desk.desk import Desk
from foldline._handoff.agents import AGENTS
from foldline._handoff.by_model import found_by_model
from foldline._handoff.goal import TOKENS, draft, hand_off
from foldline._handoff.new_session import FORMATS
from foldline._visible import visible


@click.command()
@words("goal", "GOAL")
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
@click.option(
    "--model", metavar="PROVIDER:NAME", help="A model that reads the old session for what GOAL needs, as well."
)
@click.option("--base-url", metavar="URL", help="Where the model is served; OpenAI's dialect unless named.")
@click.option(
    "--to", "format", type=Choice(FORMATS), help="The new session's format; without it that of the old one, or pi's."
)
@into_option
@answering
@on_session
def handoff(
    desk: Desk,
    goal: str,
    only_print: bool,
    yes: bool,
    tokens: int,
    model: str | None,
    base_url: str | None,
    format: str | None,
    into: str | None,
) -> CommandAnswer:
    """Open a new session for GOAL with the constraints, files and decisions of the old one that bear on it.

    On a terminal the opening prompt is shown in your editor first; emptied, nothing is written. With a --model half of the
    prompt is what it found for GOAL; where it fails nothing is written.
    """
    if not goal.strip():
        raise click.UsageError("GOAL is empty")
    found = desk.session
    format = format or (found.agent if found.agent in AGENTS else FORMATS[0])
    if not only_print:
        check_place(format, into, "--into")
    by_model = ""
    if model is not None:
        tokens //= 2
        flags = {"model": model, "base_url": base_url}
        writer = desk.settings.writer(desk.settings.to_policy(), found.model, flags)
        by_model = found_by_model(found, goal, writer.to_summarizer(), tokens)
    made = draft(found, goal, tokens=tokens, found=by_model)
    told = about(found, draft=made, written=None)
    if only_print:
        return CommandAnswer(told, Exact(made.text))
    text = made.text
    if may_ask() and not yes:
        warn("The draft opens in your editor; what you save is written. --yes writes it as it is.")
        text = click.edit(visible(text), extension=".md", require_save=False) or ""
    if not text.strip():
        return CommandAnswer(told, remark="the draft was emptied; nothing was written", code=NOTHING_TO_DO)
    if format == found.agent:
        into = into or os.path.dirname(os.path.abspath(found.path))
    written = hand_off(found, text, format, into, cwd=found.cwd or os.getcwd())
    return CommandAnswer({**told, "written": about_new(written)}, draw_written("Handed off", written))
