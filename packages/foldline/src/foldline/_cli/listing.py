"""`foldline session list`: the agents' sessions and how full each is."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import click

from foldline._cli.commands import NOTHING_TO_DO
from foldline._cli.drawing import bar, counted, percent, title
from foldline._cli.options import Answer, answering
from foldline._cli.printing import Tinted
from foldline._clipping import clipped
from foldline._desk.marks import ALARM_AT, SUGGEST_AT
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
@answering
def list_(everywhere: bool, limit: int | None) -> Answer:
    """The agents' sessions on this machine, newest first: how full each is, how long, and what it is called or began with.

    It lists those of this directory or, where there are none, those of every directory.
    """
    found = listed() if everywhere else listed(os.getcwd()) or listed()
    told = {"sessions": found[:limit]}
    if not found:
        return Answer(told, remark="no sessions found", code=NOTHING_TO_DO)
    shown = found[: limit or SHOWN]
    lines = [piece for entry in shown for piece in ("\n", *_line(entry, time.time()))]
    if len(shown) < len(found):
        lines.append(f"\n… and {len(found) - len(shown):,} older ones (--limit {len(found)} shows all)")
    return Answer(told, [title("Sessions"), *lines])


def _line(entry: Listed, now: float) -> Iterator[str | Tinted]:
    """One line of the list; what is not known yet is left blank."""
    id = f"└ {entry.id[:11]}" if entry.parent else entry.id[:13]
    yield f"{id:<13}  {entry.agent:<11}  {ago(now - entry.changed):<14}  "
    if entry.error:
        yield Tinted(entry.error, "red")
        return
    fill = entry.fill
    if fill is None:
        yield " " * 21
    else:
        yield Tinted(bar(fill, width=16), "red" if fill >= ALARM_AT else "yellow" if fill >= SUGGEST_AT else "green")
        yield f" {percent(fill):>4}"
    folds = "" if entry.compactions is None else counted(entry.compactions, "fold")
    messages = "" if entry.messages is None else counted(entry.messages, "message")
    yield f"  {folds:<7}  {messages:>14}  {clipped(entry.title or entry.prompt, 48):<48}  {entry.model[:26]:<26}  {entry.cwd}"
