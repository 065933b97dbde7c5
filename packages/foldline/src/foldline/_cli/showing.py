"""`foldline session show` and `undo`: what is in a session, and what was folded away."""

from __future__ import annotations

import sys

import click

from foldline._cli import NOTHING_TO_DO
from foldline._cli.drawing import title, visible
from foldline._cli.options import force_option, opened, print_json, session_options
from foldline._desk.desk import Desk
from foldline._desk.inspection import what


@click.command()
@click.option("--folded", is_flag=True, help="What is in the file and no longer in the context.")
@session_options
def show(folded: bool, session: str | None, as_json: bool, strict: bool, window: int | None) -> None:
    """The live context, a line for each message: id, tokens, role and how it begins."""
    found = opened(session, strict=strict, window=window)
    shown = [(e.id, e.tokens, e.message) for e in found.view.entries]
    if folded:
        live = {e.id: e.message for e in found.view.entries}
        shown = [(id, found.meter.count(m), m) for id, m in found.session.messages() if live.get(id) != m]
    if as_json:
        print_json([{"id": id, "tokens": tokens, "message": message} for id, tokens, message in shown])
        return
    click.echo(title(f"Session {found.session.id}"))
    wide = max((len(id) for id, _, _ in shown), default=0)
    for id, tokens, message in shown:
        click.echo(f"{id:<{wide}} {tokens:>8,}  {visible(what(message))}")


@click.command()
@force_option
@session_options
def undo(force: bool, session: str | None, as_json: bool, strict: bool, window: int | None) -> None:
    """Take back the newest fold; what came after it stays in the context."""
    found = opened(session, strict=strict, window=window)
    before = found.tokens
    fold = found.undo(force=force)
    if fold is None:
        if as_json:
            print_json({"session": found.session.path, "undone": None})
        click.echo("nothing to undo: no fold stands in this session", err=True)
        sys.exit(NOTHING_TO_DO)
    after = Desk.open(found.session.path, window=window).tokens
    if as_json:
        print_json({"session": found.session.path, "undone": fold, "tokens_before": before, "tokens_after": after})
    else:
        click.echo(f"Undone: fold {fold}; {before:,} → {after:,} tokens")
