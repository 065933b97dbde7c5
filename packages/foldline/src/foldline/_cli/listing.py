"""`foldline session list`: the agents' sessions and how full each is."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import NamedTuple

import click

from foldline._cli.commands import NOTHING_TO_DO
from foldline._cli.drawing import bar, counted, percent, title
from foldline._cli.options import CommandAnswer, answering
from foldline._cli.printing import Tinted
from foldline._cli.printing import columns as terminal_columns
from foldline._cli.wrapping import length
from foldline._clipping import clipped, clipped_before
from foldline._desk.marks import ALARM_AT, SUGGEST_AT
from foldline._listing import ListedSession, listed
from foldline._relative_time import ago

SHOWN = 200
"""Lines that are printed unless more are asked for."""

START = 49
"""Characters that stand in each line, but for the bar."""


@click.command("list")
@click.option("--all", "everywhere", is_flag=True, help="Of every directory, not only of this one.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    help=f"At most so many; without it, {SHOWN} lines or all of the JSON.",
)
@answering
def list_(everywhere: bool, limit: int | None) -> CommandAnswer:
    """The agents' sessions on this machine, newest first: how full each is, how long, and what it is called or began with.

    It lists those of this directory or, where there are none, those of every directory.
    """
    here = [] if everywhere else listed(os.getcwd())
    found = here or listed()
    told = {"sessions": found[:limit]}
    if not found:
        return CommandAnswer(told, remark="no sessions found", code=NOTHING_TO_DO)
    shown = found[: limit or SHOWN]
    sizes = columns(terminal_columns())
    lines = [piece for entry in shown for piece in ("\n", *_line(entry, time.time(), sizes))]
    if len(shown) < len(found):
        lines.append(f"\n… and {len(found) - len(shown):,} older ones (--limit {len(found)} shows all)")
    what = "Sessions" if here or everywhere else "Sessions of every directory (there are none of this one)"
    return CommandAnswer(told, [title(what), *lines])


class Columns(NamedTuple):
    """How wide each column is, the spaces before it included; 0 for one that has no room."""

    bar: int
    folds: int
    messages: int
    title: int
    model: int
    cwd: int


def columns(width: int) -> Columns:
    """The columns of a line of so many characters: what a session is called first, then its figures, then the rest."""
    drawn = 16 if width >= 100 else 8
    left = width - START - drawn
    room: dict[str, int] = {}
    for name, least in (("title", 22), ("messages", 16), ("folds", 9), ("model", 28), ("cwd", 16)):
        room[name] = least if least <= left else 0
        left -= room[name]
    longer = min(left, 28) if room["title"] else 0
    room["title"] += longer
    room["cwd"] += left - longer if room["cwd"] else 0
    return Columns(drawn, **room)


def _line(entry: ListedSession, now: float, sizes: Columns) -> Iterator[str | Tinted]:
    """One line of the list; what is not known yet is left blank."""
    id = f"└ {entry.id[:11]}" if entry.parent else entry.id[:13]
    yield f"{id:<13}  {entry.agent:<11}  {ago(now - entry.changed):<14}  "
    if entry.error:
        yield Tinted(clipped(entry.error, sum(sizes) + 5), "red")
        return
    fill = entry.fill
    if fill is None:
        yield " " * (sizes.bar + 5)
    else:
        tint = "red" if fill >= ALARM_AT else "yellow" if fill >= SUGGEST_AT else "green"
        yield Tinted(bar(fill, width=sizes.bar), tint)
        yield f" {percent(fill):>4}"
    told = (
        ("" if entry.compactions is None else counted(entry.compactions, "fold"), sizes.folds),
        (f"{'' if entry.messages is None else counted(entry.messages, 'message'):>14}", sizes.messages),
        (entry.title or entry.prompt, sizes.title),
        (entry.model, sizes.model),
    )
    yield "".join(cell(text, size) for text, size in told)
    if sizes.cwd:
        yield f"  {clipped_before(entry.cwd, sizes.cwd - 2)}"


def cell(text: str, size: int) -> str:
    """A text in a column, two spaces before it; letters of East Asia are two characters wide."""
    if not size:
        return ""
    room, shown = size - 2, clipped(text, size - 2)
    while length(shown) > room:
        shown = shown.removesuffix("…")[:-1] + "…"
    return f"  {shown}{' ' * (room - length(shown))}"
