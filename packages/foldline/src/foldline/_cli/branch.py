"""`foldline session branch`: go on from an earlier message in a session of its own."""

from __future__ import annotations

import click

from foldline._cli.commands import NOTHING_TO_DO
from foldline._cli.drawing import counted
from foldline._cli.options import Answer, about, answering, may_ask, on_session
from foldline._cli.printing import say
from foldline._clipping import one_line
from foldline._desk.desk import Desk
from foldline._sessions.file import Branch, Point, SessionFile


@click.command()
@click.option("--at", metavar="MESSAGE-ID", help="The user message that the branch ends with; without it, you choose.")
@answering
@on_session
def branch(desk: Desk, at: str | None) -> Answer:
    """Begin a new session that ends with an earlier user message; the old one is not touched.

    A branch from before a fold has the whole history again, one from behind it keeps the fold.
    """
    found = desk.session
    if at is None:
        if not may_ask():
            raise click.UsageError("--at=MESSAGE-ID is needed where no one can choose; `session show` lists the ids")
        at = _chosen(found.points())
    if at is None:
        nothing = f"nothing to branch from: no user message in {found.path}"
        return Answer(_told(found, None), remark=nothing, code=NOTHING_TO_DO)
    made = found.branch(at)
    for fault in made.faults:
        say(f"warning: {found.path}: {fault}", err=True)
    return Answer(_told(found, made), _drawn(made))


def _told(parent: SessionFile, made: Branch | None) -> dict[str, object]:
    """A branch, or that there is none, as JSON tells it."""
    told = {name: getattr(made, name, None) for name in ("path", "at", "records", "folds", "faults")}
    return {"session": made and made.id, "parent": about(parent), **told}


def _drawn(made: Branch) -> str:
    """What was written, and where."""
    folds = f", behind {counted(made.folds, 'fold')}" if made.folds else ", before any fold"
    return f"Branched at {made.at}{folds}: {made.records} records in\n{made.path}"


def _chosen(found: list[Point]) -> str | None:
    """The id that the user picks, of all user messages."""
    if not found:
        return None
    width = len(str(len(found)))
    for number, point in enumerate(found, 1):
        folds = f"after fold {point.folds}" if point.folds else ""
        live = "" if point.live else "folded"
        say(f"{number:>{width}}  {point.id:<10} {folds:<13} {live:<7} {one_line(point.text, 80)}")
    number = click.prompt("Branch at", type=click.IntRange(1, len(found)), default=len(found))
    return found[number - 1].id
