"""`foldline session branch`: go on from an earlier message in a session of its own."""

from __future__ import annotations

import sys

import click

from foldline._cli import NOTHING_TO_DO
from foldline._cli.drawing import visible
from foldline._cli.options import opened, print_json, session_options
from foldline._clipping import one_line
from foldline._sessions.file import Branch, Point


@click.command()
@click.option("--at", metavar="MESSAGE-ID", help="The user message that the branch ends with; without it, you choose.")
@session_options
def branch(at: str | None, session: str | None, as_json: bool, strict: bool, window: int | None) -> None:
    """Begin a new session that ends with an earlier user message; the old one is not touched.

    A branch from before a fold has the whole history again, one from behind it keeps the fold.
    """
    asks = at is None and sys.stdin.isatty() and not as_json
    if at is None and not asks:
        raise click.UsageError("--at=MESSAGE-ID is needed where no one can choose; `session show` lists the ids")
    found = opened(session, strict=strict, window=window).session
    if at is None:
        at = _chosen(found.points())
    if at is None:
        click.echo(f"nothing to branch from: no user message in {found.path}", err=True)
        sys.exit(NOTHING_TO_DO)
    made = found.branch(at)
    if as_json:
        print_json(made)
        return
    for fault in made.faults:
        click.echo(f"warning: {found.path}: {fault}", err=True)
    click.echo(draw_branch(made))


def draw_branch(made: Branch) -> str:
    """What was written, and where."""
    folds = f", behind {made.folds} fold{'' if made.folds == 1 else 's'}" if made.folds else ", before any fold"
    return f"Branched at {made.at}{folds}: {made.records} records in\n{made.path}"


def _chosen(found: list[Point]) -> str | None:
    """The id that the user picks, of all user messages."""
    if not found:
        return None
    width = len(str(len(found)))
    for number, point in enumerate(found, 1):
        folds = f"after fold {point.folds}" if point.folds else ""
        click.echo(f"{number:>{width}}  {point.id:<10} {folds:<13} {'' if point.live else 'folded':<7} {_line(point)}")
    number = click.prompt("Branch at", type=click.IntRange(1, len(found)), default=len(found))
    return found[number - 1].id


def _line(point: Point) -> str:
    return visible(one_line(point.text, 80))
