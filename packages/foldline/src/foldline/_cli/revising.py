"""`foldline session edit` and `restore`: a message said in other words, or all behind one taken back."""

from __future__ import annotations

import click

from foldline._cli.commands import NOTHING_TO_DO
from foldline._cli.drawing import counted
from foldline._cli.options import Answer, about, answering, check_in_place, force_option, may_ask, on_session, undoing
from foldline._desk import revising
from foldline._desk.desk import Desk
from foldline._fold import Fold
from foldline._visible import visible


@click.command()
@click.argument("id")
@click.option("--text", metavar="TEXT", help="The words instead; without it your editor is opened.")
@force_option
@answering
@on_session
def edit(desk: Desk, id: str, text: str | None, force: bool) -> Answer:
    """Say the message ID in other words; what came behind it stays.

    `session undo` brings the old words back.
    """
    check_in_place(desk, force=force)
    if text is None:
        if not may_ask():
            raise click.UsageError("--text=TEXT is needed where no editor can be opened")
        text = click.edit(visible(revising.words_of(desk, id)), extension=".md", require_save=True)
    if not (text or "").strip():
        return Answer(about(desk.session, fold=None), remark="no words; nothing was written", code=NOTHING_TO_DO)
    return _done(desk, revising.edit(desk, id, str(text).rstrip("\n")), "Edited")


@click.command()
@click.argument("id")
@force_option
@answering
@on_session
def restore(desk: Desk, id: str, force: bool) -> Answer:
    """Go back to the message ID: all that came behind it leaves the context.

    `session undo` brings it back, and `recall` finds it in any case.
    """
    check_in_place(desk, force=force)
    return _done(desk, revising.restore(desk, id), "Restored")


def _done(desk: Desk, fold: Fold, what: str) -> Answer:
    """What was done, and how it is taken back."""
    gone = len(fold.edits[0].drop)
    taken = f": {counted(gone, 'message')} behind it left the context" if fold.layer == "restore" else ""
    return Answer(about(desk.session, fold=fold), f"{what}{taken}. Undo with: {undoing(desk.session)}")
