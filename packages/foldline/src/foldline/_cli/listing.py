"""`foldline session list`: the agents' sessions and how full each is."""

from __future__ import annotations

import os
import sys
import time

import click

from foldline._cli import NOTHING_TO_DO
from foldline._cli.drawing import bar, percent, title, visible
from foldline._listing import Listed, listed
from foldline._relative_time import ago

SHOWN = 200
"""Lines that are printed unless more are asked for."""


@click.command("list")
@click.option("--all", "everywhere", is_flag=True, help="Of every directory, not only of this one.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    help=f"At most so many; without it, {SHOWN} lines or all of the JSON.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(everywhere: bool, limit: int | None, as_json: bool) -> None:
    """The agents' sessions on this machine, newest first, and how full each is.

    It lists those of this directory or, where there are none, those of every directory.
    """
    here = os.getcwd()
    found = listed() if everywhere else listed(here) or listed()
    if as_json:
        from foldline._cli.options import print_json

        print_json(found[:limit])
    if not found:
        click.echo("no sessions found", err=True)
        sys.exit(NOTHING_TO_DO)
    if not as_json:
        now = time.time()
        shown = found[: limit or SHOWN]
        click.echo("\n".join([title("Sessions"), *(_line(entry, now) for entry in shown)]))
        if len(shown) < len(found):
            click.echo(f"… and {len(found) - len(shown):,} older ones (--limit {len(found)} shows all)")


def _line(entry: Listed, now: float) -> str:
    """One line of the list; what is not known yet is left blank."""
    head = f"{entry.id[:13]:<13}  {entry.agent:<11}  {ago(now - entry.changed):<14}"
    if entry.error:
        return visible(f"{head}  {entry.error}")
    fill = entry.fill
    full = f"{bar(fill, width=16)} {percent(fill):>4}" if fill is not None else " " * 21
    n = entry.compactions
    folds = "" if n is None else f"{n} fold{'' if n == 1 else 's'}"
    return visible(f"{head}  {full}  {folds:<7}  {entry.model:<26}  {entry.cwd}")
