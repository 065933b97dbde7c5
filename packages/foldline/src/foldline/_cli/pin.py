"""`foldline pin`: a message that no fold touches, noted in the session's own log."""

from __future__ import annotations

import click

from foldline._cli.options import Answer, about, answering, check_in_place, force_option, on_session
from foldline._desk.desk import Desk
from foldline._desk.inspection import what


@click.command()
@click.argument("id")
@click.option("--remove", is_flag=True, help="Take the pin off again.")
@force_option
@answering
@on_session
def pin(desk: Desk, id: str, remove: bool, force: bool) -> Answer:
    """Pin the message ID: no fold touches it, until the pin is removed.

    `session show` lists the ids. The pin stands in the session's log, and every command and agent that folds with foldline
    keeps to it.
    """
    check_in_place(desk, force=force)
    message = desk.session.pin(id, not remove)
    told = about(desk.session, id=id, pinned=not remove)
    return Answer(told, f"{'No longer pinned' if remove else 'Pinned'}: {what(message)}")
